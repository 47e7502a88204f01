// A best-first search through one level of a graph: from the best node that was met to those that it leads to, as long as they are among the best.
//
// Thread-safety: one search each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "../common/stop.h"
#include "code_dot.h"

namespace gannet::vectors {

struct Candidate {
  int32_t product;
  uint32_t place;
};

// At most `width` candidates by falling product; one array, for its entries are few and moving some of them is cheaper than a heap.
class Beam {
 public:
  void Begin(uint32_t width) {
    width_ = width;
    size_ = next_ = 0;
    if (entries_.size() < width + 1) entries_.resize(width + 1);
  }
  // What a candidate has to be above.
  int32_t bar() const { return size_ < width_ ? std::numeric_limits<int32_t>::min() : entries_[size_ - 1].product; }
  uint32_t size() const { return size_; }
  bool is_full() const { return size_ == width_; }

  // False where it is not among them.
  bool Add(Candidate candidate) {
    if (size_ == width_ && candidate.product <= entries_[size_ - 1].product) return false;
    const uint32_t rank = RankOf(candidate.product);
    const uint32_t moved = (size_ == width_ ? size_ - 1 : size_) - rank;
    std::memmove(&entries_[rank + 1], &entries_[rank], moved * sizeof(Candidate));
    entries_[rank] = {candidate.product, candidate.place | kNotLeft};
    if (size_ < width_) ++size_;
    if (rank < next_) next_ = rank;
    return true;
  }

  // The best one that was not left yet, from now on left; false when there is none.
  bool Leave(uint32_t* place) {
    while (next_ < size_ && (entries_[next_].place & kNotLeft) == 0) ++next_;
    if (next_ == size_) return false;
    *place = entries_[next_].place &= ~kNotLeft;
    ++next_;
    return true;
  }
  // Of the entry at `rank`, 0 the best.
  Candidate at(uint32_t rank) const { return {entries_[rank].product, entries_[rank].place & ~kNotLeft}; }

 private:
  static constexpr uint32_t kNotLeft = uint32_t{1} << 31;

  // How many are as good or better. Without a branch on what is compared, for none could be foreseen.
  uint32_t RankOf(int32_t product) const {
    const Candidate* at = entries_.data();
    uint32_t left = size_;
    for (; left > 1; left -= left / 2) at += left / 2 * (at[left / 2 - 1].product >= product);
    return static_cast<uint32_t>(at - entries_.data()) + (left == 1 && at->product >= product);
  }

  std::vector<Candidate> entries_;
  uint32_t width_ = 0;
  uint32_t size_ = 0;
  uint32_t next_ = 0;
};

// Which vectors a search met: a bit for each vector of the graph, so that all of them stay near the processor, and are soon empty again. What is new in a list
// of links is picked without a branch, which no processor could foresee.
class MetSet {
 public:
  void Begin(uint32_t vectors) {
    const size_t words = vectors / 64 + 1;
    // Twice as many, for a graph that is being built grows from search to search.
    if (words_.size() < words) words_.resize(std::max(words, 2 * words_.size()));
    std::fill_n(words_.begin(), words, uint64_t{0});
  }
  // What is not among `passing`, a bit each, counts as met.
  void BeginAmong(std::span<const uint64_t> passing) {
    if (words_.size() < passing.size()) words_.resize(passing.size());
    std::ranges::transform(passing, words_.begin(), [](uint64_t word) { return ~word; });
  }
  void Add(uint32_t place) { words_[place / 64] |= uint64_t{1} << (place % 64); }
  bool Has(uint32_t place) const { return (words_[place / 64] >> (place % 64) & 1) != 0; }
  // Copies those that were not met before, which they are from now on; returns how many. `fresh` has room for all. What is above `last`
  // is taken for it.
  uint32_t AddAll(std::span<const uint32_t> places, uint32_t last, uint32_t* fresh) {
    uint64_t* const words = words_.data();
    uint32_t count = 0;
    for (const uint32_t any : places) {
      const uint32_t place = std::min(any, last);
      const uint64_t bit = uint64_t{1} << (place % 64);
      const uint64_t word = words[place / 64];
      fresh[count] = place;
      count += (word & bit) == 0;
      words[place / 64] = word | bit;
    }
    return count;
  }

 private:
  std::vector<uint64_t> words_;
};

// What a search did.
struct WalkCost {
  uint32_t compared = 0;  // codes
  uint32_t left = 0;      // nodes whose links were followed
};

// The search. It is one step ahead of what it knows: while the codes of one node's neighbours come from memory, the best of what was compared before is left and
// its neighbours are asked for, too. Now and then that is not the one that would have been left with patience; waiting for each would take longer.
class BestFirst {
 public:
  struct Start {
    uint32_t entry;
    uint32_t width;  // candidates that are kept
    uint32_t nodes;  // of the level
  };
  // `links` has `Of(place)`, a span of at most `kLinksMost` places, and `Fetch(place)`, which asks for it.
  template <typename Links>
  WalkCost Walk(const CodeQuery& query, const Codes& codes, const Start& start, const Links& links) {
    beam_.Begin(start.width);
    beam_.Add({query.Product(codes.of(start.entry)), start.entry});
    met_.Begin(start.nodes);
    met_.Add(start.entry);
    return Go(query, codes, start.nodes, links);
  }

