#include "whole_field_finder.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "../common/stop.h"
#include "../cursors/posting_cursor.h"

namespace gannet {
namespace {

using Places = std::span<const std::vector<uint32_t>* const>;

DocumentsOfLength FindDocumentsOfLength(const Segment& segment, uint32_t length) {
  const std::string key = std::to_string(length);
  if (const auto kept = segment.cache().documents_of_length.Find(key)) return *kept;
  auto found = std::make_shared<std::vector<uint32_t>>();
  std::array<uint32_t, kWindowSize> documents;
  for (uint32_t begin = 0; begin < segment.document_count() && found; begin += kWindowSize) {
    const uint32_t count = std::min(kWindowSize, segment.document_count() - begin);
    std::iota(documents.begin(), documents.begin() + count, begin);
    const size_t selected = segment.SelectByFieldLength({documents.data(), count}, length, documents.data());
    found->insert(found->end(), documents.begin(), documents.begin() + static_cast<ptrdiff_t>(selected));
    if (found->size() > kCachedDocumentsOfLengthMax) found = nullptr;
  }
  segment.cache().documents_of_length.Keep(key, found);
  return found;
}

// Examining a document of the right length costs about as much as scanning this number of postings.
constexpr uint64_t kLookCostPostings = 8;
// Up to this number of postings, finding is faster than a look-up in the cache, which most queries are not in.
constexpr uint64_t kFoundAnewMax = 1024;
// Lists of the documents of a length are cached only for queries up to this length.
constexpr uint32_t kKeptLengthMax = 16;

class WholeFieldFinder {
 public:
  WholeFieldFinder(const Segment& segment, uint32_t segment_index, std::span<const PreparedTerm> terms, Places places)
      : segment_(segment), fields_(segment.meta().text_fields), word_count_(static_cast<uint32_t>(places.size())) {
    for (const std::vector<uint32_t>* place : places) {
      lists_.emplace_back();
      for (const uint32_t term : *place) {
        const PostingList& list = terms[term].lists[segment_index];
        if (list.document_frequency() > 0) lists_.back().push_back(&list);
      }
    }
    rarest_ = &*std::ranges::min_element(lists_, {}, Postings);
    cost_ = Postings(*rarest_);
    if (word_count_ > kKeptLengthMax) return;
    DocumentsOfLength all = FindDocumentsOfLength(segment_, word_count_);
    if (!all || all->size() * kLookCostPostings > cost_) return;
    of_length_ = std::move(all);
    cost_ = of_length_->size() * kLookCostPostings;
  }

  // In postings.
  uint64_t cost() const { return cost_; }

  std::vector<WholeFieldMatch> Find() {
    const std::vector<uint32_t> of_rarest = of_length_ ? std::vector<uint32_t>() : DocumentsOfRarest();
    const std::vector<uint32_t>& documents = of_length_ ? *of_length_ : of_rarest;
    if (documents.empty()) return {};
    for (const auto& lists : lists_) {
      cursors_.emplace_back(lists.size());
      for (size_t i = 0; i < lists.size(); ++i) cursors_.back()[i].Reset(lists[i]);
    }
    std::vector<WholeFieldMatch> matches;
    size_t step = 0;
    for (const uint32_t document : documents) {
      StopIfAskedAt(++step);
      if (const uint32_t units = UnitsOf(document); units > 0) matches.push_back({document, units});
    }
    return matches;
  }

 private:
  static uint64_t Postings(const std::vector<const PostingList*>& lists) {
    uint64_t sum = 0;
    for (const PostingList* list : lists) sum += list->document_frequency();
    return sum;
  }

  // Returns the documents with a field of the right length that have a term of the rarest word, ascending.
  std::vector<uint32_t> DocumentsOfRarest() const {
    std::vector<uint32_t> candidates;
    uint32_t documents[kBlockSize];
    for (const PostingList* list : *rarest_) {
      for (uint32_t block = 0; block < list->block_count(); ++block) {
        StopIfAsked();
        list->DecodeDocuments(block, documents);
        const size_t count =
            segment_.SelectByFieldLength({documents, list->block_length(block)}, word_count_, documents);
        candidates.insert(candidates.end(), documents, documents + count);
      }
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    return candidates;
  }

  // Returns the weight units of the weightiest field that is the query; 0 if there is none.
  uint32_t UnitsOf(uint32_t document) {
    uint32_t units = 0;
    uint64_t begin = 0;
    for (uint32_t field = 0; field < fields_.size(); ++field) {
      const uint32_t length = segment_.FieldLength(field, document);
      const bool is_better = fields_[field].weight_units > units;
      if (is_better && length == word_count_ && IsWhole(document, begin)) units = fields_[field].weight_units;
      begin += uint64_t{length} + 1;
    }
    return units;
  }

  // Returns true if the words follow each other from this position on.
  bool IsWhole(uint32_t document, uint64_t begin) {
    for (size_t place = 0; place < cursors_.size(); ++place) {
      const bool stands = std::any_of(cursors_[place].begin(), cursors_[place].end(), [&](PostingCursor& cursor) {
        if (!cursor.Seek(document)) return false;
        cursor.DecodePositions(&positions_);
        return std::binary_search(positions_.begin(), positions_.end(), begin + place);
      });
      if (!stands) return false;
    }
    return true;
  }

  const Segment& segment_;
  const std::vector<TextFieldMeta>& fields_;
  const uint32_t word_count_;
  std::vector<std::vector<const PostingList*>> lists_;  // by word
  const std::vector<const PostingList*>* rarest_;       // lists of the rarest word
  DocumentsOfLength of_length_;  // all documents with a field of the right length; null if the rarest word has fewer
  uint64_t cost_;
  std::vector<std::vector<PostingCursor>> cursors_;     // by word
  std::vector<uint32_t> positions_;
};

std::string KeyOf(std::span<const PreparedTerm> terms, Places places) {
  std::string key;
  for (const std::vector<uint32_t>* place : places) {
    for (const uint32_t term : *place) AppendKeyPart(terms[term].text, &key);
    AppendKeyPart({}, &key);  // no term is empty
  }
  return key;
}

}  // namespace

WholeFieldMatches FindWholeFields(const Segment& segment, uint32_t segment_index, std::span<const PreparedTerm> terms,
                                  std::span<const std::vector<uint32_t>* const> places) {
  static const auto kNone = std::make_shared<const std::vector<WholeFieldMatch>>();
  // Small segments usually lack a word, which is detected faster than a cached answer is found.
  const auto has_term = [&](uint32_t term) { return terms[term].lists[segment_index].document_frequency() > 0; };
  const auto has_word = [&](const std::vector<uint32_t>* place) { return std::ranges::any_of(*place, has_term); };
  if (!std::ranges::all_of(places, has_word)) return kNone;
  WholeFieldFinder finder(segment, segment_index, terms, places);
  const auto find = [&] {
    std::vector<WholeFieldMatch> matches = finder.Find();
    return matches.empty() ? kNone : std::make_shared<const std::vector<WholeFieldMatch>>(std::move(matches));
  };
  if (finder.cost() <= kFoundAnewMax) return find();
  const std::string key = KeyOf(terms, places);
  if (const auto kept = segment.cache().whole_fields.Find(key)) return *kept;
  const WholeFieldMatches matches = find();
  if (matches->size() <= kCachedWholeFieldMatchesMax) segment.cache().whole_fields.Keep(key, matches);
  return matches;
}

}  // namespace gannet
