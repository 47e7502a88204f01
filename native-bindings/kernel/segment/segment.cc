#include "segment.h"

#include <lmdb.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "../analysis/analyzer.h"
#include "../analysis/stemmer.h"
#include "../common/bytes.h"
#include "../common/file.h"
#include "../common/file_faults.h"
#include "../common/mapped_memory.h"
#include "../postings/posting_layout.h"
#include "key_table.h"
#include "lmdb_check.h"
#include "lmdb_writer.h"
#include "segment_meta.h"

namespace gannet {
namespace {

[[noreturn]] void Damaged(const std::string& what) { throw Error(ErrorCode::kDamaged, "segment: " + what); }

[[noreturn]] void ThrowUnreadable(int code, const std::string& what) {
  if (code > 0) ThrowUnread(code, what);
  throw Error(ErrorCode::kDamaged, what + ": " + mdb_strerror(code));
}

std::span<const uint8_t> AsSpan(const MDB_val& value) {
  return {static_cast<const uint8_t*>(value.mv_data), value.mv_size};
}

// One read transaction on the main database, shared by all threads for the life of the segment.
//
// LMDB documents a transaction as belonging to one thread at a time. This one is read-only, on an environment without
// locks (MDB_NOLOCK: no reader table, so no slot that belongs to a thread), and the functions that are called on it do
// not change it. In mdb.c of 0.9.29: mdb_get and mdb_cursor_open make a cursor of their own (mdb_cursor_init only reads
// the transaction); a cursor is chained into mt_cursors only if that is not null, and it is null in a read-only
// transaction; mdb_page_search re-reads a database record only if DB_STALE is set, which it never is for the main
// database; the page lists of a writer are behind !(MDB_TXN_RDONLY). The only remaining stores set MDB_TXN_ERROR when a
// page has a wrong number or type, which CheckLmdbFile has excluded.
class Environment {
 public:
  Environment(const std::string& path, uint64_t file_bytes) {
    try {
      Check(mdb_env_create(&env_), path);
      // The file contains the size that the writer reserved; map only what is there.
      Check(mdb_env_set_mapsize(env_, file_bytes), path);
      Check(mdb_env_open(env_, path.c_str(), MDB_RDONLY | MDB_NOLOCK | MDB_NOSUBDIR | MDB_NOTLS, 0644), path);
      Check(mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn_), path);
      Check(mdb_dbi_open(txn_, nullptr, 0, &dbi_), path);
      inside_ = FirstKey();
    } catch (...) {
      Close();
      throw;
    }
  }
  ~Environment() { Close(); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // Returns false if there is no such key.
  bool Get(std::span<const uint8_t> key, std::span<const uint8_t>* value) const {
    MDB_val key_value{key.size(), const_cast<uint8_t*>(key.data())};
    MDB_val data;
    const int code = mdb_get(txn_, dbi_, &key_value, &data);
    if (code == MDB_NOTFOUND) return false;
    Check(code, "read segment");
    *value = AsSpan(data);
    return true;
  }

  // An address in the mapping; null if the file is empty.
  const void* inside() const { return inside_; }

  MDB_cursor* OpenCursor() const {
    MDB_cursor* cursor = nullptr;
    Check(mdb_cursor_open(txn_, dbi_, &cursor), "read segment");
    return cursor;
  }

 private:
  static void Check(int code, const std::string& what) {
    if (code != 0) ThrowUnreadable(code, what);
  }
  const void* FirstKey() const {
    MDB_cursor* cursor = OpenCursor();
    MDB_val key{0, nullptr};
    MDB_val value;
    const int code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
    mdb_cursor_close(cursor);
    return code == 0 ? key.mv_data : nullptr;
  }
  void Close() {
    if (txn_ != nullptr) mdb_txn_abort(txn_);
    if (env_ == nullptr) return;
    ForgetFault(inside_);
    const UnmappingGuard guard;
    mdb_env_close(env_);
  }

  MDB_env* env_ = nullptr;
  MDB_txn* txn_ = nullptr;
  MDB_dbi dbi_ = 0;
  const void* inside_ = nullptr;
};

// Keys of LMDB have at most 511 bytes, and stored terms are shorter than this.
constexpr size_t kSoughtBytesMax = 500;

class CursorGuard {
 public:
  explicit CursorGuard(MDB_cursor* cursor) : cursor_(cursor) {}
  ~CursorGuard() { mdb_cursor_close(cursor_); }
  CursorGuard(const CursorGuard&) = delete;
  CursorGuard& operator=(const CursorGuard&) = delete;

