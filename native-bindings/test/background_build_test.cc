// Tests segments that a thread builds while documents arrive: they equal a segment built at once, or leave no file.
#include "../kernel/segment/background_build.h"

#include <chrono>
#include <filesystem>
#include <span>
#include <thread>

#include "check.h"
#include "segment_fixture.h"

namespace gannet::segment_test {
namespace {

// Encodes documents as a batch without its count.
std::vector<uint8_t> Documents(const std::vector<TestDocument>& documents) {
  std::vector<uint8_t> bytes = EncodeBatch(documents);
  bytes.erase(bytes.begin(), bytes.begin() + sizeof(uint32_t));
  return bytes;
}

// Adds the documents in pieces of `piece` documents.
void AddInPieces(BackgroundBuild* build, const std::vector<TestDocument>& documents, size_t piece) {
  for (size_t at = 0; at < documents.size(); at += piece) {
    const size_t end = std::min(documents.size(), at + piece);
    build->Add(Documents({documents.begin() + static_cast<ptrdiff_t>(at), documents.begin() + static_cast<ptrdiff_t>(end)}));
  }
}

TEST(background_build_writes_the_same_file_as_a_build_at_once) {
  const TemporaryFolder folder;
  const auto documents = RandomDocuments(5, 400);
  const SegmentSummary at_once = BuildSegment(folder.File("at-once"), TestSchema(), EncodeBatch(documents));
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{1000}}) {
    const std::string path = folder.File("beside");
    BackgroundBuild build(path, TestSchema());
    AddInPieces(&build, documents, piece);
    build.End();
    const SegmentSummary beside = build.Finish();
    CHECK_EQ(beside.document_count, at_once.document_count);
    CHECK_EQ(beside.term_count, at_once.term_count);
    CHECK_EQ(beside.file_bytes, at_once.file_bytes);
    CHECK(ReadFile(path) == ReadFile(folder.File("at-once")));
    CHECK_EQ(build.Finish().file_bytes, at_once.file_bytes);
    CHECK_THROWS(kInvalidArgument, build.Add(Documents(documents)));
    // A finished file stays.
    build.Abandon();
    CHECK(std::filesystem::exists(path));
  }
}

TEST(background_build_that_is_abandoned_leaves_no_file) {
  const TemporaryFolder folder;
  const auto documents = RandomDocuments(6, 400);
  {
    BackgroundBuild build(folder.File("abandoned"), TestSchema());
    AddInPieces(&build, documents, 100);
    build.Abandon();
    CHECK_THROWS(kInvalidArgument, build.Add(Documents(documents)));
    build.Abandon();
  }
  {
    BackgroundBuild build(folder.File("whole-and-abandoned"), TestSchema());
    AddInPieces(&build, documents, 100);
    build.End();
    for (int look = 0; look < 60'000 && !std::filesystem::exists(folder.File("whole-and-abandoned")); ++look) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(std::filesystem::exists(folder.File("whole-and-abandoned")));
    build.Abandon();
  }
  { BackgroundBuild build(folder.File("left"), TestSchema()); AddInPieces(&build, documents, 100); }
  { BackgroundBuild build(folder.File("without-a-document"), TestSchema()); }
  CHECK_EQ(folder.FileCount(), 0u);
}

TEST(background_build_throws_its_error_at_the_end) {
  const TemporaryFolder folder;
  const auto documents = RandomDocuments(7, 400);
  {
    BackgroundBuild build(folder.File("damaged"), TestSchema());
    const std::vector<uint8_t> bytes = Documents(documents);
    build.Add(std::span(bytes).first(bytes.size() - 1));
    // A builder that has failed accepts and drops more than its queue holds.
    for (size_t sent = 0; sent <= 2 * BackgroundBuild::kWaitingBytesMax; sent += bytes.size()) build.Add(bytes);
    CHECK_THROWS(kInvalidArgument, build.Finish());
    CHECK_THROWS(kInvalidArgument, build.Finish());
  }
  {
    BackgroundBuild build(folder.File("nowhere/at-all/s"), TestSchema());
    AddInPieces(&build, documents, 100);
    CHECK_THROWS(kIo, build.Finish());
  }
  {
    BackgroundBuild build(folder.File("empty"), TestSchema());
    CHECK_THROWS(kInvalidArgument, build.Finish());
  }
  CHECK_THROWS(kInvalidArgument, BackgroundBuild(folder.File("unweighted"), SegmentSchema{{0}, {}}));
  CHECK_EQ(folder.FileCount(), 0u);
}

TEST(background_build_accepts_documents_larger_than_its_queue) {
  const TemporaryFolder folder;
  std::vector<TestDocument> documents = RandomDocuments(8, 40);
  documents[0].texts.emplace_back(0, std::string(BackgroundBuild::kWaitingBytesMax, 'x'));
  documents[20].texts.emplace_back(0, std::string(BackgroundBuild::kWaitingBytesMax / 2, 'y'));
  BackgroundBuild build(folder.File("s"), TestSchema());
  AddInPieces(&build, documents, 1);
  CHECK_EQ(build.Finish().document_count, documents.size());
}

}  // namespace
}  // namespace gannet::segment_test
