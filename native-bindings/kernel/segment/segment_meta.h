// Encodes and decodes SegmentMeta; docs/formats.md describes the bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "segment.h"

namespace gannet {

inline constexpr uint32_t kTextFieldsMax = 4096;
inline constexpr uint32_t kColumnsMax = 4096;
inline constexpr uint32_t kWeightUnitsMax = 1000;
inline constexpr size_t kLanguageBytesMax = 16;

// The number of bytes depends only on the fields, columns and language, not on the numbers.
std::vector<uint8_t> EncodeSegmentMeta(const SegmentMeta& meta);
// Throws Error(kUnsupportedFormat) if another version of the format wrote the bytes, and Error(kDamaged).
SegmentMeta DecodeSegmentMeta(std::span<const uint8_t> bytes);

}  // namespace gannet
