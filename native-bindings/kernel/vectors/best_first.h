// The beam of a best-first search through a graph: the best vectors that were met, in order, and which of them were left already.
//
// Thread-safety: one search each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

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
  bool is_full() const { return size_ == width_; }
  // What a candidate has to be above, once the beam is full.
  int32_t worst() const { return entries_[size_ - 1].product; }
  uint32_t size() const { return size_; }

  void Add(Candidate candidate) {
    if (size_ == width_ && candidate.product <= entries_[size_ - 1].product) return;
    uint32_t low = 0, high = size_;
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      if (entries_[middle].product >= candidate.product) low = middle + 1;
      else high = middle;
    }
    const uint32_t moved = (size_ == width_ ? size_ - 1 : size_) - low;
    std::memmove(&entries_[low + 1], &entries_[low], moved * sizeof(Candidate));
    entries_[low] = {candidate.product, candidate.place | kNotLeft};
    if (size_ < width_) ++size_;
    if (low < next_) next_ = low;
  }

  // The best one that was not left yet, from now on left; false when there is none.
  bool Leave(uint32_t* place) {
    while (next_ < size_ && (entries_[next_].place & kNotLeft) == 0) ++next_;
    if (next_ == size_) return false;
    *place = entries_[next_].place &= ~kNotLeft;
    ++next_;
    return true;
  }
  // The one that is left next unless a better one is met: what belongs to it can be fetched.
  bool PeekNext(uint32_t* place) const {
    for (uint32_t i = next_; i < size_; ++i) {
      *place = entries_[i].place & ~kNotLeft;
      if (entries_[i].place & kNotLeft) return true;
    }
    return false;
  }
  // Of the entry at `rank`, 0 the best.
  Candidate at(uint32_t rank) const { return {entries_[rank].product, entries_[rank].place & ~kNotLeft}; }

 private:
  static constexpr uint32_t kNotLeft = uint32_t{1} << 31;
  std::vector<Candidate> entries_;
  uint32_t width_ = 0;
  uint32_t size_ = 0;
  uint32_t next_ = 0;
};

// Which vectors a search met: a byte for each vector of the graph, the number of the search that met it last. What is new in a list
// of links is then picked without a branch, which no processor could foresee.
class MetSet {
 public:
  void Begin(uint32_t vectors) {
    if (marks_.size() < vectors) {
      marks_.assign(vectors, 0);
      search_ = 0;
    }
    if (++search_ == 0) {
      std::fill(marks_.begin(), marks_.end(), uint8_t{0});
      search_ = 1;
    }
  }
  void Add(uint32_t place) { marks_[place] = search_; }
  // Copies those that were not met before, which they are from now on; returns how many. `fresh` has room for all. What is above `last`
  // is taken for it.
  uint32_t AddAll(std::span<const uint32_t> places, uint32_t last, uint32_t* fresh) {
    uint32_t count = 0;
    for (const uint32_t any : places) {
      const uint32_t place = std::min(any, last);
      fresh[count] = place;
      count += marks_[place] != search_;
      marks_[place] = search_;
    }
    return count;
  }

 private:
  std::vector<uint8_t> marks_;
  uint8_t search_ = 0;
};

}  // namespace gannet::vectors
