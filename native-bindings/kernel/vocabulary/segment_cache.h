// What was worked out about a segment and may be asked again: a segment never changes, so an answer stays right.
//
// Bounded by the number of answers and by their size; the oldest goes first. Nothing depends on what is in it.
//
// Thread-safety: any number of threads; each half of the cache has a lock that is held for a look-up only.
#pragma once

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

#include "../postings/posting_list.h"

namespace gannet {

// Words kept per segment, with the names of expansions and the lists of their forms: of a segment of a million documents some
// 10 MB with a dozen forms a word, of a small one 600 KB.
inline constexpr size_t kCachedSpellingAnswersMin = 256;
inline constexpr size_t kCachedSpellingAnswersMax = 4096;
// The larger a dictionary, the more a look-up costs: of as many documents as this, one more answer is kept.
inline constexpr size_t kDocumentsPerSpellingAnswer = 64;
inline constexpr size_t kCachedUnionsMax = 4096;
inline constexpr size_t kCachedCompletionsMax = 256;
inline constexpr size_t kCachedWholeFieldsMax = 512;
inline constexpr size_t kCachedLengthsMax = 16;
// Bigger answers are worked out again.
inline constexpr size_t kCachedSpellingsMax = 64;
inline constexpr size_t kCachedWholeFieldMatchesMax = 1024;
inline constexpr size_t kCachedDocumentsOfLengthMax = 4096;
inline constexpr size_t kCachedListsMax = 32;
inline constexpr size_t kCachedKeyBytesMax = 512;

// Keys of several texts: with their lengths, because a text may hold any byte.
inline void AppendKeyPart(std::string_view text, std::string* key) {
  const auto length = static_cast<uint32_t>(text.size());
  key->append(reinterpret_cast<const char*>(&length), sizeof(length));
  key->append(text);
}

template <typename Value>
class BoundedCache {
 public:
  explicit BoundedCache(size_t answers_max) : answers_max_(answers_max) {}

  // How many answers are kept from now on. Not while other threads use the cache.
  void Limit(size_t answers_max) { answers_max_ = answers_max; }

  std::optional<Value> Find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(key);
    if (found == values_.end()) return std::nullopt;
    return found->second;
  }

  // What is kept for the key already stays.
  void Keep(const std::string& key, Value value) { Put(key, std::move(value), false); }
  void Replace(const std::string& key, Value value) { Put(key, std::move(value), true); }

 private:
  void Put(const std::string& key, Value value, bool replaces) {
    if (key.size() > kCachedKeyBytesMax) return;
    const std::lock_guard lock(mutex_);
    const auto [entry, is_new] = values_.try_emplace(key, std::move(value));
    if (!is_new) {
      if (replaces) entry->second = std::move(value);  // try_emplace has left it alone
      return;
    }
    order_.push_back(key);
    if (order_.size() <= answers_max_) return;
    values_.erase(order_.front());
    order_.pop_front();
  }

  size_t answers_max_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Value> values_;
  std::deque<std::string> order_;
};

// A term of one segment that a word may stand for.
struct WordForm {
  std::string term;
  uint32_t distance = 0;
  uint64_t document_frequency = 0;
};

// What one segment says about a word. Terms in byte order, perhaps the word itself among them.
struct WordForms {
  uint64_t document_frequency = 0;
  std::vector<WordForm> stems;
  std::vector<WordForm> spellings;
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

// The posting lists of some terms, in their order; empty ones where the segment lacks a term.
using TermLists = std::shared_ptr<const std::vector<PostingList>>;

struct SegmentCache {
  // By edits and word.
  BoundedCache<std::shared_ptr<const WordForms>> word_forms{kCachedSpellingAnswersMin};
  // By edits and word, of the last generation asked in which this is the largest segment.
  BoundedCache<std::shared_ptr<const NamedExpansion>> expansions{kCachedSpellingAnswersMin};
  // By prefix, without edits.
  BoundedCache<std::shared_ptr<const SegmentCompletions>> completions{kCachedCompletionsMax};
  // By the words of the query and the terms that may stand for each.
  BoundedCache<WholeFieldMatches> whole_fields{kCachedWholeFieldsMax};
  // By the length in decimal digits.
  BoundedCache<DocumentsOfLength> documents_of_length{kCachedLengthsMax};
  // By the terms, in order.
  BoundedCache<TermLists> term_lists{kCachedSpellingAnswersMin};
  // Documents that hold any of some terms, by these.
  BoundedCache<uint32_t> union_frequencies{kCachedUnionsMax};
};

}  // namespace gannet
