// Tests that segment files written from memory (small ones) and through a mapping (large ones) have the same contents.
#include <lmdb.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../kernel/segment/lmdb_writer.h"
#include "../kernel/segment/segment_seal.h"
#include "check.h"
#include "segment_fixture.h"

namespace gannet::segment_test {
namespace {

constexpr uint64_t kSmall = 64u << 20;
constexpr uint64_t kLarge = 1024u << 20;

using Entries = std::vector<std::pair<std::string, std::string>>;

// Returns entries with values within a page, on overflow pages, and empty.
Entries SomeEntries(uint32_t seed, size_t count) {
  std::mt19937 random(seed);
  Entries entries;
  for (size_t at = 0; at < count; ++at) {
    const size_t bytes = random() % 8 == 0 ? random() % 20'000 : random() % 60;
    std::string key = "k" + std::to_string(1'000'000 + at);
    entries.emplace_back(std::move(key), std::string(bytes, static_cast<char>('a' + random() % 26)));
  }
  return entries;
}

std::span<const uint8_t> BytesOf(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// True if this process has a writable mapping of the file.
bool IsWrittenByMapping(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with(path) && line.find(" rw-s ") != std::string::npos) return true;
  }
  return false;
}

uint64_t WriteEntries(const std::string& path, uint64_t size_bytes_max, const Entries& entries) {
  LmdbWriter writer(path, size_bytes_max);
  for (const auto& [key, value] : entries) {
    if (value.size() % 2 == 0) {
      writer.Put(BytesOf(key), BytesOf(value));
    } else {
      std::ranges::copy(value, writer.Reserve(BytesOf(key), value.size()));
    }
  }
  writer.Overwrite(BytesOf(entries[0].first), BytesOf(std::string(entries[0].second.size(), 'z')));
  CHECK(IsWrittenByMapping(path) == (size_bytes_max == kLarge));
  return writer.Finish();
}

Entries ReadEntries(const std::string& path) {
  MDB_env* env = nullptr;
  MDB_txn* txn = nullptr;
  MDB_dbi dbi = 0;
  MDB_cursor* cursor = nullptr;
  Entries entries;
  CHECK(mdb_env_create(&env) == 0 && mdb_env_open(env, path.c_str(), MDB_RDONLY | MDB_NOLOCK | MDB_NOSUBDIR, 0) == 0);
  CHECK(mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn) == 0 && mdb_dbi_open(txn, nullptr, 0, &dbi) == 0);
  CHECK(mdb_cursor_open(txn, dbi, &cursor) == 0);
  const auto text = [](const MDB_val& value) { return std::string(static_cast<const char*>(value.mv_data), value.mv_size); };
  for (MDB_val key, value; mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0;) {
    entries.emplace_back(text(key), text(value));
  }
  mdb_cursor_close(cursor);
  mdb_txn_abort(txn);
  mdb_env_close(env);
  return entries;
}

TEST(segment_files_written_from_memory_and_by_mapping_have_the_same_entries) {
  const TemporaryFolder folder;
  for (const size_t count : {1u, 2u, 40u, 3000u}) {
    const Entries entries = SomeEntries(static_cast<uint32_t>(count), count);
    const std::string small = folder.File("small");
    const std::string large = folder.File("large");
    const uint64_t bytes = WriteEntries(small, kSmall, entries);
    CHECK(bytes == WriteEntries(large, kLarge, entries));
    CHECK(ReadFile(small).size() == bytes && ReadFile(large).size() == bytes);
    for (const std::string& path : {small, large}) CheckSegmentSeal(path);
    Entries expected = entries;
    expected[0].second.assign(expected[0].second.size(), 'z');
    CHECK(ReadEntries(small) == expected);
    CHECK(ReadEntries(large) == expected);
  }
}

TEST(segment_files_written_from_memory_have_no_uninitialized_bytes) {
  const TemporaryFolder folder;
  const Entries entries = SomeEntries(7, 300);
  WriteEntries(folder.File("one"), kSmall, entries);
  // Fills memory that is used and freed with other bytes, so that reused memory would show in the file.
  std::vector<std::vector<uint8_t>> used;
  for (int at = 0; at < 300; ++at) used.emplace_back(4096, 0xaa);
  used.clear();
  WriteEntries(folder.File("two"), kSmall, entries);
  CHECK(ReadFile(folder.File("one")) == ReadFile(folder.File("two")));
}

}  // namespace
}  // namespace gannet::segment_test