  // Makes the next call of Next search for its `from` again.
  void Restart() { started_ = false; }
  // Moves to the next entry; the first call moves to the first one at or after `from`. Returns false at the end.
  bool Next(std::span<const uint8_t> from, std::span<const uint8_t>* key, std::span<const uint8_t>* value) {
    MDB_val key_value{from.size(), const_cast<uint8_t*>(from.data())};
    MDB_val data;
    const int code = mdb_cursor_get(cursor_, &key_value, &data, started_ ? MDB_NEXT : MDB_SET_RANGE);
    started_ = true;
    if (code == MDB_NOTFOUND) return false;
    if (code != 0) ThrowUnreadable(code, "read segment");
    *key = AsSpan(key_value);
    *value = AsSpan(data);
    return true;
  }

 private:
  MDB_cursor* cursor_;
  bool started_ = false;
};

// Maximum number of terms of a segment whose keys are kept in a table, for which all of them are read when the segment
// is opened.
constexpr uint64_t kTabledTermsMax = 8192;

// Maximum number of terms for which sketches are kept (12 bytes each). With many more, walking the index is no slower
// than comparing all sketches.
constexpr uint32_t kSketchedTermsMax = 16384;

std::vector<uint8_t> TermBytes(std::string_view term) {
  std::vector<uint8_t> key = MakeKey(Key::kTerm);
  AppendBytes(&key, AsBytes(term));
  return key;
}

class LmdbSegment final : public Segment {
 public:
  LmdbSegment(const std::string& path, uint64_t file_bytes) : environment_(path, file_bytes), file_bytes_(file_bytes) {
    meta_ = DecodeSegmentMeta(Required(MakeKey(Key::kMeta), "meta"));
    const size_t documents = meta_.document_count;
    norms_ = Required(MakeKey(Key::kNorms), "norms");
    if (norms_.size() != documents) Damaged("norms");
    record_numbers_ = Numbers(Required(MakeKey8(Key::kRecordNumbers, 0), "record numbers"));
    std::span<const uint8_t> sorted;
    // Left out if record numbers ascend by document, as in a segment of new records.
    if (environment_.Get(MakeKey8(Key::kRecordNumbers, 1), &sorted)) {
      documents_by_record_ = Numbers(sorted);
    }
    const auto field_count = static_cast<uint32_t>(meta_.text_fields.size());
    for (uint32_t field = 0; field < field_count; ++field) {
      field_lengths_.push_back(ReadLengths(field, "field lengths"));
      part_lengths_.push_back(ReadLengths(field_count + field, "lengths of parts"));
    }
    for (uint32_t column = 0; column < meta_.columns.size(); ++column) {
      std::array<std::span<const uint8_t>, kColumnPartCount> parts;
      for (uint8_t part = 0; part < kColumnPartCount; ++part) {
        std::span<const uint8_t> value;
        if (environment_.Get(MakeKey16(Key::kColumn, column, part), &value)) parts[part] = Aligned(value);
      }
      const ColumnMeta& meta = meta_.columns[column];
      columns_.push_back(Column::Parse(meta.type, meta.many, meta_.document_count, parts));
    }
    OpenSpelling();
    OpenTable();
    CursorGuard cursor(environment_.OpenCursor());
    std::span<const uint8_t> key;
    std::span<const uint8_t> value;
    const auto first_chunk = MakeKey32(Key::kPostings, 0);
    while (cursor.Next(first_chunk, &key, &value) && key[0] == static_cast<uint8_t>(Key::kPostings)) {
      if (!std::ranges::equal(key, MakeKey32(Key::kPostings, static_cast<uint32_t>(chunks_.size()))) ||
          value.size() < kPostingChunkPadding) {
        Damaged("chunks of postings");
      }
      chunks_.push_back(value.first(value.size() - kPostingChunkPadding));
    }
    cache().word_forms.LimitBytes(kWordFormsBytes.Of(documents));
    cache().expansions.LimitBytes(kExpansionsBytes.Of(documents));
    cache().term_entries.LimitBytes(kTermEntriesBytes.Of(documents));
    cache().comparisons.LimitBytes(kComparisonsBytes.Of(documents));
    cache().joined_lists.LimitBytes(kJoinedListsBytes.Of(documents));
    cache().neighbours.LimitBytes(kNeighboursBytes.Of(documents));
  }

