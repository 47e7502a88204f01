// What one segment says about a word: how often it occurs, and the terms that it may stand for. Packed, because a
// segment keeps thousands of these (segment_cache.h): neighbouring terms in byte order share most of their beginnings,
// and a form takes some 7 bytes.
//
// Thread-safety: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "../common/bytes.h"

namespace gannet {

// A term of one segment that a word may stand for.
struct WordForm {
  std::string term;
  uint32_t distance = 0;  // edits
  uint64_t document_frequency = 0;
};

class PackedForms {
 public:
  PackedForms() = default;
  // `forms` must be in byte order of the terms.
  explicit PackedForms(std::span<const WordForm> forms);

  // Calls visit(std::string_view term, uint32_t distance, uint64_t document_frequency) for each, in their order.
  template <typename Visitor>
  void Visit(Visitor&& visit) const {
    ByteReader reader(AsBytes(bytes_));
    std::string term;
    while (reader.remaining() > 0) {
      term.resize(reader.Varint32(static_cast<uint32_t>(term.size())));
      const auto distance = reader.Varint32();
      const uint64_t document_frequency = reader.Varint();
      term += AsText(reader.Bytes(reader.Varint32()));
      visit(std::string_view(term), distance, document_frequency);
    }
  }

  size_t byte_count() const { return bytes_.size(); }
  // Memory beyond the object itself.
  size_t HeapBytes() const;

 private:
  // For each form: number of bytes its term shares with the previous one, edits, document frequency, and length and
  // bytes of the rest of the term.
  std::string bytes_;
};

struct WordForms {
  uint64_t document_frequency = 0;
  PackedForms stems;
  // May include the word itself.
  PackedForms spellings;
};

}  // namespace gannet
