#include "pooled_postings.h"

#include <algorithm>
#include <array>

#include "../common/stop.h"
#include "../window/contributions.h"
#include "posting_cursor.h"

namespace gannet {
namespace {

// Walking a list in a window without any of its postings costs about as much as pooling this number of postings.
constexpr uint32_t kRarePostingsPerWindow = 8;

uint32_t WindowCount(uint32_t document_count) { return (document_count + kWindowSize - 1) / kWindowSize; }

}  // namespace

bool PooledPostings::IsRare(const PostingList& list, uint32_t document_count) {
  return list.document_frequency() <= uint64_t{kRarePostingsPerWindow} * WindowCount(document_count);
}

PooledPostings::PooledPostings(std::span<const Source> sources, uint32_t document_count, const uint8_t* norms,
                               const float* saturation)
    : begins_(WindowCount(document_count) + 1), bounds_(WindowCount(document_count)) {
  size_t total = 0;
  for (const Source& source : sources) total += source.list->document_frequency();
  std::vector<uint32_t> documents(total + kBlockSize);
  std::vector<float> frequencies(total);
  std::array<uint32_t, kBlockSize> decoded;
  size_t count = 0;
  for (const Source& source : sources) {
    uint32_t window = kNoDocument;
    float greatest = 0;
    const auto add_bound = [&] {
      if (window != kNoDocument) bounds_[window] += greatest;
    };
    for (uint32_t block = 0; block < source.list->block_count(); ++block) {
      StopIfAsked();
      const uint32_t length = source.list->block_length(block);
      source.list->DecodeDocuments(block, documents.data() + count);
      source.list->DecodeFrequencies(block, decoded.data());
      for (uint32_t i = 0; i < length; ++i) {
        const uint32_t document = documents[count + i];
        const float frequency = source.weight * FrequencyToFloat(decoded[i]);
        frequencies[count + i] = frequency;
        ++begins_[document / kWindowSize + 1];
        if (document / kWindowSize != window) {
          add_bound();
          window = document / kWindowSize;
          greatest = 0;
        }
        greatest = std::max(greatest, Contribution(frequency, saturation[norms[document]], 1));
      }
      count += length;
    }
    add_bound();
  }
  for (size_t window = 1; window < begins_.size(); ++window) begins_[window] += begins_[window - 1];
  offsets_.resize(count);
  frequencies_.resize(count);
  std::vector<uint32_t> next(begins_.begin(), begins_.end() - 1);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t place = next[documents[i] / kWindowSize]++;
    offsets_[place] = static_cast<uint16_t>(documents[i] % kWindowSize);
    frequencies_[place] = frequencies[i];
  }
}

float PooledPostings::Bound(WindowRange range) const {
  float bound = 0;
  for (uint32_t window = range.base / kWindowSize; window < bounds_.size() && window * kWindowSize < range.end; ++window) {
    bound = std::max(bound, bounds_[window]);
  }
  return bound;
}

void PooledPostings::Accumulate(WindowRange range, float* sums, TouchedOffsets* touched) const {
  const uint32_t window = range.base / kWindowSize;
  for (uint32_t i = begins_[window]; i < begins_[window + 1];) {
    const uint32_t end = std::min(begins_[window + 1], i + TouchedOffsets::kRunMax);
    for (; i < end; ++i) touched->Add(offsets_[i], frequencies_[i], sums);
    touched->EndRun();
  }
}

uint64_t PooledPostings::Mark(WindowRange range, uint64_t* bits) const {
  const uint32_t first = range.base / kWindowSize;
  uint64_t windows = 0;
  for (uint32_t window = first; window < bounds_.size() && window * kWindowSize < range.end; ++window) {
    uint64_t* words = bits + size_t{window - first} * kWindowWords;
    for (uint32_t i = begins_[window]; i < begins_[window + 1]; ++i) {
      words[offsets_[i] / 64] |= uint64_t{1} << (offsets_[i] % 64);
    }
    windows |= uint64_t{begins_[window] < begins_[window + 1]} << (window - first);
  }
  return windows;
}

uint32_t PooledPostings::NextDocument(uint32_t target) const {
  const uint32_t window = target / kWindowSize;
  if (window >= bounds_.size()) return kNoDocument;
  // The first window, from that of the target on, that has a posting.
  const auto next = std::upper_bound(begins_.begin() + window + 1, begins_.end(), begins_[window]);
  if (next == begins_.end()) return kNoDocument;
  return std::max(target, static_cast<uint32_t>(next - begins_.begin() - 1) * kWindowSize);
}

}  // namespace gannet
