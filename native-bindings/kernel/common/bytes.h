// Little-endian loads and stores, variable-length integers, and a bounds-checked reader.
//
// Integers are little-endian on disk, and the kernel runs only on little-endian machines, so a load is a memcpy.
//
// Thread-safety: pure functions; a ByteReader belongs to one thread.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "error.h"

namespace gannet {

static_assert(std::endian::native == std::endian::little, "on-disk integers are read in place");

template <typename T>
inline T Load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
inline void Store(void* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

inline constexpr size_t kVarintBytesMax = 10;

// Writes LEB128, at most kVarintBytesMax bytes, and returns the end.
inline uint8_t* PutVarint(uint8_t* to, uint64_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<uint8_t>(value);
  return to;
}

inline void AppendVarint(std::vector<uint8_t>* to, uint64_t value) {
  uint8_t buffer[kVarintBytesMax];
  to->insert(to->end(), buffer, PutVarint(buffer, value));
}

template <typename T>
inline void AppendInteger(std::vector<uint8_t>* to, T value) {
  const size_t at = to->size();
  to->resize(at + sizeof(T));
  Store(to->data() + at, value);
}

inline void AppendBytes(std::vector<uint8_t>* to, std::span<const uint8_t> bytes) {
  to->insert(to->end(), bytes.begin(), bytes.end());
}

inline void AppendString(std::vector<uint8_t>* to, std::string_view text) {
  AppendInteger(to, static_cast<uint32_t>(text.size()));
  to->insert(to->end(), text.begin(), text.end());
}

inline std::string_view AsText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::span<const uint8_t> AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Reads from the front; throws Error(code) if a read would run past the end.
class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes, ErrorCode code = ErrorCode::kDamaged)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()), code_(code) {}

  size_t remaining() const { return static_cast<size_t>(end_ - at_); }
  const uint8_t* position() const { return at_; }

  std::span<const uint8_t> Bytes(size_t count) {
    if (count > remaining()) Fail();
    const std::span<const uint8_t> bytes(at_, count);
    at_ += count;
    return bytes;
  }

  template <typename T>
  T Integer() {
    return Load<T>(Bytes(sizeof(T)).data());
  }

  uint64_t Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) Fail();
      const uint8_t byte = *at_++;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    Fail();
  }

  // Reads a varint; fails if it is above `maximum`.
  uint32_t Varint32(uint32_t maximum = 0xffffffffu) {
    const uint64_t value = Varint();
    if (value > maximum) Fail();
    return static_cast<uint32_t>(value);
  }

  std::string_view Text() { return AsText(Bytes(Integer<uint32_t>())); }

  [[noreturn]] void Fail() const { throw Error(code_, "bytes end early or hold a value out of range"); }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
  ErrorCode code_;
};

}  // namespace gannet
