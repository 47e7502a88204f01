#include "string_table.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "bytes.h"

namespace gannet {
namespace {

// Random per process, so that nobody can prepare a document whose words collide.
uint64_t ProcessSeed() {
  static const uint64_t seed = [] {
    std::random_device device;
    return static_cast<uint64_t>(device()) << 32 | device();
  }();
  return seed;
}

inline uint64_t Mix(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Multiply and fold, eight bytes at a time; the multiplier is odd and has its bits spread evenly.
inline uint32_t HashBytes(std::string_view text, uint64_t seed) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15u;
  const char* at = text.data();
  size_t left = text.size();
  uint64_t hash = seed ^ (left * kMultiplier);
  for (; left >= 8; left -= 8, at += 8) hash = Mix(hash ^ Load<uint64_t>(at), kMultiplier);
  uint64_t tail = 0;
  if (left >= 4) {
    tail = Load<uint32_t>(at) | static_cast<uint64_t>(Load<uint32_t>(at + left - 4)) << 32;
  } else if (left > 0) {
    tail = static_cast<uint8_t>(at[0]) | static_cast<uint64_t>(static_cast<uint8_t>(at[left / 2])) << 8 |
           static_cast<uint64_t>(static_cast<uint8_t>(at[left - 1])) << 16;
  }
  hash = Mix(hash ^ tail, kMultiplier ^ seed);
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

// The first eight bytes as a number that orders like them.
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
