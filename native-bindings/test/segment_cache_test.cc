// Tests the cache of a segment's results.
#include "../kernel/vocabulary/segment_cache.h"

#include "check.h"

namespace gannet::test {
namespace {

size_t SizeOf(const std::string& answer) { return answer.size(); }

TEST(cache_keeps_its_entries_when_a_result_exceeds_its_room) {
  BoundedCache<std::string> cache(4096, SizeOf);
  cache.Keep("one", "an answer");
  cache.Keep("two", "another");
  cache.Keep("large", std::string(5000, 'x'));
  CHECK(!cache.Find("large"));
  CHECK(cache.Find("one") && cache.Find("two"));
  // The replaced result is gone, although the new one is too large.
  cache.Replace("two", std::string(5000, 'x'));
  CHECK(!cache.Find("two"));
}

TEST(cache_keeps_other_entries_when_one_is_replaced_by_a_result_that_exceeds_its_room) {
  BoundedCache<std::string> cache(4096, SizeOf);
  for (const char* key : {"one", "two", "three"}) cache.Keep(key, "an answer");
  cache.Replace("two", std::string(5000, 'x'));
  CHECK(!cache.Find("two"));
  CHECK(cache.Find("one") && cache.Find("three"));
  // Its room and its place in the order of use are free again.
  for (int count = 0; count < 100; ++count) cache.Keep("filling" + std::to_string(count), std::string(64, 'x'));
  cache.Keep("last", "an answer");
  CHECK(cache.Find("last"));
}

}  // namespace
}  // namespace gannet::test
