// Caches answers about a segment. A segment never changes, so an answer stays correct.
//
// The cache is limited by the number of answers or by their size. The oldest answer is evicted first, unless it was
// used since it was added or last passed over. Results never depend on what is cached.
//
// Thread-safety: any number of threads; each BoundedCache has a lock that is held only during a look-up or a change.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "word_forms.h"

namespace gannet {

// Memory limits for the words that a segment was asked for and the terms that they may stand for. They depend on its
// size: a segment of thousands of documents has little to say about most words, but searches of a list that is written
// to ask each of its segments again about every word. The larger a dictionary, the more a look-up costs and the more it
// finds. For a million documents, the limits add up to 12 MB.
struct CacheBytes {
  size_t min;
  size_t per_document;
  size_t max;

  size_t Of(size_t documents) const { return std::clamp(per_document * documents, min, max); }
};
inline constexpr CacheBytes kWordFormsBytes{240 << 10, 64, 4 << 20};
inline constexpr CacheBytes kExpansionsBytes{96 << 10, 12, 3 << 19};
inline constexpr CacheBytes kTermEntriesBytes{400 << 10, 96, 13 << 19};
// For the documents that pass comparisons of filters: one bit per document for some 32 comparisons.
inline constexpr CacheBytes kComparisonsBytes{32 << 10, 4, 8 << 20};
// For the joined longer words of a word (query/longer_words.h): two bytes per posting.
inline constexpr CacheBytes kJoinedListsBytes{64 << 10, 4, 4 << 20};
// For whether two words are neighbours.
inline constexpr CacheBytes kNeighboursBytes{32 << 10, 4, 1 << 20};
inline constexpr size_t kCachedUnionsMax = 4096;
inline constexpr size_t kCachedCompletionsMax = 256;
inline constexpr size_t kCachedWholeFieldsMax = 512;
inline constexpr size_t kCachedLengthsMax = 16;
// Larger answers are not cached.
inline constexpr size_t kCachedSpellingBytesMax = 2048;
inline constexpr size_t kCachedWholeFieldMatchesMax = 1024;
inline constexpr size_t kCachedDocumentsOfLengthMax = 4096;
inline constexpr size_t kCachedEntriesMax = 128;
inline constexpr size_t kCachedKeyBytesMax = 512;
// Room for as many terms as one group has.
inline constexpr size_t kCachedJoinedKeyBytesMax = 8 << 10;

// Appends one text of a key of several texts, with its length, because a text may contain any byte.
inline void AppendKeyPart(std::string_view text, std::string* key) {
  const auto length = static_cast<uint32_t>(text.size());
  key->append(reinterpret_cast<const char*>(&length), sizeof(length));
  key->append(text);
}

// Memory of an answer without what it points to: a node of the map, its place in the order, and the allocator's
// overhead.
inline constexpr size_t kCachedAnswerBytes = 112;
// Approximate memory of a string beyond the object itself.
inline size_t HeapBytes(const std::string& text) { return text.size() < 16 ? 0 : text.size() + 17; }

template <typename Value>
class BoundedCache {
 public:
  // Keeps at most `answers_max` answers.
  explicit BoundedCache(size_t answers_max) : answers_max_(answers_max) {}
  // Keeps at most `bytes_max` bytes; `bytes_of` returns the size of what an answer points to.
  BoundedCache(size_t bytes_max, size_t (*bytes_of)(const Value&), size_t key_bytes_max = kCachedKeyBytesMax)
      : key_bytes_max_(key_bytes_max), bytes_max_(bytes_max), bytes_of_(bytes_of) {}

  // Changes the limit. Must not be called while other threads use the cache.
  void LimitBytes(size_t bytes_max) { bytes_max_ = bytes_max; }

  std::optional<Value> Find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(key);
    if (found == values_.end()) return std::nullopt;
    found->second.is_used = true;
    return found->second.value;
  }

  // Keep leaves an existing answer for the key; Replace overwrites it.
  void Keep(const std::string& key, Value value) { Put(key, std::move(value), false); }
  void Replace(const std::string& key, Value value) { Put(key, std::move(value), true); }

 private:
  struct Kept {
    Value value;
    size_t bytes;
    mutable bool is_used = false;
  };
  using Values = std::unordered_map<std::string, Kept>;

  void Put(const std::string& key, Value value, bool replaces) {
    if (key.size() > key_bytes_max_) return;
    const size_t bytes = bytes_of_ == nullptr ? 0 : kCachedAnswerBytes + HeapBytes(key) + bytes_of_(value);
    Kept kept{std::move(value), bytes};
    const std::lock_guard lock(mutex_);
    if (bytes > bytes_max_) {
      // Caching it would evict all others before itself; the answer that it was to replace is no longer correct.
      if (replaces) Drop(key);
      return;
    }
    const auto [entry, is_new] = values_.try_emplace(key, std::move(kept));
    if (is_new) {
      order_.push_back(&*entry);
      bytes_ += bytes;
    } else if (replaces) {
      bytes_ += bytes - entry->second.bytes;
      entry->second = std::move(kept);  // try_emplace has not moved from it
    }
    while (values_.size() > answers_max_ || bytes_ > bytes_max_) DropOldest();
  }

