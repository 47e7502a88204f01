#include "expansion_names.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "../common/bytes.h"

namespace gannet {
namespace {

uint64_t NewName() {
  static std::atomic<uint64_t> last{kNothingKnownName};
  return ++last;
}

void AppendTerms(const std::vector<TermMatch>& matches, std::vector<uint8_t>* outline) {
  AppendVarint(outline, matches.size());
  for (const TermMatch& match : matches) {
    AppendVarint(outline, match.distance);
    AppendVarint(outline, match.term.size());
    AppendBytes(outline, AsBytes(match.term));
  }
}

// Returns everything in the expansion that the name stands for, with the limits that it was made with.
std::vector<uint8_t> OutlineOf(const WordExpansion& expansion, const ExpansionLimits& limits) {
  std::vector<uint8_t> outline;
  AppendVarint(&outline, limits.stems);
  AppendVarint(&outline, limits.typos);
  AppendVarint(&outline, limits.compounds);
  outline.push_back(expansion.document_frequency > 0);
  AppendTerms(expansion.stems, &outline);
  AppendTerms(expansion.typos, &outline);
  AppendTerms(expansion.compounds, &outline);
  return outline;
}

// Returns the largest segment, which lives longest and has the largest cache; null if there is none.
const Segment* LargestOf(const Generation& generation) {
  const auto largest = std::ranges::max_element(
      generation.segments, {}, [](const SegmentView& view) { return view.segment->document_count(); });
  return largest == generation.segments.end() ? nullptr : largest->segment.get();
}

uint64_t NameOf(const WordExpansion& expansion, const ExpansionLimits& limits, const std::string& key,
                const Segment* keeper) {
  const bool is_empty = expansion.document_frequency == 0 && expansion.stems.empty() && expansion.typos.empty() &&
                        expansion.compounds.empty();
  if (is_empty || keeper == nullptr) return kNothingKnownName;
  auto& names = keeper->cache().expansions;
  std::vector<uint8_t> outline = OutlineOf(expansion, limits);
  if (const auto kept = names.Find(key); kept && (*kept)->outline == outline) return (*kept)->name;
  const uint64_t name = NewName();
  names.Replace(key, std::make_shared<const NamedExpansion>(NamedExpansion{std::move(outline), name}));
  return name;
}

}  // namespace

std::vector<uint64_t> NameExpansions(const Generation& generation, std::span<const std::string> words,
                                     std::span<const uint32_t> edits, ExpansionLimits limits) {
  limits.prefixes = 0;
  const std::vector<WordExpansion> expansions = ExpandWords(generation, words, edits, limits);
  const Segment* keeper = LargestOf(generation);
  std::vector<uint64_t> names;
  names.reserve(words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    names.push_back(NameOf(expansions[i], limits, static_cast<char>('0' + edits[i]) + words[i], keeper));
  }
  return names;
}

}  // namespace gannet
