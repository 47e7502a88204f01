// A posting list of arbitrary bytes, the first of which chooses the number of documents of its segment.
#include <array>
#include <cstdint>
#include <vector>

#include "../kernel/common/error.h"
#include "../kernel/postings/posting_list.h"

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
