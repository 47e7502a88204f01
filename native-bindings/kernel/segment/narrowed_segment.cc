#include "narrowed_segment.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "../common/error.h"
#include "../common/stop.h"
#include "../postings/norm.h"
#include "../postings/posting_writer.h"

namespace gannet {
namespace {

// Memory of a kept list besides its bytes: map nodes and allocator overhead.
constexpr size_t kKeptListBytes = 120;

thread_local constinit ListsOfSearch* lists_of_thread = nullptr;

size_t BytesOf(const NarrowedList& list) { return kKeptListBytes + list->size(); }

std::shared_ptr<const NarrowedFields> Narrow(const Segment& whole, std::span<const uint32_t> wanted) {
  auto narrowed = std::make_shared<NarrowedFields>();
  std::vector<uint32_t>& fields = narrowed->fields;
  fields.assign(wanted.begin(), wanted.end());
  std::ranges::sort(fields);
  fields.erase(std::ranges::unique(fields).begin(), fields.end());
  if (fields.empty() || fields.back() >= whole.meta().text_fields.size()) {
    throw Error(ErrorCode::kInvalidArgument, "a text field that the segment does not have");
  }
  SegmentMeta& meta = narrowed->meta;
  meta = whole.meta();
  meta.text_fields.clear();
  uint32_t unit = 0;
  for (const uint32_t field : fields) {
    meta.text_fields.push_back(whole.meta().text_fields[field]);
    unit = std::gcd(unit, meta.text_fields.back().weight_units);
  }
  meta.weighted_length_sum = 0;
  for (TextFieldMeta& field : meta.text_fields) {
    field.weight_units /= unit;
    meta.weighted_length_sum += field.token_count * field.weight_units;
  }
  const bool has_parts = whole.part_units() != nullptr;
  narrowed->norms.reserve(meta.document_count);
  for (uint32_t document = 0; document < meta.document_count; ++document) {
    StopIfAskedAt(document);
    uint64_t weighted = 0;
    uint64_t parts = 0;
    for (size_t i = 0; i < fields.size(); ++i) {
      const uint64_t units = meta.text_fields[i].weight_units;
      weighted += whole.FieldLength(fields[i], document) * units;
      if (has_parts) parts += whole.PartLength(fields[i], document) * units;
    }
    narrowed->norms.push_back(EncodeNorm(weighted));
    KeepMost(narrowed->norms.back(), parts, &narrowed->part_units);
  }
  return narrowed;
}

// The positions of one field in a document of the whole segment, or those of the parts of its words.
struct Run {
  uint32_t length;
  uint32_t weight_units;  // 0: the field is left out
};

// Maps positions of the whole segment to positions in the wanted fields only.
class PositionMapper {
 public:
  PositionMapper(const Segment& whole, const NarrowedFields& narrowed)
      : whole_(whole), field_count_(static_cast<uint32_t>(whole.meta().text_fields.size())), units_(field_count_) {
    for (size_t i = 0; i < narrowed.fields.size(); ++i) units_[narrowed.fields[i]] = narrowed.meta.text_fields[i].weight_units;
  }

  // Replaces *out by the mapped positions of the wanted fields; returns their weighted frequency.
  uint64_t Map(uint32_t document, std::span<const uint32_t> positions, std::vector<uint32_t>* out) const {
    out->clear();
    uint64_t frequency = 0;
    uint64_t begin = 0;      // of the run in the whole segment
    uint64_t new_begin = 0;  // of the run in the wanted fields
    auto next = positions.begin();
    for (uint32_t place = 0; place < 2 * field_count_ && next != positions.end(); ++place) {
      const Run run = RunAt(place, document);
      const uint64_t end = begin + run.length;
      for (; next != positions.end() && *next < end; ++next) {
        if (run.weight_units == 0) continue;
        out->push_back(static_cast<uint32_t>(new_begin + (*next - begin)));
        frequency += run.weight_units;
      }
      // One empty position follows every field. Those after the parts of a word are included in their length.
      const uint64_t taken = run.length + (place < field_count_ ? 1 : 0);
      begin += taken;
      if (run.weight_units > 0) new_begin += taken;
    }
    return frequency;
  }

 private:
  Run RunAt(uint32_t place, uint32_t document) const {
    if (place < field_count_) return {whole_.FieldLength(place, document), units_[place]};
    const uint32_t field = place - field_count_;
    return {whole_.PartLength(field, document), units_[field]};
  }

