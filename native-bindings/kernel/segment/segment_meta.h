// The bytes of SegmentMeta: see docs/formats.md.
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

// The length depends on the fields, columns and language only, not on the numbers.
std::vector<uint8_t> EncodeSegmentMeta(const SegmentMeta& meta);
// Error(kUnsupportedFormat) where another version of the format wrote it, Error(kDamaged).
SegmentMeta DecodeSegmentMeta(std::span<const uint8_t> bytes);

}  // namespace gannet
