// Packs the records of a commit with the words of their list. The part of each record before its fields stays
// unchanged, after a header with the lengths of the parts (docs/formats.md, "Packed format").
//
// Invariant: a record never becomes longer, so all records are packed in place, one after the other. Thread-safety:
// pure functions over bytes that nobody else uses meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "word_packing.h"

namespace gannet {

// The first byte of a packed record.
inline constexpr uint8_t kPackedRecordFormat = 3;

struct RecordPlaces {
  // Where the fields of each record begin; the record's end if it is not to be packed.
  std::span<const uint32_t> fields;
  // Where each record ends, which is where the next one begins.
  std::span<uint32_t> ends;
};

// Packs the records, sets `ends` to their new ends and returns the last of them. `number` is the number of the
// dictionary in its list. A record that would not become shorter stays unchanged. Throws Error(kInvalidArgument), with
// nothing changed, if the places are not valid.
size_t PackRecords(const WordDictionary& dictionary, uint8_t number, std::span<uint8_t> records, const RecordPlaces& places);

}  // namespace gannet
