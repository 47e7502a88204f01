// What was worked out about a segment and may be asked again: a segment never changes, so an answer stays right.
//
// Bounded by the number of answers or by their size; the oldest goes first, unless it was asked for since it came or was last passed
// over. Nothing depends on what is in it.
//
// Thread-safety: any number of threads; each half of the cache has a lock that is held for a look-up only.
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

// What is kept of the words that a segment was asked for, and of the terms that they may stand for: by size, since of most words a
// segment of thousands of documents has little to say, and searches of a list beside writes ask each of its segments again about every
// word. The larger a dictionary, the more a look-up costs and the more it finds; of a million documents it is 12 MB in all.
struct CacheBytes {
  size_t min;
  size_t per_document;
  size_t max;
};
inline constexpr CacheBytes kWordFormsBytes{240 << 10, 64, 4 << 20};
inline constexpr CacheBytes kExpansionsBytes{96 << 10, 12, 3 << 19};
inline constexpr CacheBytes kTermEntriesBytes{400 << 10, 96, 13 << 19};
// What passes comparisons of filters: a bit a document for each of some 32 of them.
inline constexpr CacheBytes kComparisonsBytes{32 << 10, 4, 8 << 20};
// What is joined of the longer words of a word (query/longer_words.h): two bytes a posting.
inline constexpr CacheBytes kJoinedListsBytes{64 << 10, 4, 4 << 20};
inline constexpr size_t kCachedUnionsMax = 4096;
inline constexpr size_t kCachedCompletionsMax = 256;
inline constexpr size_t kCachedWholeFieldsMax = 512;
inline constexpr size_t kCachedLengthsMax = 16;
// Bigger answers are worked out again.
inline constexpr size_t kCachedSpellingBytesMax = 2048;
inline constexpr size_t kCachedWholeFieldMatchesMax = 1024;
inline constexpr size_t kCachedDocumentsOfLengthMax = 4096;
inline constexpr size_t kCachedEntriesMax = 128;
inline constexpr size_t kCachedKeyBytesMax = 512;
// Of as many terms as one group has.
inline constexpr size_t kCachedJoinedKeyBytesMax = 8 << 10;

// Keys of several texts: with their lengths, because a text may hold any byte.
inline void AppendKeyPart(std::string_view text, std::string* key) {
  const auto length = static_cast<uint32_t>(text.size());
  key->append(reinterpret_cast<const char*>(&length), sizeof(length));
  key->append(text);
}

// Of an answer beside what it points to: a node of the map, its place in the order, and what the allocator adds.
inline constexpr size_t kCachedAnswerBytes = 112;
// Of a string beyond itself, about.
inline size_t HeapBytes(const std::string& text) { return text.size() < 16 ? 0 : text.size() + 17; }

template <typename Value>
class BoundedCache {
 public:
  // At most so many answers.
  explicit BoundedCache(size_t answers_max) : answers_max_(answers_max) {}
  // At most so many bytes; `bytes_of` tells what an answer points to.
  BoundedCache(size_t bytes_max, size_t (*bytes_of)(const Value&), size_t key_bytes_max = kCachedKeyBytesMax)
      : key_bytes_max_(key_bytes_max), bytes_max_(bytes_max), bytes_of_(bytes_of) {}

  // How much is kept from now on. Not while other threads use the cache.
  void LimitBytes(size_t bytes_max) { bytes_max_ = bytes_max; }

  std::optional<Value> Find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(key);
    if (found == values_.end()) return std::nullopt;
    found->second.is_used = true;
    return found->second.value;
  }

  // What is kept for the key already stays.
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
      // It would have all others go before itself; what it was to replace is not right any more.
      if (replaces) Drop(key);
      return;
    }
    const auto [entry, is_new] = values_.try_emplace(key, std::move(kept));
    if (is_new) {
      order_.push_back(&*entry);
      bytes_ += bytes;
    } else if (replaces) {
      bytes_ += bytes - entry->second.bytes;
      entry->second = std::move(kept);  // try_emplace has left it alone
    }
    while (values_.size() > answers_max_ || bytes_ > bytes_max_) DropOldest();
  }

  // One by its key, which is rare: its place in the order is looked for.
  void Drop(const std::string& key) {
    const auto found = values_.find(key);
    if (found == values_.end()) return;
    order_.erase(std::find(order_.begin(), order_.end(), &*found));
    bytes_ -= found->second.bytes;
    values_.erase(found);
  }

  // Of those that were not used; each that was is passed over once.
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
  // Nodes of the map stay where they are.
  std::deque<typename Values::value_type*> order_;
};

// What a generation says about a word, and its name (expansion_names.h).
struct NamedExpansion {
  std::vector<uint8_t> outline;
  uint64_t name = 0;
};

// A term that begins like a text, in one segment.
struct Completion {
  std::string term;
  uint32_t distance = 0;
  uint64_t document_frequency = 0;
};
struct SegmentCompletions {
  std::vector<Completion> best;
  bool is_complete = true;  // no other term of the segment begins so
};

// A document with a text field that is the query, and the weight units of that field.
struct WholeFieldMatch {
  uint32_t document = 0;
  uint32_t units = 0;
};
using WholeFieldMatches = std::shared_ptr<const std::vector<WholeFieldMatch>>;

// Documents that have a text field of some length, ascending; null where they are more than are kept.
using DocumentsOfLength = std::shared_ptr<const std::vector<uint32_t>>;

// What is stored for a term that the segment has (Segment::Postings reads it), and the term's place among those asked for.
struct TermEntry {
  const uint8_t* at;
  uint32_t size;
  uint32_t place;
};
using TermEntries = std::shared_ptr<const std::vector<TermEntry>>;

// The bytes of a posting list.
struct KeptJoinedList {
  std::vector<uint8_t> bytes;
  uint32_t without_exact = 0;  // documents that have none of the words that it is beside
};
using JoinedList = std::shared_ptr<const KeptJoinedList>;

// The documents that pass a comparison of a filter (filter/kept_comparison.h), or how much was looked at for it so far.
struct KeptBits {
  std::atomic<uint64_t> looked_at = 0;  // documents
  std::vector<uint64_t> bits;           // empty: not worked out; it does not change while others have it
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

inline size_t BytesOf(const JoinedList& list) { return sizeof(*list) + 48 + list->bytes.capacity(); }

struct SegmentCache {
  // By edits and word.
  BoundedCache<std::shared_ptr<const WordForms>> word_forms{kWordFormsBytes.min, BytesOf};
  // By edits and word, of the last generation asked in which this is the largest segment.
  BoundedCache<std::shared_ptr<const NamedExpansion>> expansions{kExpansionsBytes.min, BytesOf};
  // By prefix, without edits.
  BoundedCache<std::shared_ptr<const SegmentCompletions>> completions{kCachedCompletionsMax};
  // By the words of the query and the terms that may stand for each.
  BoundedCache<WholeFieldMatches> whole_fields{kCachedWholeFieldsMax};
  // By the length in decimal digits.
  BoundedCache<DocumentsOfLength> documents_of_length{kCachedLengthsMax};
  // By the terms, in order.
  BoundedCache<TermEntries> term_entries{kTermEntriesBytes.min, BytesOf};
  // By the comparison.
  BoundedCache<ComparisonBits> comparisons{kComparisonsBytes.min, BytesOf};
  // By their terms and how they count.
  BoundedCache<JoinedList> joined_lists{kJoinedListsBytes.min, BytesOf, kCachedJoinedKeyBytesMax};
  // Documents that hold any of some terms, by these.
  BoundedCache<uint32_t> union_frequencies{kCachedUnionsMax};
};

}  // namespace gannet
