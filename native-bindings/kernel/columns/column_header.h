// The first part of a column in the file, shared by its writer and reader.
#pragma once

#include <cstdint>

namespace gannet {

// A number stored as an integer u means (base + u * step) / divisor, computed in doubles. base, u * step and base + u *
// step are integers of at most this absolute value, and therefore exact.
inline constexpr double kExactIntegerMax = 9007199254740992.0;  // 2^53

struct ColumnHeader {
  uint8_t type;             // ColumnType
  uint8_t many;
  uint8_t value_bytes;
  uint8_t reserved;
  uint32_t value_count;     // documents, or values of a many-valued column; 0 if no document has a number
  uint32_t dictionary_size;
  uint32_t reserved_too;
  double base;
  double step;
  double divisor;
};
static_assert(sizeof(ColumnHeader) == 40);

}  // namespace gannet