  // The same among nodes that pass, a bit each, from some of these. Some of the others that a node leads to are crossed (bridges): what they lead to counts as what
  // the node itself leads to, and they are not compared. The fewer of a node's neighbours pass, the more: where nearly all do, it leads on by itself.
  struct StartAmong {
    std::span<const Candidate> entries;
    std::span<const uint64_t> passing;
    uint32_t width;
    uint32_t nodes;
    uint32_t nearer;  // where so many of the nearest, of a full width, stay the same
    uint32_t in_vain;  // for so many steps, the walk ends
  };
  template <typename Links>
  WalkCost WalkAmong(const CodeQuery& query, const Codes& codes, const StartAmong& start, const Links& links) {
    beam_.Begin(start.width);
    met_.BeginAmong(start.passing);
    crossed_.Begin(start.nodes);
    bridges_.count = 0;
    for (const Candidate& entry : start.entries) {
      if (met_.Has(entry.place)) continue;
      met_.Add(entry.place);
      if (beam_.Add(entry)) links.Fetch(entry.place);
    }
    return GoAmong(query, codes, start, links);
  }
  const Beam& beam() const { return beam_; }

  static constexpr uint32_t kLinksMost = 256;

 private:
  static constexpr uint32_t kBridgesMost = 2;
  // A bridge is crossed for so many of 32 neighbours that do not pass.
  static constexpr uint32_t kNotPassingForBridge[kBridgesMost] = {6, 16};
  static constexpr uint32_t kBatchMost = (1 + kBridgesMost) * kLinksMost;
  struct Batch {
    uint32_t places[kBatchMost];
    uint32_t count = 0;
  };

  template <typename Links>
  WalkCost Go(const CodeQuery& query, const Codes& codes, uint32_t nodes, const Links& links) {
    WalkCost cost;
    Batch* ahead = &batches_[0];
    Batch* behind = &batches_[1];
    behind->count = 0;
    for (bool is_waiting = false;;) {
      StopIfAsked();
      uint32_t place;
      const bool is_left = beam_.Leave(&place);
      if (!is_left && !is_waiting) return cost;
      ahead->count = 0;
      if (is_left) {
        ++cost.left;
        ahead->count = met_.AddAll(links.Of(place), nodes - 1, ahead->places);
        query.Fetch(codes, {ahead->places, ahead->count});
      }
      cost.compared += behind->count;
      query.ProductsOfFetched(codes, {behind->places, behind->count}, products_);
      AddAll(*behind, links);
      std::swap(ahead, behind);
      is_waiting = is_left;
    }
  }

  // A bridge is crossed one step after it was met, for its links come from memory, too.
  template <typename Links>
  WalkCost GoAmong(const CodeQuery& query, const Codes& codes, const StartAmong& start, const Links& links) {
    const uint32_t last = start.nodes - 1;
    WalkCost cost;
    Batch* ahead = &batches_[0];
    Batch* behind = &batches_[1];
    behind->count = 0;
    int32_t before = std::numeric_limits<int32_t>::min();
    for (uint32_t in_vain = 0; in_vain <= start.in_vain;) {
      StopIfAsked();
      uint32_t place;
      const bool is_left = beam_.Leave(&place);
      if (!is_left && behind->count == 0 && bridges_.count == 0) return cost;
      ahead->count = 0;
      const auto add = [&](uint32_t from) { ahead->count += met_.AddAll(links.Of(from), last, ahead->places + ahead->count); };
      for (uint32_t i = 0; i < bridges_.count; ++i) add(bridges_.places[i]);
      bridges_.count = 0;
      if (is_left) {
        ++cost.left;
        add(place);
        ListBridges(links.Of(place), start, links);
      }
      query.Fetch(codes, {ahead->places, ahead->count});
      cost.compared += behind->count;
      query.ProductsOfFetched(codes, {behind->places, behind->count}, products_);
      AddAll(*behind, links);
      std::swap(ahead, behind);
      const int32_t now = beam_.is_full() ? beam_.at(start.nearer - 1).product : before;
      in_vain = beam_.is_full() && now == before ? in_vain + 1 : 0;
      before = now;
    }
    return cost;
  }

  template <typename Links>
  void ListBridges(std::span<const uint32_t> places, const StartAmong& start, const Links& links) {
    uint32_t others[kLinksMost];
    uint32_t count = 0;
    for (const uint32_t any : places) {
      const uint32_t place = std::min(any, start.nodes - 1);
      others[count] = place;
      count += (start.passing[place / 64] >> (place % 64) & 1) == 0;
    }
    uint32_t bridges = 0;
    for (const uint32_t not_passing : kNotPassingForBridge) bridges += count * 32 >= not_passing * places.size();
    for (uint32_t i = 0; i < count && bridges_.count < bridges; ++i) {
      if (crossed_.Has(others[i])) continue;
      crossed_.Add(others[i]);
      links.Fetch(others[i]);
      bridges_.places[bridges_.count++] = others[i];
    }
  }

  template <typename Links>
  void AddAll(const Batch& batch, const Links& links) {
    // Most are not among the best any more.
    const int32_t bar = beam_.bar();
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch.count; ++i) {
      better_[count] = {products_[i], batch.places[i]};
      count += products_[i] > bar;
    }
    for (uint32_t i = 0; i < count; ++i) {
      if (beam_.Add(better_[i])) links.Fetch(better_[i].place);
    }
  }

  Beam beam_;
  MetSet met_;
  MetSet crossed_;
  Batch batches_[2];
  struct {
    uint32_t places[kBridgesMost];
    uint32_t count = 0;
  } bridges_;
  int32_t products_[kBatchMost];
  Candidate better_[kBatchMost];
};

}  // namespace gannet::vectors
