#include "string_table.h"

#include <algorithm>
#include <cstring>

#include "hash.h"

namespace gannet {
namespace {

// Returns the first eight bytes as a number with the same order.
uint64_t Prefix(std::string_view text) {
  uint64_t prefix = 0;
  std::memcpy(&prefix, text.data(), std::min<size_t>(8, text.size()));
  return __builtin_bswap64(prefix);
}

}  // namespace

StringTable::StringTable() : seed_(ProcessSeed()), slots_(64) {}

uint32_t StringTable::Hash(std::string_view text) const { return HashBytes(text, seed_); }

uint32_t StringTable::Intern(std::string_view text, uint32_t hash, bool* added) {
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  for (; slots_[at].number != kEmpty; at = (at + 1) & mask) {
    if (slots_[at].hash == hash && strings_[slots_[at].number] == text) {
      *added = false;
      return slots_[at].number;
    }
  }
  *added = true;
  const uint32_t number = size();
  if (number >= kEmpty - 1) throw Error(ErrorCode::kLimit, "more than 2^32 - 2 different strings in a segment");
  strings_.push_back(Keep(text));
  slots_[at] = {hash, number};
  if (strings_.size() * 2 > slots_.size()) Grow();
  return number;
}

void StringTable::Grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.number == kEmpty) continue;
    size_t at = slot.hash & mask;
    while (slots_[at].number != kEmpty) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

std::string_view StringTable::Keep(std::string_view text) {
  if (text.size() > arena_left_) {
    const size_t bytes = std::max(text.size(), kArenaBlockBytes);
    arena_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
    arena_at_ = arena_.back().get();
    arena_left_ = bytes;
  }
  if (!text.empty()) std::memcpy(arena_at_, text.data(), text.size());
  const std::string_view kept(arena_at_, text.size());
  arena_at_ += text.size();
  arena_left_ -= text.size();
  return kept;
}

std::vector<uint32_t> StringTable::Sorted() const {
  struct Item {
    uint64_t prefix;
    uint32_t number;
  };
  std::vector<Item> items(size());
  for (uint32_t i = 0; i < size(); ++i) items[i] = {Prefix(strings_[i]), i};
  std::sort(items.begin(), items.end(), [&](const Item& left, const Item& right) {
    if (left.prefix != right.prefix) return left.prefix < right.prefix;
    return strings_[left.number] < strings_[right.number];
  });
  std::vector<uint32_t> numbers(size());
  for (uint32_t i = 0; i < size(); ++i) numbers[i] = items[i].number;
  return numbers;
}

}  // namespace gannet
