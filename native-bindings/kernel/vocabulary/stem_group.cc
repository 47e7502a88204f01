#include "stem_group.h"

#include <algorithm>

#include "../common/bytes.h"

namespace gannet {

void AppendStemMember(std::string_view stem, std::string_view term, uint64_t document_frequency,
                      std::vector<uint8_t>* value) {
  const auto shared = static_cast<size_t>(std::mismatch(stem.begin(), stem.end(), term.begin(), term.end()).first -
                                          stem.begin());
  AppendVarint(value, shared);
  AppendVarint(value, term.size() - shared);
  AppendBytes(value, AsBytes(term.substr(shared)));
  AppendVarint(value, document_frequency);
}

void VisitStemGroup(std::string_view stem, std::span<const uint8_t> value,
                    const std::function<void(std::string_view, uint64_t)>& visit) {
  std::string term;
  for (ByteReader reader(value); reader.remaining() > 0;) {
    const uint64_t shared = reader.Varint();
    if (shared > stem.size()) reader.Fail();
    term.assign(stem.substr(0, shared));
    term += AsText(reader.Bytes(reader.Varint32()));
    visit(term, reader.Varint());
  }
}

void StemGroupWriter::Add(std::string_view term, uint64_t document_frequency) {
  const std::string_view stem = stemmer_.Stem(term);
  if (stem.empty()) return;
  bool added = false;
  const uint32_t number = stems_.Intern(stem, &added);
  const auto member = static_cast<uint32_t>(members_.size());
  members_.push_back({term, document_frequency, kNone});
  if (added) {
    groups_.push_back({member, member});
  } else {
    members_[groups_[number].last].next = member;
    groups_[number].last = member;
  }
}

void StemGroupWriter::Write(const std::function<void(std::string_view, std::span<const uint8_t>)>& visit) const {
  std::vector<uint32_t> stored;
  for (uint32_t number = 0; number < groups_.size(); ++number) {
    const Group& group = groups_[number];
    if (group.first != group.last || members_[group.first].term != stems_[number]) stored.push_back(number);
  }
  std::ranges::sort(stored, [&](uint32_t left, uint32_t right) { return stems_[left] < stems_[right]; });
  std::vector<uint8_t> value;
  for (const uint32_t number : stored) {
    value.clear();
    for (uint32_t at = groups_[number].first; at != kNone; at = members_[at].next) {
      AppendStemMember(stems_[number], members_[at].term, members_[at].document_frequency, &value);
    }
    visit(stems_[number], value);
  }
}

}  // namespace gannet
