#include "context_count.h"

#include <algorithm>
#include <cstring>

#include "../common/stop.h"
#include "../cursors/posting_cursor.h"

namespace gannet {
namespace {

// Looking for one document in a list costs about as much as scanning this many postings.
constexpr uint64_t kProbeCostPostings = 64;

// A list with more than 1 / this of the documents is marked completely, one word of bits at a time.
constexpr uint64_t kDenseShare = 16;

// A set of documents of a segment, as bits.
class DocumentSet {
 public:
  explicit DocumentSet(uint32_t document_count) : document_count_(document_count), words_(document_count / 64 + 1) {}

  uint64_t count() const { return count_; }

  void AddAll() {
    AddRange(0, document_count_);
    Recount();
  }

  void AddPostings(std::span<const PostingList> lists) {
    for (const PostingList& list : lists) Mark(list);
    Recount();
  }

  // Keeps the documents that are also in one of the lists.
  void IntersectWith(std::span<const PostingList> lists) {
    DocumentSet other(document_count_);
    uint64_t postings = 0;
    for (const PostingList& list : lists) postings += list.document_frequency();
    if (count_ * kProbeCostPostings * lists.size() < postings) {
      for (const PostingList& list : lists) {
        Probe(list, [&](uint32_t document) { other.words_[document / 64] |= uint64_t{1} << (document % 64); });
      }
    } else {
      for (const PostingList& list : lists) other.Mark(list);
    }
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
    Recount();
  }

  void Remove(const DeletionSet& deletions) {
    if (deletions.deleted_count == 0) return;
    for (size_t i = 0; i < words_.size(); ++i) {
      const size_t chunk = i / kWindowWords;
      if (chunk < deletions.chunks.size() && deletions.chunks[chunk]) {
        words_[i] &= ~(*deletions.chunks[chunk])[i % kWindowWords];
      }
    }
    Recount();
  }

  uint64_t CountOf(const PostingList& list) const {
    uint64_t count = 0;
    if (count_ * kProbeCostPostings < list.document_frequency()) {
      Probe(list, [&](uint32_t) { ++count; });
    } else if (list.document_frequency() * kDenseShare < document_count_) {
      uint32_t documents[kBlockSize];
      for (uint32_t block = 0; block < list.block_count(); ++block) {
        StopIfAsked();
        list.DecodeDocuments(block, documents);
        for (uint32_t i = 0; i < list.block_length(block); ++i) count += Contains(documents[i]);
      }
    } else {
      DocumentSet other(document_count_);
      other.Mark(list);
      for (size_t i = 0; i < words_.size(); ++i) count += PopCount(words_[i] & other.words_[i]);
    }
    return count;
  }

 private:
  bool Contains(uint32_t document) const {
    const uint32_t place = std::min(document, document_count_);  // Above it only if a list is damaged.
    return (words_[place / 64] >> (place % 64) & 1) != 0;
  }

  void Recount() {
    // Clears bits that a damaged list may have set after the last document.
    words_.back() &= (uint64_t{1} << (document_count_ % 64)) - 1;
    count_ = 0;
    for (const uint64_t word : words_) count_ += PopCount(word);
  }

  void AddRange(uint32_t begin, uint32_t end) {
    for (uint32_t document = begin; document < end;) {
      const uint32_t last = std::min(end, (document / 64 + 1) * 64) - 1;
      words_[document / 64] |= (~uint64_t{0} << (document % 64)) & (~uint64_t{0} >> (63 - last % 64));
      document = last + 1;
    }
  }

  void AddBits(uint32_t first, std::span<const uint8_t> bits) {
    for (size_t i = 0; i + 8 <= bits.size(); i += 8) {
      uint64_t word;
      std::memcpy(&word, bits.data() + i, 8);
      const size_t place = (first + i * 8) / 64;
      const uint32_t shift = first % 64;
      if (place < words_.size()) words_[place] |= word << shift;
      if (shift > 0 && place + 1 < words_.size()) words_[place + 1] |= word >> (64 - shift);
    }
  }

  // Sets the bits of a list; they must be counted again afterwards.
  void Mark(const PostingList& list) {
    uint32_t documents[kBlockSize];
    for (uint32_t block = 0; block < list.block_count(); ++block) {
      StopIfAsked();
      uint32_t first;
      std::span<const uint8_t> bits;
      if (list.BlockBitset(block, &first, &bits)) {
        if (bits.empty()) AddRange(first, list.last_document(block) + 1);
        AddBits(first, bits);
        continue;
      }
      list.DecodeDocuments(block, documents);
      for (uint32_t i = 0; i < list.block_length(block); ++i) {
        const uint32_t place = std::min(documents[i], document_count_);
        words_[place / 64] |= uint64_t{1} << (place % 64);
      }
    }
  }

  // Visits the documents of the set that are also in the list, by looking for each of them.
  template <typename Visit>
  void Probe(const PostingList& list, Visit visit) const {
    PostingCursor cursor;
    cursor.Reset(&list);
    for (uint32_t word = 0; word < words_.size(); ++word) {
      if (words_[word] != 0) StopIfAsked();
      ForEachBit(words_[word], word * 64, [&](uint32_t document) {
        if (cursor.Seek(document)) visit(document);
      });
    }
  }

  uint32_t document_count_;
  uint64_t count_ = 0;
  std::vector<uint64_t> words_;  // one bit more than there are documents
};

std::vector<PostingList> FindLists(const Segment& segment, const ContextWord& word) {
  std::vector<PostingList> lists;
  for (const std::string& term : word) {
    lists.push_back(segment.FindTerm(term));
    if (lists.back().document_frequency() == 0) lists.pop_back();
  }
  return lists;
}

DocumentSet FindContext(const SegmentView& view, std::span<const ContextWord> context) {
  DocumentSet documents(view.segment->document_count());
  std::vector<std::vector<PostingList>> words;
  for (const ContextWord& word : context) words.push_back(FindLists(*view.segment, word));
  const auto postings = [](const std::vector<PostingList>& lists) {
    uint64_t sum = 0;
    for (const PostingList& list : lists) sum += list.document_frequency();
    return sum;
  };
  std::sort(words.begin(), words.end(), [&](const auto& a, const auto& b) { return postings(a) < postings(b); });
  if (words.empty()) {
    documents.AddAll();
  } else {
    documents.AddPostings(words[0]);
  }
  for (size_t i = 1; i < words.size() && documents.count() > 0; ++i) documents.IntersectWith(words[i]);
  documents.Remove(view.deletions);
  return documents;
}

}  // namespace

ContextCounts CountInContext(const Generation& generation, std::span<const ContextWord> context,
                             std::span<const std::string> completions, size_t wanted) {
  ContextCounts counts;
  counts.completions.resize(completions.size());
  std::vector<DocumentSet> sets;
  for (const SegmentView& view : generation.segments) {
    sets.push_back(FindContext(view, context));
    counts.context += sets.back().count();
  }
  size_t found = 0;
  for (size_t i = 0; i < completions.size() && found < wanted && counts.context > 0; ++i) {
    StopNowIfAsked();
    for (size_t segment = 0; segment < sets.size(); ++segment) {
      if (sets[segment].count() == 0) continue;
      counts.completions[i] += sets[segment].CountOf(generation.segments[segment].segment->FindTerm(completions[i]));
    }
    found += counts.completions[i] > 0;
  }
  return counts;
}

}  // namespace gannet
