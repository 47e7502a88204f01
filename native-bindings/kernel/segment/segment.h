// An open segment: an immutable inverted index in one memory-mapped LMDB file.
//
// Open checks the whole B+tree structure (every page header, node offset and overflow reference against the file's
// size) before LMDB may follow it, so that a damaged or truncated file is Error(kDamaged), never a crash. Values are
// checked by the views that read them.
//
// Thread-safety: immutable after Open; any number of threads may call any method. The file must not be
// changed while it is open; unlinking it is fine.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../columns/column.h"
#include "../common/kept_by_fields.h"
#include "../format.h"
#include "../postings/posting_list.h"
#include "../vocabulary/segment_cache.h"
#include "../vocabulary/spelling_index.h"
#include "../vocabulary/spelling_sketches.h"
#include "key_table.h"

namespace gannet {

class NarrowedSegment;

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
  uint64_t weighted_length_sum = 0;  // sum over documents of tokens * weight units; gives the average length
  uint64_t term_count = 0;
  std::vector<TextFieldMeta> text_fields;
  std::vector<ColumnMeta> columns;
  std::string language;              // whose stems group the terms; empty if none
};

// Walks the terms of a segment in byte order. Belongs to one thread, and must not outlive its segment.
class TermCursor {
 public:
  virtual ~TermCursor() = default;
  // Steps to the next term (the first call: to the first one). Returns false at the end. Throws Error(kDamaged).
  virtual bool Next() = 0;
  // Makes the following Next step to the first term >= `from`.
  virtual void Seek(std::string_view from) = 0;
  // The current term; valid until the segment is closed. A long term appears as its stored key.
  virtual std::string_view term() const = 0;
  virtual uint32_t document_frequency() const = 0;  // read without parsing the list
  virtual PostingList Postings() const = 0;
};

// Weight units by length code (see norm.h).
using UnitsByNorm = std::array<uint32_t, 256>;

class Segment {
 public:
  static std::shared_ptr<const Segment> Open(const std::string& path);
  virtual ~Segment() = default;

  virtual const SegmentMeta& meta() const = 0;
  uint32_t document_count() const { return meta().document_count; }

  // Length codes by document (see norm.h) of the sum of tokens * weight units over the text fields.
  virtual std::span<const uint8_t> norms() const = 0;
  // Returns the number of tokens (with gaps between the values of an array) of a text field in a document.
  virtual uint32_t FieldLength(uint32_t field, uint32_t document) const = 0;

  // Returns the number of positions that the parts of words of a text field take in a document. They follow those of all
  // fields, in the order of the fields.
  virtual uint32_t PartLength(uint32_t /*field*/, uint32_t /*document*/) const { return 0; }

  // Returns the most weight units that the positions of parts of words take in any document of a length code. These come
  // on top of the length, so that a document of one word may have a term several times. Null if no word has parts.
  virtual const UnitsByNorm* part_units() const { return nullptr; }

  // Writes those of the documents, in any order, that have a text field of this length to `out`, which may be the same
  // memory; returns how many. A document that is out of range is left out.
  virtual size_t SelectByFieldLength(std::span<const uint32_t> documents, uint32_t length, uint32_t* out) const;

  virtual std::span<const uint32_t> record_numbers() const = 0;  // by document
  // Returns the document with a record number; a segment has a record number at most once.
  virtual std::optional<uint32_t> FindDocument(uint32_t record_number) const = 0;

  // Returns an empty list (document_frequency 0) if the term does not occur.
  PostingList FindTerm(std::string_view term) const {
    const std::span<const uint8_t> entry = FindEntry(term);
    return entry.empty() ? PostingList() : Postings(entry);
  }
  // Returns the stored entry of the term, from which Postings makes the list; if many are kept, it takes a tenth of the
  // memory of a PostingList. Empty if the term does not occur; valid as long as the segment is open.
  std::span<const uint8_t> FindEntry(std::string_view term) const { return FindEntry(term, HashTerm(term)); }
  // The same for callers that ask several segments: `hash` is HashTerm(term).
  virtual std::span<const uint8_t> FindEntry(std::string_view term, uint32_t hash) const = 0;
  // True if a term look-up costs no more than a look-up in a cache.
  virtual bool has_table() const { return false; }
  virtual PostingList Postings(std::span<const uint8_t> entry) const = 0;

  // Visits terms in byte order, from the first one >= `from`. `visit` returns false to stop. A long term appears as its
  // stored key. document_frequency is read without parsing the list.
  struct TermVisitor {
    virtual ~TermVisitor() = default;
    virtual bool Visit(std::string_view term, uint32_t document_frequency) = 0;
  };
  virtual void VisitTerms(std::string_view from, TermVisitor* visitor) const = 0;
  // The same as a cursor. Never null for a segment that Open returned (not pure virtual, so that a test's fake segment
  // may leave it out).
  virtual std::unique_ptr<TermCursor> Terms(std::string_view /*from*/) const { return nullptr; }

  // Returns the value of a stem's group (stem_group.h); empty if the stem itself is the only possible term.
  virtual std::span<const uint8_t> FindStemGroup(std::string_view /*stem*/) const { return {}; }
  // Index of the terms that a misspelt word may stand for.
  virtual const SpellingIndex& spelling() const {
    static const SpellingIndex kNone;
    return kNone;
  }
  // Sketches of these terms if there are few of them; asked before the index.
  virtual const SpellingSketches& spelling_sketches() const {
    static const SpellingSketches kNone;
    return kNone;
  }
  // Cached answers about this segment. Locks internally.
  SegmentCache& cache() const { return cache_; }
  // Cached answers about its columns.
  virtual SegmentCache& column_cache() const { return cache_; }
  // Views of this segment with only some text fields (narrowed_segment.h).
  KeptByFields<NarrowedSegment>& narrowed() const { return narrowed_; }

  virtual const Column& column(uint32_t index) const = 0;
  virtual uint64_t file_bytes() const = 0;
  // True once a part of the file could not be read: then nothing that was read from it is reliable.
  virtual bool is_unreadable() const { return false; }

 private:
  mutable SegmentCache cache_;
  mutable KeptByFields<NarrowedSegment> narrowed_;
};

// Reads everything in the file that Open does not: decodes every list and column, and checks what the format promises
// (documents, frequencies, positions against field lengths, impacts against postings, ordinals, unique record numbers,
// totals, stems, spelling). Returns a description of what is wrong, empty if nothing is. Throws Error(kIo) if the file
// cannot be read. Takes about as long as a merge; for `gannet doctor` and tests.
std::string VerifySegment(const std::string& path);

// Raises the units of a length code to at least `units`.
inline void KeepMost(uint8_t norm, uint64_t units, UnitsByNorm* most) {
  (*most)[norm] = static_cast<uint32_t>(std::clamp<uint64_t>(units, (*most)[norm], 0xffffffffu));
}

}  // namespace gannet
