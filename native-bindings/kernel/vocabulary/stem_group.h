// The terms of a segment that share a stem: the values of the keys 'S' (docs/formats.md).
//
// A group that consists only of the stem itself is not stored. A term is stored as the part that differs from the
// beginning of the stem, with its document frequency.
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

// Appends one term to the value of its group.
void AppendStemMember(std::string_view stem, std::string_view term, uint64_t document_frequency,
                      std::vector<uint8_t>* value);

// Calls visit(term, document frequency) for each term of a group, in byte order. Throws Error(kDamaged).
void VisitStemGroup(std::string_view stem, std::span<const uint8_t> value,
                    const std::function<void(std::string_view, uint64_t)>& visit);

// Groups the terms of a segment, which are added in byte order, by their stems.
class StemGroupWriter {
 public:
  explicit StemGroupWriter(std::string_view language) : stemmer_(language) {}

  // `term` must stay valid until Write.
  void Add(std::string_view term, uint64_t document_frequency);
  // Calls visit(stem, value) for the groups to store, in byte order of the stems.
  void Write(const std::function<void(std::string_view, std::span<const uint8_t>)>& visit) const;

 private:
  struct Member {
    std::string_view term;
    uint64_t document_frequency;
    uint32_t next;  // next member with the same stem; kNone after the last
  };
  struct Group {
    uint32_t first;
    uint32_t last;
  };
  static constexpr uint32_t kNone = 0xffffffffu;

  Stemmer stemmer_;
  StringTable stems_;
  std::vector<Group> groups_;  // by the stem's number
  std::vector<Member> members_;
};

}  // namespace gannet
