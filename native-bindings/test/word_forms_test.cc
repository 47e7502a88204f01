// Tests that packed forms of words unpack to the same forms.
#include "../kernel/vocabulary/word_forms.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "check.h"

namespace gannet::test {
namespace {

struct Seen {
  std::string term;
  uint32_t distance;
  uint64_t document_frequency;
};

std::vector<Seen> Unpack(const PackedForms& packed) {
  std::vector<Seen> seen;
  packed.Visit([&](std::string_view term, uint32_t distance, uint64_t document_frequency) {
    seen.push_back({std::string(term), distance, document_frequency});
  });
  return seen;
}

void CheckSame(const std::vector<WordForm>& forms) {
  const std::vector<Seen> seen = Unpack(PackedForms(forms));
  CHECK_EQ(seen.size(), forms.size());
  for (size_t i = 0; i < forms.size(); ++i) {
    CHECK_EQ(seen[i].term, forms[i].term);
    CHECK_EQ(seen[i].distance, forms[i].distance);
    CHECK_EQ(seen[i].document_frequency, forms[i].document_frequency);
  }
}

TEST(word_forms_are_unchanged_by_packing) {
  CheckSame({});
  CHECK_EQ(PackedForms().byte_count(), 0u);
  CheckSame({{"", 0, 0}});
  CheckSame({{"gannet", 0, 1}, {"gannets", 1, UINT64_MAX}, {"garnet", 2, 128}, {std::string(1000, 'g'), 2, 7}, {"g", 0, 1}});
}

TEST(word_forms_of_random_terms_in_any_order_are_unchanged_by_packing) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::vector<WordForm> forms(random() % 40);
    for (WordForm& form : forms) {
      for (size_t length = random() % 20; form.term.size() < length;) form.term += static_cast<char>(random() % 3 - 1);
      form.distance = random() % 3;
      form.document_frequency = uint64_t{random()} << random() % 32;
    }
    if (round % 2 == 0) std::ranges::sort(forms, {}, &WordForm::term);
    CheckSame(forms);
  }
}

TEST(word_forms_that_share_their_beginnings_take_few_bytes) {
  std::vector<WordForm> forms;
  for (char last = 'a'; last <= 'z'; ++last) forms.push_back({std::string("multidimensionalit") + last, 1, 100});
  const PackedForms packed(forms);
  CHECK(packed.byte_count() <= 5 * forms.size() + 18);
}

}  // namespace
}  // namespace gannet::test
