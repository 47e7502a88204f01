// The terms of a segment that share a stem: value of the keys 'S' (docs/formats.md).
//
// A group that is just the stem itself is not stored. Terms are kept as what differs from the stem's begin, with their
// document frequencies.
//
// Thread-safety: functions and values.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../analysis/stemmer.h"
#include "../common/string_table.h"

namespace gannet {

// Adds one term to the value of its group.
void AppendStemMember(std::string_view stem, std::string_view term, uint64_t document_frequency,
                      std::vector<uint8_t>* value);

// Calls visit(term, document frequency) for each term of a group, in byte order. Error(kDamaged).
void VisitStemGroup(std::string_view stem, std::span<const uint8_t> value,
                    const std::function<void(std::string_view, uint64_t)>& visit);

// Gathers the terms of a segment, in byte order, by their stems.
class StemGroupWriter {
 public:
  explicit StemGroupWriter(std::string_view language) : stemmer_(language) {}

  // `term` has to stay until Write.
  void Add(std::string_view term, uint64_t document_frequency);
  // Calls visit(stem, value) for the groups to store, in byte order of the stems.
  void Write(const std::function<void(std::string_view, std::span<const uint8_t>)>& visit) const;

 private:
  struct Member {
    std::string_view term;
    uint64_t document_frequency;
    uint32_t next;  // of the same stem; kNone behind the last
  };
  struct Group {
    uint32_t first;
    uint32_t last;
  };
  static constexpr uint32_t kNone = 0xffffffffu;

  Stemmer stemmer_;
  StringTable stems_;
  std::vector<Group> groups_;  // by number of the stem
  std::vector<Member> members_;
};

}  // namespace gannet
