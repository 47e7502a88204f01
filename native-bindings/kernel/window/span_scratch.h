// The working memory of a SpanUnion, kept by a thread so that a search need not allocate it.
#pragma once

#include <cstdint>
#include <vector>

namespace gannet {

// Grows the array if it is too small; new elements are zero.
template <typename T>
inline void EnsureSize(std::vector<T>* values, size_t size) {
  if (values->size() < size) values->resize(size);
}

class PostingCursor;

// Postings of a block of which none reaches the bar by itself, so their frequencies have not been read.
struct BareRun {
  PostingCursor* cursor;
  float weight;     // of the alternative
  uint32_t block;
  uint32_t first;   // index of the first one in the block
  uint32_t begin;   // index of the first one among the gathered postings
  uint32_t end;
};

// Postings of a group in a range of documents, by alternative, in the order of summing.
struct GatheredPostings {
  std::vector<uint32_t> offsets;   // document - the range's base
  std::vector<float> frequencies;  // times the weight of the alternative
  uint32_t count = 0;              // of both; the vectors may be longer
  std::vector<BareRun> bare;       // in their order

  // Makes room for `more` postings.
  void Reserve(uint32_t more) {
    if (offsets.size() - count >= more) return;
    offsets.resize(2 * offsets.size() + more);
    frequencies.resize(offsets.size());
  }
};

// Additional memory for looking up documents.
struct LookUpScratch {
  std::vector<uint32_t> documents;
  std::vector<uint32_t> postings;
  std::vector<uint32_t> places;
};

// A document that may be a hit: its score without the bonus, and the most that the bonus can be.
struct ScoredDocument {
  uint32_t document;
  float score;
  float bonus_bound;
};

// A document that may reach the bar of a UnionSieve, with its score so far.
struct SievedDocument {
  uint32_t offset;  // document - the range's base
  float score;
};

struct SieveScratch {
  std::vector<uint64_t> bits;             // by list and document; all zero between spans
  std::vector<uint32_t> places;  // by list and word of `bits`: index of the first posting in the word, if there is any
  std::vector<uint64_t> others;           // by document: set if any list after the current one has it
  std::vector<uint32_t> chosen;           // indexes in the current list
  std::vector<SievedDocument> added;      // of the current list
  std::vector<SievedDocument> candidates; // of the lists after it
  std::vector<SievedDocument> merged;
};

struct SpanScratch {
  std::vector<uint64_t> slot_bits;  // documents that have a slot
  std::vector<uint64_t> shared_bits;  // documents that have, or may have, another posting than the current one
  std::vector<uint64_t> lesser_bits;  // documents that lesser groups have
  std::vector<uint64_t> matches;
  std::vector<uint32_t> ranks;  // by word of the bits: number of slots before it
  GatheredPostings postings;
  std::vector<uint32_t> places;  // indexes of some of the postings
  // By slot, with one more slot for documents that have none.
  std::vector<uint32_t> offsets;  // of the document in the span
  std::vector<float> saturations;
  std::vector<float> frequencies;  // by group, one group after the other
  std::vector<float> scores;
  std::vector<float> reach;  // score plus the most that the bonus can be
  // Slots that may be hits, and what is looked up for them.
  std::vector<uint32_t> candidates;
  std::vector<uint32_t> documents;
  std::vector<float> found;
  LookUpScratch look_up;
  std::vector<ScoredDocument> scored;
  SieveScratch sieve;
};

}  // namespace gannet
