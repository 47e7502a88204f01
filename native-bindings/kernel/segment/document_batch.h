// The bytes in which records reach the segment builder. Written by native-bindings/document-batch.ts (TypeScript), read
// here; little-endian, no alignment.
//
//   u32 document count
//   per document:
//     u32 record number
//     u32 bytes of the entries that follow
//     entries, in any order:
//       u8 EntryKind, u16 index (text field, or column), then by kind
//         kText      u32 length, UTF-8 (a field with several values has several entries)
//         kString    u32 length, UTF-8 key (case-folded by the caller), u32 length, UTF-8 display
//                    (display length 0: same as key)
//         kNumber    f64 (number, date in milliseconds, boolean 0 or 1)
//         kLocation  f64 latitude, f64 longitude
#pragma once

#include <cstdint>

namespace gannet {

enum class EntryKind : uint8_t { kText = 1, kString = 2, kNumber = 3, kLocation = 4 };

}  // namespace gannet
