// Fuzzes posting lists: the first byte of an input chooses the number of documents of the segment, the rest is the list.
#include <array>
#include <cstdint>
#include <vector>

#include "../kernel/common/error.h"
#include "../kernel/postings/posting_list.h"
#include "../kernel/postings/posting_writer.h"
#include "fuzz_target.h"

namespace gannet {
namespace {

void Traverse(std::span<const uint8_t> bytes, uint32_t document_count) {
  const PostingList list = PostingList::Parse(bytes, document_count);
  uint32_t values[kBlockSize];
  std::vector<uint32_t> positions;
  std::array<Impact, kImpactsPerList> list_scratch;
  std::array<Impact, kImpactsPerBlock> block_scratch;
  std::span<const uint8_t> words;
  list.ListImpacts(&list_scratch);
  list.FindBlock(0, document_count / 2);
  for (uint32_t block = 0; block < list.block_count(); ++block) {
    const uint32_t length = list.block_length(block);
    try {
      list.DecodeDocuments(block, values);
      for (uint32_t i = 0; i < length; ++i) {
        if (values[i] >= document_count || (i > 0 && values[i] <= values[i - 1])) __builtin_trap();
      }
      list.BlockBitset(block, values, &words);
    } catch (const Error&) {
    }
    try {
      list.DecodeFrequencies(block, values);
      for (uint32_t i = 0; i < length; ++i) {
        if (values[i] == 0) __builtin_trap();
      }
      list.BlockImpacts(block, &block_scratch);
    } catch (const Error&) {
    }
    try {
      list.DecodePositions(block, length - 1, &positions);
      list.DecodeBlockPositions(block, values, &positions);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace gannet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  try {
    gannet::Traverse({data + 1, size - 1}, data[0] == 255 ? gannet::kMaxDocumentsPerSegment : 1 + 40u * data[0]);
  } catch (const gannet::Error&) {
  }
  return 0;
}

// Returns lists of one document, of a few, of several blocks, and dense ones, as each kind is stored differently.
std::vector<gannet::fuzz::Input> gannet::fuzz::Seeds() {
  struct Shape {
    uint8_t documents_code;  // First byte of the input.
    uint32_t postings;
    uint32_t gap;
    uint32_t positions;
  };
  std::vector<Input> seeds;
  for (const Shape shape : {Shape{1, 1, 1, 1}, Shape{10, 7, 50, 3}, Shape{200, 1000, 8, 2}, Shape{200, 7000, 1, 1},
                            Shape{255, 600, 5000, 40}}) {
    PostingWriter writer(12);
    for (uint32_t i = 0; i < shape.postings; ++i) {
      std::vector<uint32_t> positions;
      for (uint32_t k = 0; k <= i % shape.positions; ++k) positions.push_back(3 * k + i % 7);
      writer.Add(i * shape.gap + (shape.gap > 1 ? i % shape.gap : 0) * (i % 2), 1 + i % 9, positions,
                 static_cast<uint8_t>(i % 200));
    }
    Input seed;
    writer.Finish(&seed);
    seed.insert(seed.begin(), shape.documents_code);
    seeds.push_back(std::move(seed));
  }
  return seeds;
}
