// Tests that records are packed in place and never become longer.
#include "../kernel/text/record_packing.h"

#include <string>
#include <vector>

#include "../kernel/common/bytes.h"
#include "check.h"

namespace gannet {
namespace {

// Records with a head of three bytes each, and their places.
struct Records {
  std::vector<uint8_t> bytes;
  std::vector<uint32_t> fields, ends;

  void Add(const std::string& text, bool packable = true) {
    AppendBytes(&bytes, AsBytes("<#>"));
    fields.push_back(static_cast<uint32_t>(bytes.size()));
    AppendBytes(&bytes, AsBytes(text));
    ends.push_back(static_cast<uint32_t>(bytes.size()));
    if (!packable) fields.back() = ends.back();
  }

  std::span<const uint8_t> at(size_t index) const {
    const size_t begin = index == 0 ? 0 : ends[index - 1];
    return std::span(bytes).subspan(begin, ends[index] - begin);
  }
};

std::vector<uint8_t> DictionaryOf(const std::string& text) {
  const std::vector<std::string_view> texts(4, text);
  return LearnWords(texts);
}

TEST(records_are_packed_in_place_if_it_saves_bytes) {
  const std::vector<uint8_t> words = DictionaryOf("the cat and the dog and the cat");
  const WordDictionary dictionary(words);
  Records records;
  const std::vector<std::string> texts = {"the cat and the dog", "unheard", "the cat and the dog and the cat", "", std::string(300, 'a') + " and"};
  for (const std::string& text : texts) records.Add(text);
  records.Add("the cat and the dog", false);
  const size_t end = PackRecords(dictionary, 7, records.bytes, {records.fields, records.ends});
  CHECK_EQ(end, records.ends.back());
  const std::vector<bool> packed = {true, false, true, false, false, false};
  for (size_t index = 0; index < packed.size(); ++index) {
    const std::span<const uint8_t> record = records.at(index);
    const std::string text = index < texts.size() ? texts[index] : texts[0];
    if (!packed[index]) {
      CHECK_EQ(AsText(record), "<#>" + text);
      continue;
    }
    ByteReader reader(record);
    CHECK_EQ(reader.Integer<uint8_t>(), kPackedRecordFormat);
    CHECK_EQ(reader.Integer<uint8_t>(), uint8_t{7});
    CHECK_EQ(reader.Varint(), uint64_t{3});
    CHECK_EQ(reader.Varint(), 3 + text.size());
    CHECK_EQ(AsText(reader.Bytes(3)), "<#>");
    std::vector<uint8_t> unpacked(text.size());
    CHECK(dictionary.Unpack(reader.Bytes(reader.remaining()), unpacked));
    CHECK_EQ(AsText(unpacked), text);
  }
}

TEST(places_out_of_range_are_refused_without_changes) {
  const std::vector<uint8_t> words = DictionaryOf("the cat and the dog and the cat");
  const WordDictionary dictionary(words);
  Records records;
  for (int count = 0; count < 3; ++count) records.Add("the cat and the dog");
  const std::vector<uint8_t> before = records.bytes;
  const auto refused = [&](std::vector<uint32_t> fields, std::vector<uint32_t> ends) {
    const std::vector<uint32_t> said = ends;
    CHECK_THROWS(kInvalidArgument, PackRecords(dictionary, 1, records.bytes, {fields, ends}));
    CHECK_EQ(ends, said);
    CHECK_EQ(records.bytes, before);
  };
  refused({3, 25}, {22, 44, 66});
  refused({3, 25, 47}, {22, 44, 67});
  refused({3, 25, 47}, {22, 21, 66});
  refused({3, 21, 47}, {22, 44, 66});
  refused({3, 45, 47}, {22, 44, 66});
  CHECK_EQ(PackRecords(dictionary, 1, {}, {{}, {}}), size_t{0});
}

}  // namespace
}  // namespace gannet
