// Inflates texts of a few KiB each. Uses zlib's own function, which Node.js includes and exports: it costs a fraction
// of a stream of node:zlib.
//
// Thread-safety: one thread.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "../kernel/common/error.h"

namespace gannet::addon {

class Inflater {
 public:
  Inflater() {
    if (inflateInit2(&stream_, kRaw) != Z_OK) throw Error(ErrorCode::kIo, "there is no memory to inflate with");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Inflates raw deflate; no bytes mean an empty text. The result is valid until the next call. Throws Error(kDamaged)
  // if the bytes are anything but one complete deflated text, or if the text exceeds kTextBytesMax.
  std::string_view Inflate(std::span<const uint8_t> bytes) {
    if (bytes.empty()) return {};
    inflateReset(&stream_);
    stream_.next_in = const_cast<Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    size_t size = 0;
    for (int result = Z_OK; result != Z_STREAM_END;) {
      if (size == text_.size()) {
        if (size >= kTextBytesMax) throw Error(ErrorCode::kDamaged, "a deflated text is too long");
        text_.resize(size == 0 ? kTextBytesMin : 2 * size);
      }
      stream_.next_out = reinterpret_cast<Bytef*>(text_.data() + size);
      stream_.avail_out = static_cast<uInt>(text_.size() - size);
      result = inflate(&stream_, Z_NO_FLUSH);
      const size_t before = size;
      size = text_.size() - stream_.avail_out;
      const bool goes_on = result == Z_OK && (size > before || size == text_.size());
      if (result != Z_STREAM_END && !goes_on) throw Error(ErrorCode::kDamaged, "a deflated text is not as it was written");
    }
    if (stream_.avail_in > 0) throw Error(ErrorCode::kDamaged, "a deflated text is not as it was written");
    return std::string_view(text_).substr(0, size);
  }

  static constexpr size_t kTextBytesMax = size_t{64} << 20;

 private:
  static constexpr int kRaw = -MAX_WBITS;
  static constexpr size_t kTextBytesMin = size_t{16} << 10;

  z_stream stream_ = {};
  std::string text_;
};

}  // namespace gannet::addon
