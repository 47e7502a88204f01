// A segment as if it had been made with some of its text fields alone: lengths, posting lists, frequencies, positions and impacts are those
// that these fields give, so that whatever is asked of it answers as it does of any segment.
//
// A list is made when it is asked for first, from that of the whole segment, and kept: words come again and again. Whoever has the object
// takes another one in its place when it is full, which has what was kept until it is full itself: so lists go that were not asked for
// meanwhile. Those that a search has stay good for as long as it has the segment. Weights are brought to their smallest units: those of the
// fields alone.
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

// Of the lists that were asked for of a segment for the same fields; twice as much may be kept.
inline constexpr CacheBytes kNarrowedListsBytes{64 << 10, 24, 24 << 20};

// What does not depend on words.
struct NarrowedFields {
  std::vector<uint32_t> fields;  // ascending: numbers of the whole segment's
  SegmentMeta meta;
  std::vector<uint8_t> norms;
};

class NarrowedSegment final : public Segment {
 public:
  // `whole` outlives the object. Error(kInvalidArgument) where it lacks a field, or there is none.
  NarrowedSegment(const Segment* whole, std::span<const uint32_t> fields);
  // In the place of one that is full.
  NarrowedSegment(const Segment* whole, const NarrowedSegment& full);

  // More is kept than should be.
  bool is_full() const { return kept_bytes_ > kept_bytes_max_; }

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
  // Empty where none of the fields has the term.
  PostingList Postings(std::span<const uint8_t> entry) const override;
  // Also those that the fields lack, with how many documents have them in any field.
  void VisitTerms(std::string_view from, TermVisitor* visitor) const override { whole_.VisitTerms(from, visitor); }
  const Column& column(uint32_t index) const override { return whole_.column(index); }
  SegmentCache& column_cache() const override { return whole_.column_cache(); }
  uint64_t file_bytes() const override { return whole_.file_bytes(); }
  bool is_unreadable() const override { return whole_.is_unreadable(); }

 private:
  // By what the whole segment has stored for the term. Empty: the fields lack it.
  using Lists = std::unordered_map<const uint8_t*, std::shared_ptr<const std::vector<uint8_t>>>;

  NarrowedSegment(const Segment* whole, std::shared_ptr<const NarrowedFields> fields, Lists before);
  std::vector<uint8_t> MakeList(const PostingList& list) const;
  PostingList Keep(const uint8_t* at, std::shared_ptr<const std::vector<uint8_t>> list) const;
  PostingList Parsed(const std::vector<uint8_t>& bytes) const;
  Lists lists() const;

  const Segment& whole_;
  std::shared_ptr<const NarrowedFields> fields_;
  size_t kept_bytes_max_;
  mutable std::atomic<size_t> kept_bytes_ = 0;
  const Lists before_;
  mutable std::mutex mutex_;
  mutable Lists lists_;
};

}  // namespace gannet
