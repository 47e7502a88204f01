#include "record_packing.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "../common/bytes.h"
#include "../common/error.h"

namespace gannet {
namespace {

// Format, number of the dictionary, and two lengths of at most four bytes (kPlacesMax).
constexpr size_t kHeaderBytesMax = 2 + 2 * 4;
// Maximum size of a record, given by its varints.
constexpr size_t kRecordBytesMax = (size_t{1} << 28) - 1;

// Checks the places, and returns the size of the longest record to be packed.
size_t CheckPlaces(std::span<const uint8_t> records, const RecordPlaces& places) {
  if (places.fields.size() != places.ends.size()) {
    throw Error(ErrorCode::kInvalidArgument, "each record has to have an end and a begin of its fields");
  }
  size_t longest = 0;
  uint32_t begin = 0;
  for (size_t index = 0; index < places.ends.size(); ++index) {
    const uint32_t fields = places.fields[index], end = places.ends[index];
    if (fields < begin || fields > end || end > records.size()) {
      throw Error(ErrorCode::kInvalidArgument, "records have to lie one behind the other, and fields in their records");
    }
    if (fields < end) longest = std::max<size_t>(longest, end - begin);
    begin = end;
  }
  if (longest > kRecordBytesMax) throw Error(ErrorCode::kInvalidArgument, "a record is too long to be packed");
  return longest;
}

}  // namespace

size_t PackRecords(const WordDictionary& dictionary, uint8_t number, std::span<uint8_t> records, const RecordPlaces& places) {
  const size_t longest = CheckPlaces(records, places);
  WordPacker packer(dictionary);
  std::vector<uint8_t> packed(kHeaderBytesMax + longest + WordPacker::Bound(longest));
  size_t begin = 0;
  size_t to = 0;
  for (size_t index = 0; index < places.ends.size(); ++index) {
    const size_t fields = places.fields[index], end = places.ends[index];
    const uint8_t* from = records.data() + begin;
    size_t bytes = end - begin;
    if (fields < end) {
      uint8_t* at = packed.data();
      *at++ = kPackedRecordFormat;
      *at++ = number;
      at = PutVarint(at, fields - begin);
      at = PutVarint(at, bytes);
      std::memcpy(at, from, fields - begin);
      at = packer.Pack(AsText(records.subspan(fields, end - fields)), at + (fields - begin));
      const auto packed_bytes = static_cast<size_t>(at - packed.data());
      if (packed_bytes < bytes) {
        from = packed.data();
        bytes = packed_bytes;
      }
    }
    // The previous records have become shorter or stayed as long, so nothing that is still to be read is overwritten.
    std::memmove(records.data() + to, from, bytes);
    to += bytes;
    places.ends[index] = static_cast<uint32_t>(to);
    begin = end;
  }
  return to;
}

}  // namespace gannet