  // Removes one answer by its key. Rare, so its place in the order is searched for.
  void Drop(const std::string& key) {
    const auto found = values_.find(key);
    if (found == values_.end()) return;
    order_.erase(std::find(order_.begin(), order_.end(), &*found));
    bytes_ -= found->second.bytes;
    values_.erase(found);
  }

  // Evicts the oldest answer that was not used; a used one is passed over once.
  void DropOldest() {
    typename Values::value_type* oldest = order_.front();
    order_.pop_front();
    if (std::exchange(oldest->second.is_used, false)) {
      order_.push_back(oldest);
      return;
    }
    bytes_ -= oldest->second.bytes;
    values_.erase(values_.find(oldest->first));
  }

  size_t answers_max_ = SIZE_MAX;
  size_t key_bytes_max_ = kCachedKeyBytesMax;
  size_t bytes_max_ = SIZE_MAX;
  size_t (*bytes_of_)(const Value&) = nullptr;
  mutable std::mutex mutex_;
  size_t bytes_ = 0;
  Values values_;
  // Pointers to nodes of the map, which never move.
  std::deque<typename Values::value_type*> order_;
};

// What a generation says about a word, and its name (expansion_names.h).
struct NamedExpansion {
  std::vector<uint8_t> outline;
  uint64_t name = 0;
};

// A term of one segment that begins with a text.
struct Completion {
  std::string term;
  uint32_t distance = 0;
  uint64_t document_frequency = 0;
};
struct SegmentCompletions {
  std::vector<Completion> best;
  bool is_complete = true;  // no other term of the segment begins with it
};

// A document with a text field that is the query, and the weight units of that field.
struct WholeFieldMatch {
  uint32_t document = 0;
  uint32_t units = 0;
};
using WholeFieldMatches = std::shared_ptr<const std::vector<WholeFieldMatch>>;

// Documents that have a text field of some length, ascending; null if there are too many to be cached.
using DocumentsOfLength = std::shared_ptr<const std::vector<uint32_t>>;

// What is stored for a term that the segment has (Segment::Postings reads it), and the term's index among those asked
// for.
struct TermEntry {
  const uint8_t* at;
  uint32_t size;
  uint32_t place;
};
using TermEntries = std::shared_ptr<const std::vector<TermEntry>>;

// The bytes of a posting list.
struct KeptJoinedList {
  std::vector<uint8_t> bytes;
  uint32_t without_exact = 0;  // number of documents that have none of the other words of the group that count
};
using JoinedList = std::shared_ptr<const KeptJoinedList>;

// The documents that pass a comparison of a filter (filter/kept_comparison.h), or how many have been examined for it so
// far.
struct KeptBits {
  std::atomic<uint64_t> looked_at = 0;  // documents
  std::vector<uint64_t> bits;           // empty: not computed yet; does not change while shared
};
using ComparisonBits = std::shared_ptr<KeptBits>;

inline size_t BytesOf(const ComparisonBits& comparison) {
  return sizeof(KeptBits) + 48 + comparison->bits.capacity() * sizeof(uint64_t);
}
inline size_t BytesOf(const std::shared_ptr<const WordForms>& forms) {
  return sizeof(WordForms) + 32 + forms->stems.HeapBytes() + forms->spellings.HeapBytes();
}
inline size_t BytesOf(const std::shared_ptr<const NamedExpansion>& expansion) {
  return sizeof(NamedExpansion) + 48 + expansion->outline.capacity();
}
inline size_t BytesOf(const TermEntries& entries) {
  return sizeof(*entries) + 48 + entries->capacity() * sizeof(TermEntry);
}

inline size_t BytesOf(const bool&) { return 0; }
inline size_t BytesOf(const JoinedList& list) { return sizeof(*list) + 48 + list->bytes.capacity(); }

struct SegmentCache {
  // Key: edits and word.
  BoundedCache<std::shared_ptr<const WordForms>> word_forms{kWordFormsBytes.min, BytesOf};
  // Key: edits and word. For the last generation asked in which this segment is the largest.
  BoundedCache<std::shared_ptr<const NamedExpansion>> expansions{kExpansionsBytes.min, BytesOf};
  // Key: the prefix; without edits.
  BoundedCache<std::shared_ptr<const SegmentCompletions>> completions{kCachedCompletionsMax};
  // Key: the words of the query and the terms that may stand for each.
  BoundedCache<WholeFieldMatches> whole_fields{kCachedWholeFieldsMax};
  // Key: the length in decimal digits.
  BoundedCache<DocumentsOfLength> documents_of_length{kCachedLengthsMax};
  // Key: the terms, in order.
  BoundedCache<TermEntries> term_entries{kTermEntriesBytes.min, BytesOf};
  // Key: the comparison.
  BoundedCache<ComparisonBits> comparisons{kComparisonsBytes.min, BytesOf};
  // Key: the joined terms and how they count.
  BoundedCache<JoinedList> joined_lists{kJoinedListsBytes.min, BytesOf, kCachedJoinedKeyBytesMax};
  // Whether a document has two words next to each other. Key: the words.
  BoundedCache<bool> neighbours{kNeighboursBytes.min, BytesOf};
  // Number of documents that have any of several terms. Key: these terms.
  BoundedCache<uint32_t> union_frequencies{kCachedUnionsMax};
};

}  // namespace gannet