  const SegmentMeta& meta() const override { return meta_; }
  std::span<const uint8_t> norms() const override { return norms_; }
  std::span<const uint32_t> record_numbers() const override { return record_numbers_; }
  const Column& column(uint32_t index) const override { return columns_.at(index); }
  uint64_t file_bytes() const override { return file_bytes_; }
  bool is_unreadable() const override { return HasFault(environment_.inside()); }

  uint32_t FieldLength(uint32_t field, uint32_t document) const override { return field_lengths_[field].Of(document); }
  uint32_t PartLength(uint32_t field, uint32_t document) const override { return part_lengths_[field].Of(document); }

  const UnitsByNorm* part_units() const override {
    if (std::ranges::all_of(part_lengths_, [](const FieldLengths& field) { return field.width == 0; })) return nullptr;
    std::call_once(part_units_once_, [&] { FindPartUnits(); });
    return &part_units_;
  }

  size_t SelectByFieldLength(std::span<const uint32_t> documents, uint32_t length, uint32_t* out) const override {
    const bool is_narrow = std::ranges::all_of(field_lengths_, [](const FieldLengths& field) { return field.width <= 1; });
    if (!is_narrow || length == 0) return Segment::SelectByFieldLength(documents, length, out);
    // Without branches, because it is unpredictable whether a field has the length.
    size_t count = 0;
    for (const uint32_t document : documents) {
      const uint32_t within = std::min(document, meta_.document_count - 1);
      bool has_length = false;
      for (const auto& [bytes, width] : field_lengths_) has_length |= width == 1 && bytes[within] == length;
      out[count] = document;
      count += has_length & (within == document);
    }
    return count;
  }

  std::optional<uint32_t> FindDocument(uint32_t record_number) const override {
    const auto& order = documents_by_record_;
    const auto document_at = [&](uint32_t rank) {
      // A damaged order must not lead outside the documents.
      return order.empty() ? rank : std::min(order[rank], meta_.document_count - 1);
    };
    uint32_t low = 0;
    uint32_t high = meta_.document_count;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (record_numbers_[document_at(middle)] < record_number) low = middle + 1; else high = middle;
    }
    if (low == meta_.document_count || record_numbers_[document_at(low)] != record_number) return std::nullopt;
    return document_at(low);
  }

  std::span<const uint8_t> FindStemGroup(std::string_view stem) const override {
    if (stem.size() > kStemmedBytesMax) return {};
    std::span<const uint8_t> value;
    if (!Find(Key::kStemGroup, stem, HashTerm(stem), &value)) return {};
    return value;
  }

  const SpellingIndex& spelling() const override { return spelling_; }
  const SpellingSketches& spelling_sketches() const override { return sketches_; }

  bool has_table() const override { return table_.is_known(); }

  std::span<const uint8_t> FindEntry(std::string_view term, uint32_t hash) const override {
    std::string scratch;
    const std::string_view stored = TermKey(term, &scratch);
    if (stored.size() > kTermBytesMax) return {};
    std::span<const uint8_t> entry;
    if (!Find(Key::kTerm, stored, term.size() > kTermBytesMax ? HashTerm(stored) : hash, &entry)) return {};
    if (entry.empty()) Damaged("a term without an entry");
    return entry;
  }

  PostingList Postings(std::span<const uint8_t> entry) const override {
    ByteReader reader(entry);
    const uint64_t head = reader.Varint();
    if ((head & kExternalFlag) == 0) return PostingList::Parse(entry, meta_.document_count);
    const uint64_t chunk = reader.Varint();
    const uint64_t offset = reader.Varint();
    const uint64_t bytes = reader.Varint();
    if (chunk >= chunks_.size() || offset > chunks_[chunk].size() || bytes > chunks_[chunk].size() - offset) {
      Damaged("a term that points outside the postings");
    }
    const PostingList list = PostingList::Parse(chunks_[chunk].subspan(offset, bytes), meta_.document_count);
    if (list.document_frequency() != head >> 1) Damaged("a term whose list is another's");
    return list;
  }

