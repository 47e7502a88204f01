// An open segment: an immutable inverted index in one memory-mapped LMDB file.
//
// Open checks the whole B+tree structure (every page header, node offset and overflow reference against the
// file's size) before LMDB may follow it, so that a damaged or truncated file is Error(kDamaged), never a
// crash. Values are checked by the views that read them.
//
// Thread-safety: immutable after Open; any number of threads may call any method. The file must not be
// changed while it is open; unlinking it is fine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../columns/column.h"
#include "../format.h"
#include "../postings/posting_list.h"
#include "../vocabulary/segment_cache.h"
#include "../vocabulary/spelling_index.h"
#include "../vocabulary/spelling_sketches.h"
#include "key_table.h"

namespace gannet {

struct TextFieldMeta {
  uint32_t weight_units;      // how much one occurrence adds to the weighted frequency
  uint64_t token_count;       // over all documents
};

struct ColumnMeta {
  std::string name;
  ColumnType type;
  bool many;
};

struct SegmentMeta {
  uint32_t document_count = 0;
  uint64_t weighted_length_sum = 0;  // sum over documents of tokens * weight units, for the average length
  uint64_t term_count = 0;
  std::vector<TextFieldMeta> text_fields;
  std::vector<ColumnMeta> columns;
  std::string language;              // whose stems group the terms; empty: none
};

// Walks the terms of a segment in byte order. Belongs to one thread, and must not outlive its segment.
class TermCursor {
 public:
  virtual ~TermCursor() = default;
  // Steps to the next term (at first: to the first one); false at the end. Throws Error(kDamaged).
  virtual bool Next() = 0;
  // The Next after it steps to the first term that is >= `from`.
  virtual void Seek(std::string_view from) = 0;
  // Of the current term; good until the segment is closed. Long terms appear as their stored key.
  virtual std::string_view term() const = 0;
  virtual uint32_t document_frequency() const = 0;  // without parsing the list
  virtual PostingList Postings() const = 0;
};

class Segment {
 public:
  static std::shared_ptr<const Segment> Open(const std::string& path);
  virtual ~Segment() = default;

  virtual const SegmentMeta& meta() const = 0;
  uint32_t document_count() const { return meta().document_count; }

  // Length code per document (see norm.h); the sum of tokens * weight units over the text fields.
  virtual std::span<const uint8_t> norms() const = 0;
  // Tokens (with gaps between the values of an array) of a text field in a document.
  virtual uint32_t FieldLength(uint32_t field, uint32_t document) const = 0;

  // Writes those of the documents (ascending or not) that have a text field of this length to `out`, which may be where
  // they are; returns how many. Throws nothing where a document is out of range: it is left out.
  virtual size_t SelectByFieldLength(std::span<const uint32_t> documents, uint32_t length, uint32_t* out) const;

  virtual std::span<const uint32_t> record_numbers() const = 0;  // by document
  // The document that holds a record number; a segment holds a record number at most once.
  virtual std::optional<uint32_t> FindDocument(uint32_t record_number) const = 0;

  // An empty list (document_frequency 0) where the term does not occur.
  PostingList FindTerm(std::string_view term) const {
    const std::span<const uint8_t> entry = FindEntry(term);
    return entry.empty() ? PostingList() : Postings(entry);
  }
  // What is stored for the term, for Postings: a tenth of a PostingList, where many are kept. Empty where the term does not occur; good
  // for as long as the segment is open.
  std::span<const uint8_t> FindEntry(std::string_view term) const { return FindEntry(term, HashTerm(term)); }
  // The same for who asks several segments: `hash` is HashTerm(term).
  virtual std::span<const uint8_t> FindEntry(std::string_view term, uint32_t hash) const = 0;
  // True where looking a term up costs no more than finding what was kept of it.
  virtual bool has_table() const { return false; }
  virtual PostingList Postings(std::span<const uint8_t> entry) const = 0;

  // Terms in byte order, from the first that is >= `from`. `visit` returns false to stop. Long terms appear
  // as their stored key. document_frequency comes without parsing the list.
  struct TermVisitor {
    virtual ~TermVisitor() = default;
    virtual bool Visit(std::string_view term, uint32_t document_frequency) = 0;
  };
  virtual void VisitTerms(std::string_view from, TermVisitor* visitor) const = 0;
  // The same, pulled instead of pushed. Never null for a segment that Open gave (not pure, so that a fake segment of
  // a test may leave it out).
  virtual std::unique_ptr<TermCursor> Terms(std::string_view /*from*/) const { return nullptr; }

  // The value of a stem's group (stem_group.h); empty where the only term can be the stem itself.
  virtual std::span<const uint8_t> FindStemGroup(std::string_view /*stem*/) const { return {}; }
  // The terms that a misspelt word may stand for.
  virtual const SpellingIndex& spelling() const {
    static const SpellingIndex kNone;
    return kNone;
  }
  // Of these terms, where they are few: asked before the index is.
  virtual const SpellingSketches& spelling_sketches() const {
    static const SpellingSketches kNone;
    return kNone;
  }
  // Answers about this segment that are worth keeping. Locks by itself.
  SegmentCache& cache() const { return cache_; }

  virtual const Column& column(uint32_t index) const = 0;
  virtual uint64_t file_bytes() const = 0;
  // True once something of the file could not be read: what was read of it is not to be relied on.
  virtual bool is_unreadable() const { return false; }

 private:
  mutable SegmentCache cache_;
};

// Reads everything in the file that Open does not: decodes every list and every column, and checks what the format
// promises (documents, frequencies, positions against field lengths, impacts against postings, ordinals, record
// numbers that occur once, totals, stems, spelling). Returns what is wrong, empty when nothing is; Error(kIo) where the file cannot be
// read. For `gannet doctor` and tests: it takes about as long as a merge.
std::string VerifySegment(const std::string& path);

}  // namespace gannet
