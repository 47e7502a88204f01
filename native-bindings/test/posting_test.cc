// Tests the codecs of bit packing, posting lists and impacts: round trips and damaged bytes.
#include <algorithm>
#include <bit>
#include <memory>
#include <random>

#include "../kernel/common/bytes.h"
#include "../kernel/postings/bit_packing.h"
#include "../kernel/postings/posting_list.h"
#include "../kernel/postings/posting_writer.h"
#include "check.h"

namespace gannet::segment_test {
namespace {

struct Posting {
  uint32_t document;
  uint32_t frequency;
  std::vector<uint32_t> positions;
  uint8_t norm;
};

constexpr uint32_t kDocuments = kMaxDocumentsPerSegment;

std::vector<uint8_t> Encode(const std::vector<Posting>& postings, PostingWriter* writer) {
  for (const Posting& posting : postings) {
    writer->Add(posting.document, posting.frequency, posting.positions, posting.norm);
  }
  std::vector<uint8_t> bytes;
  writer->Finish(&bytes);
  return bytes;
}

// Returns random postings. Gaps between documents are at most gap_max; 1 makes them consecutive.
std::vector<Posting> RandomPostings(std::mt19937& random, uint32_t count, uint32_t gap_max, uint32_t unit,
                                    uint32_t occurrences_max) {
  std::vector<Posting> postings;
  uint64_t document = random() % 100;
  for (uint32_t i = 0; i < count && document < kDocuments; ++i) {
    Posting posting{static_cast<uint32_t>(document), 0, {}, static_cast<uint8_t>(random() % 256)};
    uint32_t position = random() % 1000;
    for (uint32_t n = 1 + random() % occurrences_max; n > 0; --n) {
      posting.positions.push_back(position);
      position += 1 + random() % 50;
      // Simulates several fields, whose weights are multiples of the unit.
      posting.frequency += unit * (unit > 100 ? 1 + random() % 3 : 1);
    }
    postings.push_back(posting);
    document += 1 + random() % gap_max;
  }
  return postings;
}

// A copy with its exact size, so that AddressSanitizer sees a read behind the list.
struct Exact {
  explicit Exact(std::span<const uint8_t> bytes) : size(bytes.size()), data(std::make_unique<uint8_t[]>(bytes.size())) {
    std::ranges::copy(bytes, data.get());
  }
  std::span<const uint8_t> span() const { return {data.get(), size}; }
  size_t size;
  std::unique_ptr<uint8_t[]> data;
};

void CheckList(const std::vector<Posting>& postings, const PostingList& list) {
  CHECK_EQ(list.document_frequency(), postings.size());
  CHECK_EQ(list.block_count(), (postings.size() + kBlockSize - 1) / kBlockSize);
  uint64_t occurrences = 0;
  uint32_t documents[kBlockSize];
  uint32_t frequencies[kBlockSize];
  uint32_t ends[kBlockSize];
  std::vector<uint32_t> positions;
  std::vector<uint32_t> all;
  std::array<Impact, kImpactsPerList> list_scratch;
  std::array<Impact, kImpactsPerBlock> block_scratch;
  for (uint32_t block = 0; block < list.block_count(); ++block) {
    list.DecodeDocuments(block, documents);
    list.DecodeFrequencies(block, frequencies);
    list.DecodeBlockPositions(block, ends, &all);
    size_t begin = 0;
    for (uint32_t i = 0; i < list.block_length(block); ++i) {
      const Posting& posting = postings[block * kBlockSize + i];
      CHECK_EQ(documents[i], posting.document);
      CHECK_EQ(frequencies[i], posting.frequency);
      list.DecodePositions(block, i, &positions);
      CHECK(positions == posting.positions);
      CHECK(std::ranges::equal(positions, std::span(all).subspan(begin, ends[i] - begin)));
      begin = ends[i];
      occurrences += positions.size();
      for (const auto impacts : {list.BlockImpacts(block, &block_scratch), list.ListImpacts(&list_scratch)}) {
        CHECK(std::ranges::any_of(impacts, [&](Impact impact) {
          return impact.norm <= posting.norm && impact.frequency >= std::min(posting.frequency, 65535u);
        }));
        for (size_t k = 1; k < impacts.size(); ++k) {
          CHECK(impacts[k - 1].norm < impacts[k].norm && impacts[k - 1].frequency < impacts[k].frequency);
        }
      }
    }
    CHECK_EQ(list.last_document(block), documents[list.block_length(block) - 1]);

    uint32_t first;
    std::span<const uint8_t> words;
    if (list.BlockBitset(block, &first, &words)) {
      CHECK_EQ(first, documents[0]);
      std::vector<uint32_t> set;
      if (words.empty()) {
        for (uint32_t document = first; document <= list.last_document(block); ++document) set.push_back(document);
      }
      for (uint32_t bit = 0; bit < 8 * words.size(); ++bit) {
        if (words[bit / 8] >> (bit % 8) & 1) set.push_back(first + bit);
      }
      CHECK(std::ranges::equal(set, std::span(documents, list.block_length(block))));
    }
  }
  CHECK_EQ(list.total_occurrences(), occurrences);
}

TEST(bit_packing_keeps_every_width) {
  std::mt19937 random(1);
  for (unsigned width = 0; width <= 32; ++width) {
    const uint32_t mask = width == 32 ? ~0u : (1u << width) - 1;
    std::vector<uint32_t> values(kBlockSize);
    for (uint32_t& value : values) value = static_cast<uint32_t>(random()) & mask;
    std::vector<uint8_t> packed(16 * width);
    PackBlock(values.data(), width, packed.data());
    const Exact exact(packed);
    std::vector<uint32_t> unpacked(kBlockSize);
    UnpackBlock(exact.data.get(), width, 0, unpacked.data());
    CHECK(unpacked == values);
    UnpackBlock(exact.data.get(), width, 5, unpacked.data());
    for (size_t i = 0; i < kBlockSize; ++i) CHECK_EQ(unpacked[i], values[i] + 5);
    UnpackBlockDeltas(exact.data.get(), width, 77, unpacked.data());
    uint32_t sum = 77;
    for (size_t i = 0; i < kBlockSize; ++i) CHECK_EQ(unpacked[i], sum += values[i] + 1);

    uint64_t prefix = 0;
    for (uint32_t i = 0; i < kBlockSize; prefix += values[i++]) {
      CHECK_EQ(SumBlock(exact.data.get(), width, i), prefix);
      CHECK_EQ(BlockValue(exact.data.get(), width, i), values[i]);
    }
    CHECK_EQ(SumBlock(exact.data.get(), width, kBlockSize), prefix);

    for (const size_t count : {0u, 1u, 5u, 127u}) {
      std::vector<uint8_t> horizontal;
      AppendPacked(values.data(), count, width, &horizontal);
      CHECK_EQ(horizontal.size(), PackedBytes(count, width));
      const Exact bytes(horizontal);
      for (const size_t from : {size_t{0}, count / 2}) {
        std::vector<uint32_t> out(count - from);
        UnpackRange(bytes.data.get(), bytes.size, from, count - from, width, out.data());
        CHECK(std::equal(out.begin(), out.end(), values.begin() + static_cast<std::ptrdiff_t>(from)));
      }
    }
  }
}

TEST(posting_lists_of_every_shape_are_read_back) {
  std::mt19937 random(2);
  PostingWriter writer(100);
  for (const uint32_t count : {1u, 2u, 3u, 100u, 127u, 128u, 129u, 256u, 1000u}) {
    for (const uint32_t gap : {1u, 2u, 3u, 9u, 1000u, 16000u}) {
      for (const uint32_t unit : {1u, 7u, 1000u}) {
        for (const uint32_t occurrences : {1u, 20u}) {
          const auto postings = RandomPostings(random, count, gap, unit, occurrences);
          const Exact bytes(Encode(postings, &writer));
          CheckList(postings, PostingList::Parse(bytes.span(), kDocuments));
        }
      }
    }
  }
}

TEST(posting_lists_hold_the_largest_numbers) {
  PostingWriter writer(1);
  const std::vector<Posting> single{{kDocuments - 1, kPositionsMax - 1, {0, kPositionsMax - 1}, 255}};
  CheckList(single, PostingList::Parse(Exact(Encode(single, &writer)).span(), kDocuments));
  std::vector<Posting> wide;
  for (uint32_t i = 0; i < 129; ++i) {
    wide.push_back({i == 0 ? 0 : kDocuments - 200 + i, i % 2 == 0 ? 1 : kPositionsMax - 1, {i, kPositionsMax - 1}, 9});
  }
  CheckList(wide, PostingList::Parse(Exact(Encode(wide, &writer)).span(), kDocuments));
  // Unit and quotient take 16 bits each, as many as 32 bits allow.
  const std::vector<Posting> units{{1, 60000, {1}, 1}, {2, 60000u * 35000u, {1}, 1}};
  CheckList(units, PostingList::Parse(Exact(Encode(units, &writer)).span(), kDocuments));
  PostingWriter limited(1);
  const std::vector<uint32_t> beyond{kPositionsMax};
  CHECK_THROWS(kLimit, limited.Add(0, 1, beyond, 0));
}

TEST(posting_lists_of_rare_terms_take_few_bytes) {
  PostingWriter writer(100);
  CHECK(Encode({{100000, 1, {40}, 60}}, &writer).size() <= 7);
  CHECK(Encode({{100000, 3, {1}, 60}}, &writer).size() <= 8);
  CHECK(Encode({{100, 1, {40}, 60}, {9000, 1, {70}, 70}}, &writer).size() <= 20);
}

TEST(posting_blocks_are_found_by_document) {
  std::mt19937 random(3);
  PostingWriter writer(100);
  for (const uint32_t count : {1u, 5u, 128u, 5000u}) {
    const auto postings = RandomPostings(random, count, 50, 1, 1);
    const Exact bytes(Encode(postings, &writer));
    const auto list = PostingList::Parse(bytes.span(), kDocuments);
    for (uint32_t turn = 0; turn < 2000; ++turn) {
      const uint32_t document = static_cast<uint32_t>(random() % (postings.back().document + 3));
      const uint32_t from = static_cast<uint32_t>(random() % (list.block_count() + 1));
      uint32_t expected = from;
      while (expected < list.block_count() && list.last_document(expected) < document) ++expected;
      CHECK_EQ(list.FindBlock(from, document), expected);
    }
  }
}

TEST(posting_list_empty_has_nothing) {
  const PostingList list;
  std::array<Impact, kImpactsPerList> scratch;
  CHECK_EQ(list.document_frequency(), 0u);
  CHECK_EQ(list.block_count(), 0u);
  CHECK_EQ(list.FindBlock(0, 5), 0u);
  CHECK(list.ListImpacts(&scratch).empty());
  CHECK_THROWS(kDamaged, PostingList::Parse({}, 5));
}

// Calls everything that a list offers on arbitrary bytes.
void Traverse(std::span<const uint8_t> bytes, uint32_t document_count) {
  uint32_t values[kBlockSize];
  std::vector<uint32_t> positions;
  std::array<Impact, kImpactsPerList> list_scratch;
  std::array<Impact, kImpactsPerBlock> block_scratch;
  std::span<const uint8_t> words;
  PostingList list;
  try {
    list = PostingList::Parse(bytes, document_count);
    list.ListImpacts(&list_scratch);
    list.FindBlock(0, document_count / 2);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kDamaged);
    return;
  }
  const auto attempt = [](const auto& action) {
    try {
      action();
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kDamaged);
    }
  };
  for (uint32_t block = 0; block < std::min(list.block_count(), 50u); ++block) {
    CHECK(list.last_document(block) < document_count);
    attempt([&] {
      list.DecodeDocuments(block, values);
      for (uint32_t i = 0; i < list.block_length(block); ++i) {
        CHECK(values[i] < document_count && (i == 0 || values[i - 1] < values[i]));
      }
    });
    attempt([&] {
      list.DecodeFrequencies(block, values);
      for (uint32_t i = 0; i < list.block_length(block); ++i) CHECK(values[i] >= 1);
    });
    attempt([&] { list.BlockImpacts(block, &block_scratch); });
    attempt([&] {
      if (!list.BlockBitset(block, values, &words) || words.empty()) return;
      const auto highest = static_cast<uint32_t>(8 * words.size() - 1) -
                           static_cast<uint32_t>(std::countl_zero(Load<uint64_t>(words.data() + words.size() - 8)));
      CHECK_EQ(values[0] + highest, list.last_document(block));
    });
    attempt([&] { list.DecodePositions(block, list.block_length(block) - 1, &positions); });
    attempt([&] { list.DecodeBlockPositions(block, values, &positions); });
  }
}

TEST(posting_lists_that_are_damaged_throw_errors_or_give_data) {
  std::mt19937 random(4);
  PostingWriter writer(100);
  for (const uint32_t count : {1u, 2u, 90u, 128u, 700u}) {
    for (const uint32_t gap : {1u, 2u, 400u}) {
      const auto original = Encode(RandomPostings(random, count, gap, 3, 4), &writer);
      for (uint32_t turn = 0; turn < 300; ++turn) {
        auto bytes = original;
        for (uint32_t flips = 1 + random() % 3; flips > 0; --flips) {
          // Changes mostly the first bytes, where damage does most harm.
          const size_t range = random() % 2 == 0 ? bytes.size() : std::min<size_t>(bytes.size(), 40);
          bytes[random() % range] = static_cast<uint8_t>(random());
        }
        if (turn % 4 == 0) bytes.resize(random() % (bytes.size() + 1));
        Traverse(Exact(bytes).span(), turn % 2 == 0 ? kDocuments : 1 + static_cast<uint32_t>(random() % 2000));
      }
    }
  }
}

}  // namespace
}  // namespace gannet::segment_test
