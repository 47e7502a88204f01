// Compares the functions that use this machine's vector instructions with plain loops.
#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "../kernel/columns/range_words.h"
#include "../kernel/columns/value_tally.h"
#include "../kernel/common/bits.h"
#include "../kernel/common/simd.h"
#include "../kernel/cursors/document_lookup.h"
#include "../kernel/format.h"
#include "../kernel/window/contributions.h"
#include "../kernel/window/selection.h"
#include "../kernel/window/window.h"
#include "check.h"

namespace gannet::test {
namespace {

std::vector<uint64_t> RandomBits(std::mt19937_64* random, size_t words) {
  std::vector<uint64_t> bits(words);
  for (uint64_t& word : bits) word = (*random)() & (*random)() & ((*random)() % 3 == 0 ? 0 : ~uint64_t{0});
  return bits;
}

bool HasBit(const std::vector<uint64_t>& bits, uint32_t offset) { return gannet::HasBit(bits.data(), offset); }

template <typename Raw>
void CheckRange(std::mt19937_64* random) {
  std::vector<Raw> values(64 * 64);
  const uint64_t spread = uint64_t{1} << (1 + (*random)() % (8 * sizeof(Raw)));
  for (Raw& value : values) value = static_cast<Raw>((*random)() % spread);
  const auto first = static_cast<Raw>((*random)() % spread);
  const auto width = static_cast<Raw>((*random)() % spread);
  const uint64_t words = (*random)();
  std::vector<uint64_t> bits(64, 0x5555);
  TestRangeWords(values.data(), first, width, words, bits.data());
  for (uint32_t word = 0; word < 64; ++word) {
    uint64_t expected = 0;
    for (uint32_t i = 0; i < 64; ++i) {
      expected |= uint64_t{static_cast<Raw>(values[word * 64 + i] - first) <= width} << i;
    }
    CHECK_EQ(bits[word], (words >> word & 1) != 0 ? expected : 0x5555);
  }
}

// Checks tallies of few, many or all bits of each word. Nothing behind the last value may be read.
template <typename Raw>
void CheckTally(std::mt19937_64* random) {
  const uint32_t count = static_cast<uint32_t>(1 + (*random)() % (64 * 64));
  std::vector<Raw> values(count);
  const uint64_t spread = uint64_t{1} << ((*random)() % (8 * sizeof(Raw) + 1));
  for (Raw& value : values) value = static_cast<Raw>((*random)() % spread);
  const uint64_t words = (*random)() | 1;
  std::vector<uint64_t> bits(64);
  std::vector<uint32_t> expected(size_t{1} << 8 * sizeof(Raw), 7);
  std::vector<uint32_t> table = expected;
  for (uint32_t word = 0; word < 64; ++word) {
    const uint64_t share = (*random)() % 65;
    for (uint32_t bit = 0; bit < 64 && word * 64 + bit < count; ++bit) {
      if ((*random)() % 64 >= share) continue;
      bits[word] |= uint64_t{1} << bit;
      if ((words >> word & 1) != 0) ++expected[values[word * 64 + bit]];
    }
  }
  uint32_t greatest = 0;
  for (uint32_t value = 0; value < expected.size(); ++value) greatest = expected[value] > 7 ? value : greatest;
  CHECK_EQ(TallyWords(values.data(), bits.data(), words, table.data()), greatest);
  CHECK(table == expected);
}

}  // namespace

TEST(simd_values_are_tallied) {
  std::mt19937_64 random(19);
  for (int turn = 0; turn < 200; ++turn) {
    CheckTally<uint8_t>(&random);
    CheckTally<uint16_t>(&random);
  }
}

TEST(simd_ranges_equal_a_comparison_of_each_value) {
  std::mt19937_64 random(11);
  for (int turn = 0; turn < 50; ++turn) {
    CheckRange<uint8_t>(&random);
    CheckRange<uint16_t>(&random);
    CheckRange<uint32_t>(&random);
  }
}

TEST(simd_bits_are_counted_and_ranked) {
  std::mt19937_64 random(12);
  for (uint32_t words = 0; words < 80; ++words) {
    const std::vector<uint64_t> bits = RandomBits(&random, words);
    std::vector<uint32_t> ranks(words);
    const uint32_t count = RankWords(bits.data(), words, ranks.data());
    uint32_t before = 0;
    for (uint32_t word = 0; word < words; ++word) {
      CHECK_EQ(ranks[word], before);
      before += static_cast<uint32_t>(std::popcount(bits[word]));
    }
    CHECK_EQ(count, before);
    CHECK_EQ(CountBits(bits.data(), words), before);
  }
}

TEST(simd_sums_by_slot_equal_the_sum_of_each_posting) {
  std::mt19937_64 random(13);
  const std::vector<uint64_t> bits = RandomBits(&random, 32);
  std::vector<uint32_t> ranks(32);
  const Slots slots{bits.data(), ranks.data(), RankWords(bits.data(), 32, ranks.data())};
  std::vector<uint32_t> offsets;
  std::vector<float> values;
  for (uint32_t i = 0; i < 1000; ++i) {
    offsets.push_back(static_cast<uint32_t>(random() % (32 * 64)));
    values.push_back(static_cast<float>(1 + random() % 8));
  }
  std::vector<float> sums(slots.count + 1);
  std::vector<uint32_t> slot_offsets(slots.count + 1);
  AddBySlot(slots, offsets, values.data(), sums.data(), slot_offsets.data());
  uint32_t slot = 0;
  for (uint32_t offset = 0; offset < 32 * 64; ++offset) {
    CHECK_EQ(FindSlot(slots, offset), HasBit(bits, offset) ? slot : slots.count);
    if (!HasBit(bits, offset)) continue;
    float expected = 0;
    for (size_t i = 0; i < offsets.size(); ++i) expected += offsets[i] == offset ? values[i] : 0;
    CHECK_EQ(sums[slot], expected);
    if (expected > 0) CHECK_EQ(slot_offsets[slot], offset);
    ++slot;
  }
}

TEST(simd_compares_windows) {
  std::mt19937_64 random(17);
  std::vector<float> values(kWindowSize);
  for (uint64_t words : {uint64_t{0}, ~uint64_t{0}, random(), random(), uint64_t{1} << 63}) {
    for (float& value : values) value = static_cast<float>(random() % 8);
    std::vector<uint64_t> bits(kWindowWords, 0x5555);
    CompareWords(values.data(), 3, words, bits.data());
    for (uint32_t word = 0; word < kWindowWords; ++word) {
      uint64_t expected = 0;
      for (uint32_t i = 0; i < 64; ++i) expected |= uint64_t{values[word * 64 + i] >= 3} << i;
      CHECK_EQ(bits[word], (words >> word & 1) != 0 ? expected : 0x5555);
    }
  }
}

TEST(simd_selects_values_that_reach_a_bar) {
  std::mt19937_64 random(14);
  for (uint32_t count = 0; count < 200; ++count) {
    const std::vector<uint64_t> bits = RandomBits(&random, 16);
    std::vector<uint32_t> offsets;
    std::vector<float> values;
    for (uint32_t i = 0; i < count; ++i) {
      offsets.push_back(static_cast<uint32_t>(random() % (16 * 64)));
      values.push_back(static_cast<float>(random() % 16));
    }
    std::vector<uint32_t> alone;
    std::vector<uint32_t> either;
    for (uint32_t i = 0; i < count; ++i) {
      if (values[i] >= 12) alone.push_back(i);
      if (values[i] >= (HasBit(bits, offsets[i]) ? 5.0f : 12.0f)) either.push_back(i);
    }
    std::vector<uint32_t> places(count + kVectorPadding);
    places.resize(SelectReaching(values.data(), count, 12, places.data()));
    CHECK(places == alone);
    places.resize(count + kVectorPadding);
    places.resize(SelectReaching(values.data(), offsets.data(), count, bits.data(), 12, 5, places.data()));
    CHECK(places == either);
  }
}

TEST(simd_selects_frequent_and_marked_postings) {
  std::mt19937_64 random(18);
  for (uint32_t count = 0; count < 200; ++count) {
    const std::vector<uint64_t> bits = RandomBits(&random, 16);
    std::vector<uint8_t> norms(16 * 64);
    for (uint8_t& norm : norms) norm = static_cast<uint8_t>(random() % 256);
    FrequencyBar bar{};
    for (float& least : bar.by_norm) least = static_cast<float>(4 + random() % 8);
    bar.least = *std::ranges::min_element(bar.by_norm);
    constexpr uint32_t kBase = 4096;
    std::vector<uint32_t> documents;
    std::vector<uint32_t> offsets;
    std::vector<float> frequencies;
    std::vector<uint32_t> marked;
    std::vector<uint32_t> either;
    for (uint32_t i = 0; i < count; ++i) {
      const auto offset = static_cast<uint32_t>(random() % (16 * 64));
      offsets.push_back(offset);
      documents.push_back(kBase + offset);
      frequencies.push_back(static_cast<float>(random() % 16));
      if (HasBit(bits, offset)) marked.push_back(i);
      if (HasBit(bits, offset) || frequencies[i] >= bar.by_norm[norms[offset]]) either.push_back(i);
    }
    std::vector<uint32_t> places(count + kVectorPadding);
    places.resize(SelectMarked(documents.data(), count, kBase, bits.data(), places.data()));
    CHECK(places == marked);
    places.resize(count + kVectorPadding);
    places.resize(SelectReaching(frequencies.data(), offsets.data(), count, norms.data(), bar, bits.data(), places.data()));
    CHECK(places == either);
  }
}

TEST(simd_finds_documents_in_blocks) {
  std::mt19937_64 random(15);
  for (int turn = 0; turn < 200; ++turn) {
    std::vector<uint32_t> block(kBlockSize + kVectorPadding, kBlockPadding);
    const uint32_t length = 1 + static_cast<uint32_t>(random() % kBlockSize);
    uint32_t document = 0;
    for (uint32_t i = 0; i < length; ++i) block[i] = document += 1 + static_cast<uint32_t>(random() % 4);
    std::vector<uint32_t> wanted;
    for (uint32_t each = 0; each <= block[length - 1] && wanted.size() < kBlockSize; ++each) {
      if (random() % 2 == 0) wanted.push_back(each);
    }
    std::vector<uint32_t> found(kBlockSize + 1);
    std::vector<uint32_t> indexes(kBlockSize + 1);
    std::vector<uint32_t> places(kBlockSize + 1);
    const uint32_t count = FindInBlock(block.data(), wanted.data(), static_cast<uint32_t>(wanted.size()), found.data(),
                                       indexes.data(), places.data());
    uint32_t expected = 0;
    for (uint32_t i = 0; i < wanted.size(); ++i) {
      const auto at = std::find(block.begin(), block.begin() + length, wanted[i]);
      if (at == block.begin() + length) continue;
      CHECK_EQ(found[expected], wanted[i]);
      CHECK_EQ(indexes[expected], static_cast<uint32_t>(at - block.begin()));
      CHECK_EQ(places[expected], i);
      ++expected;
    }
    CHECK_EQ(count, expected);
  }
}

TEST(simd_contributions_equal_those_of_each_posting) {
  std::mt19937_64 random(15);
  std::vector<float> saturation(256);
  for (float& value : saturation) value = 0.1f + static_cast<float>(random() % 1000) / 100;
  for (int turn = 0; turn < 200; ++turn) {
    // Most lists have only short documents, whose low length codes take another code path.
    const uint64_t codes = turn % 3 == 0 ? 256 : turn % 3 == 1 ? 64 : 70;
    std::vector<uint8_t> norms(4096);
    for (uint8_t& norm : norms) norm = static_cast<uint8_t>(random() % codes);
    std::vector<uint32_t> frequencies(kBlockSize + kVectorPadding);
    for (uint32_t& frequency : frequencies) frequency = 1 + static_cast<uint32_t>(random() % 5);
    const auto expected = [&](uint32_t posting, uint32_t document) {
      return Contribution(FrequencyToFloat(frequencies[posting]), saturation[norms[document]], 0.7f);
    };

    const auto count = static_cast<uint32_t>(1 + random() % kBlockSize);
    std::vector<uint32_t> documents;
    for (uint32_t document = 0; documents.size() < count; document += 1 + static_cast<uint32_t>(random() % 20)) {
      documents.push_back(document);
    }
    std::vector<float> contributions(kBlockSize + kVectorPadding);
    Contributions(documents.data(), frequencies.data(), count, norms.data(), saturation.data(), 0.7f, contributions.data());
    for (uint32_t i = 0; i < count; ++i) CHECK_EQ(contributions[i], expected(i, documents[i]));

    std::vector<uint64_t> bits(1 + random() % 10);
    const auto share = static_cast<uint32_t>(1 + random() % 4);
    uint32_t postings = 0;
    std::vector<float> scores(64 * bits.size());
    for (float& score : scores) score = static_cast<float>(random() % 3);
    std::vector<float> sums = scores;
    for (uint32_t document = 0; document < scores.size() && postings < kBlockSize; ++document) {
      if (random() % share != 0) continue;
      bits[document / 64] |= uint64_t{1} << (document % 64);
      sums[document] += expected(postings++, document);
    }
    const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(bits.data()), 8 * bits.size());
    CHECK_EQ(AddBitsetContributions(bytes, frequencies.data(), norms.data(), saturation.data(), 0.7f, scores.data()), postings);
    CHECK(scores == sums);
    // The bit set of a damaged list may have more bits than a block has postings.
    std::fill(bits.begin(), bits.end(), ~uint64_t{0});
    CHECK_EQ(AddBitsetContributions(bytes, frequencies.data(), norms.data(), saturation.data(), 0.7f, scores.data()),
             64 * bits.size());
  }
}

}  // namespace gannet::test
