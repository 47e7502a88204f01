// Tests that changed bytes of a segment file are found by the seal or by the check of pages before it.
#include "../kernel/segment/segment_seal.h"

#include "../kernel/segment/lmdb_check.h"
#include "check.h"
#include "segment_fixture.h"

namespace gannet::segment_test {
namespace {

constexpr size_t kStep = 101;

TEST(segment_seal_finds_every_changed_byte) {
  const TemporaryFolder folder;
  const std::string path = folder.File("s");
  BuildSegment(path, TestSchema(), EncodeBatch(RandomDocuments(3, 100)));
  CheckSegmentSeal(path);
  const auto bytes = ReadFile(path);
  for (size_t at = 0; at < bytes.size(); at += kStep) {
    auto changed = bytes;
    changed[at] ^= 0x20;
    WriteFile(path, changed);
    CHECK_THROWS(kDamaged, CheckSegmentSeal(path));
  }
  WriteFile(path, bytes);
  CheckSegmentSeal(path);
}

TEST(segment_seal_finds_words_that_were_swapped) {
  const TemporaryFolder folder;
  const std::string path = folder.File("s");
  BuildSegment(path, TestSchema(), EncodeBatch(RandomDocuments(4, 100)));
  auto bytes = ReadFile(path);
  // Swaps two different stripes of the last page, so that the plain sum of the words is the same.
  constexpr ptrdiff_t kStripeBytes = 64;
  const auto stripe = bytes.end() - 4096 + 1024;
  auto other = stripe + kStripeBytes;
  while (other != bytes.end() && std::equal(stripe, stripe + kStripeBytes, other)) other += kStripeBytes;
  CHECK(other != bytes.end());
  if (other == bytes.end()) return;
  std::swap_ranges(stripe, stripe + kStripeBytes, other);
  CheckLmdbFile(bytes);  // finds nothing, so that it is the seal that does
  WriteFile(path, bytes);
  CHECK_THROWS(kDamaged, CheckSegmentSeal(path));
}

}  // namespace
}  // namespace gannet::segment_test
