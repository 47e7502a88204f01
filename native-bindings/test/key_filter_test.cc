#include "../kernel/segment/key_filter.h"

#include <random>
#include <string>
#include <vector>

#include "check.h"

namespace gannet::test {

TEST(key_filter_has_what_was_added_and_little_else) {
  std::mt19937 random(5);
  for (const size_t count : {size_t{0}, size_t{1}, size_t{7}, size_t{300}, size_t{16'384}}) {
    KeyFilter filter(count);
    std::vector<std::string> keys;
    for (size_t i = 0; i < count; ++i) keys.push_back("T" + std::to_string(i * 7919) + std::string(random() % 20, 'x'));
    for (const std::string& key : keys) filter.Add(AsBytes(key));
    for (const std::string& key : keys) CHECK(filter.MayContain(AsBytes(key)));
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < 10'000; ++i) wrong += filter.MayContain(AsBytes("S" + std::to_string(i)));
    CHECK(wrong < 600);
  }
}

TEST(key_filter_of_nothing_rules_out_nothing) { CHECK(KeyFilter().MayContain(AsBytes("Tgannet"))); }

}  // namespace gannet::test
