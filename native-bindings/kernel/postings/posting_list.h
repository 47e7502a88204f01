// A read-only view of one posting list: documents, weighted frequencies, positions, impacts.
//
// Layout of the bytes: docs/formats.md. The view keeps pointers into mapped memory and owns nothing; it is
// good for as long as the segment is open. Every decoding function is memory-safe on arbitrary bytes: Parse
// and the decoders throw Error(kDamaged) rather than read or write out of bounds, and every document number
// that they return is below document_count.
//
// Thread-safety: immutable.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "../format.h"

namespace gannet {

// The most that a posting of a block can contribute: no posting has both a higher frequency and a
// shorter document than some pair. Frequencies saturate at 65535, which stands for "that or more".
struct Impact {
  uint16_t frequency;
  uint8_t norm;
};

class PostingList {
 public:
  // An empty list.
  PostingList() = default;
  // `bytes` is one list as the writer laid it out; at least 8 bytes behind it are readable (chunk padding;
  // inline lists are parsed from LMDB values, so decoders must not read past `bytes` for these).
  static PostingList Parse(std::span<const uint8_t> bytes, uint32_t document_count);

  uint32_t document_frequency() const { return document_frequency_; }
  uint64_t total_occurrences() const { return total_occurrences_; }  // unweighted, over all documents
  uint32_t block_count() const { return block_count_; }

  uint32_t last_document(uint32_t block) const;   // the highest document of the block
  uint32_t block_length(uint32_t block) const;    // kBlockSize but for the last block

  // First block at or after `from` whose last document is >= document; block_count() if none.
  uint32_t FindBlock(uint32_t from, uint32_t document) const;

  // Writes block_length(block) values; `out` has room for kBlockSize. Documents ascend strictly.
  void DecodeDocuments(uint32_t block, uint32_t* out) const;
  // Weighted frequencies: occurrences of the term per field times the field's weight units, summed. >= 1.
  void DecodeFrequencies(uint32_t block, uint32_t* out) const;

  // Positions of the term in the document that is `index`-th in the block, ascending; replaces *out.
  // Position = tokens of the preceding text fields (each field's extent plus one gap) + position in field.
  void DecodePositions(uint32_t block, uint32_t index, std::vector<uint32_t>* out) const;

  // Up to kImpactsPerBlock / kImpactsPerList pairs, at least one.
  std::span<const Impact> BlockImpacts(uint32_t block, std::array<Impact, kImpactsPerBlock>* scratch) const;
  std::span<const Impact> ListImpacts(std::array<Impact, kImpactsPerList>* scratch) const;

 private:
  uint32_t document_frequency_ = 0;
  uint64_t total_occurrences_ = 0;
  uint32_t block_count_ = 0;
  uint32_t document_count_ = 0;
  // The owner of this file adds the private members that the layout needs.
};

}  // namespace gannet