  const Segment& whole_;
  uint32_t field_count_;
  std::vector<uint32_t> units_;  // by field of the whole segment
};

}  // namespace

ListsOfSearch::ListsOfSearch(size_t bytes_max) : bytes_max_(bytes_max), outer_(lists_of_thread) { lists_of_thread = this; }

ListsOfSearch::~ListsOfSearch() { lists_of_thread = outer_; }

ListsOfSearch& ListsOfSearch::OfThread() {
  if (lists_of_thread == nullptr) throw Error(ErrorCode::kInvalidArgument, "lists of some fields outside of a search");
  return *lists_of_thread;
}

void ListsOfSearch::Check() const {
  if (bytes_ <= bytes_max_) return;
  throw Error(ErrorCode::kLimit, "the words of the query are in too many records to be looked for in some fields");
}

NarrowedSegment::NarrowedSegment(const Segment* whole, std::span<const uint32_t> fields)
    : NarrowedSegment(whole, Narrow(*whole, fields), {}) {}

NarrowedSegment::NarrowedSegment(const Segment* whole, const NarrowedSegment& full)
    : NarrowedSegment(whole, full.fields_, full.lists()) {}

NarrowedSegment::NarrowedSegment(const Segment* whole, std::shared_ptr<const NarrowedFields> fields, Lists before)
    : whole_(*whole),
      fields_(std::move(fields)),
      kept_bytes_max_(kNarrowedListsBytes.Of(fields_->meta.document_count)),
      before_(std::move(before)) {
  cache().term_entries.LimitBytes(kTermEntriesBytes.Of(document_count()) / kNarrowedCacheFraction);
  cache().joined_lists.LimitBytes(kJoinedListsBytes.Of(document_count()) / kNarrowedCacheFraction);
}

NarrowedSegment::Lists NarrowedSegment::lists() const {
  const std::lock_guard lock(mutex_);
  return lists_;
}

PostingList NarrowedSegment::Postings(std::span<const uint8_t> entry) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto kept = lists_.find(entry.data()); kept != lists_.end()) return Parsed(*kept->second);
  }
  if (const auto kept = before_.find(entry.data()); kept != before_.end()) {
    Keep(entry.data(), kept->second);
    return Parsed(*kept->second);
  }
  ListsOfSearch& search = ListsOfSearch::OfThread();
  if (const auto* held = search.Find(entry.data()); held != nullptr) return Parsed(*held);
  search.Check();
  const auto made = std::make_shared<const std::vector<uint8_t>>(MakeList(whole_.Postings(entry)));
  search.Count(BytesOf(made));
  // If another thread has kept such a list in the meantime, the search uses its own all the same.
  if (!Keep(entry.data(), made)) search.Hold(entry.data(), made);
  return Parsed(*made);
}

// Returns true if the list is kept now.
bool NarrowedSegment::Keep(const uint8_t* at, const NarrowedList& list) const {
  const size_t bytes = BytesOf(list);
  // There is never room for it, and others should not be dropped for that.
  if (bytes > kept_bytes_max_) return false;
  const std::lock_guard lock(mutex_);
  if (kept_bytes_ + bytes > kept_bytes_max_) {
    is_full_ = true;
    return false;
  }
  const bool is_new = lists_.try_emplace(at, list).second;
  if (is_new) kept_bytes_ += bytes;
  return is_new;
}

PostingList NarrowedSegment::Parsed(const std::vector<uint8_t>& bytes) const {
  return bytes.empty() ? PostingList() : PostingList::Parse(bytes, document_count());
}

std::vector<uint8_t> NarrowedSegment::MakeList(const PostingList& list) const {
  const SegmentMeta& meta = fields_->meta;
  const PositionMapper mapper(whole_, *fields_);
  PostingWriter writer(static_cast<float>(static_cast<double>(meta.weighted_length_sum) / meta.document_count));
  std::array<uint32_t, kBlockSize> documents;
  std::array<uint32_t, kBlockSize> ends;
  std::vector<uint32_t> positions;
  std::vector<uint32_t> mapped;
  for (uint32_t block = 0; block < list.block_count(); ++block) {
    StopIfAsked();
    list.DecodeDocuments(block, documents.data());
    list.DecodeBlockPositions(block, ends.data(), &positions);
    uint32_t begin = 0;
    for (uint32_t i = 0; i < list.block_length(block); ++i) {
      const auto own = std::span<const uint32_t>(positions).subspan(begin, ends[i] - begin);
      const uint64_t frequency = std::min<uint64_t>(mapper.Map(documents[i], own, &mapped), kPositionsMax);
      if (frequency > 0) writer.Add(documents[i], static_cast<uint32_t>(frequency), mapped, fields_->norms[documents[i]]);
      begin = ends[i];
    }
  }
  std::vector<uint8_t> bytes;
  if (writer.document_frequency() > 0) writer.Finish(&bytes);
  bytes.shrink_to_fit();
  return bytes;
}

}  // namespace gannet
