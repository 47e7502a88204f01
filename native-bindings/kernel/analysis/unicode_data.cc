#include "unicode_data.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "utf8.h"

namespace gannet {
namespace {

#include "unicode_tables.inc"

constexpr uint32_t kBlockMask = (1u << kTableBlockBits) - 1;
constexpr uint16_t kFoldUnchanged = 0;
constexpr uint16_t kFoldRemoved = 1;
constexpr uint16_t kFoldFirst = 2;

// Hangul syllables are composed by arithmetic (Unicode 17, section 3.12).
constexpr uint32_t kHangulBase = 0xac00;
constexpr uint32_t kLeadingBase = 0x1100, kLeadingCount = 19;
constexpr uint32_t kVowelBase = 0x1161, kVowelCount = 21;
constexpr uint32_t kTrailingBase = 0x11a7, kTrailingCount = 28;

uint32_t CombiningRank(uint32_t code) {
  size_t low = 0;
  size_t high = std::size(kCombiningRanks) / 2;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (kCombiningRanks[middle * 2] < code) low = middle + 1; else high = middle;
  }
  const bool found = low < std::size(kCombiningRanks) / 2 && kCombiningRanks[low * 2] == code;
  return found ? kCombiningRanks[low * 2 + 1] : 0;
}

// Returns the composite of two characters; 0 if there is none.
uint32_t Compose(uint32_t first, uint32_t second) {
  if (first - kLeadingBase < kLeadingCount && second - kVowelBase < kVowelCount) {
    return kHangulBase + ((first - kLeadingBase) * kVowelCount + (second - kVowelBase)) * kTrailingCount;
  }
  if (first - kHangulBase < kLeadingCount * kVowelCount * kTrailingCount &&
      (first - kHangulBase) % kTrailingCount == 0 && second - kTrailingBase - 1 < kTrailingCount - 1) {
    return first + (second - kTrailingBase);
  }
  size_t low = 0;
  size_t high = std::size(kCompositions) / 3;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const uint32_t* entry = kCompositions + middle * 3;
    if (entry[0] < first || (entry[0] == first && entry[1] < second)) low = middle + 1; else high = middle;
  }
  if (low == std::size(kCompositions) / 3) return 0;
  const uint32_t* entry = kCompositions + low * 3;
  return entry[0] == first && entry[1] == second ? entry[2] : 0;
}

}  // namespace

CharacterTraits TraitsOf(uint32_t code) {
  if (code < kTableEnd) {
    return {kClassBlocks[uint32_t{kClassIndex[code >> kTableBlockBits]} << kTableBlockBits | (code & kBlockMask)]};
  }
  if (code < 0x40000) return {static_cast<uint8_t>(WordClass::kIdeograph) | 0x60};  // the tertiary plane is Han
  if (code >= 0xe0000 && code < 0xe1000) return {static_cast<uint8_t>(WordClass::kExtend)};  // tags, selectors
  return {static_cast<uint8_t>(WordClass::kOther)};
}

void AppendFolded(uint32_t code, std::string* out) {
  if (code < 0x80) {
    out->push_back(static_cast<char>(code >= 'A' && code <= 'Z' ? code | 0x20 : code));
    return;
  }
  if (code >= kTableEnd) {
    if (code < 0xe0000 || code >= 0xe1000) AppendUtf8(code, out);
    return;
  }
  const uint16_t fold =
      kFoldBlocks[uint32_t{kFoldIndex[code >> kTableBlockBits]} << kTableBlockBits | (code & kBlockMask)];
  if (fold == kFoldUnchanged) {
    AppendUtf8(code, out);
  } else if (fold != kFoldRemoved) {
    const uint8_t* entry = kFoldPool + (fold - kFoldFirst);
    out->append(reinterpret_cast<const char*>(entry + 1), entry[0]);
  }
}

void ComposeFolded(std::string* text) {
  struct Item {
    uint32_t code;
    uint32_t rank;
  };
  std::vector<Item> items;
  items.reserve(text->size());
  for (size_t offset = 0; offset < text->size();) {
    const auto [code, length] = DecodeUtf8(text->data() + offset, text->size() - offset);
    items.push_back({code, CombiningRank(code)});
    offset += length;
  }
  for (size_t begin = 0; begin < items.size();) {  // sort each run of marks by class
    size_t end = begin;
    while (end < items.size() && items[end].rank != 0) ++end;
    if (end - begin > 1) {
      std::stable_sort(items.begin() + static_cast<ptrdiff_t>(begin), items.begin() + static_cast<ptrdiff_t>(end),
                       [](const Item& a, const Item& b) { return a.rank < b.rank; });
    }
    begin = end + 1;
  }
  size_t count = 0;               // items kept so far, in place
  size_t starter = items.size();  // index of the last starter kept; none at first
  for (const Item& item : items) {
    // A mark is blocked from its starter if the previous item has the same class or is a starter itself.
    if (starter < count) {
      const uint32_t previous_rank = items[count - 1].rank;
      const bool adjacent = count - 1 == starter;
      const bool blocked = !adjacent && (previous_rank == 0 || previous_rank >= item.rank);
      const uint32_t composite = blocked ? 0 : Compose(items[starter].code, item.code);
      if (composite != 0) {
        items[starter].code = composite;
        continue;
      }
    }
    if (item.rank == 0) starter = count;
    items[count++] = item;
  }
  text->clear();
  for (size_t i = 0; i < count; ++i) AppendUtf8(items[i].code, text);
}

std::string_view UnicodeVersion() { return kUnicodeVersion; }

}  // namespace gannet
