#include "united_values.h"

#include <algorithm>

#include "../common/bits.h"
#include "../common/error.h"
#include "../common/stop.h"

namespace gannet {
namespace {

// Up to so many values of a column, and up to so many for each match, raw values number themselves.
constexpr uint64_t kRawMax = 1 << 12;
constexpr uint64_t kRawPerMatch = 16;

}  // namespace

// Walks over the values of the matches of a source, in ascending order.
class UnitedValues::Cursor {
 public:
  Cursor(const UnitedValues& values, const ValueSource& source, uint32_t index) : index_(index) {
    const Local& local = values.locals_[index];
    marked_.resize((size_t{local.end} + 63) / 64);
    size_t step = 0;
    ForEachMatch(source.matches, [&](uint32_t document) {
      StopIfAskedAt(++step);
      values.ForEachLocal(local, document, [&](uint32_t value) { marked_[value / 64] |= uint64_t{1} << value % 64; });
    });
  }

  // Moves to the next value; returns false if there is none.
  bool Next() {
    while (word_ < marked_.size() && marked_[word_] == 0) ++word_;
    if (word_ == marked_.size()) return false;
    value_ = static_cast<uint32_t>(word_ * 64) + static_cast<uint32_t>(std::countr_zero(marked_[word_]));
    marked_[word_] &= marked_[word_] - 1;
    return true;
  }
  Place place() const { return {index_, value_}; }