  void VisitTerms(std::string_view from, TermVisitor* visitor) const override {
    Cursor cursor(*this, from);
    while (cursor.Next() && visitor->Visit(cursor.term(), cursor.document_frequency())) continue;
  }

  std::unique_ptr<TermCursor> Terms(std::string_view from) const override {
    return std::make_unique<Cursor>(*this, from);
  }

 private:
  class Cursor final : public TermCursor {
   public:
    Cursor(const LmdbSegment& segment, std::string_view from)
        : segment_(segment), cursor_(segment.environment_.OpenCursor()), from_(TermBytes(from.substr(0, kSoughtBytesMax))) {}
    bool Next() override {
      std::span<const uint8_t> key;
      if (!cursor_.Next(from_, &key, &entry_) || key[0] != static_cast<uint8_t>(Key::kTerm)) return false;
      term_ = AsText(key.subspan(1));
      document_frequency_ = static_cast<uint32_t>(
          std::min<uint64_t>(ByteReader(entry_).Varint() >> 1, segment_.meta_.document_count));
      return true;
    }
    void Seek(std::string_view from) override {
      from_ = TermBytes(from.substr(0, kSoughtBytesMax));
      cursor_.Restart();
    }
    std::string_view term() const override { return term_; }
    uint32_t document_frequency() const override { return document_frequency_; }
    PostingList Postings() const override { return segment_.Postings(entry_); }

   private:
    const LmdbSegment& segment_;
    CursorGuard cursor_;
    std::vector<uint8_t> from_;
    std::span<const uint8_t> entry_;
    std::string_view term_;
    uint32_t document_frequency_ = 0;
  };

  // Looks at all documents, which takes a millisecond for some hundred thousand, in each field whose words have parts.
  void FindPartUnits() const {
    std::vector<uint32_t> fields;
    for (uint32_t field = 0; field < part_lengths_.size(); ++field) {
      if (part_lengths_[field].width != 0) fields.push_back(field);
    }
    for (uint32_t document = 0; document < meta_.document_count; ++document) {
      uint64_t units = 0;
      for (const uint32_t field : fields) {
        units += uint64_t{part_lengths_[field].Of(document)} * meta_.text_fields[field].weight_units;
      }
      if (units > 0) KeepMost(norms_[document], units, &part_units_);
    }
  }

  struct FieldLengths {
    const uint8_t* bytes;
    uint8_t width;  // bytes per document; 0: all lengths are 0

    uint32_t Of(uint32_t document) const {
      switch (width) {
        case 0: return 0;
        case 1: return bytes[document];
        case 2: return Load<uint16_t>(bytes + 2 * static_cast<size_t>(document));
        default: return Load<uint32_t>(bytes + 4 * static_cast<size_t>(document));
      }
    }
  };

  FieldLengths ReadLengths(uint32_t index, const char* what) {
    const size_t documents = meta_.document_count;
    const auto lengths = Aligned(Required(MakeKey16(Key::kFieldLengths, index), what));
    const size_t width = lengths.size() / documents;
    if (lengths.size() % documents != 0 || width > 4 || width == 3) Damaged(what);
    return {lengths.data(), static_cast<uint8_t>(width)};
  }

  std::span<const uint8_t> Required(const std::vector<uint8_t>& key, const char* what) const {
    std::span<const uint8_t> value;
    if (!environment_.Get(key, &value)) Damaged(std::string("no ") + what);
    return value;
  }

  // Returns the value at an address divisible by 8: itself, or a copy. Only small values are unaligned (large ones
  // begin after the header of a page of their own), so little is copied.
  std::span<const uint8_t> Aligned(std::span<const uint8_t> value) {
    if (reinterpret_cast<uintptr_t>(value.data()) % 8 == 0 || value.empty()) return value;
    auto& copy = copies_.emplace_back(std::make_unique<uint64_t[]>((value.size() + 7) / 8));
    std::memcpy(copy.get(), value.data(), value.size());
    return {reinterpret_cast<const uint8_t*>(copy.get()), value.size()};
  }

