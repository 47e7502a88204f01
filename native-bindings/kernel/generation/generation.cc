#include "generation.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

#include "../common/error.h"

namespace gannet {
namespace {

constexpr size_t kChunkWords = kWindowSize / 64;

[[noreturn]] void Invalid(const char* what) { throw Error(ErrorCode::kInvalidArgument, what); }

uint32_t CountDeleted(const DeletionSet& deletions) {
  uint32_t count = 0;
  for (const auto& chunk : deletions.chunks) {
    if (!chunk) continue;
    for (const uint64_t word : *chunk) count += static_cast<uint32_t>(std::popcount(word));
  }
  return count;
}

// Checks deletions given by the caller: every chunk has the right size or is null, and no bit is set after the last
// document.
void CheckDeletions(uint32_t documents, DeletionSet* set) {
  DeletionSet& deletions = *set;
  const size_t chunk_count = (documents + kWindowSize - 1) / kWindowSize;
  if (deletions.chunks.size() > chunk_count) Invalid("more deletion chunks than the segment has windows");
  deletions.chunks.resize(chunk_count);
  for (const auto& chunk : deletions.chunks) {
    if (chunk && chunk->size() != kChunkWords) Invalid("deletion chunk of the wrong size");
  }
  if (chunk_count > 0 && deletions.chunks.back()) {
    const DeletionSet::Chunk& last = *deletions.chunks.back();
    for (uint32_t bit = documents - static_cast<uint32_t>(chunk_count - 1) * kWindowSize; bit < kWindowSize; ++bit) {
      if (last[bit / 64] >> (bit % 64) & 1) Invalid("deletion of a document behind the segment's last");
    }
  }
  deletions.deleted_count = CountDeleted(deletions);
}

// Sets the bits. Each chunk that changes is copied once, because other generations may share the old one.
void Delete(const std::vector<uint32_t>& documents, uint32_t document_count, DeletionSet* set) {
  DeletionSet& deletions = *set;
  std::unordered_map<uint32_t, std::shared_ptr<DeletionSet::Chunk>> copies;
  for (const uint32_t document : documents) {
    if (document >= document_count) Invalid("deletion of a document that the segment does not have");
    if (deletions.Contains(document)) continue;
    const uint32_t index = document / kWindowSize;
    auto& copy = copies[index];
    if (!copy) {
      const auto& old = deletions.chunks[index];
      copy = old ? std::make_shared<DeletionSet::Chunk>(*old) : std::make_shared<DeletionSet::Chunk>(kChunkWords);
      deletions.chunks[index] = copy;
    }
    (*copy)[(document % kWindowSize) / 64] |= uint64_t{1} << (document % 64);
    ++deletions.deleted_count;
  }
}

template <typename View, typename File>
View* FindView(std::vector<View>* views, const File* segment) {
  const auto found =
      std::find_if(views->begin(), views->end(), [&](const View& view) { return view.segment.get() == segment; });
  return found == views->end() ? nullptr : &*found;
}

uint32_t CountOf(const SegmentView& view) { return view.segment->document_count(); }
uint32_t CountOf(const VectorView& view) { return view.segment->graph().count(); }

template <typename View, typename File>
void RemoveViews(const std::vector<std::shared_ptr<const File>>& removed, std::vector<View>* views) {
  for (const auto& segment : removed) {
    const View* view = FindView(views, segment.get());
    if (view == nullptr) Invalid("removal of a segment that the generation does not have");
    views->erase(views->begin() + (view - views->data()));
  }
}

template <typename View>
void AddViews(const std::vector<View>& added, std::vector<View>* views) {
  for (const View& view : added) {
    if (!view.segment) Invalid("no segment");
    if (FindView(views, view.segment.get()) != nullptr) Invalid("segment is in the generation already");
    views->push_back(view);
    CheckDeletions(CountOf(view), &views->back().deletions);
  }
}

void ChangeVectors(const VectorChange& change, std::vector<VectorView>* views) {
  RemoveViews(change.removed, views);
  AddViews(change.added, views);
  for (VectorView& view : *views) {
    if (!view.homes) view.homes = std::make_shared<VectorHomes>();
    if (view.segment->graph().dimensions() != views->front().segment->graph().dimensions()) {
      Invalid("vectors of different dimensions in one generation");
    }
  }
  for (const VectorChange::Deletions& entry : change.deletions) {
    VectorView* view = FindView(views, entry.segment.get());
    if (view == nullptr) Invalid("deletions in a segment that the generation does not have");
    std::vector<uint32_t> ordinals;
    for (const uint32_t record : entry.records) {
      const auto [first, end] = view->segment->OrdinalsOf(record);
      for (uint32_t ordinal = first; ordinal < end; ++ordinal) ordinals.push_back(ordinal);
    }
    Delete(ordinals, CountOf(*view), &view->deletions);
  }
}

void ComputeTotals(Generation* generation) {
  uint64_t length_sum = 0;
  for (const SegmentView& view : generation->segments) {
    const SegmentMeta& meta = view.segment->meta();
    generation->document_count += meta.document_count;
    generation->live_count += meta.document_count - view.deletions.deleted_count;
    length_sum += meta.weighted_length_sum;
  }
  if (generation->document_count > 0) {
    const double average = static_cast<double>(length_sum) / static_cast<double>(generation->document_count);
    generation->average_length = std::max(1.0, average);
  }
}

// To be called after the totals are computed.
void NameVocabulary(const Generation* base, const std::vector<SegmentView>& added,
                    const TermChange& going, Generation* generation) {
  std::vector<SegmentTerms> terms;
  for (const SegmentView& view : added) terms.push_back({view.segment.get(), view.changed_terms.get()});
  const Vocabulary* before = base == nullptr ? nullptr : &base->vocabulary;
  generation->vocabulary = NextVocabulary(before, {terms, going.removed, going.gone_terms}, generation->document_count);
}

}  // namespace

std::shared_ptr<const Generation> DeriveGeneration(const Generation* base, const std::vector<SegmentView>& added,
                                                   const std::vector<std::shared_ptr<const Segment>>& removed,
                                                   const std::vector<SegmentDeletions>& deletions,
                                                   std::string settings, const VectorChange& vectors,
                                                   const std::vector<std::string>* gone_terms) {
  auto generation = std::make_shared<Generation>();
  std::vector<SegmentView>& views = generation->segments;
  if (base != nullptr) {
    views = base->segments;
    generation->vectors = base->vectors;
  }
  RemoveViews(removed, &views);
  AddViews(added, &views);
  for (const SegmentDeletions& entry : deletions) {
    SegmentView* view = FindView(&views, entry.segment.get());
    if (view == nullptr) Invalid("deletions in a segment that the generation does not have");
    Delete(entry.documents, CountOf(*view), &view->deletions);
  }
  ChangeVectors(vectors, &generation->vectors);
  ComputeTotals(generation.get());
  NameVocabulary(base, added, {{}, removed, gone_terms}, generation.get());
  generation->settings = std::move(settings);
  return generation;
}

void AddVectorsOf(const Generation& generation, uint32_t record, std::span<float> sum) {
  std::vector<float> values(sum.size());
  for (const VectorView& view : generation.vectors) {
    const vectors::VectorGraph& graph = view.segment->graph();
    if (graph.dimensions() != sum.size()) continue;
    const auto [first, end] = view.segment->OrdinalsOf(record);
    for (uint32_t ordinal = first; ordinal < end; ++ordinal) {
      if (view.deletions.Contains(ordinal)) continue;
      vectors::FromHalves(graph.vector(graph.RowOf(ordinal)), values.data());
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
    }
  }
}

}  // namespace gannet
