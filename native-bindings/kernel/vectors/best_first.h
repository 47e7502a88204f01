// A best-first search through one level of a graph: follows the links of the best node met so far, as long as it is
// among the best.
//
// Thread-safety: one search per object.
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

// The best candidates, at most `width`, by falling product. A sorted array, because entries are few and moving some of
// them is cheaper than a heap.
class Beam {
 public:
  void Begin(uint32_t width) {
    width_ = width;
    size_ = next_ = 0;
    if (entries_.size() < width + 1) entries_.resize(width + 1);
  }
  // The product that a candidate must exceed to be added.
  int32_t bar() const { return size_ < width_ ? std::numeric_limits<int32_t>::min() : entries_[size_ - 1].product; }
  uint32_t size() const { return size_; }
  bool is_full() const { return size_ == width_; }

  // Returns false if the candidate is not among the best.
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

  // Returns the best candidate that has not been left yet, and marks it as left; returns false if there is none. To
  // leave a node is to follow its links.
  bool Leave(uint32_t* place) {
    while (next_ < size_ && (entries_[next_].place & kNotLeft) == 0) ++next_;
    if (next_ == size_) return false;
    *place = entries_[next_].place &= ~kNotLeft;
    ++next_;
    return true;
  }
  // Returns the candidate at `rank`; 0 is the best.
  Candidate at(uint32_t rank) const { return {entries_[rank].product, entries_[rank].place & ~kNotLeft}; }

 private:
  static constexpr uint32_t kNotLeft = uint32_t{1} << 31;

  // Returns how many candidates are as good or better. Has no branch on the comparison, because it would be
  // unpredictable.
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

// The vectors that a search has met, one bit per vector of the graph, so that all bits stay in cache and are quickly
// cleared. New vectors are picked from a list of links without a branch, which would be unpredictable.
class MetSet {
 public:
  void Begin(uint32_t vectors) {
    const size_t words = vectors / 64 + 1;
    // Grows to twice the size, because a graph that is being built grows from search to search.
    if (words_.size() < words) words_.resize(std::max(words, 2 * words_.size()));
    std::fill_n(words_.begin(), words, uint64_t{0});
  }
  // Begins with every vector that is not among `passing` (one bit each) counted as met.
  void BeginAmong(std::span<const uint64_t> passing) {
    if (words_.size() < passing.size()) words_.resize(passing.size());
    std::ranges::transform(passing, words_.begin(), [](uint64_t word) { return ~word; });
  }
  void Add(uint32_t place) { words_[place / 64] |= uint64_t{1} << (place % 64); }
  bool Has(uint32_t place) const { return (words_[place / 64] >> (place % 64) & 1) != 0; }
  // Copies the vectors that were not met before to `fresh`, which must have room for all, marks them as met, and
  // returns how many there are. A place above `last` is replaced by `last`.
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

// What a search cost.
struct WalkCost {
  uint32_t compared = 0;  // number of codes compared
  uint32_t left = 0;      // number of nodes whose links were followed
};

// Runs the search one step ahead: while the codes of one node's neighbours are fetched from memory, the best of the
// candidates compared before is left, and its neighbours are prefetched, too. Sometimes this is not the node that a
// search without this overlap would leave next, but waiting for each fetch would take longer.
class BestFirst {
 public:
  struct Start {
    uint32_t entry;
    uint32_t width;  // number of candidates that are kept
    uint32_t nodes;  // number of nodes of the level
  };
  // `links` has `Of(place)`, which returns a span of at most `kLinksMost` places, and `Fetch(place)`, which prefetches
  // it.
  template <typename Links>
  WalkCost Walk(const CodeQuery& query, const Codes& codes, const Start& start, const Links& links) {
    beam_.Begin(start.width);
    beam_.Add({query.Product(codes.of(start.entry)), start.entry});
    met_.Begin(start.nodes);
    met_.Add(start.entry);
    return Go(query, codes, start.nodes, links);
  }

  // The same among the nodes that pass a filter (one bit each), from several entries. Some of the neighbours that do
  // not pass are crossed as bridges: their links count as links of the node itself, and they are not compared. The
  // fewer of a node's neighbours pass, the more bridges are crossed; if nearly all pass, none is.
  struct StartAmong {
    std::span<const Candidate> entries;
    std::span<const uint64_t> passing;
    uint32_t width;
    uint32_t nodes;
    // Number of the nearest candidates, of a full beam, that are watched for changes.
    uint32_t nearer;
    // The walk ends once the last of these has not changed for more than this many steps.
    uint32_t in_vain;
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
  // The i-th bridge is crossed if at least this many out of 32 neighbours do not pass.
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

  // A bridge is crossed one step after it was met, because its links must be fetched from memory, too.
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
    // Most candidates are below the bar by now.
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
