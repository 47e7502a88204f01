// Maps byte strings to dense numbers, in the order of first appearance. The strings are kept in an arena.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "error.h"

namespace gannet {

class StringTable {
 public:
  StringTable();

  // Returns the number of the string; sets *added to true if it is new (its number is then size() - 1).
  uint32_t Intern(std::string_view text, bool* added) { return Intern(text, Hash(text), added); }

  // The same in steps, for callers with many strings: hash them all, prefetch, and look them up when the memory has
  // arrived. Two thirds of the time of a look-up is spent waiting for it.
  uint32_t Hash(std::string_view text) const;
  void PrefetchSlot(uint32_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }
  // Returns the number that the string probably has, or size(): a hint for what to prefetch next.
  uint32_t Guess(uint32_t hash) const {
    const Slot& slot = slots_[hash & (slots_.size() - 1)];
    if (slot.number == kEmpty) return size();
    __builtin_prefetch(&strings_[slot.number]);
    return slot.number;
  }
  void PrefetchString(uint32_t number) const { __builtin_prefetch(strings_[number].data()); }
  uint32_t Intern(std::string_view text, uint32_t hash, bool* added);

  uint32_t size() const { return static_cast<uint32_t>(strings_.size()); }
  std::string_view operator[](uint32_t number) const { return strings_[number]; }

  // Returns the numbers in byte order of their strings.
  std::vector<uint32_t> Sorted() const;

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t number = kEmpty;
  };
  static constexpr uint32_t kEmpty = 0xffffffffu;
  static constexpr size_t kArenaBlockBytes = 1u << 18;

  void Grow();
  std::string_view Keep(std::string_view text);

  uint64_t seed_;
  std::vector<Slot> slots_;  // a power of two, at most half full
  std::vector<std::string_view> strings_;
  std::vector<std::unique_ptr<char[]>> arena_;
  char* arena_at_ = nullptr;
  size_t arena_left_ = 0;
};

}  // namespace gannet
