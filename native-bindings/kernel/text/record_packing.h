// Records of a commit packed by the words of their list: what stands before the fields of each stays as it is, behind a header that says
// how long the parts are (docs/formats.md, "Packed format").
//
// Invariant: a record never becomes longer, so that all are packed where they lie, one behind the other. Thread-safety: pure functions over
// bytes that nobody else uses meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "word_packing.h"

namespace gannet {

// The first byte of a packed record.
inline constexpr uint8_t kPackedRecordFormat = 3;

struct RecordPlaces {
  // Where the fields of each record begin; its end where it is not to be packed.
  std::span<const uint32_t> fields;
  // Where it ends, which is where the next begins.
  std::span<uint32_t> ends;
};

// Afterwards `ends` says where each is now; returns the last of them. `number`: of the dictionary in its list. A record that would not be
// shorter is what it was. Throws Error(kInvalidArgument), with nothing changed, for places that are none.
size_t PackRecords(const WordDictionary& dictionary, uint8_t number, std::span<uint8_t> records, const RecordPlaces& places);

}  // namespace gannet
