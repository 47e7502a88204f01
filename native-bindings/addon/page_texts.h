// Reads the stored texts of pages: each is packed with a dictionary of words, deflated, or stored unchanged,
// independently of the others.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "../kernel/common/bytes.h"
#include "../kernel/common/error.h"
#include "../kernel/text/word_packing.h"
#include "inflater.h"

namespace gannet::addon {

// Returned in place of the end of a passage: for a text that must be segmented before its words can be found, and for
// one that cannot be read.
inline constexpr uint32_t kHighlightToBeSegmented = UINT32_MAX;
inline constexpr uint32_t kHighlightUnreadable = UINT32_MAX - 1;

// How a text is stored; values from kByDictionary on mean the dictionary at index (value - kByDictionary) of those
// given.
enum PagePacking : uint32_t { kDeflatedPage, kPlainPage, kDamagedPage, kByDictionary };

class PageTexts {
 public:
  struct Form {
    uint32_t packing;
    // Size of the text, if it is packed with a dictionary.
    uint32_t text_bytes;
  };

  // Returns a text that is valid until the next call; nothing if the bytes are not a text in this form.
  std::optional<std::string_view> Read(std::span<const uint8_t> packed, Form form,
                                       std::span<const WordDictionary> dictionaries) {
    switch (form.packing) {
      case kDamagedPage:
        return std::nullopt;
      case kPlainPage:
        return AsText(packed);
      case kDeflatedPage:
        return Inflated(packed);
      default:
        break;
    }
    const size_t place = form.packing - kByDictionary;
    if (place >= dictionaries.size()) throw Error(ErrorCode::kInvalidArgument, "a page names a dictionary that is not given");
    if (form.text_bytes > Inflater::kTextBytesMax) return std::nullopt;
    if (unpacked_.size() < form.text_bytes) unpacked_.resize(form.text_bytes);
    const std::span<uint8_t> text(reinterpret_cast<uint8_t*>(unpacked_.data()), form.text_bytes);
    if (!dictionaries[place].Unpack(packed, text)) return std::nullopt;
    return AsText(text);
  }

 private:
  std::optional<std::string_view> Inflated(std::span<const uint8_t> packed) {
    try {
      return inflater_.Inflate(packed);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kDamaged) throw;
      return std::nullopt;
    }
  }

  Inflater inflater_;
  std::string unpacked_;
};

}  // namespace gannet::addon
