// Tests the record splitter: formats, errors, and independence of chunks. record-splitter.test.ts has more.
#include "../kernel/text/record_splitter.h"

#include <random>
#include <string>
#include <vector>

#include "check.h"

namespace gannet {
namespace {

// Returns "line:record|" for each record, then the error if there was one. With `random`, chunks have random sizes.
std::string Split(RecordFormat format, std::string_view text, size_t record_bytes_max, std::mt19937_64* random) {
  std::string result;
  const auto take = [&result](const SplitRecords& records) {
    uint32_t begin = 0;
    CHECK_EQ(records.ends.size(), records.lines.size());
    for (size_t i = 0; i < records.ends.size(); ++i) {
      CHECK_EQ(records.bytes[records.ends[i] - 1], '\n');
      result += std::to_string(records.lines[i]) + ":" + records.bytes.substr(begin, records.ends[i] - 1 - begin) + "|";
      begin = records.ends[i];
    }
    CHECK_EQ(begin, records.bytes.size());
  };
  const auto splitter = RecordSplitter::Create(format, record_bytes_max);
  try {
    while (!text.empty()) {
      const size_t length = random == nullptr ? text.size() : std::min<size_t>(text.size(), (*random)() % 4);
      take(splitter->Push(text.substr(0, length)));
      text.remove_prefix(length);
    }
    take(splitter->End());
    // Gets a deferred error, which comes with the next call.
    if (random == nullptr) splitter->Push("");
  } catch (const Error& error) {
    if (std::string_view(error.what()).find("has ended") == std::string_view::npos) result += error.what();
  }
  return result;
}

std::string Whole(RecordFormat format, std::string_view text, size_t record_bytes_max = 1000) {
  return Split(format, text, record_bytes_max, nullptr);
}

}  // namespace

TEST(ndjson_is_split_at_lines) {
  CHECK_EQ(Whole(RecordFormat::kNdjson, "{\"a\":1}\n{\"b\":2}"), "1:{\"a\":1}|2:{\"b\":2}|");
  CHECK_EQ(Whole(RecordFormat::kNdjson, "\xef\xbb\xbf" "1\r\n\n  \t\r\n2\r\n"), "1:1|4:2|");
  CHECK_EQ(Whole(RecordFormat::kNdjson, ""), "");
  CHECK_EQ(Whole(RecordFormat::kNdjson, "\xef\xbb"), "1:\xef\xbb|");
  CHECK_EQ(Whole(RecordFormat::kNdjson, "12345\r\n123456\n1", 5), "1:12345|line 2: the record is longer than 5 bytes");
}

TEST(json_arrays_are_split_at_elements) {
  CHECK_EQ(Whole(RecordFormat::kJson, " [ {\"a\":\n[1,{\"b\":\"]},\\\"{\"}]} ,\n{} ]\n"),
           "1:{\"a\": [1,{\"b\":\"]},\\\"{\"}]}|2:{}|");
  CHECK_EQ(Whole(RecordFormat::kJson, "\xef\xbb\xbf[]"), "");
  CHECK_EQ(Whole(RecordFormat::kJson, "[1,\"x\",null,[2]]"), "1:1|2:\"x\"|3:null|4:[2]|");
  CHECK_EQ(Whole(RecordFormat::kJson, "[\"a\nb\"]"), "1:\"a\rb\"|");
}

TEST(json_arrays_with_errors_name_the_element) {
  CHECK_EQ(Whole(RecordFormat::kJson, "{\"a\":1}"), "expected a JSON array, found '{'");
  CHECK_EQ(Whole(RecordFormat::kJson, " "), "expected a JSON array, found nothing");
  CHECK_EQ(Whole(RecordFormat::kJson, "[{} {}]"), "1:{}|element 1: expected a comma or ] behind it, found '{'");
  CHECK_EQ(Whole(RecordFormat::kJson, "[{},]"), "1:{}|element 2: expected a JSON value, found ']'");
  CHECK_EQ(Whole(RecordFormat::kJson, "[,{}]"), "element 1: expected a JSON value, found ','");
  CHECK_EQ(Whole(RecordFormat::kJson, "[1{}]"), "element 1: expected a comma or ] behind it, found '{'");
  CHECK_EQ(Whole(RecordFormat::kJson, "[{}]x"), "1:{}|expected nothing behind the JSON array, found 'x'");
  CHECK_EQ(Whole(RecordFormat::kJson, "[{},{\"a\""), "1:{}|the JSON array is not closed: it ends at element 2");
  CHECK_EQ(Whole(RecordFormat::kJson, "[{},{\"a\":1}]", 6), "1:{}|element 2: the record is longer than 6 bytes");
}

TEST(csv_is_split_at_rows) {
  CHECK_EQ(Whole(RecordFormat::kCsv, "a,b\r\n\"x\r\ny\",\"say \"\"hi\"\"\"\n\n1,2"),
           "1:a,b|2:\"x\r\ny\",\"say \"\"hi\"\"\"|5:1,2|");
  CHECK_EQ(Whole(RecordFormat::kCsv, "5\" pipe,x\ny"), "1:5\" pipe,x|2:y|");
  CHECK_EQ(Whole(RecordFormat::kCsv, "\"a\"\r\n\"\"\n\"b\"x\"\ny"), "1:\"a\"|2:\"\"|3:\"b\"x\"|4:y|");
  CHECK_EQ(Whole(RecordFormat::kCsv, "a\n\"b\nc"), "1:a|line 2: a quote of the row is not closed");
}

TEST(csv_is_split_with_the_separator_of_its_splitter) {
  const auto splitter = RecordSplitter::Create(RecordFormat::kCsv, 100, ';');
  CHECK_EQ(splitter->Push("a,\"b;\"c;\n\"\";d\"\n").bytes, "a,\"b;\"c;\n\"\";d\"\n");
  CHECK_EQ(splitter->Push("1;\"x\n").ends.size(), size_t{0});
  CHECK_EQ(splitter->Push("y\";2\n").bytes, "1;\"x\ny\";2\n");
  for (const char wrong : {'"', '\n', '\r'}) {
    CHECK_THROWS(kInvalidArgument, RecordSplitter::Create(RecordFormat::kCsv, 100, wrong));
  }
}

TEST(splitter_that_failed_fails_again) {
  const auto splitter = RecordSplitter::Create(RecordFormat::kNdjson, 3);
  CHECK_EQ(splitter->Push("1\n12345\n").ends.size(), size_t{1});
  CHECK_THROWS(kLimit, splitter->Push("1\n"));
  CHECK_THROWS(kLimit, splitter->End());
  CHECK_THROWS(kInvalidArgument, RecordSplitter::Create(RecordFormat::kNdjson, 0));
}

TEST(chunks_do_not_change_the_records_or_the_error) {
  std::mt19937_64 random(3);
  const std::vector<std::string> pieces = {"\n", "\r\n", "\r", "\"", "\\", ",", "{", "}", "[", "]", ":", " ", "a", "1",
                                           "\"\"", "{\"a\":1}", "\"x\"", "\xef\xbb\xbf", "\xef", "null", "longer text"};
  for (const RecordFormat format : {RecordFormat::kNdjson, RecordFormat::kJson, RecordFormat::kCsv}) {
    for (int round = 0; round < 20000; ++round) {
      std::string text = format == RecordFormat::kJson && round % 2 == 0 ? "[{}," : "";
      const size_t count = random() % 30;
      for (size_t i = 0; i < count; ++i) text.append(pieces[random() % pieces.size()]);
      const size_t record_bytes_max = round % 3 == 0 ? 12 : 1000;
      CHECK_EQ(Split(format, text, record_bytes_max, &random), Split(format, text, record_bytes_max, nullptr));
    }
  }
}

}  // namespace gannet
