// A vector that stores a few elements inline: for members that are numerous and nearly always small.
//
// Thread-safety: as for a std::vector.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <vector>

namespace gannet {

template <typename T, size_t kInline>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  InlineVector() = default;
  InlineVector(std::initializer_list<T> values) {
    for (const T& value : values) push_back(value);
  }
  template <std::input_iterator Iterator>
  InlineVector(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(*first);
  }

  bool empty() const { return size() == 0; }
  size_t size() const { return many_.empty() ? few_count_ : many_.size(); }
  T* data() { return many_.empty() ? few_.data() : many_.data(); }
  const T* data() const { return many_.empty() ? few_.data() : many_.data(); }
  T* begin() { return data(); }
  T* end() { return data() + size(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  const T& front() const { return data()[0]; }
  const T& back() const { return data()[size() - 1]; }

  void push_back(const T& value) {
    if (many_.empty() && few_count_ < kInline) {
      few_[few_count_++] = value;
      return;
    }
    const T copy = value;  // a copy, because `value` may be an element of this vector
    if (many_.empty()) many_.assign(begin(), end());
    many_.push_back(copy);
    few_count_ = 0;
  }

  void clear() {
    many_.clear();
    few_count_ = 0;
  }

  void resize(size_t size, const T& value = T()) {
    std::vector<T> resized(begin(), end());
    resized.resize(size, value);
    clear();
    for (const T& each : resized) push_back(each);
  }

 private:
  std::vector<T> many_;  // all elements if there are more than few_ has room for, else none
  std::array<T, kInline> few_{};
  size_t few_count_ = 0;
};

}  // namespace gannet
