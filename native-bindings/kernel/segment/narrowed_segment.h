// A view of a segment with only some of its text fields. Lengths, posting lists, frequencies, positions and impacts are
// those of a segment that was made with these fields only, so searches need not know that it is a view.
//
// A posting list is made from that of the whole segment when it is first asked for, and kept, if there is room. When there
// is no more, the caller replaces the object by a new one, which takes over the lists of the old one that are asked for:
// the others are dropped. A search holds what did not find room (ListsOfSearch). Weights are reduced to the smallest
// integers with the same ratios.
//
// Thread-safety: any number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "segment.h"

namespace gannet {

// Limit of the lists kept for one set of fields of a segment, between searches. Up to twice as much may be held, see
// above, for each of KeptByFields::kKeptMax sets: 64 MiB in the largest segments.
inline constexpr CacheBytes kNarrowedListsBytes{32 << 10, 16, 8 << 20};
// A view has its own cache of terms, as a fraction of that of a whole segment, since several views exist beside it.
inline constexpr size_t kNarrowedCacheFraction = 4;
// Limit of the lists that a search makes, over all segments, for searches of many frequent words in some fields of a
// large list.
inline constexpr size_t kNarrowedListsBytesMax = 256 << 20;

// The bytes of a posting list; none if the fields lack the term.
using NarrowedList = std::shared_ptr<const std::vector<uint8_t>>;

// Lists that the search of this thread makes while the object exists: limits their memory, and holds those for which the
// segments have no room. What other searches make does not count: a search fails only because of its own words.
class ListsOfSearch {
 public:
  explicit ListsOfSearch(size_t bytes_max = kNarrowedListsBytesMax);
  ~ListsOfSearch();
  ListsOfSearch(const ListsOfSearch&) = delete;
  ListsOfSearch& operator=(const ListsOfSearch&) = delete;

  // The object of this thread that was made last. Throws Error(kInvalidArgument) if there is none.
  static ListsOfSearch& OfThread();

  // Throws Error(kLimit) if the lists that were made exceed their limit already.
  void Check() const;
  void Count(size_t bytes) { bytes_ += bytes; }
  // By the entry of the term in the whole segment. Find returns null for others.
  void Hold(const uint8_t* at, NarrowedList list) { held_.emplace(at, std::move(list)); }
  const std::vector<uint8_t>* Find(const uint8_t* at) const {
    const auto found = held_.find(at);
    return found == held_.end() ? nullptr : found->second.get();
  }

 private:
  size_t bytes_max_;
  size_t bytes_ = 0;
  std::unordered_map<const uint8_t*, NarrowedList> held_;
  ListsOfSearch* outer_;
};

// What does not depend on the words of a query.
struct NarrowedFields {
  std::vector<uint32_t> fields;  // ascending numbers of fields of the whole segment
  SegmentMeta meta;
  std::vector<uint8_t> norms;
  UnitsByNorm part_units{};
};

class NarrowedSegment final : public Segment {
 public:
  // `whole` must outlive the object. Throws Error(kInvalidArgument) if it lacks a field, or without any field.
  NarrowedSegment(const Segment* whole, std::span<const uint32_t> fields);
  // Replaces one that is full.
  NarrowedSegment(const Segment* whole, const NarrowedSegment& full);

  // True once a list found no room.
  bool is_full() const { return is_full_; }

  const SegmentMeta& meta() const override { return fields_->meta; }
  std::span<const uint8_t> norms() const override { return fields_->norms; }
  uint32_t FieldLength(uint32_t field, uint32_t document) const override {
    return whole_.FieldLength(fields_->fields[field], document);
  }
  uint32_t PartLength(uint32_t field, uint32_t document) const override {
    return whole_.PartLength(fields_->fields[field], document);
  }
  const UnitsByNorm* part_units() const override {
    return whole_.part_units() == nullptr ? nullptr : &fields_->part_units;
  }
  std::span<const uint32_t> record_numbers() const override { return whole_.record_numbers(); }
  std::optional<uint32_t> FindDocument(uint32_t record_number) const override { return whole_.FindDocument(record_number); }
  std::span<const uint8_t> FindEntry(std::string_view term, uint32_t hash) const override {
    return whole_.FindEntry(term, hash);
  }
  bool has_table() const override { return whole_.has_table(); }
  // Memory of the kept lists.
  size_t kept_bytes() const {
    const std::lock_guard lock(mutex_);
    return kept_bytes_;
  }
  // Returns an empty list if no field has the term. The list can be used for as long as this object and the ListsOfSearch
  // of this thread exist. Throws Error(kLimit) if the list has to be made and those of the search exceed their limit.
  PostingList Postings(std::span<const uint8_t> entry) const override;
  // Visits the terms of the whole segment, with their document frequencies in all fields.
  void VisitTerms(std::string_view from, TermVisitor* visitor) const override { whole_.VisitTerms(from, visitor); }
  const Column& column(uint32_t index) const override { return whole_.column(index); }
  SegmentCache& column_cache() const override { return whole_.column_cache(); }
  uint64_t file_bytes() const override { return whole_.file_bytes(); }
  bool is_unreadable() const override { return whole_.is_unreadable(); }

 private:
  using Lists = std::unordered_map<const uint8_t*, NarrowedList>;  // by the entry of the term in the whole segment

  NarrowedSegment(const Segment* whole, std::shared_ptr<const NarrowedFields> fields, Lists before);
  std::vector<uint8_t> MakeList(const PostingList& list) const;
  bool Keep(const uint8_t* at, const NarrowedList& list) const;
  PostingList Parsed(const std::vector<uint8_t>& bytes) const;
  Lists lists() const;

  const Segment& whole_;
  std::shared_ptr<const NarrowedFields> fields_;
  size_t kept_bytes_max_;
  const Lists before_;
  mutable std::atomic<bool> is_full_ = false;
  mutable std::mutex mutex_;
  mutable size_t kept_bytes_ = 0;
  mutable Lists lists_;
};

}  // namespace gannet
