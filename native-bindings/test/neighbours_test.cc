#include "../kernel/terms/neighbours.h"

#include <random>
#include <set>

#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

const SegmentSchema kTwoTextFields{{1, 3}, {}};

// Adds the pairs of neighbouring words of a text whose words are separated by single blanks.
void AddPairs(const std::vector<std::string>& words, std::set<std::pair<std::string, std::string>>* pairs) {
  for (size_t i = 1; i < words.size(); ++i) pairs->insert({words[i - 1], words[i]});
}

}  // namespace

TEST(neighbours_are_words_that_some_document_has_next_to_each_other_in_a_field) {
  std::mt19937 random(5);
  TemporaryFolder folder;
  for (int round = 0; round < 20; ++round) {
    // Few words make pairs that are everywhere, many make pairs that are rare.
    const uint32_t words_count = 3 + random() % 90;
    const auto word = [&] { return "w" + std::to_string(random() % words_count); };
    std::set<std::pair<std::string, std::string>> pairs;
    std::vector<SegmentView> views;
    for (uint32_t segments = 1 + random() % 3; segments > 0; --segments) {
      std::vector<DocumentWriter> documents;
      // Answers about segments of more than a thousand documents are kept.
      const uint32_t count = 1 + random() % 2000;
      for (uint32_t number = 0; number < count; ++number) {
        DocumentWriter document(number);
        for (uint16_t field = 0; field < 2; ++field) {
          std::vector<std::string> words;
          for (uint32_t length = random() % 3; length > 0; --length) words.push_back(word());
          AddPairs(words, &pairs);
          std::string text;
          for (const std::string& each : words) text += each + " ";
          document.Text(field, text);
        }
        documents.push_back(document);
      }
      views.push_back({folder.Build(kTwoTextFields, documents), {}});
    }
    const auto generation = DeriveGeneration(nullptr, views, {}, {}, "");
    for (int i = 0; i < 2000; ++i) {
      const std::string left = word();
      const std::string right = i % 10 == 0 ? left : word();
      CHECK_EQ(AreNeighbours(*generation, left, right), pairs.contains({left, right}));
    }
    CHECK(!AreNeighbours(*generation, "w0", "missing") && !AreNeighbours(*generation, "missing", "w0"));
  }
}

TEST(neighbours_are_the_parts_of_a_word) {
  TemporaryFolder folder;
  const auto segment = folder.Build(kTwoTextFields, {DocumentWriter(1).Text(0, "the first_name of node.js")});
  const auto generation = DeriveGeneration(nullptr, {{segment, {}}}, {}, {}, "");
  CHECK(AreNeighbours(*generation, "first", "name"));
  CHECK(AreNeighbours(*generation, "node", "js"));
  CHECK(!AreNeighbours(*generation, "name", "of"));
}

}  // namespace gannet::test
