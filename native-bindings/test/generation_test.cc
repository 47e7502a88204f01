#include "../kernel/generation/generation.h"

#include <algorithm>
#include <random>
#include <vector>

#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

const SegmentSchema kOneField{{1}, {}};

std::vector<DocumentWriter> Numbered(uint32_t count, uint32_t first_record, std::string_view text = "sea") {
  std::vector<DocumentWriter> documents;
  for (uint32_t i = 0; i < count; ++i) documents.push_back(DocumentWriter(first_record + i).Text(0, text));
  return documents;
}

double CountOf(const Generation& generation, std::string_view word) {
  QueryPlan plan;
  plan.groups = {Word(word)};
  return RunSearch(generation, plan).total_count;
}

}  // namespace

TEST(generation_shares_unchanged_deletion_chunks_with_its_base) {
  TemporaryFolder folder;
  const auto segment = folder.Build(kOneField, Numbered(10'000, 0));
  const auto first = DeriveGeneration(nullptr, {{segment, {}}}, {}, {{segment, {1, 5000}}}, "a");
  const auto second = DeriveGeneration(first.get(), {}, {}, {{segment, {5001, 5001, 5000}}}, "b");
  const DeletionSet& before = first->segments[0].deletions;
  const DeletionSet& after = second->segments[0].deletions;
  CHECK_EQ(before.deleted_count, 2u);
  CHECK_EQ(after.deleted_count, 3u);
  CHECK(before.chunks[0] == after.chunks[0]);
  CHECK(before.chunks[1] != after.chunks[1]);
  CHECK(after.chunks[2] == nullptr);
  CHECK(!before.Contains(5001));
  CHECK(after.Contains(5001) && after.Contains(5000) && after.Contains(1) && !after.Contains(2));
  CHECK_EQ(first->live_count, uint64_t{9998});
  CHECK_EQ(second->live_count, uint64_t{9997});
  CHECK_EQ(second->document_count, uint64_t{10'000});
  CHECK_EQ(second->settings, "b");
  CHECK_EQ(CountOf(*first, "sea"), 9998.0);
  CHECK_EQ(CountOf(*second, "sea"), 9997.0);
}

TEST(generation_adds_and_removes_segments) {
  TemporaryFolder folder;
  const auto one = folder.Build(kOneField, Numbered(10, 0, "one word more"));
  const auto two = folder.Build(kOneField, Numbered(30, 100, "two"));
  const auto first = DeriveGeneration(nullptr, {{one, {}}}, {}, {}, "");
  const auto both = DeriveGeneration(first.get(), {{two, {}}}, {}, {{one, {3}}, {two, {29}}}, "");
  CHECK_EQ(both->live_count, uint64_t{38});
  CHECK_EQ(both->average_length, (10 * 3 + 30) / 40.0);
  const auto last = DeriveGeneration(both.get(), {}, {one}, {}, "");
  CHECK_EQ(last->segments.size(), size_t{1});
  CHECK_EQ(last->live_count, uint64_t{29});
  CHECK_EQ(CountOf(*last, "one"), 0.0);
  CHECK_EQ(CountOf(*both, "one"), 9.0);
  const auto none = DeriveGeneration(last.get(), {}, {two}, {}, "");
  CHECK_EQ(CountOf(*none, "two"), 0.0);
}

TEST(generation_refuses_unknown_segments_and_deletions_out_of_range) {
  TemporaryFolder folder;
  const auto one = folder.Build(kOneField, Numbered(10, 0));
  const auto two = folder.Build(kOneField, Numbered(10, 100));
  const auto base = DeriveGeneration(nullptr, {{one, {}}}, {}, {}, "");
  CHECK_THROWS(kInvalidArgument, DeriveGeneration(base.get(), {}, {two}, {}, ""));
  CHECK_THROWS(kInvalidArgument, DeriveGeneration(base.get(), {{one, {}}}, {}, {}, ""));
  CHECK_THROWS(kInvalidArgument, DeriveGeneration(base.get(), {}, {}, {{two, {1}}}, ""));
  CHECK_THROWS(kInvalidArgument, DeriveGeneration(base.get(), {}, {}, {{one, {10}}}, ""));
  DeletionSet wrong;
  wrong.chunks = {std::make_shared<DeletionSet::Chunk>(3)};
  CHECK_THROWS(kInvalidArgument, DeriveGeneration(nullptr, {{one, wrong}}, {}, {}, ""));
  DeletionSet behind;
  auto chunk = std::make_shared<DeletionSet::Chunk>(kWindowSize / 64);
  (*chunk)[0] = uint64_t{1} << 10;
  behind.chunks = {chunk};
  CHECK_THROWS(kInvalidArgument, DeriveGeneration(nullptr, {{one, behind}}, {}, {}, ""));
}

TEST(generation_adds_segments_with_deletions) {
  TemporaryFolder folder;
  const auto one = folder.Build(kOneField, Numbered(70, 0));
  DeletionSet deletions;
  auto chunk = std::make_shared<DeletionSet::Chunk>(kWindowSize / 64);
  (*chunk)[1] = 3;
  deletions.chunks = {chunk};
  const auto generation = DeriveGeneration(nullptr, {{one, deletions}}, {}, {{one, {0}}}, "");
  CHECK_EQ(generation->live_count, uint64_t{67});
  CHECK_EQ((*chunk)[0], uint64_t{0});
}

// 64 documents at a time are covered if exactly one index leads to each, in order. Their index then needs no look-up.
TEST(homes_find_the_only_index_that_leads_to_a_document) {
  std::vector<uint32_t> documents;
  const auto add = [&](uint32_t begin, uint32_t end) {
    for (uint32_t document = begin; document < end; ++document) documents.push_back(document);
  };
  add(0, 64);       // one index each
  documents.push_back(kNoHome);
  add(64, 128);     // one index each, shifted by one
  add(128, 150);
  add(149, 192);    // two indexes lead to 149
  add(192, 256);    // two indexes lead to 255, the last
  documents.push_back(255);
  add(256, 320);    // two indexes lead to 256, the first
  documents.insert(documents.end() - 64, 256);
  add(320, 340);    // no index leads to 340
  add(341, 384);
  add(384, 400);    // fewer than 64
  const HomesInSegment homes(documents);
  for (uint32_t document = 0; document < 500; ++document) {
    const uint32_t index = homes.IndexOf(document);
    if (document >= 128) {
      CHECK_EQ(index, kNoHome);
    } else {
      CHECK_EQ(index, document < 64 ? document : document + 1);
      CHECK_EQ(homes[index], document);
    }
  }
}

// Beside many segments, each with the records of one stretch, only that stretch takes memory.
TEST(homes_take_memory_for_the_indexes_that_lead_somewhere) {
  constexpr size_t kIndexes = 10'000;
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<uint32_t> documents(kIndexes, kNoHome);
    const size_t begin = random() % kIndexes;
    const size_t end = std::min<size_t>(kIndexes, begin + random() % 300);
    const bool is_straight = random() % 2 == 0;
    uint32_t document = random() % 200;
    for (size_t index = begin; index < end; ++index) {
      if (is_straight || random() % 8 != 0) documents[index] = document++;
    }
    const HomesInSegment homes(documents);
    CHECK_EQ(homes.size(), kIndexes);
    // Those of the stretch, and of the blocks in which it begins and ends.
    CHECK(homes.bytes() <= 2 * sizeof(uint32_t) * (end - begin + 2 * HomesInSegment::kAtOnce));
    for (size_t index = 0; index < kIndexes; ++index) {
      homes.Fetch(index);
      CHECK_EQ(homes[index], documents[index]);
    }
    for (size_t at = 0; at + HomesInSegment::kAtOnce <= kIndexes; at += HomesInSegment::kAtOnce) {
      bool is_expected = true;
      for (size_t place = 0; place < HomesInSegment::kAtOnce; ++place) {
        is_expected &= documents[at] < kNoHome - HomesInSegment::kAtOnce && documents[at + place] == documents[at] + place;
      }
      CHECK_EQ(homes.IsStraight(at), is_expected);
    }
  }
  CHECK_EQ(HomesInSegment(std::vector<uint32_t>(kIndexes, kNoHome)).bytes(), size_t{0});
}

}  // namespace gannet::test
