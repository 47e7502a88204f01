#include "../kernel/segment/key_table.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "check.h"

namespace gannet::test {
namespace {

const KeyTable::Value* Find(const KeyTable& table, char kind, std::string_view text) {
  return table.Find(static_cast<uint8_t>(kind), text, HashTerm(text));
}

// A table of the `keys`, which must not move. The value of a key is the key.
KeyTable TableOf(const std::vector<std::string>& keys) {
  KeyTable table;
  for (const std::string& key : keys) CHECK(table.Add(AsBytes(key), AsBytes(key)));
  table.Build();
  return table;
}

}  // namespace

TEST(key_table_finds_what_was_added_and_nothing_else) {
  std::mt19937 random(5);
  for (const size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{7}, size_t{300}, size_t{16'384}, KeyTable::kKeysMax}) {
    std::vector<std::string> keys;
    for (size_t i = 0; i < count; ++i) keys.push_back("T" + std::to_string(i * 7919) + std::string(random() % 20, 'x'));
    const KeyTable table = TableOf(keys);
    CHECK(table.is_known());
    for (const std::string& key : keys) {
      const KeyTable::Value* value = Find(table, 'T', std::string_view(key).substr(1));
      CHECK(value != nullptr && value->data() == AsBytes(key).data() && value->size() == key.size());
      CHECK(Find(table, 'S', std::string_view(key).substr(1)) == nullptr);
    }
    for (uint32_t i = 0; i < 10'000; ++i) CHECK(Find(table, 'T', std::to_string(i) + "y") == nullptr);
  }
}

TEST(key_table_distinguishes_kinds_and_empty_texts) {
  const std::vector<std::string> keys{"Trun", "Srun", "T"};
  const KeyTable table = TableOf(keys);
  CHECK_EQ(AsText(*Find(table, 'T', "run")), "Trun");
  CHECK_EQ(AsText(*Find(table, 'S', "run")), "Srun");
  CHECK_EQ(AsText(*Find(table, 'T', "")), "T");
  CHECK(Find(table, 'S', "") == nullptr);
}

TEST(key_table_is_empty_without_keys_and_with_too_many) {
  CHECK(!KeyTable().is_known());
  const std::string key = "Tgannet";
  KeyTable table;
  for (size_t i = 0; i < KeyTable::kKeysMax; ++i) CHECK(table.Add(AsBytes(key), {}));
  CHECK(!table.Add(AsBytes(key), {}));
  CHECK(!table.is_known());
}

}  // namespace gannet::test