  void OpenSpelling() {
    std::span<const uint8_t> text;
    if (!environment_.Get(MakeKey8(Key::kSpelling, 0), &text)) return;
    spelling_ = SpellingIndex(text, AnyNumbers(Required(MakeKey8(Key::kSpelling, 1), "spelling offsets")),
                              AnyNumbers(Required(MakeKey8(Key::kSpelling, 2), "spelling order")));
    if (spelling_.size() <= kSketchedTermsMax) sketches_ = SpellingSketches(spelling_);
  }

  void OpenTable() {
    if (meta_.term_count > kTabledTermsMax) return;
    CursorGuard cursor(environment_.OpenCursor());
    std::span<const uint8_t> key;
    std::span<const uint8_t> value;
    const auto first = MakeKey(Key::kStemGroup);
    while (cursor.Next(first, &key, &value) && key[0] <= static_cast<uint8_t>(Key::kTerm)) {
      // There are more entries than a stem group per term: the number of terms is wrong.
      if (!table_.Add(key, value)) return;
    }
    table_.Build();
  }

  // Finds the stored value of a term or stem group; returns false if there is none.
  bool Find(Key kind, std::string_view text, uint32_t hash, std::span<const uint8_t>* value) const {
    if (table_.is_known()) {
      const KeyTable::Value* found = table_.Find(static_cast<uint8_t>(kind), text, hash);
      if (found != nullptr) *value = *found;
      return found != nullptr;
    }
    std::array<uint8_t, 1 + kTermBytesMax> key;
    key[0] = static_cast<uint8_t>(kind);
    std::ranges::copy(text, key.begin() + 1);
    return environment_.Get({key.data(), 1 + text.size()}, value);
  }

  std::span<const uint32_t> AnyNumbers(std::span<const uint8_t> value) {
    if (value.size() % sizeof(uint32_t) != 0) Damaged("array of numbers");
    return {reinterpret_cast<const uint32_t*>(Aligned(value).data()), value.size() / sizeof(uint32_t)};
  }

  std::span<const uint32_t> Numbers(std::span<const uint8_t> value) {
    if (value.size() != 4 * static_cast<size_t>(meta_.document_count)) Damaged("record numbers");
    return {reinterpret_cast<const uint32_t*>(Aligned(value).data()), meta_.document_count};
  }

  Environment environment_;
  uint64_t file_bytes_;
  SegmentMeta meta_;
  std::span<const uint8_t> norms_;
  std::span<const uint32_t> record_numbers_;
  std::span<const uint32_t> documents_by_record_;  // empty: record numbers ascend by document
  std::vector<FieldLengths> field_lengths_;
  std::vector<FieldLengths> part_lengths_;  // likewise
  mutable std::once_flag part_units_once_;
  mutable UnitsByNorm part_units_{};
  std::vector<Column> columns_;
  SpellingIndex spelling_;
  SpellingSketches sketches_;
  KeyTable table_;                                 // of terms and stem groups, if they are few
  std::vector<std::span<const uint8_t>> chunks_;   // without their padding
  std::vector<std::unique_ptr<uint64_t[]>> copies_;
};

}  // namespace

size_t Segment::SelectByFieldLength(std::span<const uint32_t> documents, uint32_t length, uint32_t* out) const {
  size_t count = 0;
  for (const uint32_t document : documents) {
    if (document >= document_count()) continue;
    bool has_length = false;
    for (uint32_t field = 0; field < meta().text_fields.size() && !has_length; ++field) {
      has_length = FieldLength(field, document) == length;
    }
    if (has_length) out[count++] = document;
  }
  return count;
}

std::shared_ptr<const Segment> Segment::Open(const std::string& path) {
  uint64_t file_bytes = 0;
  {
    const MappedFile file(path);
    CheckLmdbFile(file.bytes());
    file_bytes = file.bytes().size();
  }
  return std::make_shared<LmdbSegment>(path, file_bytes);
}

}  // namespace gannet
