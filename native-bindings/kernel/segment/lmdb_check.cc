#include "lmdb_check.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "../common/bytes.h"
#include "lmdb_layout.h"

namespace gannet {
namespace {

// The file format of LMDB 0.9 on 64-bit machines, as mdb.c declares it.
constexpr uint32_t kMagic = 0xBEEFC0DE;
constexpr uint32_t kVersion = 1;
constexpr uint64_t kNoPage = ~uint64_t{0};
constexpr size_t kKeyBytesMax = 511;
constexpr uint16_t kBranchPage = 0x01;
constexpr uint16_t kLeafPage = 0x02;
constexpr uint16_t kMetaPage = 0x08;
constexpr uint16_t kDirtyPage = 0x10;    // stays set in files written through a map
constexpr uint16_t kBigData = 0x01;      // node flag: the value is on overflow pages
constexpr uint16_t kFixedMap = 0x01;     // environment flag: map at a given address
constexpr uint32_t kDepthMax = 30;       // LMDB's cursors hold 32 levels
constexpr size_t kMetaBytes = 136;

struct Database {
  uint32_t pad;
  uint16_t flags;
  uint16_t depth;
  uint64_t branch_pages;
  uint64_t leaf_pages;
  uint64_t overflow_pages;
  uint64_t entries;
  uint64_t root;
};
struct Meta {
  uint32_t magic;
  uint32_t version;
  uint64_t address;
  uint64_t map_bytes;
  Database free;
  Database main;
  uint64_t last_page;
  uint64_t transaction;
};
static_assert(sizeof(Meta) == kMetaBytes);

[[noreturn]] void Damaged(const char* what) { throw Error(ErrorCode::kDamaged, std::string("segment file: ") + what); }

class Walker {
 public:
  explicit Walker(std::span<const uint8_t> file) : file_(file) {}

  void Run() {
    const Meta first = ReadMeta(0);
    page_bytes_ = first.free.pad;
    if (page_bytes_ < 4096 || page_bytes_ > 32768 || (page_bytes_ & (page_bytes_ - 1)) != 0) Damaged("page size");
    const Meta second = ReadMeta(page_bytes_);
    if (second.free.pad != page_bytes_) Damaged("page sizes differ");
    // Chooses as mdb_env_pick_meta does.
    const Meta& meta = first.transaction < second.transaction ? second : first;
    const uint64_t page_count = file_.size() / page_bytes_;
    if (meta.last_page < 1 || meta.last_page >= page_count) Damaged("truncated");
    page_count_ = meta.last_page + 1;
    if (meta.main.flags != 0 || meta.main.pad != 0) Damaged("database flags");
    // A segment is written in one transaction, which frees no pages.
    if (meta.free.root != kNoPage) Damaged("free pages");
    depth_ = meta.main.depth;
    if (meta.main.root == kNoPage || depth_ < 1 || depth_ > kDepthMax) Damaged("root");
    visited_.assign(page_count_ / 64 + 1, 0);
    Visit(0, 2);
    Walk(meta.main.root, 1, {}, {});
    if (leaf_pages_ != meta.main.leaf_pages || branch_pages_ != meta.main.branch_pages ||
        overflow_pages_ != meta.main.overflow_pages || entries_ != meta.main.entries) {
      Damaged("counts of pages");
    }
  }

 private:
  Meta ReadMeta(size_t offset) const {
    if (offset + kLmdbPageHeaderBytes + kMetaBytes > file_.size()) Damaged("truncated");
    const uint8_t* page = file_.data() + offset;
    if ((Load<uint16_t>(page + 10) & kMetaPage) == 0) Damaged("meta page");
    const Meta meta = Load<Meta>(page + kLmdbPageHeaderBytes);
    if (meta.magic != kMagic || meta.version != kVersion) Damaged("not an LMDB file of version 1");
    if (meta.free.flags & kFixedMap) Damaged("environment flags");
    return meta;
  }

  // Marks pages as used; each may be used only once.
  void Visit(uint64_t page, uint64_t count) {
    if (page >= page_count_ || count > page_count_ - page) Damaged("page number");
    for (const uint64_t end = page + count; page < end;) {
      const uint64_t bit = page % 64;
      const uint64_t run = std::min<uint64_t>(64 - bit, end - page);
      const uint64_t mask = (run == 64 ? ~uint64_t{0} : (uint64_t{1} << run) - 1) << bit;
      uint64_t& word = visited_[page / 64];
      if (word & mask) Damaged("page used twice");
      word |= mask;
      page += run;
    }
  }

