// The terms and stem groups of a small segment, found without a look into its file.
//
// Beside writes a list has a handful of segments of a few documents each, and every search asks each of them for every term of its
// plan, nearly always in vain. A look-up in LMDB takes some hundred nanoseconds; one here about ten, and some ten more where the key is
// there. So nothing that was found in such a segment needs to be kept: what is kept is asked for about as long as it takes to find it,
// and given back one by one when the segment goes, a moment later.
//
// Open addressing with linear probing, at most half full; a slot has 16 bits of the hash, so that a key that is not there is mostly told
// by the slots alone.
//
// Thread-safety: immutable once it is built.
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

// Of a term or stem, as it is stored: it may be looked up in several tables.
inline uint32_t HashTerm(std::string_view text) { return HashBytes(text, ProcessSeed()); }

class KeyTable {
 public:
  using Value = std::span<const uint8_t>;
  static constexpr size_t kKeysMax = 1 << 15;

  // Of nothing: it is not known which keys there are.
  KeyTable() = default;

  // A key is one byte, which tells of what kind it is, and a text. Key and value stay where they are for as long as the table is used.
  // False, and nothing is known, where there are more than kKeysMax.
  bool Add(std::span<const uint8_t> key, Value value) {
    if (entries_.size() == kKeysMax) {
      entries_.clear();
      return false;
    }
    entries_.push_back({key, value});
    return true;
  }

  // After the last one was added.
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

  // Null where there is no such key. Where it is known which there are; `hash`: HashTerm(text).
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
  std::vector<uint32_t> slots_;  // a power of two of them; 0: empty, else the tag and the place of the key, counted from 1
};

}  // namespace gannet
