// Tests columns: every width and scale, missing values, ranges.
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "../kernel/columns/column_writer.h"
#include "../kernel/common/bytes.h"
#include "../kernel/format.h"
#include "check.h"

namespace gannet::segment_test {
namespace {

// A column with the bytes that it points into. Each part has its exact size, so that AddressSanitizer sees reads behind it.
struct Stored {
  std::array<std::unique_ptr<uint64_t[]>, kColumnPartCount> memory;
  std::array<std::span<const uint8_t>, kColumnPartCount> parts;
  Column column;

  Stored(ColumnType type, bool many, uint32_t documents, ColumnWriter* writer) {
    writer->Write([&](ColumnPart part, std::span<const uint8_t> bytes) {
      auto& to = memory[static_cast<size_t>(part)];
      to = std::make_unique<uint64_t[]>((bytes.size() + 7) / 8);
      std::memcpy(to.get(), bytes.data(), bytes.size());
      parts[static_cast<size_t>(part)] = {reinterpret_cast<const uint8_t*>(to.get()), bytes.size()};
    });
    column = Column::Parse(type, many, documents, parts);
  }
};

Stored StoreNumbers(const std::vector<std::optional<double>>& numbers) {
  ColumnWriter writer(ColumnType::kNumber, false);
  for (const auto& number : numbers) {
    if (number) writer.AddNumber(*number);
    writer.EndDocument();
  }
  return Stored(ColumnType::kNumber, false, static_cast<uint32_t>(numbers.size()), &writer);
}

TEST(column_numbers_take_the_least_lossless_width) {
  const struct {
    std::vector<std::optional<double>> numbers;
    uint32_t bytes;
  } cases[] = {
      {{1.0, 2.0, std::nullopt, 256.0}, 1},
      {{-5.0, std::nullopt, 251.0, -4.0}, 2},
      {{0.0, 86400000.0 * 200, 86400000.0}, 1},
      {{1.6e12, 1.6e12 + 4294967295.0, 1.6e12 + 1}, 4},
      {{1.6e12, 1.6e12 + 4294967296.0, 1.6e12 + 1}, 8},
      {{19.99, 5.0, 0.01}, 2},
      {{0.1234, 1.0}, 8},
      {{0.125, 0.126, std::nullopt, 1e3}, 4},
      {{-0.0, 1.0}, 8},
      {{1e300, -1e300, 5e-324}, 8},
      {{9007199254740992.0, 9007199254740991.0}, 1},
      {{-9007199254740990.0, 2.0}, 1},
      // The difference exceeds the integers of a double, so a step or its multiple would be rounded.
      {{-9007199254740992.0, 2.0}, 8},
      {{-9007199254740992.0, 9007199254740991.0}, 8},
      {{-9007199254740992.0, -9007199254740992.0 + 4194305, 2151677953.0}, 8},
      {{7.0}, 1},
  };
  for (const auto& test : cases) {
    const Stored stored = StoreNumbers(test.numbers);
    CHECK_EQ(stored.column.value_bytes(), test.bytes);
    for (uint32_t i = 0; i < test.numbers.size(); ++i) {
      CHECK_EQ(stored.column.ValueCount(i), test.numbers[i] ? 1u : 0u);
      if (!test.numbers[i]) continue;
      CHECK_EQ(stored.column.Number(i), *test.numbers[i]);
      CHECK_EQ(std::signbit(stored.column.Number(i)), std::signbit(*test.numbers[i]));
    }
  }
}

TEST(column_without_numbers_has_no_values_and_no_range) {
  const Stored stored = StoreNumbers({std::nullopt, std::nullopt});
  double minimum;
  double maximum;
  CHECK_EQ(stored.column.ValueCount(1), 0u);
  CHECK_EQ(stored.column.value_count(), 0u);
  CHECK(!stored.column.BlockRange(0, &minimum, &maximum));
}

TEST(column_ranges_are_given_by_block) {
  std::vector<std::optional<double>> numbers;
  for (uint32_t i = 0; i < 3 * kColumnBlockSize - 10; ++i) {
    const bool none = i / kColumnBlockSize == 1;
    numbers.push_back(none ? std::nullopt : std::optional<double>(0.5 * (i % 1000) - 7));
  }
  const Stored stored = StoreNumbers(numbers);
  double minimum = 0;
  double maximum = 0;
  CHECK(stored.column.BlockRange(0, &minimum, &maximum));
  CHECK_EQ(minimum, -7.0);
  CHECK_EQ(maximum, 492.5);
  CHECK(!stored.column.BlockRange(1, &minimum, &maximum));
  CHECK(stored.column.BlockRange(2, &minimum, &maximum));
  CHECK(!stored.column.BlockRange(3, &minimum, &maximum));
}

TEST(column_strings_are_read_back_at_every_width) {
  for (const uint32_t distinct : {1u, 255u, 256u, 65535u, 65536u}) {
    ColumnWriter writer(ColumnType::kString, false);
    for (uint32_t i = 0; i < distinct; ++i) {
      writer.AddString("k" + std::to_string(i), i % 3 == 0 ? "K" + std::to_string(i) : "");
      writer.EndDocument();
    }
    writer.EndDocument();
    const Stored stored(ColumnType::kString, false, distinct + 1, &writer);
    CHECK_EQ(stored.column.value_bytes(), distinct <= 255 ? 1u : distinct <= 65535 ? 2u : 4u);
    CHECK_EQ(stored.column.dictionary_size(), distinct);
    CHECK_EQ(stored.column.ValueCount(distinct), 0u);
    for (uint32_t i = 0; i < distinct; i += 1 + distinct / 500) {
      const uint32_t ordinal = stored.column.Ordinal(i);
      CHECK_EQ(stored.column.Key(ordinal), "k" + std::to_string(i));
      CHECK_EQ(stored.column.Display(ordinal), (i % 3 == 0 ? "K" : "k") + std::to_string(i));
      CHECK_EQ(stored.column.LowerBound("k" + std::to_string(i)), ordinal);
    }
    CHECK_EQ(stored.column.LowerBound("zz"), distinct);
    CHECK_EQ(stored.column.VisitOrdinals([](auto ordinals) { return ordinals.size(); }), distinct + 1);
  }
}

TEST(column_values_of_a_document_are_sorted_and_distinct) {
  ColumnWriter strings(ColumnType::kString, true);
  for (const char* key : {"red", "blue", "red", "", "green"}) strings.AddString(key, "");
  strings.EndDocument();
  strings.EndDocument();
  const Stored stored(ColumnType::kString, true, 2, &strings);
  CHECK_EQ(stored.column.ValueCount(0), 4u);
  CHECK_EQ(stored.column.ValueCount(1), 0u);
  std::string all;
  for (uint32_t i = 0; i < 4; ++i) all += std::string(stored.column.Key(stored.column.Ordinal(0, i))) + ",";
  CHECK_EQ(all, ",blue,green,red,");

  ColumnWriter numbers(ColumnType::kNumber, true);
  for (const double number : {3.0, 1.5, 3.0}) numbers.AddNumber(number);
  numbers.EndDocument();
  const Stored many(ColumnType::kNumber, true, 1, &numbers);
  CHECK_EQ(many.column.ValueCount(0), 2u);
  CHECK_EQ(many.column.Number(0, 0), 1.5);
  CHECK_EQ(many.column.Number(0, 1), 3.0);
}

TEST(column_refuses_parts_of_wrong_sizes) {
  ColumnWriter writer(ColumnType::kString, true);
  for (uint32_t i = 0; i < 20; ++i) {
    for (uint32_t k = 0; k < i % 4; ++k) writer.AddString("k" + std::to_string(i * k), "K");
    writer.EndDocument();
  }
  Stored stored(ColumnType::kString, true, 20, &writer);
  CHECK_THROWS(kDamaged, Column::Parse(ColumnType::kNumber, true, 20, stored.parts));
  CHECK_THROWS(kDamaged, Column::Parse(ColumnType::kString, false, 20, stored.parts));
  CHECK_THROWS(kDamaged, Column::Parse(ColumnType::kString, true, 21, stored.parts));
  for (size_t part = 0; part < kColumnPartCount; ++part) {
    auto parts = stored.parts;
    // Texts may have any length, as offsets behind their end are clamped.
    if (parts[part].empty() || part == static_cast<size_t>(ColumnPart::kKeys) ||
        part == static_cast<size_t>(ColumnPart::kDisplays)) {
      continue;
    }
    parts[part] = parts[part].first(parts[part].size() - 1);
    CHECK_THROWS(kDamaged, Column::Parse(ColumnType::kString, true, 20, parts));
  }
}

}  // namespace
}  // namespace gannet::segment_test
