#include "inverter.h"

#include "../common/bytes.h"
#include "../postings/posting_writer.h"

namespace gannet {
namespace {

constexpr unsigned kTagBits = 2;
constexpr uint64_t kOccurrence = 0;
constexpr uint64_t kDocument = 1;
constexpr uint64_t kField = 2;

}  // namespace

// Reads a stream code by code.
class Inverter::StreamReader {
 public:
  StreamReader(const Inverter& inverter, const Stream& stream) : inverter_(inverter), end_(stream.at) {
    Enter(stream.first_slice);
  }
  bool AtEnd() const { return at_ == end_; }
  uint64_t Next() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at_ == slice_end_) {
        ++level_;
        Enter(Load<uint32_t>(slice_end_));
      }
      const uint8_t byte = *at_++;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

 private:
  void Enter(uint32_t slice) {
    at_ = inverter_.SliceAt(slice);
    slice_end_ = at_ + (16u << std::min(level_, kSliceLevels - 1)) - kLinkBytes;
  }
  const Inverter& inverter_;
  const uint8_t* end_;
  const uint8_t* at_;
  const uint8_t* slice_end_;
  uint32_t level_ = 0;
};

Inverter::Inverter(std::vector<uint32_t> weight_units)
    : weight_units_(std::move(weight_units)), lengths_(weight_units_.size()), part_lengths_(weight_units_.size()) {}

uint32_t Inverter::NewSlice(uint32_t bytes) {
  if (bytes > pool_left_) {
    // A slice number has 32 bits.
    if (pool_.size() >= (uint64_t{1} << 32) / (kPoolBlockBytes / kSliceUnit)) {
      throw Error(ErrorCode::kLimit, "the postings of a segment exceed 32 GiB");
    }
    pool_.push_back(std::make_unique_for_overwrite<uint8_t[]>(kPoolBlockBytes));
    pool_left_ = kPoolBlockBytes;
  }
  const uint64_t offset = (pool_.size() - 1) * uint64_t{kPoolBlockBytes} + (kPoolBlockBytes - pool_left_);
  pool_left_ -= bytes;
  return static_cast<uint32_t>(offset / kSliceUnit);
}

void Inverter::NextSlice(Stream* stream) {
  if (stream->level + 1u < kSliceLevels) ++stream->level;
  const uint32_t bytes = 16u << stream->level;
  const uint32_t slice = NewSlice(bytes);
  Store(stream->at, slice);  // the link after the payload
  stream->at = SliceAt(slice);
  stream->room = bytes - kLinkBytes;
}

void Inverter::Append(Stream* stream, uint64_t value) {
  if (stream->room >= kVarintBytesMax) {
    uint8_t* end = PutVarint(stream->at, value);
    stream->room -= static_cast<uint32_t>(end - stream->at);
    stream->at = end;
    return;
  }
  uint8_t bytes[kVarintBytesMax];
  const uint8_t* end = PutVarint(bytes, value);
  for (const uint8_t* byte = bytes; byte != end; ++byte) {
    if (stream->room == 0) NextSlice(stream);
    *stream->at++ = *byte;
    --stream->room;
  }
}

void Inverter::AddOccurrence(uint32_t term, uint32_t field, uint32_t position) {
  Stream& stream = streams_[term];
  if (stream.next_document != document_ + 1) {
    Append(&stream, static_cast<uint64_t>(document_ + 1 - stream.next_document) << kTagBits | kDocument);
    stream.next_document = document_ + 1;
    stream.position = 0;
    stream.field = 0;
  }
  if (stream.field != field) {
    Append(&stream, static_cast<uint64_t>(field) << kTagBits | kField);
    stream.field = static_cast<uint16_t>(field);
  }
  Append(&stream, static_cast<uint64_t>(position - stream.position) << kTagBits | kOccurrence);
  stream.position = position;
}

void Inverter::AddPending() {
  for (Pending& pending : pending_) pending.term = terms_.Guess(pending.hash);
  for (const Pending& pending : pending_) {
    if (pending.term >= streams_.size()) continue;
    terms_.PrefetchString(pending.term);
    __builtin_prefetch(&streams_[pending.term]);
  }
  for (Pending& pending : pending_) {
    bool added;
    pending.term = terms_.Intern(std::string_view(pending_terms_).substr(pending.term_begin, pending.term_bytes),
                                 pending.hash, &added);
    if (added) {
      const uint32_t slice = NewSlice(16);
      streams_.push_back({SliceAt(slice), 16 - kLinkBytes, slice, 0, 0, 0, 0});
    }
    __builtin_prefetch(streams_[pending.term].at, 1);
  }
  for (const Pending& pending : pending_) AddOccurrence(pending.term, pending.field, pending.position);
  pending_.clear();
  pending_terms_.clear();
}

