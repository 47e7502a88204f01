// Helpers of the segment tests: batches of documents, random documents, temporary folders.
//
// They have their own namespace, as all tests are one binary and other helpers define folders and documents, too.
//
// Thread-safety: none needed.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "../kernel/common/bytes.h"
#include "../kernel/segment/document_batch.h"
#include "../kernel/segment/segment_builder.h"

namespace gannet::segment_test {

// A temporary folder, removed by the destructor.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "gannet-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Error(ErrorCode::kIo, "mkdtemp");
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  size_t FileCount() const {
    return static_cast<size_t>(std::ranges::count_if(std::filesystem::recursive_directory_iterator(path_),
                                                     [](const auto& entry) { return entry.is_regular_file(); }));
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct StringValue {
  std::string key;
  std::string display;
};
struct PointValue {
  double latitude;
  double longitude;
};

struct TestDocument {
  uint32_t record_number = 0;
  std::vector<std::pair<uint16_t, std::string>> texts;
  std::vector<std::pair<uint16_t, std::variant<StringValue, double, PointValue>>> values;
};

inline std::vector<uint8_t> EncodeBatch(const std::vector<TestDocument>& documents) {
  std::vector<uint8_t> bytes;
  AppendInteger(&bytes, static_cast<uint32_t>(documents.size()));
  for (const TestDocument& document : documents) {
    std::vector<uint8_t> entries;
    for (const auto& [field, text] : document.texts) {
      entries.push_back(static_cast<uint8_t>(EntryKind::kText));
      AppendInteger(&entries, field);
      AppendString(&entries, text);
    }
    for (const auto& [column, value] : document.values) {
      if (const auto* text = std::get_if<StringValue>(&value)) {
        entries.push_back(static_cast<uint8_t>(EntryKind::kString));
        AppendInteger(&entries, column);
        AppendString(&entries, text->key);
        AppendString(&entries, text->display);
      } else if (const auto* number = std::get_if<double>(&value)) {
        entries.push_back(static_cast<uint8_t>(EntryKind::kNumber));
        AppendInteger(&entries, column);
        AppendInteger(&entries, *number);
      } else {
        const auto& point = std::get<PointValue>(value);
        entries.push_back(static_cast<uint8_t>(EntryKind::kLocation));
        AppendInteger(&entries, column);
        AppendInteger(&entries, point.latitude);
        AppendInteger(&entries, point.longitude);
      }
    }
    AppendInteger(&bytes, document.record_number);
    AppendInteger(&bytes, static_cast<uint32_t>(entries.size()));
    AppendBytes(&bytes, entries);
  }
  return bytes;
}

// Returns a schema of three text fields, a column of every kind, and a language with stems.
inline SegmentSchema TestSchema() {
  return {{3, 1, 2},
          {{"brand", ColumnType::kString, false},
           {"tags", ColumnType::kString, true},
           {"price", ColumnType::kNumber, false},
           {"sizes", ColumnType::kNumber, true},
           {"stock", ColumnType::kBoolean, false},
           {"created", ColumnType::kDate, false},
           {"place", ColumnType::kLocation, false}},
          "en"};
}

// Returns a word of letters only, which any analyzer splits at spaces. Low numbers are far more frequent.
inline std::string RandomWord(std::mt19937& random, uint32_t vocabulary) {
  const double skew = std::uniform_real_distribution<double>(0, 1)(random);
  uint32_t number = static_cast<uint32_t>(vocabulary * skew * skew * skew * skew);
  std::string word = "w";
  do {
    word.push_back(static_cast<char>('a' + number % 26));
    number /= 26;
  } while (number > 0);
  return word;
}

inline std::string RandomText(std::mt19937& random, uint32_t words_max, uint32_t vocabulary) {
  std::string text;
  for (uint32_t words = random() % (words_max + 1); words > 0; --words) {
    // Joins some words, so that they have several parts.
    if (!text.empty()) text += random() % 8 == 0 ? '_' : ' ';
    text += RandomWord(random, vocabulary);
  }
  return text;
}

inline TestDocument RandomDocument(std::mt19937& random, uint32_t record_number, uint32_t vocabulary = 2000) {
  TestDocument document{record_number, {}, {}};
  // Adds texts out of order on purpose, as positions depend on the field, not on the entry.
  document.texts.emplace_back(uint16_t{1}, RandomText(random, 60, vocabulary));
  if (random() % 8 != 0) document.texts.emplace_back(uint16_t{0}, RandomText(random, 6, vocabulary));
  for (uint32_t values = random() % 4; values > 0; --values) {
    document.texts.emplace_back(uint16_t{2}, RandomText(random, 2, vocabulary));
  }
  const auto word = [&](uint32_t count) {
    const std::string key = "key" + std::to_string(random() % count);
    return StringValue{key, random() % 2 == 0 ? std::string() : "Key" + key.substr(3)};
  };
  if (random() % 5 != 0) document.values.emplace_back(uint16_t{0}, word(300));
  for (uint32_t values = random() % 4; values > 0; --values) document.values.emplace_back(uint16_t{1}, word(40));
  if (random() % 4 != 0) document.values.emplace_back(uint16_t{2}, static_cast<double>(random() % 100000) / 100);
  for (uint32_t values = random() % 3; values > 0; --values) {
    document.values.emplace_back(uint16_t{3}, std::ldexp(static_cast<double>(random()), -20));
  }
  document.values.emplace_back(uint16_t{4}, static_cast<double>(random() % 2));
  document.values.emplace_back(uint16_t{5}, 1.6e12 + 86400000.0 * (random() % 5000));
  if (random() % 3 != 0) {
    document.values.emplace_back(uint16_t{6}, PointValue{static_cast<double>(random() % 180) - 90 + 0.123,
                                                         static_cast<double>(random() % 360) - 180 + 0.5});
    if (std::get<PointValue>(document.values.back().second).latitude > 90) document.values.pop_back();
  }
  return document;
}

inline std::vector<TestDocument> RandomDocuments(uint32_t seed, uint32_t count, uint32_t vocabulary = 2000) {
  std::mt19937 random(seed);
  std::vector<TestDocument> documents;
  for (uint32_t i = 0; i < count; ++i) {
    // Record numbers are unique, and out of order for odd seeds.
    const uint32_t record_number = seed % 2 == 0 ? seed * 1000000 + 3 * i : seed * 1000000 + (i * 7919) % 1000003;
    documents.push_back(RandomDocument(random, record_number, vocabulary));
  }
  return documents;
}

inline std::vector<uint8_t> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void WriteFile(const std::string& path, std::span<const uint8_t> bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace gannet::segment_test