  // Checks a subtree whose keys must be in [lower, upper); an empty bound means none (keys are never empty).
  void Walk(uint64_t number, uint32_t level, std::string_view lower, std::string_view upper) {
    Visit(number, 1);
    const uint8_t* page = file_.data() + number * page_bytes_;
    if (Load<uint64_t>(page) != number) Damaged("page header");
    const uint16_t flags = Load<uint16_t>(page + 10) & static_cast<uint16_t>(~kDirtyPage);
    const size_t table_end = Load<uint16_t>(page + 12);
    const size_t upper_bound = Load<uint16_t>(page + 14);
    if (table_end < kLmdbPageHeaderBytes || table_end % 2 != 0 || table_end > upper_bound || upper_bound > page_bytes_) {
      Damaged("page bounds");
    }
    const size_t count = (table_end - kLmdbPageHeaderBytes) / 2;
    if (level == depth_) {
      if (flags != kLeafPage || count < 1) Damaged("leaf page");
      WalkLeaf(page, count, upper_bound, lower, upper);
    } else {
      if (flags != kBranchPage || count < 2) Damaged("branch page");
      WalkBranch(page, count, upper_bound, level, lower, upper);
    }
  }

  // Returns the node's first byte; its header and key are within the page.
  const uint8_t* Node(const uint8_t* page, size_t index, size_t upper_bound, std::string_view* key) const {
    const size_t offset = Load<uint16_t>(page + kLmdbPageHeaderBytes + 2 * index);
    if (offset < upper_bound || offset % 2 != 0 || offset + kLmdbNodeHeaderBytes > page_bytes_) Damaged("node offset");
    const uint8_t* node = page + offset;
    const size_t key_bytes = Load<uint16_t>(node + 6);
    if (key_bytes > kKeyBytesMax || offset + kLmdbNodeHeaderBytes + key_bytes > page_bytes_) Damaged("key size");
    *key = {reinterpret_cast<const char*>(node + kLmdbNodeHeaderBytes), key_bytes};
    return node;
  }

  void WalkLeaf(const uint8_t* page, size_t count, size_t upper_bound, std::string_view lower, std::string_view upper) {
    ++leaf_pages_;
    entries_ += count;
    std::string_view previous;
    for (size_t i = 0; i < count; ++i) {
      std::string_view key;
      const uint8_t* node = Node(page, i, upper_bound, &key);
      if (i == 0 ? key.empty() || key < lower : key <= previous) Damaged("order of keys");
      previous = key;
      const size_t value_offset = static_cast<size_t>(node - page) + kLmdbNodeHeaderBytes + key.size();
      const uint64_t value_bytes = Load<uint32_t>(node);
      const uint16_t flags = Load<uint16_t>(node + 4);
      if (flags == 0) {
        if (value_offset + value_bytes > page_bytes_) Damaged("value size");
      } else if (flags == kBigData) {
        if (value_offset + sizeof(uint64_t) > page_bytes_) Damaged("value size");
        const uint64_t pages = (kLmdbPageHeaderBytes + value_bytes + page_bytes_ - 1) / page_bytes_;
        Visit(Load<uint64_t>(page + value_offset), pages);
        overflow_pages_ += pages;
      } else {
        Damaged("node flags");
      }
    }
    if (!upper.empty() && previous >= upper) Damaged("order of keys");
  }

  void WalkBranch(const uint8_t* page, size_t count, size_t upper_bound, uint32_t level, std::string_view lower,
                  std::string_view upper) {
    ++branch_pages_;
    std::string_view key;
    const uint8_t* node = Node(page, 0, upper_bound, &key);
    std::string_view from = lower;  // LMDB never compares with the first key of a branch page
    for (size_t i = 0; i < count; ++i) {
      const uint64_t child = Load<uint32_t>(node) | static_cast<uint64_t>(Load<uint16_t>(node + 4)) << 32;
      std::string_view to = upper;
      if (i + 1 < count) {
        node = Node(page, i + 1, upper_bound, &to);
        if (to.empty() || to <= from || (!upper.empty() && to >= upper)) Damaged("order of keys");
      }
      Walk(child, level + 1, from, to);
      from = to;
    }
  }

  std::span<const uint8_t> file_;
  size_t page_bytes_ = 0;
  uint64_t page_count_ = 0;
  uint32_t depth_ = 0;
  std::vector<uint64_t> visited_;
  uint64_t leaf_pages_ = 0;
  uint64_t branch_pages_ = 0;
  uint64_t overflow_pages_ = 0;
  uint64_t entries_ = 0;
};

}  // namespace

void CheckLmdbFile(std::span<const uint8_t> file) { Walker(file).Run(); }

}  // namespace gannet