void Inverter::Pend(std::string_view term, uint32_t field, uint64_t position) {
  if (position >= kPositionsMax - 1) throw Error(ErrorCode::kLimit, "a document has 2^31 or more words");
  const auto term_begin = static_cast<uint32_t>(pending_terms_.size());
  pending_.push_back({terms_.Hash(term), term_begin, static_cast<uint32_t>(term.size()), field,
                      static_cast<uint32_t>(position), 0});
  terms_.PrefetchSlot(pending_.back().hash);
  pending_terms_ += term;
  if (pending_.size() == kPendingMax) AddPending();
}

void Inverter::KeepParts(std::string_view text, const Token& token, uint32_t field) {
  const uint32_t places = word_parts_.Visit(text, token, [&](const WordPart& part) {
    const std::string_view term = TermKey(part.term, &scratch_);
    waiting_.push_back({static_cast<uint32_t>(waiting_terms_.size()), static_cast<uint32_t>(term.size()), field,
                        places_ + part.place});
    waiting_terms_ += term;
  });
  // The parts of two words are not neighbours.
  if (places > 0) places_ += places + 1;
}

void Inverter::PendParts(uint64_t begin) {
  for (const WaitingPart& part : waiting_) {
    Pend(std::string_view(waiting_terms_).substr(part.term_begin, part.term_bytes), part.field, begin + part.place);
  }
  waiting_.clear();
  waiting_terms_.clear();
  places_ = 0;
}

void Inverter::AddDocument(std::span<const std::vector<std::string_view>> texts) {
  uint64_t field_begin = 0;
  for (uint32_t field = 0; field < weight_units_.size(); ++field) {
    uint64_t extent = 0;
    const uint64_t places_before = places_;
    for (const std::string_view text : texts[field]) {
      const uint64_t begin = extent == 0 ? 0 : extent + 1;
      analyzer_.Reset(text);
      Token token;
      while (analyzer_.Next(&token)) {
        if (token.term.empty()) continue;
        const uint64_t in_field = begin + token.position;
        Pend(TermKey(token.term, &scratch_), field, field_begin + in_field);
        const SignedWord with_signs = signed_words_.Find(text, token);
        if (!with_signs.term.empty()) Pend(TermKey(with_signs.term, &scratch_), field, field_begin + in_field);
        if (token.may_have_parts) KeepParts(text, token, field);
        extent = std::max(extent, in_field + 1);
      }
    }
    lengths_[field].push_back(static_cast<uint32_t>(extent));
    part_lengths_[field].push_back(static_cast<uint32_t>(places_ - places_before));
    field_begin += extent + 1;
  }
  PendParts(field_begin);
  AddPending();
  ++document_;
}

void Inverter::WriteLists(std::span<const uint8_t> norms, float average_length,
                          const std::function<void(std::string_view, std::span<const uint8_t>)>& visit) {
  PostingWriter writer(average_length);
  std::vector<uint8_t> list;
  std::vector<uint32_t> positions;
  for (const uint32_t term : terms_.Sorted()) {
    uint32_t next_document = 0;
    uint32_t field = 0;
    uint64_t frequency = 0;
    const auto finish_document = [&] {
      if (positions.empty()) return;
      const uint32_t document = next_document - 1;
      writer.Add(document, static_cast<uint32_t>(std::min<uint64_t>(frequency, kPositionsMax)), positions,
                 norms[document]);
      positions.clear();
      frequency = 0;
      field = 0;
    };
    for (StreamReader reader(*this, streams_[term]); !reader.AtEnd();) {
      const uint64_t code = reader.Next();
      const uint32_t value = static_cast<uint32_t>(code >> kTagBits);
      switch (code & ((1u << kTagBits) - 1)) {
        case kDocument:
          finish_document();
          next_document += value;
          break;
        case kField:
          field = value;
          break;
        default:
          positions.push_back(value + (positions.empty() ? 0 : positions.back()));
          frequency += weight_units_[field];
      }
    }
    finish_document();
    list.clear();
    writer.Finish(&list);
    visit(terms_[term], list);
  }
}

}  // namespace gannet
