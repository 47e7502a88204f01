#include "homes_by_segment.h"

#include <algorithm>
#include <span>

namespace gannet {
namespace {

// A segment must have at least one document per this number of documents or vectors that lead to records.
constexpr uint32_t kShareMin = 16;

// Returns true if the indexes from `index` on lead to kAtOnce consecutive documents, and no other indexes do. Indexes
// that lead to the same document are consecutive.
bool LeadAlone(std::span<const uint32_t> documents, size_t index) {
  const uint32_t first = documents[index];
  const size_t end = index + HomesInSegment::kAtOnce;
  for (size_t at = index; at < end; ++at) {
    if (documents[at] != first + (at - index)) return false;
  }
  return (index == 0 || documents[index - 1] != first) && (end == documents.size() || documents[end] != documents[end - 1]);
}

}  // namespace

HomesInSegment::HomesInSegment(std::span<const uint32_t> documents) : size_(documents.size()) {
  for (size_t index = 0; index + kAtOnce <= documents.size(); ++index) {
    const uint32_t first = documents[index];
    if (first % kAtOnce != 0 || !LeadAlone(documents, index)) continue;
    if (indexes_.size() <= first / kAtOnce) indexes_.resize(first / kAtOnce + 1, kNoHome);
    indexes_[first / kAtOnce] = static_cast<uint32_t>(index);
  }
  const auto has_home = [](uint32_t document) { return document != kNoHome; };
  const auto first = std::ranges::find_if(documents, has_home);
  if (first == documents.end()) return;
  begin_ = static_cast<size_t>(first - documents.begin()) / kAtOnce * kAtOnce;
  const auto end = std::find_if(documents.rbegin(), documents.rend(), has_home).base();
  documents_.assign(documents.begin() + static_cast<ptrdiff_t>(begin_), end);
  straight_.resize((documents_.size() + kAtOnce - 1) / kAtOnce);
  for (size_t begin = 0; begin + kAtOnce <= documents_.size(); begin += kAtOnce) {
    const uint32_t home = documents_[begin];
    size_t same = 0;
    while (same < kAtOnce && home < kNoHome - kAtOnce && documents_[begin + same] == home + same) ++same;
    straight_[begin / kAtOnce] = same == kAtOnce;
  }
}

std::shared_ptr<const HomesInSegment> HomesBySegment::In(const std::shared_ptr<const Segment>& fields, uint32_t count,
                                                         const std::function<std::vector<uint32_t>()>& find) {
  if (fields->document_count() < count / kShareMin) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(fields.get());
  // A new segment may have been allocated at the address of a closed one.
  if (found != entries_.end() && found->second.fields.lock() == fields) return found->second.homes;
  std::erase_if(entries_, [](const auto& entry) { return entry.second.fields.expired(); });
  const auto homes = std::make_shared<const HomesInSegment>(find());
  entries_.insert_or_assign(fields.get(), Entry{fields, homes});
  return homes;
}

}  // namespace gannet
