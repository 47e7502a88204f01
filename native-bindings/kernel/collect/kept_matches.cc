#include "kept_matches.h"

#include <cstring>

#include "../common/bytes.h"
#include "../common/error.h"

namespace gannet {
namespace {

size_t WordsOf(const SegmentView& view) { return (size_t{view.segment->document_count()} + 63) / 64; }

[[noreturn]] void DoNotFit() { throw Error(ErrorCode::kInvalidArgument, "matches do not fit their generation"); }

}  // namespace

KeptMatches::KeptMatches(const Generation& generation, std::span<const uint8_t> bytes) {
  ByteReader reader(bytes, ErrorCode::kInvalidArgument);
  const auto count = reader.Integer<uint32_t>();
  if (count > generation.segments.size()) DoNotFit();
  for (uint32_t i = 0; i < count; ++i) {
    const auto words = reader.Integer<uint32_t>();
    if (words != 0 && words != WordsOf(generation.segments[i])) DoNotFit();
    const std::span<const uint8_t> from = reader.Bytes(size_t{words} * sizeof(uint64_t));
    std::vector<uint64_t>& to = segments_.emplace_back(words);
    if (words == 0) continue;
    std::memcpy(to.data(), from.data(), from.size());
    const uint32_t used = generation.segments[i].segment->document_count() % 64;
    if (used != 0 && to.back() >> used != 0) DoNotFit();
  }
  if (reader.remaining() != 0) DoNotFit();
}

void KeptMatches::Add(const Generation& generation, uint32_t segment, const Window& window) {
  if (segments_.size() <= segment) segments_.resize(segment + 1);
  std::vector<uint64_t>& to = segments_[segment];
  if (to.empty()) to.resize(WordsOf(generation.segments[segment]));
  // Words marked as used may be after the last document; they are then empty.
  ForEachWord(window.matches.Occupied(),
              [&](uint32_t word) { to[window.range.base / 64 + word] = window.matches.words[word]; });
}

void KeptMatches::AppendTo(std::vector<uint8_t>* out) const {
  AppendInteger(out, static_cast<uint32_t>(segments_.size()));
  for (const std::vector<uint64_t>& words : segments_) {
    AppendInteger(out, static_cast<uint32_t>(words.size()));
    AppendBytes(out, {reinterpret_cast<const uint8_t*>(words.data()), words.size() * sizeof(uint64_t)});
  }
}

}  // namespace gannet
