#include "../kernel/terms/first_records.h"

#include <algorithm>
#include <random>

#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

TEST(FirstRecordsAreTheLeastLiveOnesOfAllSegments) {
  TemporaryFolder folder;
  std::mt19937 random(12);
  const SegmentSchema schema{{1}, {}, ""};
  constexpr uint32_t kDocuments = 700;
  std::vector<SegmentView> views;
  std::vector<std::vector<std::string>> texts;
  for (uint32_t segment = 0; segment < 3; ++segment) {
    std::vector<DocumentWriter> documents;
    texts.emplace_back();
    for (uint32_t i = 0; i < kDocuments; ++i) {
      std::string text = "z";
      // Words occur in every document down to a handful.
      for (char letter = 'a'; letter < 'k'; ++letter) {
        if (random() % (1u << (letter - 'a')) == 0) text += std::string(" ") + letter;
      }
      // The segments have every third record each.
      documents.push_back(DocumentWriter(i * 3 + segment).Text(0, text));
      texts.back().push_back(text);
    }
    views.push_back({folder.Build(schema, documents), {}});
  }
  std::vector<SegmentDeletions> deletions = {{views[1].segment, {}}};
  for (uint32_t i = 0; i < 300; ++i) deletions[0].documents.push_back(i);
  const auto generation = DeriveGeneration(nullptr, views, {}, deletions, "");
  for (char letter = 'a'; letter < 'm'; ++letter) {  // k and l are in no text
    for (size_t limit : {0, 1, 5, 64}) {
      std::vector<uint32_t> expected;
      for (uint32_t number = 0; number < kDocuments * 3 && expected.size() < limit; ++number) {
        const bool is_deleted = number % 3 == 1 && number / 3 < 300;
        if (!is_deleted && texts[number % 3][number / 3].find(letter) != std::string::npos) expected.push_back(number);
      }
      CHECK(FirstRecords(*generation, std::string(1, letter), limit) == expected);
    }
  }
  CHECK_THROWS(kInvalidArgument, FirstRecords(*generation, "a", kFirstRecordsMax + 1));
}

}  // namespace
}  // namespace gannet::test
