// Lays out one posting list after the other. Memory: the bytes of the list that is being written.
//
// Thread-safety: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "../format.h"
#include "impacts.h"

namespace gannet {

class PostingWriter {
 public:
  // `average_length` of the segment's documents, which impacts are judged by.
  explicit PostingWriter(float average_length) : average_length_(average_length > 1 ? average_length : 1) {}

  // Documents ascend strictly; positions ascend, at least one, each below kPositionsMax; the weighted frequency is
  // at least 1. Error(kLimit) where a frequency or position is kPositionsMax or more.
  void Add(uint32_t document, uint32_t weighted_frequency, std::span<const uint32_t> positions, uint8_t norm);

  uint32_t document_frequency() const { return document_frequency_; }

  // Appends the list to *out and starts over. At least one posting has been added. Error(kLimit) where a list
  // outgrows its 32-bit offsets.
  void Finish(std::vector<uint8_t>* out);

 private:
  void FlushBlock();
  uint8_t ChooseDocumentCode(uint32_t length);  // fills deltas_
  void AppendDocuments(uint8_t code, uint32_t length);
  void AppendPositions(uint32_t length);
  void WriteSingleton(std::vector<uint8_t>* out) const;

  float average_length_;
  uint32_t document_frequency_ = 0;
  uint64_t total_occurrences_ = 0;
  uint32_t pending_ = 0;             // postings of the block that is being filled
  uint32_t previous_document_ = ~0u; // last document of the block before
  std::array<uint32_t, kBlockSize> documents_;
  std::array<uint32_t, kBlockSize> deltas_;
  std::array<uint32_t, kBlockSize> frequencies_;
  std::array<uint32_t, kBlockSize> counts_;
  std::array<uint8_t, kBlockSize> norms_;
  std::vector<uint32_t> block_positions_;

  ImpactCollector block_collector_;
  ImpactCollector list_collector_;
  std::vector<Impact> impacts_;                 // of all blocks
  std::vector<uint32_t> impact_counts_;         // per block
  std::vector<uint32_t> last_documents_;
  std::vector<uint32_t> block_offsets_;
  std::vector<uint32_t> position_offsets_;
  std::vector<uint8_t> data_;
  std::vector<uint8_t> positions_;
};

}  // namespace gannet
