// The working memory of a SpanUnion, kept by a thread so that a search need not ask the system for it.
#pragma once

#include <cstdint>
#include <vector>

namespace gannet {

// Memory grows and is kept; what is added is zero.
template <typename T>
inline void EnsureSize(std::vector<T>* values, size_t size) {
  if (values->size() < size) values->resize(size);
}

class PostingCursor;

// Postings of a block, none of which is enough by itself: their frequencies have not been read.
struct BareRun {
  PostingCursor* cursor;
  float weight;     // of the alternative
  uint32_t block;
  uint32_t first;   // place of the first one in the block
  uint32_t begin;   // and among the gathered postings
  uint32_t end;
};

// Postings of a group in a range of documents, alternative by alternative in the order of summing.
struct GatheredPostings {
  std::vector<uint32_t> offsets;   // document - the range's base
  std::vector<float> frequencies;  // times the weight of the alternative
  uint32_t count = 0;              // of either; the vectors may be longer
  std::vector<BareRun> bare;       // in their order

  // Makes room for so many more.
  void Reserve(uint32_t more) {
    if (offsets.size() - count >= more) return;
    offsets.resize(2 * offsets.size() + more);
    frequencies.resize(offsets.size());
  }
};

// What looking up documents needs besides.
struct LookUpScratch {
  std::vector<uint32_t> documents;
  std::vector<uint32_t> postings;
  std::vector<uint32_t> places;
};

// A document that may be among the hits: its score without the bonus, and the most that the bonus is.
struct ScoredDocument {
  uint32_t document;
  float score;
  float bonus_bound;
};

// A document that may reach the bar of a UnionSieve, and what is known of its score: the sum so far.
struct SievedDocument {
  uint32_t offset;  // document - the range's base
  float score;
};

struct SieveScratch {
  std::vector<uint64_t> bits;             // by list and document; all zero between spans
  std::vector<uint32_t> places;           // by list and word of these: of the first posting in it, where there is any
  std::vector<uint64_t> others;           // by document: that any list behind the one at hand has it
  std::vector<uint32_t> chosen;           // places in the list at hand
  std::vector<SievedDocument> added;      // of the list at hand
  std::vector<SievedDocument> candidates; // of those behind it
  std::vector<SievedDocument> merged;
};

struct SpanScratch {
  std::vector<uint64_t> slot_bits;  // of the documents that have a slot
  std::vector<uint64_t> shared_bits;  // of those that have another posting than the one at hand, or may have
  std::vector<uint64_t> lesser_bits;  // of those that lesser groups have
  std::vector<uint64_t> matches;
  std::vector<uint32_t> ranks;  // by word of the bits: slots before it
  GatheredPostings postings;
  std::vector<uint32_t> places;  // of some of them
  // By slot, and one more for what has none.
  std::vector<uint32_t> offsets;  // of the document in the span
  std::vector<float> saturations;
  std::vector<float> frequencies;  // of the groups, one after the other
  std::vector<float> scores;
  std::vector<float> reach;  // scores and what the bonus may be
  // Slots that may be hits, and what is looked up for them.
  std::vector<uint32_t> candidates;
  std::vector<uint32_t> documents;
  std::vector<float> found;
  LookUpScratch look_up;
  std::vector<ScoredDocument> scored;
  SieveScratch sieve;
};

}  // namespace gannet
