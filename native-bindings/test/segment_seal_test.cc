// Tests that changed bytes of a segment file are found by the seal or by the check of pages before it.
#include "../kernel/segment/segment_seal.h"

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
  // Swaps two stripes of the last page, so that the plain sum of the words is the same.
  const size_t page = bytes.size() - 4096;
  std::swap_ranges(bytes.begin() + page + 1024, bytes.begin() + page + 1088, bytes.begin() + page + 2048);
  const bool differs = bytes != ReadFile(path);
  WriteFile(path, bytes);
  if (differs) CHECK_THROWS(kDamaged, CheckSegmentSeal(path));
}

}  // namespace
}  // namespace gannet::segment_test
