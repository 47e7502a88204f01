#include "kept_comparison.h"

#include "../window/window.h"

namespace gannet {
namespace {

// In smaller segments, a filter takes only microseconds.
constexpr uint32_t kDocumentsMin = 2 * kWindowSize;

template <typename T>
void AppendBytes(T value, std::string* key) {
  key->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

std::string ComparisonKey(const FilterNode& source) {
  std::string key;
  AppendBytes(source.op, &key);
  AppendBytes(uint32_t{source.column}, &key);
  AppendBytes(source.centre.latitude, &key);
  AppendBytes(source.centre.longitude, &key);
  AppendBytes(source.metres, &key);
  AppendBytes(source.opposite.latitude, &key);
  AppendBytes(source.opposite.longitude, &key);
  for (const PlanValue& value : source.values) {
    AppendBytes(value.is_number, &key);
    AppendBytes(value.number, &key);
    AppendKeyPart(value.text, &key);
  }
  return key;
}

KeptComparison::KeptComparison(const Segment& segment, std::string key) {
  if (segment.document_count() < kDocumentsMin) return;
  segment_ = &segment;
  key_ = std::move(key);
  if (auto found = segment.column_cache().comparisons.Find(key_); found) {
    shared_ = std::move(*found);
    return;
  }
  shared_ = std::make_shared<KeptBits>();
  segment.column_cache().comparisons.Keep(key_, shared_);
}

KeptComparison::~KeptComparison() {
  if (shared_ != nullptr && looked_at_ > 0) shared_->looked_at.fetch_add(looked_at_, std::memory_order_relaxed);
}

bool KeptComparison::IsWorthKeeping() const {
  return counts() && shared_->looked_at.load(std::memory_order_relaxed) >= segment_->document_count();
}

void KeptComparison::Keep(std::vector<uint64_t> bits) {
  auto kept = std::make_shared<KeptBits>();
  kept->bits = std::move(bits);
  shared_ = kept;
  segment_->column_cache().comparisons.Replace(key_, shared_);
}

}  // namespace gannet
