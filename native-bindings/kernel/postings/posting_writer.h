// Lays out posting lists, one after the other. Memory: the bytes of the list that is being written.
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
  // `average_length` is that of the segment's documents; impacts are judged by it.
  explicit PostingWriter(float average_length) : average_length_(average_length > 1 ? average_length : 1) {}

  // Documents must ascend strictly. There must be at least one position; positions ascend and are below kPositionsMax.
  // The weighted frequency must be at least 1. Throws Error(kLimit) if a frequency or position is kPositionsMax or
  // more.
  void Add(uint32_t document, uint32_t weighted_frequency, std::span<const uint32_t> positions, uint8_t norm);

  uint32_t document_frequency() const { return document_frequency_; }

  // Appends the list, to which at least one posting was added, to *out and starts over. Throws Error(kLimit) if the
  // list outgrows its 32-bit offsets.
  void Finish(std::vector<uint8_t>* out);

 private:
  void FlushBlock();
  // Fills deltas_.
  uint8_t ChooseDocumentCode(uint32_t length);
  void AppendDocuments(uint8_t code, uint32_t length);
  void AppendPositions(uint32_t length);
  void WriteSingleton(std::vector<uint8_t>* out) const;

  float average_length_;
  uint32_t document_frequency_ = 0;
  uint64_t total_occurrences_ = 0;
  uint32_t pending_ = 0;             // postings of the block that is being filled
  uint32_t previous_document_ = ~0u; // last document of the previous block
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
