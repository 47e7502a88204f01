// A read-only view of one posting list: documents, weighted frequencies, positions, impacts.
//
// docs/formats.md describes the bytes. The view keeps pointers into mapped memory and owns nothing; it is valid as long
// as the segment is open. Every decoding function is memory-safe on arbitrary bytes: Parse and the decoders throw
// Error(kDamaged) rather than read or write out of bounds, and every document number that they return is below
// document_count.
//
// Thread-safety: immutable.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "../format.h"

namespace gannet {

// Positions, and the weighted frequency of a term in a document, are below this.
inline constexpr uint32_t kPositionsMax = 1u << 31;

// An upper bound for the postings of a block: no posting has both a higher frequency and a shorter document than all
// pairs. Frequencies saturate at 65535, which means "65535 or more".
inline constexpr uint16_t kSaturatedImpact = 65535;
struct Impact {
  uint16_t frequency;
  uint8_t norm;
};

class PostingList {
 public:
  // An empty list.
  PostingList() = default;
  // `bytes` is one list as the writer laid it out; nothing after it is read.
  static PostingList Parse(std::span<const uint8_t> bytes, uint32_t document_count);

  uint32_t document_frequency() const { return document_frequency_; }
  uint64_t total_occurrences() const { return total_occurrences_; }  // unweighted, over all documents
  uint32_t block_count() const { return block_count_; }
  // Address that identifies the list within its segment; null for an empty list.
  const void* at() const { return list_impacts_; }

  // Returns the highest document of the block.
  uint32_t last_document(uint32_t block) const {
    uint32_t document = only_last_document_;
    if (last_documents_ != nullptr) std::memcpy(&document, last_documents_ + 4 * static_cast<size_t>(block), 4);
    // Damaged bytes must not make a caller index out of bounds.
    return document < document_count_ ? document : document_count_ - 1;
  }
  // Returns kBlockSize, except for the last block.
  uint32_t block_length(uint32_t block) const {
    return block + 1 < block_count_ ? kBlockSize : document_frequency_ - block * kBlockSize;
  }

  // Returns the first block at or after `from` whose last document is >= document; block_count() if there is none.
  uint32_t FindBlock(uint32_t from, uint32_t document) const;

  // Prefetches a block that will be read; most blocks have at most three cache lines.
  void Prefetch(uint32_t block) const {
    if (block_offsets_ == nullptr) return;
    uint32_t offset;
    std::memcpy(&offset, block_offsets_ + 4 * static_cast<size_t>(block), 4);
    __builtin_prefetch(data_ + offset);
    __builtin_prefetch(data_ + offset + 64);
    __builtin_prefetch(data_ + offset + 128);
  }

  void PrefetchPositions(uint32_t block) const {
    if (position_offsets_ == nullptr) return;
    uint32_t offset;
    std::memcpy(&offset, position_offsets_ + 4 * static_cast<size_t>(block), 4);
    __builtin_prefetch(positions_ + offset);
  }

  // Writes block_length(block) values; `out` must have room for kBlockSize. Documents ascend strictly.
  void DecodeDocuments(uint32_t block, uint32_t* out) const;
  // Writes weighted frequencies (>= 1): occurrences of the term per field times the field's weight units, summed.
  void DecodeFrequencies(uint32_t block, uint32_t* out) const;

  // A block that is stored as a bitset, or whose documents are consecutive, can be added to a window without decoding:
  // sets *first to its first document and *words to a little-endian bitset from there (bit i of byte i / 8 is *first +
  // i; empty for a consecutive block, which is [*first, last_document(block)]). Returns false for other blocks. The
  // last bit of the bitset is last_document(block); only DecodeDocuments checks that there are block_length(block)
  // bits.
  bool BlockBitset(uint32_t block, uint32_t* first, std::span<const uint8_t>* words) const;
  // The same for callers that only ask about documents up to last_document(block), which is within the bitset. A
  // damaged bitset may have bits after it. The bitset is not read, which is cheaper.
  bool PeekBitset(uint32_t block, uint32_t* first, std::span<const uint8_t>* words) const;

  // Replaces *out by the positions of the term in the document at `index` in the block, ascending. Position = tokens of
  // the preceding text fields (each field's extent plus one gap) + position in the field; parts of words come after all
  // fields.
  void DecodePositions(uint32_t block, uint32_t index, std::vector<uint32_t>* out) const;
  // The same for all documents of the block, one after the other: the positions of the document at `index` end at
  // ends[index]; `ends` has block_length entries.
  void DecodeBlockPositions(uint32_t block, uint32_t* ends, std::vector<uint32_t>* out) const;

  // Return up to kImpactsPerBlock / kImpactsPerList pairs, at least one; both members ascend strictly.
  std::span<const Impact> BlockImpacts(uint32_t block, std::array<Impact, kImpactsPerBlock>* scratch) const;
  std::span<const Impact> ListImpacts(std::array<Impact, kImpactsPerList>* scratch) const;

 private:
  // The parts of a block's documents and frequencies, within bounds.
  struct BlockParts {
    uint8_t document_code;
    unsigned frequency_width;
    uint32_t frequency_unit;
    const uint8_t* documents;
    size_t documents_size;
    const uint8_t* frequencies;
    size_t frequencies_size;
    const uint8_t* end;
  };
  // The parts of a block's positions: counts and positions, whose size is not yet checked against their number.
  struct PositionParts {
    bool counts_are_frequencies;
    unsigned count_width;
    unsigned position_width;
    const uint8_t* counts;
    size_t counts_size;
    const uint8_t* positions;
    size_t positions_size;
  };
  BlockParts ReadBlock(uint32_t block) const;
  PositionParts ReadPositionBlock(uint32_t block) const;
  static BlockParts ReadBlockAt(const uint8_t* at, const uint8_t* end, uint32_t length);
  void UnpackFrequencies(const BlockParts& parts, uint32_t length, uint32_t addend, uint32_t* out) const;
  void UnpackCounts(uint32_t block, const PositionParts& parts, uint32_t* out) const;
  // Returns the last document of the previous block; ~0 (minus one) for block 0.
  uint32_t PreviousDocument(uint32_t block) const { return block == 0 ? ~0u : last_document(block - 1); }
  bool IsSingleton() const { return document_frequency_ == 1; }

  uint32_t document_frequency_ = 0;
  uint32_t block_count_ = 0;
  uint64_t total_occurrences_ = 0;
  uint32_t document_count_ = 0;
  uint32_t only_last_document_ = 0;              // of a list with one block
  uint32_t singleton_frequency_ = 0;             // of a list with one document
  uint8_t impact_stride_ = 0;                    // pairs per block
  uint8_t list_impact_count_ = 0;
  const uint8_t* list_impacts_ = nullptr;        // varints; checked by Parse
  const uint8_t* last_documents_ = nullptr;      // u32 per block; null for a list with one block
  const uint8_t* block_offsets_ = nullptr;       // u32 per block, into data_
  const uint8_t* position_offsets_ = nullptr;    // u32 per block, into positions_
  const uint8_t* block_impacts_ = nullptr;       // impact_stride_ * 3 bytes per block
  const uint8_t* data_ = nullptr;                // documents and frequencies, up to positions_
  const uint8_t* positions_ = nullptr;
  const uint8_t* end_ = nullptr;
};

}  // namespace gannet
