// Finds the terms and stem groups of a small segment without reading its file.
//
// Besides its large segments, a list that is written to has a few segments of a few documents each. Every search looks
// up every term of its plan in each of them, nearly always in vain. A look-up in LMDB takes some hundred nanoseconds;
// one in this table takes about ten, and some ten more if the key is there. So nothing needs to be cached for such a
// segment: a cache look-up would take about as long, and its entries would have to be freed one by one when the segment
// is removed soon after.
//
// Uses open addressing with linear probing, at most half full. A slot has 16 bits of the hash, so most look-ups of a
// missing key read the slots only.
//
// Thread-safety: immutable once built.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "../common/bytes.h"
#include "../common/hash.h"

namespace gannet {

// Returns the hash of a term or stem in its stored form. The caller may use it with several tables.
inline uint32_t HashTerm(std::string_view text) { return HashBytes(text, ProcessSeed()); }

class KeyTable {
 public:
  using Value = std::span<const uint8_t>;
  static constexpr size_t kKeysMax = 1 << 15;

  // Makes a table of unknown content (is_known() is false).
  KeyTable() = default;

  // Adds a key: one byte for its kind, followed by a text. Key and value must stay valid as long as the table is used.
  // Returns false, and leaves the table unknown, if there are more than kKeysMax keys.
  bool Add(std::span<const uint8_t> key, Value value) {
    if (entries_.size() == kKeysMax) {
      entries_.clear();
      return false;
    }
    entries_.push_back({key, value});
    return true;
  }

  // To be called after the last key was added.
  void Build() {
    slots_.assign(std::max<size_t>(2, std::bit_ceil(2 * entries_.size())), 0);
    for (uint32_t place = 0; place < entries_.size(); ++place) {
      const uint32_t hash = HashTerm(AsText(entries_[place].key.subspan(1)));
      size_t slot = hash & (slots_.size() - 1);
      while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = TagOf(hash) | (place + 1);
    }
  }

  bool is_known() const { return !slots_.empty(); }

  // Returns null if there is no such key. Requires is_known(); `hash` is HashTerm(text).
  const Value* Find(uint8_t kind, std::string_view text, uint32_t hash) const {
    for (size_t slot = hash & (slots_.size() - 1); slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
      if ((slots_[slot] & kTagMask) != TagOf(hash)) continue;
      const Entry& entry = entries_[(slots_[slot] & ~kTagMask) - 1];
      if (entry.key[0] == kind && AsText(entry.key.subspan(1)) == text) return &entry.value;
    }
    return nullptr;
  }

 private:
  struct Entry {
    std::span<const uint8_t> key;
    Value value;
  };
  static constexpr uint32_t kTagMask = 0xffff0000u;
  static_assert(kKeysMax < 0xffff, "a slot has 16 bits for the place of a key");

  static uint32_t TagOf(uint32_t hash) { return hash & kTagMask; }

  std::vector<Entry> entries_;
  // the number of slots is a power of two; 0: empty, else the tag and the place of the key, counted from 1
  std::vector<uint32_t> slots_;
};

}  // namespace gannet
