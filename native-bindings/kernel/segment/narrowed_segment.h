// A view of a segment with only some of its text fields. Lengths, posting lists, frequencies, positions and impacts are
// those of a segment that was made with these fields only, so searches need not know that it is a view.
//
// A posting list is made from that of the whole segment when it is first asked for, and kept. When the kept lists exceed
// their limit, the caller replaces the object by a new one, which can still take over the lists of the old one: lists
// that nobody asked for in the meantime are dropped. A search may use lists for as long as it holds the segment. Weights
// are reduced to the smallest integers with the same ratios.
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
#include <vector>

#include "segment.h"

namespace gannet {

// Limit of the lists kept for one set of fields of a segment, between searches. Up to twice as much may be held, see
// above, for each of KeptByFields::kKeptMax sets: 64 MiB in the largest segments.
inline constexpr CacheBytes kNarrowedListsBytes{32 << 10, 16, 8 << 20};
// A view has its own cache of terms, as a fraction of that of a whole segment, since several views exist beside it.
inline constexpr size_t kNarrowedCacheFraction = 4;
// Limit of the lists that exist at a time, for searches of many frequent words in some fields of a large segment.
inline constexpr size_t kNarrowedListsBytesMax = 256 << 20;

// What does not depend on the words of a query.
struct NarrowedFields {
  std::vector<uint32_t> fields;  // ascending numbers of fields of the whole segment
  SegmentMeta meta;
  std::vector<uint8_t> norms;
};

class NarrowedSegment final : public Segment {
 public:
  // `whole` must outlive the object. `lists_bytes_max`: see Postings. Throws Error(kInvalidArgument) if it lacks a field,
  // or without any field.
  NarrowedSegment(const Segment* whole, std::span<const uint32_t> fields, size_t lists_bytes_max = kNarrowedListsBytesMax);
  // Replaces one that is full.
  NarrowedSegment(const Segment* whole, const NarrowedSegment& full);

  // True if the kept lists exceed their limit, and true if they do so far that not even a new object may take them over.
  bool is_full() const { return kept_bytes_ > kept_bytes_max_; }
  bool is_overfull() const { return kept_bytes_ > 2 * kept_bytes_max_; }

  const SegmentMeta& meta() const override { return fields_->meta; }
  std::span<const uint8_t> norms() const override { return fields_->norms; }
  uint32_t FieldLength(uint32_t field, uint32_t document) const override {
    return whole_.FieldLength(fields_->fields[field], document);
  }
  uint32_t PartLength(uint32_t field, uint32_t document) const override {
    return whole_.PartLength(fields_->fields[field], document);
  }
  std::span<const uint32_t> record_numbers() const override { return whole_.record_numbers(); }
  std::optional<uint32_t> FindDocument(uint32_t record_number) const override { return whole_.FindDocument(record_number); }
  std::span<const uint8_t> FindEntry(std::string_view term, uint32_t hash) const override {
    return whole_.FindEntry(term, hash);
  }
  bool has_table() const override { return whole_.has_table(); }
  // Memory of the kept lists.
  size_t kept_bytes() const { return kept_bytes_; }
  // Returns an empty list if no field has the term. Throws Error(kLimit) if the lists exceed their maximum already.
  PostingList Postings(std::span<const uint8_t> entry) const override;
  // Visits the terms of the whole segment, with their document frequencies in all fields.
  void VisitTerms(std::string_view from, TermVisitor* visitor) const override { whole_.VisitTerms(from, visitor); }
  const Column& column(uint32_t index) const override { return whole_.column(index); }
  SegmentCache& column_cache() const override { return whole_.column_cache(); }
  uint64_t file_bytes() const override { return whole_.file_bytes(); }
  bool is_unreadable() const override { return whole_.is_unreadable(); }

 private:
  // By the entry of the term in the whole segment. An empty list: the fields lack the term.
  using Lists = std::unordered_map<const uint8_t*, std::shared_ptr<const std::vector<uint8_t>>>;

  NarrowedSegment(const Segment* whole, std::shared_ptr<const NarrowedFields> fields, Lists before, size_t lists_bytes_max);
  std::vector<uint8_t> MakeList(const PostingList& list) const;
  PostingList Keep(const uint8_t* at, std::shared_ptr<const std::vector<uint8_t>> list) const;
  PostingList Parsed(const std::vector<uint8_t>& bytes) const;
  Lists lists() const;

  const Segment& whole_;
  std::shared_ptr<const NarrowedFields> fields_;
  size_t kept_bytes_max_;
  size_t lists_bytes_max_;
  mutable std::atomic<size_t> kept_bytes_ = 0;
  const Lists before_;
  mutable std::mutex mutex_;
  mutable Lists lists_;
};

}  // namespace gannet
