#include "posting_writer.h"

#include <algorithm>
#include <numeric>

#include "../common/bytes.h"
#include "bit_packing.h"
#include "posting_layout.h"

namespace gannet {
namespace {

constexpr uint64_t kListBytesMax = 0xe0000000;  // offsets are 32 bits wide, and an LMDB value is below 4 GiB

void AppendBlock(const uint32_t* values, uint32_t length, unsigned width, std::vector<uint8_t>* out) {
  if (length == kBlockSize) {
    const size_t at = out->size();
    out->resize(at + 16 * static_cast<size_t>(width));
    PackBlock(values, width, out->data() + at);
  } else {
    AppendPacked(values, length, width, out);
  }
}

unsigned WidestOf(const uint32_t* values, size_t count) {
  uint32_t bits = 0;
  for (size_t i = 0; i < count; ++i) bits |= values[i];
  return BitWidth(bits);
}

}  // namespace

void PostingWriter::Add(uint32_t document, uint32_t weighted_frequency, std::span<const uint32_t> positions,
                        uint8_t norm) {
  if (weighted_frequency >= kPositionsMax || positions.back() >= kPositionsMax) {
    throw Error(ErrorCode::kLimit, "a document has 2^31 or more words");
  }
  if (pending_ == kBlockSize) FlushBlock();
  documents_[pending_] = document;
  frequencies_[pending_] = weighted_frequency;
  counts_[pending_] = static_cast<uint32_t>(positions.size());
  norms_[pending_] = norm;
  ++pending_;
  block_positions_.insert(block_positions_.end(), positions.begin(), positions.end());
  ++document_frequency_;
  total_occurrences_ += positions.size();
}

uint8_t PostingWriter::ChooseDocumentCode(uint32_t length) {
  uint32_t previous = previous_document_;
  for (uint32_t i = 0; i < length; ++i) {
    deltas_[i] = documents_[i] - previous - 1;
    previous = documents_[i];
  }
  const unsigned width = WidestOf(deltas_.data(), length);
  const size_t words = (documents_[length - 1] - documents_[0]) / 64 + 1;
  const bool bitset = words <= kBitsetWordsMask && kBitsetHeaderBytes + 8 * words < PackedBytes(length, width);
  return static_cast<uint8_t>(bitset ? kBitsetFlag | words : width);
}

void PostingWriter::AppendDocuments(uint8_t code, uint32_t length) {
  if ((code & kBitsetFlag) == 0) {
    AppendBlock(deltas_.data(), length, code, &data_);
    return;
  }
  const uint32_t first = documents_[0];
  const size_t at = data_.size();
  data_.resize(at + kBitsetHeaderBytes + 8 * static_cast<size_t>(code & kBitsetWordsMask));
  for (size_t i = 0; i < kBitsetHeaderBytes; ++i) data_[at + i] = static_cast<uint8_t>(first >> (8 * i));
  for (uint32_t i = 0; i < length; ++i) {
    const uint32_t bit = documents_[i] - first;
    data_[at + kBitsetHeaderBytes + bit / 8] |= static_cast<uint8_t>(1u << (bit % 8));
  }
}

void PostingWriter::AppendPositions(uint32_t length) {
  // By now, counts_ and frequencies_ are reduced by one, and frequencies_ are in units.
  const bool same = std::equal(counts_.begin(), counts_.begin() + length, frequencies_.begin());
  const unsigned count_width = WidestOf(counts_.data(), length);
  const unsigned position_width = std::max(1u, WidestOf(block_positions_.data(), block_positions_.size()));
  positions_.push_back(same ? kCountsAreFrequencies : static_cast<uint8_t>(count_width));
  positions_.push_back(static_cast<uint8_t>(position_width));
  if (!same) AppendPacked(counts_.data(), length, count_width, &positions_);
  AppendPacked(block_positions_.data(), block_positions_.size(), position_width, &positions_);
}

void PostingWriter::FlushBlock() {
  const uint32_t length = pending_;
  const size_t impacts_before = impacts_.size();
  uint32_t unit = 0;
  uint32_t highest = 0;
  for (uint32_t i = 0; i < length; ++i) {
    block_collector_.Add(frequencies_[i], norms_[i]);
    unit = std::gcd(unit, frequencies_[i]);
    highest = std::max(highest, frequencies_[i]);
  }
  block_collector_.TakeInto(256, average_length_, &impacts_);
  // The list's pairs are made from the exact pairs of its blocks, before these are reduced.
  for (size_t i = impacts_before; i < impacts_.size(); ++i) {
    list_collector_.Add(impacts_[i].frequency, impacts_[i].norm);
  }
  if (impacts_.size() - impacts_before > kImpactsPerBlock) {
    for (size_t i = impacts_before; i < impacts_.size(); ++i) {
      block_collector_.Add(impacts_[i].frequency, impacts_[i].norm);
    }
    impacts_.resize(impacts_before);
    block_collector_.TakeInto(kImpactsPerBlock, average_length_, &impacts_);
  }
  impact_counts_.push_back(static_cast<uint32_t>(impacts_.size() - impacts_before));

  // Frequencies in fields with a weight of several units are multiples of it: storing the quotient saves bits.
  if (unit > 65535 || BitWidth(highest / unit - 1) + BitWidth(unit) > 32) unit = 1;
  for (uint32_t i = 0; i < length; ++i) {
    frequencies_[i] = frequencies_[i] / unit - 1;
    --counts_[i];
  }
  const unsigned frequency_width = BitWidth(highest / unit - 1);

  if (data_.size() + positions_.size() > kListBytesMax) {
    throw Error(ErrorCode::kLimit, "a posting list exceeds 3.5 GiB");
  }
  block_offsets_.push_back(static_cast<uint32_t>(data_.size()));
  position_offsets_.push_back(static_cast<uint32_t>(positions_.size()));
  last_documents_.push_back(documents_[length - 1]);
  const uint8_t document_code = ChooseDocumentCode(length);
  data_.push_back(document_code);
  data_.push_back(static_cast<uint8_t>(frequency_width | (unit == 1 ? 0 : kFrequencyUnitFlag)));
  if (unit != 1) AppendInteger(&data_, static_cast<uint16_t>(unit));
  AppendDocuments(document_code, length);
  AppendBlock(frequencies_.data(), length, frequency_width, &data_);
  AppendPositions(length);

  previous_document_ = documents_[length - 1];
  block_positions_.clear();
  pending_ = 0;
}

void PostingWriter::WriteSingleton(std::vector<uint8_t>* out) const {
  AppendVarint(out, 1 << 1);
  AppendVarint(out, documents_[0]);
  out->push_back(norms_[0]);
  const uint32_t occurrences = counts_[0];
  const bool weighted = frequencies_[0] != occurrences;
  AppendVarint(out, static_cast<uint64_t>(occurrences - 1) << 1 | (weighted ? 1 : 0));
  if (weighted) AppendVarint(out, frequencies_[0]);
  uint32_t previous = 0;
  for (const uint32_t position : block_positions_) {
    AppendVarint(out, position - previous);
    previous = position;
  }
}

void PostingWriter::Finish(std::vector<uint8_t>* out) {
  if (document_frequency_ == 1) {
    WriteSingleton(out);
    block_positions_.clear();
    pending_ = 0;
  } else {
    FlushBlock();
    if (data_.size() + positions_.size() > kListBytesMax) {
      throw Error(ErrorCode::kLimit, "a posting list exceeds 3.5 GiB");
    }
    const size_t blocks = last_documents_.size();
    AppendVarint(out, static_cast<uint64_t>(document_frequency_) << 1);
    AppendVarint(out, total_occurrences_ - document_frequency_);
    std::vector<Impact> list_impacts;
    list_collector_.TakeInto(blocks == 1 ? kImpactsPerBlock : kImpactsPerList, average_length_, &list_impacts);
    out->push_back(static_cast<uint8_t>(list_impacts.size()));
    for (const Impact& impact : list_impacts) {
      out->push_back(impact.norm);
      AppendVarint(out, impact.frequency);
    }
    if (blocks == 1) {
      AppendVarint(out, last_documents_[0]);
    } else {
      const uint32_t stride = *std::max_element(impact_counts_.begin(), impact_counts_.end());
      out->push_back(static_cast<uint8_t>(stride));
      AppendInteger(out, static_cast<uint32_t>(data_.size()));
      for (const auto* array : {&last_documents_, &block_offsets_, &position_offsets_}) {
        AppendBytes(out, {reinterpret_cast<const uint8_t*>(array->data()), 4 * array->size()});
      }
      size_t next = 0;
      for (const uint32_t count : impact_counts_) {
        for (uint32_t i = 0; i < stride; ++i) {
          const Impact impact = i < count ? impacts_[next + i] : Impact{0, 0};
          AppendInteger(out, impact.frequency);
          out->push_back(impact.norm);
        }
        next += count;
      }
    }
    AppendBytes(out, data_);
    AppendBytes(out, positions_);
  }
  document_frequency_ = 0;
  total_occurrences_ = 0;
  previous_document_ = ~0u;
  impacts_.clear();
  impact_counts_.clear();
  last_documents_.clear();
  block_offsets_.clear();
  position_offsets_.clear();
  data_.clear();
  positions_.clear();
}

}  // namespace gannet
