#include "posting_list.h"

#include <algorithm>
#include <bit>

#include "../common/bits.h"
#include "../common/bytes.h"
#include "bit_packing.h"
#include "posting_layout.h"

namespace gannet {
namespace {

[[noreturn]] void Damaged(const char* what) {
  throw Error(ErrorCode::kDamaged, std::string("posting list: ") + what);
}

// Reads a varint of an area that Parse has checked once, so that no bound has to be checked again.
uint32_t TrustedVarint(const uint8_t** at) {
  uint32_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const uint8_t byte = *(*at)++;
    value |= static_cast<uint32_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

}  // namespace

PostingList PostingList::Parse(std::span<const uint8_t> bytes, uint32_t document_count) {
  PostingList list;
  ByteReader reader(bytes);
  if (document_count == 0 || document_count > kMaxDocumentsPerSegment) Damaged("document count");
  list.document_count_ = document_count;
  list.end_ = bytes.data() + bytes.size();
  const uint64_t head = reader.Varint();
  if ((head & kExternalFlag) != 0 || head >> 1 < 1 || head >> 1 > document_count) Damaged("document frequency");
  const uint32_t frequency = static_cast<uint32_t>(head >> 1);
  list.document_frequency_ = frequency;
  list.block_count_ = (frequency + kBlockSize - 1) / kBlockSize;

  if (frequency == 1) {
    list.only_last_document_ = reader.Varint32(document_count - 1);
    list.list_impacts_ = reader.Bytes(1).data();  // the norm; the frequency follows from the rest
    const uint32_t occurrences = reader.Varint32();
    list.total_occurrences_ = (occurrences >> 1) + 1;
    list.singleton_frequency_ = static_cast<uint32_t>(list.total_occurrences_);
    if (occurrences & 1) list.singleton_frequency_ = reader.Varint32(kPositionsMax - 1);
    if (list.singleton_frequency_ == 0) Damaged("frequency");
    if (list.total_occurrences_ > reader.remaining()) Damaged("positions");
    list.positions_ = reader.position();
    return list;
  }

  const uint64_t repeats = reader.Varint();
  if (repeats > uint64_t{1} << 56) Damaged("occurrences");
  list.total_occurrences_ = frequency + repeats;
  list.list_impact_count_ = reader.Integer<uint8_t>();
  const uint32_t impacts_max = list.block_count_ == 1 ? kImpactsPerBlock : kImpactsPerList;
  if (list.list_impact_count_ < 1 || list.list_impact_count_ > impacts_max) Damaged("impacts");
  list.list_impacts_ = reader.position();
  for (uint32_t i = 0; i < list.list_impact_count_; ++i) {
    reader.Bytes(1);
    if (reader.Varint32(65535) == 0) Damaged("impacts");
  }

  if (list.block_count_ == 1) {
    list.only_last_document_ = reader.Varint32(document_count - 1);
    list.data_ = reader.position();
    list.positions_ = ReadBlockAt(list.data_, list.end_, frequency).end;
    return list;
  }
  list.impact_stride_ = reader.Integer<uint8_t>();
  if (list.impact_stride_ < 1 || list.impact_stride_ > kImpactsPerBlock) Damaged("impacts");
  const uint32_t data_bytes = reader.Integer<uint32_t>();
  const size_t blocks = list.block_count_;
  list.last_documents_ = reader.Bytes(4 * blocks).data();
  list.block_offsets_ = reader.Bytes(4 * blocks).data();
  list.position_offsets_ = reader.Bytes(4 * blocks).data();
  list.block_impacts_ = reader.Bytes(kImpactBytes * list.impact_stride_ * blocks).data();
  list.data_ = reader.Bytes(data_bytes).data();
  list.positions_ = reader.position();
  return list;
}

uint32_t PostingList::FindBlock(uint32_t from, uint32_t document) const {
  if (from >= block_count_) return block_count_;
  if (last_document(from) >= document) return from;
  // Gallop, because the wanted block is near in most calls.
  uint32_t low = from;  // last_document(low) < document
  uint32_t step = 1;
  while (block_count_ - low > step && last_document(low + step) < document) {
    low += step;
    step *= 2;
  }
  uint32_t high = block_count_ - low > step ? low + step : block_count_;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (last_document(middle) < document) low = middle; else high = middle;
  }
  return high;
}

// Every read of a block begins here: one comparison with the end covers the sum of its parts.
PostingList::BlockParts PostingList::ReadBlockAt(const uint8_t* at, const uint8_t* end, uint32_t length) {
  constexpr size_t kHeaderBytes = 2;
  constexpr size_t kUnitBytes = 2;
  const auto room = static_cast<size_t>(end - at);
  if (room < kHeaderBytes) Damaged("block");
  BlockParts parts;
  parts.document_code = at[0];
  const uint8_t frequency_code = at[1];
  parts.frequency_width = frequency_code & kFrequencyWidthMask;
  parts.frequency_unit = 1;
  size_t header = kHeaderBytes;
  if (frequency_code & kFrequencyUnitFlag) {
    header += kUnitBytes;
    if (room < header) Damaged("block");
    parts.frequency_unit = Load<uint16_t>(at + kHeaderBytes);
  }
  // (value + 1) * unit must stay within 32 bits and is never 0.
  if (parts.frequency_unit == 0 || parts.frequency_width + BitWidth(parts.frequency_unit) > 32) Damaged("frequencies");
  if (parts.document_code & kBitsetFlag) {
    parts.documents_size = kBitsetHeaderBytes + 8 * static_cast<size_t>(parts.document_code & kBitsetWordsMask);
  } else {
    if (parts.document_code > kDeltaWidthMax) Damaged("documents");
    parts.documents_size = PackedBytes(length, parts.document_code);
  }
  parts.frequencies_size = PackedBytes(length, parts.frequency_width);
  if (room - header < parts.documents_size + parts.frequencies_size) Damaged("block");
  parts.documents = at + header;
  parts.frequencies = parts.documents + parts.documents_size;
  parts.end = parts.frequencies + parts.frequencies_size;
  return parts;
}

PostingList::BlockParts PostingList::ReadBlock(uint32_t block) const {
  const uint8_t* at = data_;
  if (block_offsets_ != nullptr) {
    const uint32_t offset = Load<uint32_t>(block_offsets_ + 4 * static_cast<size_t>(block));
    if (offset > static_cast<size_t>(positions_ - data_)) Damaged("block offset");
    at += offset;
  }
  return ReadBlockAt(at, positions_, block_length(block));
}

void PostingList::DecodeDocuments(uint32_t block, uint32_t* out) const {
  if (IsSingleton()) {
    out[0] = only_last_document_;
    return;
  }
  const BlockParts parts = ReadBlock(block);
  const uint32_t length = block_length(block);
  const uint32_t last = last_document(block);
  const uint32_t previous = PreviousDocument(block);
  if (parts.document_code & kBitsetFlag) {
    const uint32_t words = parts.document_code & kBitsetWordsMask;
    const uint32_t first = Load<uint32_t>(parts.documents - 1) >> 8;  // u24; the byte before is within the block
    if (first < previous + 1 || first > last) Damaged("documents");
    const uint8_t* bitset = parts.documents + kBitsetHeaderBytes;
    if (CountBits(bitset, words) != length) Damaged("documents");
    UnpackBitset(bitset, words, first, out);
  } else if (length == kBlockSize) {
    UnpackBlockDeltas(parts.documents, parts.document_code, previous, out);
  } else {
    UnpackRange(parts.documents, parts.documents_size, 0, length, parts.document_code, out);
    uint32_t document = previous;
    for (uint32_t i = 0; i < length; ++i) out[i] = document += out[i] + 1;
  }
  // Deltas are positive and their sum cannot overflow, so the last document bounds all of them.
  if (out[length - 1] != last || previous + 1 > last) Damaged("documents");
}

bool PostingList::PeekBitset(uint32_t block, uint32_t* first, std::span<const uint8_t>* words) const {
  if (IsSingleton()) {
    *first = only_last_document_;
    *words = {};
    return true;
  }
  const BlockParts parts = ReadBlock(block);
  if (parts.document_code != 0 && (parts.document_code & kBitsetFlag) == 0) return false;
  const uint32_t length = block_length(block);
  const uint32_t last = last_document(block);
  const uint32_t begin = PreviousDocument(block) + 1;
  if (parts.document_code == 0) {
    if (begin + length != last + 1) Damaged("documents");
    *first = begin;
    *words = {};
    return true;
  }
  *first = Load<uint32_t>(parts.documents - 1) >> 8;
  *words = {parts.documents + kBitsetHeaderBytes, parts.documents_size - kBitsetHeaderBytes};
  if (words->empty()) Damaged("documents");
  if (*first < begin || last < *first || (last - *first) / 64 >= words->size() / 8) Damaged("documents");
  return true;
}

bool PostingList::BlockBitset(uint32_t block, uint32_t* first, std::span<const uint8_t>* words) const {
  if (!PeekBitset(block, first, words)) return false;
  if (words->empty()) return true;
  const size_t last_word = words->size() / 8 - 1;
  const uint64_t bits = Load<uint64_t>(words->data() + 8 * last_word);
  const auto highest = static_cast<uint32_t>(64 * last_word + 63 - static_cast<size_t>(std::countl_zero(bits)));
  // DecodeDocuments checks that there are block_length bits: counting them costs more than testing one.
  if (bits == 0 || *first + highest != last_document(block)) Damaged("documents");
  return true;
}

void PostingList::UnpackFrequencies(const BlockParts& parts, uint32_t length, uint32_t addend, uint32_t* out) const {
  if (length == kBlockSize) {
    UnpackBlock(parts.frequencies, parts.frequency_width, addend, out);
  } else {
    UnpackRange(parts.frequencies, parts.frequencies_size, 0, length, parts.frequency_width, out);
    for (uint32_t i = 0; i < length; ++i) out[i] += addend;
  }
}

void PostingList::DecodeFrequencies(uint32_t block, uint32_t* out) const {
  if (IsSingleton()) {
    out[0] = singleton_frequency_;
    return;
  }
  const BlockParts parts = ReadBlock(block);
  const uint32_t length = block_length(block);
  if (parts.frequency_width == 0) {
    std::fill(out, out + length, parts.frequency_unit);
    return;
  }
  UnpackFrequencies(parts, length, 1, out);
  if (parts.frequency_unit == 1) return;
  for (uint32_t i = 0; i < length; ++i) out[i] *= parts.frequency_unit;
}

PostingList::PositionParts PostingList::ReadPositionBlock(uint32_t block) const {
  const uint8_t* at = positions_;
  if (position_offsets_ != nullptr) {
    const uint32_t offset = Load<uint32_t>(position_offsets_ + 4 * static_cast<size_t>(block));
    if (offset > static_cast<size_t>(end_ - positions_)) Damaged("position offset");
    at += offset;
  }
  ByteReader reader({at, static_cast<size_t>(end_ - at)});
  PositionParts parts;
  const uint8_t count_code = reader.Integer<uint8_t>();
  parts.counts_are_frequencies = count_code == kCountsAreFrequencies;
  parts.count_width = parts.counts_are_frequencies ? 0 : count_code;
  parts.position_width = reader.Integer<uint8_t>();
  if (parts.count_width > 31 || parts.position_width < 1 || parts.position_width > 31) Damaged("positions");
  parts.counts_size = PackedBytes(block_length(block), parts.count_width);
  parts.counts = reader.Bytes(parts.counts_size).data();
  parts.positions = reader.position();
  parts.positions_size = reader.remaining();
  return parts;
}

// Writes the number of occurrences per document, minus one; `out` must have room for kBlockSize.
void PostingList::UnpackCounts(uint32_t block, const PositionParts& parts, uint32_t* out) const {
  const uint32_t length = block_length(block);
  if (parts.counts_are_frequencies) {
    UnpackFrequencies(ReadBlock(block), length, 0, out);
  } else {
    UnpackRange(parts.counts, parts.counts_size, 0, length, parts.count_width, out);
  }
}

void PostingList::DecodePositions(uint32_t block, uint32_t index, std::vector<uint32_t>* out) const {
  if (IsSingleton()) {
    uint32_t ends[1];
    DecodeBlockPositions(block, ends, out);
    return;
  }
  if (index >= block_length(block)) Damaged("documents");
  const PositionParts parts = ReadPositionBlock(block);
  uint64_t first = index;
  uint64_t count = 1;
  if (parts.counts_are_frequencies && block_length(block) == kBlockSize) {
    const BlockParts frequencies = ReadBlock(block);
    first += SumBlock(frequencies.frequencies, frequencies.frequency_width, index);
    count += BlockValue(frequencies.frequencies, frequencies.frequency_width, index);
  } else {
    uint32_t counts[kBlockSize];
    UnpackCounts(block, parts, counts);
    for (uint32_t i = 0; i < index; ++i) first += counts[i];
    count += counts[index];
  }
  if (PackedBytes(first + count, parts.position_width) > parts.positions_size) Damaged("positions");
  out->resize(count);
  UnpackRange(parts.positions, parts.positions_size, first, count, parts.position_width, out->data());
}

void PostingList::DecodeBlockPositions(uint32_t block, uint32_t* ends, std::vector<uint32_t>* out) const {
  if (IsSingleton()) {
    ends[0] = static_cast<uint32_t>(total_occurrences_);
    out->resize(ends[0]);
    ByteReader reader({positions_, static_cast<size_t>(end_ - positions_)});
    uint32_t position = 0;
    for (uint32_t& value : *out) value = position += reader.Varint32(kPositionsMax - 1 - position);
    return;
  }
  const PositionParts parts = ReadPositionBlock(block);
  const uint32_t length = block_length(block);
  uint32_t counts[kBlockSize];
  UnpackCounts(block, parts, counts);
  uint64_t total = 0;
  for (uint32_t i = 0; i < length; ++i) {
    total += uint64_t{counts[i]} + 1;
    ends[i] = static_cast<uint32_t>(total);
  }
  if (PackedBytes(total, parts.position_width) > parts.positions_size || total > UINT32_MAX) Damaged("positions");
  out->resize(total);
  UnpackRange(parts.positions, parts.positions_size, 0, total, parts.position_width, out->data());
}

std::span<const Impact> PostingList::BlockImpacts(uint32_t block, std::array<Impact, kImpactsPerBlock>* scratch) const {
  if (block_impacts_ == nullptr) {
    std::array<Impact, kImpactsPerList> impacts;
    const size_t count = ListImpacts(&impacts).size();  // at most kImpactsPerBlock for a list with one block
    std::copy(impacts.begin(), impacts.begin() + static_cast<std::ptrdiff_t>(count), scratch->begin());
    return {scratch->data(), count};
  }
  const uint8_t* at = block_impacts_ + static_cast<size_t>(block) * impact_stride_ * kImpactBytes;
  size_t count = 0;
  for (; count < impact_stride_; ++count, at += kImpactBytes) {
    const Impact impact{Load<uint16_t>(at), at[2]};
    // A block with fewer pairs than the list's maximum is padded with zeros.
    if (impact.frequency == 0) break;
    (*scratch)[count] = impact;
  }
  if (count == 0) Damaged("impacts");
  return {scratch->data(), count};
}

std::span<const Impact> PostingList::ListImpacts(std::array<Impact, kImpactsPerList>* scratch) const {
  if (document_frequency_ == 0) return {};
  if (IsSingleton()) {
    (*scratch)[0] = {static_cast<uint16_t>(std::min(singleton_frequency_, 65535u)), *list_impacts_};
    return {scratch->data(), 1};
  }
  const uint8_t* at = list_impacts_;
  for (uint32_t i = 0; i < list_impact_count_; ++i) {
    const uint8_t norm = *at++;
    (*scratch)[i] = {static_cast<uint16_t>(TrustedVarint(&at)), norm};
  }
  return {scratch->data(), list_impact_count_};
}

}  // namespace gannet
