// Tests that damaged files and full disks cause an Error, never a crash, and leave no files behind.
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <csignal>

#include "../kernel/segment/segment_meta.h"
#include "check.h"
#include "segment_fixture.h"
#include "segment_traversal.inc"

namespace gannet::segment_test {
namespace {

constexpr size_t kPage = 4096;

std::vector<uint8_t> BuildBytes(const TemporaryFolder& folder, uint32_t seed, uint32_t documents) {
  BuildSegment(folder.File("s"), TestSchema(), EncodeBatch(RandomDocuments(seed, documents)));
  return ReadFile(folder.File("s"));
}

TEST(segment_truncated_anywhere_is_damaged) {
  const TemporaryFolder folder;
  const auto bytes = BuildBytes(folder, 2, 200);
  for (size_t length = 0; length < bytes.size(); length += length < 2 * kPage ? 509 : kPage) {
    WriteFile(folder.File("cut"), std::span(bytes).first(length));
    CHECK_THROWS(kDamaged, Segment::Open(folder.File("cut")));
  }
  CHECK_THROWS(kIo, Segment::Open(folder.File("absent")));
  CHECK_THROWS(kIo, Segment::Open(folder.path()));
}

TEST(segment_of_another_format_is_unsupported_and_not_damaged) {
  SegmentMeta meta;
  meta.document_count = 1;
  auto bytes = EncodeSegmentMeta(meta);
  CHECK_EQ(DecodeSegmentMeta(bytes).document_count, 1u);
  for (const uint32_t version : {0u, 1u, kFormatVersion + 1, ~0u}) {
    Store(bytes.data(), version);
    CHECK_THROWS(kUnsupportedFormat, DecodeSegmentMeta(bytes));
    // Another format may have anything behind its version.
    CHECK_THROWS(kUnsupportedFormat, DecodeSegmentMeta(std::span(bytes).first(4)));
    CHECK_THROWS(kDamaged, DecodeSegmentMeta(std::span(bytes).first(3)));
  }
}

TEST(segment_with_old_stems_is_unsupported_if_the_stems_of_its_language_changed) {
  const auto version_of = [](const char* language) {
    SegmentMeta meta;
    meta.document_count = 1;
    meta.language = language;
    auto bytes = EncodeSegmentMeta(meta);
    CHECK_EQ(DecodeSegmentMeta(bytes).language, language);
    const auto version = Load<uint32_t>(bytes.data());
    Store(bytes.data(), kFormatVersion);
    if (version != kFormatVersion) CHECK_THROWS(kUnsupportedFormat, DecodeSegmentMeta(bytes));
    return version;
  };
  CHECK_EQ(version_of("en"), kFormatVersion);
  CHECK_EQ(version_of(""), kFormatVersion);
  CHECK_EQ(version_of("pl"), kFormatVersion + (1u << 16));
}

TEST(segment_with_flipped_bytes_is_an_error_or_data) {
  const TemporaryFolder folder;
  std::mt19937 random(6);
  uint32_t opened = 0;
  for (const uint32_t documents : {3u, 400u}) {
    const auto original = BuildBytes(folder, documents, documents);
    for (uint32_t turn = 0; turn < 1200; ++turn) {
      auto bytes = original;
      for (uint32_t flips = 1 + random() % 4; flips > 0; --flips) {
        // Half of the flips hit the structure: meta pages, page headers and the tables behind them.
        const size_t page = random() % 4 == 0 ? random() % 2 : random() % (bytes.size() / kPage);
        const size_t offset = random() % 2 == 0 ? random() % kPage : random() % 200;
        bytes[page * kPage + offset] ^= static_cast<uint8_t>(1u << (random() % 8));
      }
      WriteFile(folder.File("d"), bytes);
      if (OpenAndTraverse(folder.File("d"))) ++opened;
      if (turn % 10 == 0) VerifySegment(folder.File("d"));
    }
  }
  // Otherwise the test would check hardly anything.
  CHECK(opened > 100);
}

TEST(segment_with_swapped_pages_is_an_error_or_data) {
  const TemporaryFolder folder;
  std::mt19937 random(7);
  const auto original = BuildBytes(folder, 11, 300);
  for (uint32_t turn = 0; turn < 200; ++turn) {
    auto bytes = original;
    const size_t from = random() % (bytes.size() / kPage);
    const size_t to = random() % (bytes.size() / kPage);
    std::copy_n(original.begin() + static_cast<std::ptrdiff_t>(from * kPage), kPage,
                bytes.begin() + static_cast<std::ptrdiff_t>(to * kPage));
    WriteFile(folder.File("d"), bytes);
    OpenAndTraverse(folder.File("d"));
  }
}

TEST(segment_verifier_reports_changed_bytes) {
  const TemporaryFolder folder;
  auto bytes = BuildBytes(folder, 12, 500);
  CHECK_EQ(VerifySegment(folder.File("s")), "");
  // Flips random bytes rather than a certain length code, as it is simpler, and counts those noticed.
  std::mt19937 random(8);
  uint32_t noticed = 0;
  for (uint32_t turn = 0; turn < 60; ++turn) {
    auto damaged = bytes;
    size_t at;
    // Skips zeros, mostly the unused rest of pages: more than half of a page of 32 KiB, which LMDB uses if the system's pages are as large.
    do {
      at = 2 * kPage + random() % (damaged.size() - 2 * kPage);
    } while (damaged[at] == 0);
    damaged[at] ^= 0x10;
    WriteFile(folder.File("d"), damaged);
    if (!VerifySegment(folder.File("d")).empty()) ++noticed;
  }
  CHECK(noticed > 30);  // The other bytes are unused.
}

TEST(segment_in_a_missing_folder_is_an_io_error) {
  const TemporaryFolder folder;
  const auto batch = EncodeBatch(RandomDocuments(2, 2));
  CHECK_THROWS(kIo, BuildSegment(folder.File("no/such/folder"), TestSchema(), batch));
}

TEST(segment_beyond_the_file_size_limit_is_disk_full_and_leaves_nothing) {
  const TemporaryFolder folder;
  const auto batch = EncodeBatch(RandomDocuments(2, 1000));
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit lower{64 << 10, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &lower);
  CHECK_THROWS(kDiskFull, BuildSegment(folder.File("s"), TestSchema(), batch));
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, previous);
  CHECK_EQ(folder.FileCount(), 0u);
}

// A store to a mapping on a full disk would raise SIGBUS. Checks nothing unless run by root, as it mounts a small file system.
TEST(segment_on_a_full_disk_is_an_error_and_leaves_nothing) {
  const TemporaryFolder folder;
  if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=2m") != 0) return;
  const auto unmount = std::shared_ptr<void>(nullptr, [&](void*) { umount(folder.path().c_str()); });
  const auto documents = RandomDocuments(3, 16000);
  const auto small = EncodeBatch({documents.begin(), documents.begin() + 800});
  CHECK_THROWS(kDiskFull, BuildSegment(folder.File("s"), TestSchema(), EncodeBatch(documents)));
  CHECK_EQ(folder.FileCount(), 0u);
  // A small segment fits, but its merge fills the disk.
  BuildSegment(folder.File("a"), TestSchema(), small);
  CHECK_EQ(VerifySegment(folder.File("a")), "");
  struct statvfs room;
  statvfs(folder.path().c_str(), &room);
  // Leaves less room than another such file needs.
  WriteFile(folder.File("filler"),
            std::vector<uint8_t>(room.f_bavail * room.f_bsize - std::filesystem::file_size(folder.File("a")) / 2));
  const size_t before = folder.FileCount();
  CHECK_THROWS(kDiskFull, MergeSegments(folder.File("m"), TestSchema(), {{Segment::Open(folder.File("a")), {}}}));
  // Every amount of free space, down to the last page, gives a whole segment or an error.
  for (uint32_t left = 0; left < 40; ++left) {
    WriteFile(folder.File("filler"), std::vector<uint8_t>(1));
    struct statvfs status;
    statvfs(folder.path().c_str(), &status);
    const size_t free_bytes = status.f_bavail * status.f_bsize + kPage;
    if (free_bytes < left * 2 * kPage) break;
    WriteFile(folder.File("filler"), std::vector<uint8_t>(free_bytes - left * 2 * kPage));
    try {
      BuildSegment(folder.File("t"), TestSchema(), EncodeBatch({documents[0], documents[1]}));
      CHECK_EQ(VerifySegment(folder.File("t")), "");
      std::filesystem::remove(folder.File("t"));
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kDiskFull);
    }
    CHECK_EQ(folder.FileCount(), before);
  }
}

}  // namespace
}  // namespace gannet::segment_test