 private:
  uint32_t index_;
  std::vector<uint64_t> marked_;
  size_t word_ = 0;
  uint32_t value_ = 0;
};

UnitedValues::UnitedValues(std::span<const ValueSource> sources, bool only_single)
    : only_single_(only_single), numbers_(sources.size()) {
  for (const ValueSource& source : sources) {
    if (source.column != nullptr) type_ = source.column->type();
  }
  for (const ValueSource& source : sources) locals_.push_back(NumberThemselves(source));
  for (uint32_t i = 0; i < locals_.size(); ++i) {
    if (locals_[i].end > locals_[base_].end) base_ = i;
  }
  if (locals_.empty()) return;
  end_ = locals_[base_].end;
  MergeOthers(sources);
}

UnitedValues::Local UnitedValues::NumberThemselves(const ValueSource& source) const {
  const Column* column = source.column;
  // A column without any value has no values to read.
  if (column == nullptr || column->value_count() == 0) return {};
  if (column->type() != type_) throw Error(ErrorCode::kInvalidArgument, "values of different types are united");
  if (type_ == ColumnType::kString || column->value_bytes() <= sizeof(uint32_t)) {
    if (Local local = NumberRaw(source); local.column != nullptr) return local;
  }
  Local local{column, 0, Local::Form::kListedNumbers};
  // Adding zero turns -0 into +0.
  local.numbers = ListValues<double>(source, [&](uint32_t index) { return column->NumberAt(index) + 0.0; });
  local.end = static_cast<uint32_t>(local.numbers.size());
  return local;
}

// Returns nothing if a raw value is kNone, which is none only of strings.
UnitedValues::Local UnitedValues::NumberRaw(const ValueSource& source) const {
  const Column* column = source.column;
  Local local{column, kNone};
  uint64_t end = column->dictionary_size();
  if (type_ != ColumnType::kString) {
    end = 0;
    size_t step = 0;
    ForEachMatch(source.matches, [&](uint32_t document) {
      StopIfAskedAt(++step);
      ForEachPlace(*column, document, [&](uint32_t index) { end = std::max(end, uint64_t{RawAt(*column, index)} + 1); });
    });
    if (end > kNone) return {};
  }
  const uint64_t matches = CountBits(source.matches.data(), source.matches.size());
  if (end <= std::max(kRawMax, kRawPerMatch * matches)) {
    local.end = static_cast<uint32_t>(end);
    return local;
  }
  if (type_ == ColumnType::kString) local.end = column->dictionary_size();
  local.raws = ListValues<uint32_t>(source, [&](uint32_t index) { return LocalAt(local, index); });
  if (!local.raws.empty() && local.raws.back() == kNone) local.raws.pop_back();  // documents without a value
  local.form = Local::Form::kListedRaw;
  local.end = static_cast<uint32_t>(local.raws.size());
  return local;
}

// Returns the different values of the matches, ascending.
template <typename T, typename ValueAt>
std::vector<T> UnitedValues::ListValues(const ValueSource& source, ValueAt&& value_at) const {
  std::vector<T> values;
  size_t step = 0;
  ForEachMatch(source.matches, [&](uint32_t document) {
    StopIfAskedAt(++step);
    ForEachPlace(*source.column, document, [&](uint32_t index) { values.push_back(value_at(index)); });
  });
  std::sort(values.begin(), values.end(), [&](T a, T b) {
    StopIfAskedAt(++step);
    return a < b;
  });
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

void UnitedValues::MergeOthers(std::span<const ValueSource> sources) {
  std::vector<Cursor> cursors;
  for (uint32_t i = 0; i < sources.size(); ++i) {
    if (i == base_ || locals_[i].column == nullptr) continue;
    Cursor cursor(*this, sources[i], i);
    numbers_[i].resize(locals_[i].end, kNone);
    if (cursor.Next()) cursors.push_back(std::move(cursor));
  }
  const auto comes_later = [&](const Cursor& a, const Cursor& b) { return Compare(a.place(), b.place()) > 0; };
  std::make_heap(cursors.begin(), cursors.end(), comes_later);
  uint32_t searched_from = 0;
  Place last{base_, kNone};
  uint32_t number = kNone;
  for (size_t step = 1; !cursors.empty(); ++step) {
    StopIfAskedAt(step);
    std::pop_heap(cursors.begin(), cursors.end(), comes_later);
    const Place place = cursors.back().place();
    if (last.value == kNone || Compare(last, place) != 0) {
      searched_from = LowerBoundInBase(searched_from, place);
      const bool is_in_base = searched_from < locals_[base_].end && Compare({base_, searched_from}, place) == 0;
      if (!is_in_base) {
        if (end_ == kNone - 1) throw Error(ErrorCode::kLimit, "too many values");
        others_.push_back(place);
      }
      number = is_in_base ? searched_from : end_++;
      last = place;
    }
    numbers_[place.source][place.value] = number;
    if (cursors.back().Next()) {
      std::push_heap(cursors.begin(), cursors.end(), comes_later);
    } else {
      cursors.pop_back();
    }
  }
}

// Returns the first number >= `from` of the base whose value is not before that of `place`. Steps grow, so that a walk
// over many values looks at few of the base between two of them.
uint32_t UnitedValues::LowerBoundInBase(uint32_t from, Place place) const {
  const uint32_t base_end = locals_[base_].end;
  uint32_t low = from;
  uint64_t high = from;
  for (uint64_t step = 1; high < base_end && Compare({base_, static_cast<uint32_t>(high)}, place) < 0; step *= 2) {
    low = static_cast<uint32_t>(high) + 1;
    high += step;
  }
  auto end = static_cast<uint32_t>(std::min<uint64_t>(high, base_end));
  while (low < end) {
    const uint32_t middle = low + (end - low) / 2;
    if (Compare({base_, middle}, place) < 0) low = middle + 1; else end = middle;
  }
  return low;
}

double UnitedValues::NumberAt(Place place) const {
  const Local& local = locals_[place.source];
  if (local.form == Local::Form::kListedNumbers) return local.numbers[place.value];
  const Column& column = *local.column;
  return column.VisitNumbers([&]<typename Raw>(std::span<const Raw>) {
    return column.ToNumber(static_cast<Raw>(local.RawOf(place.value)));
  }) + 0.0;
}

std::string_view UnitedValues::LocalKey(Place place) const {
  const Local& local = locals_[place.source];
  return local.column->Key(local.RawOf(place.value));
}

int UnitedValues::Compare(Place a, Place b) const {
  if (type_ == ColumnType::kString) {
    return LocalKey(a).compare(LocalKey(b));
  }
  const double first = NumberAt(a);
  const double second = NumberAt(b);
  return first < second ? -1 : second < first ? 1 : 0;
}

UnitedValues::Place UnitedValues::PlaceOf(uint32_t number) const {
  const uint32_t base_end = locals_[base_].end;
  return number < base_end ? Place{base_, number} : others_[number - base_end];
}

std::string_view UnitedValues::KeyOf(uint32_t number) const {
  return LocalKey(PlaceOf(number));
}

double UnitedValues::NumberOf(uint32_t number) const { return NumberAt(PlaceOf(number)); }

}  // namespace gannet
