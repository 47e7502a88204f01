// Turns documents into posting lists in memory.
//
// Every term has a stream of variable-length codes in a pool of slices: a new document (tag 1, the distance from the
// last one), a step to another text field (tag 2), an occurrence (tag 0, the distance from the last position). A stream
// takes two to three bytes per occurrence. It is read once, when the lists are laid out in the order of their terms.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../analysis/analyzer.h"
#include "../analysis/signed_words.h"
#include "../analysis/word_parts.h"
#include "../common/string_table.h"
#include "../postings/posting_list.h"

namespace gannet {

class Inverter {
 public:
  explicit Inverter(std::vector<uint32_t> weight_units);

  // Adds one document. texts[field] holds the values of the field. The length of each field (its extent, with a gap of
  // one position between values) is added to lengths(). Parts of words get positions behind those of all fields and
  // count for part_lengths() only. A word with signs gets the position of the word. Throws Error(kLimit) if there are
  // kPositionsMax words or more.
  void AddDocument(std::span<const std::vector<std::string_view>> texts);

  // Lengths by field, then by document.
  const std::vector<std::vector<uint32_t>>& lengths() const { return lengths_; }
  // The same for the positions that the parts of the words of a field take.
  const std::vector<std::vector<uint32_t>>& part_lengths() const { return part_lengths_; }
  uint32_t term_count() const { return terms_.size(); }

  // Calls visit(term, list bytes) for every term in byte order. `norms` has one entry per document.
  void WriteLists(std::span<const uint8_t> norms, float average_length,
                  const std::function<void(std::string_view, std::span<const uint8_t>)>& visit);

 private:
  // The end of a term's stream, and what the next code is relative to.
  struct Stream {
    uint8_t* at;              // next free byte
    uint32_t room;            // bytes left before the link at the end of the slice
    uint32_t first_slice;     // as a slice number
    uint32_t next_document;   // the last document + 1
    uint32_t position;        // last position in that document
    uint16_t field;
    uint8_t level;            // of the slice's size (kSliceLevels)
  };
  static constexpr uint32_t kSliceUnit = 8;         // slice offsets are multiples of this
  static constexpr uint32_t kPoolBlockBytes = 1u << 20;
  static constexpr uint32_t kSliceLevels = 9;       // 16 << level bytes: 16 to 4096
  static constexpr uint32_t kLinkBytes = 4;

  // An occurrence that waits to be added with others, so that the memory it needs is fetched while others are hashed.
  struct Pending {
    uint32_t hash;
    uint32_t term_begin;  // in pending_terms_
    uint32_t term_bytes;
    uint32_t field;
    uint32_t position;
    uint32_t term;        // the term's number: at first guessed, then known
  };
  static constexpr size_t kPendingMax = 128;

  class StreamReader;

  // A part of a word that waits for the end of its document's fields.
  struct WaitingPart {
    uint32_t term_begin;  // in waiting_terms_
    uint32_t term_bytes;
    uint32_t field;
    uint64_t place;       // relative to the first position behind the fields
  };

  // Queues the occurrence; adds all queued ones when there are kPendingMax.
  void Pend(std::string_view term, uint32_t field, uint64_t position);
  void KeepParts(std::string_view text, const Token& token, uint32_t field);
  void PendParts(uint64_t begin);
  void AddPending();
  void AddOccurrence(uint32_t term, uint32_t field, uint32_t position);
  void Append(Stream* stream, uint64_t value);
  void NextSlice(Stream* stream);
  uint32_t NewSlice(uint32_t bytes);
  uint8_t* SliceAt(uint32_t slice) const {
    constexpr uint32_t kSlicesPerBlock = kPoolBlockBytes / kSliceUnit;
    return pool_[slice / kSlicesPerBlock].get() + (slice % kSlicesPerBlock) * kSliceUnit;
  }

  std::vector<uint32_t> weight_units_;
  Analyzer analyzer_;
  StringTable terms_;
  std::vector<Stream> streams_;
  std::vector<std::unique_ptr<uint8_t[]>> pool_;
  uint32_t pool_left_ = 0;
  std::vector<std::vector<uint32_t>> lengths_;
  std::vector<std::vector<uint32_t>> part_lengths_;
  uint32_t document_ = 0;
  std::string scratch_;
  std::vector<Pending> pending_;
  std::string pending_terms_;
  WordParts word_parts_;
  SignedWords signed_words_;
  std::vector<WaitingPart> waiting_;
  std::string waiting_terms_;
  uint64_t places_ = 0;  // number of places that waiting parts take
};

}  // namespace gannet
