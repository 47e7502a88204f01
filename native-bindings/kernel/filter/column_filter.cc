#include "column_filter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "../columns/range_words.h"
#include "../common/bits.h"
#include "../common/stop.h"

namespace gannet {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Testing one value on its own takes as long as comparing this many bytes of values.
constexpr uint32_t kBytesPerLook = 128;

// Record numbers are below this.
constexpr double kNoRecord = 4294967296.0;

static_assert(kColumnBlockSize == kWindowSize, "a window is one block of column minima and maxima");

// Keeps the candidates for which `test(document)` holds.
template <typename Test>
void TestEach(WindowRange range, const WindowBits& candidates, WindowBits* passed, Test&& test) {
  passed->Clear();
  passed->used = candidates.used;
  ForEachWord(candidates.used, [&](uint32_t word) {
    uint64_t kept = 0;
    ForEachBit(candidates.words[word], 0,
               [&](uint32_t bit) { kept |= uint64_t{test(range.base + word * 64 + bit)} << bit; });
    passed->words[word] = kept;
  });
}

// Keeps the candidates whose location is in the area.
template <typename Area>
void TestLocations(const Column& column, WindowRange range, const WindowBits& candidates, WindowBits* passed, const Area& area) {
  TestEach(range, candidates, passed, [&](uint32_t document) {
    if (column.ValueCount(document) == 0) return false;
    const Column::Point point = column.Location(document);
    return area.Contains({point.latitude, point.longitude});
  });
}

// Tests a range of raw values in a single-valued column, 64 at a time. `first` and `width` have the type of the values:
// a value below `first` wraps around.
template <typename Raw>
void TestRawRange(std::span<const Raw> values, Raw first, Raw width, WindowRange range, const WindowBits& candidates,
                  WindowBits* passed) {
  const auto is_within = [=](Raw raw) { return static_cast<Raw>(raw - first) <= width; };
  const uint64_t occupied = candidates.Occupied();
  // If few values are needed, they are tested one by one.
  if (candidates.Count() * kBytesPerLook < PopCount(occupied) * 64 * sizeof(Raw)) {
    return TestEach(range, candidates, passed, [&](uint32_t document) { return is_within(values[document]); });
  }
  passed->Clear();
  passed->used = occupied;
  // The last word may extend past the last value.
  const uint32_t whole_words = (range.end - range.base) / 64;
  const uint64_t whole = whole_words == kWindowWords ? ~uint64_t{0} : (uint64_t{1} << whole_words) - 1;
  TestRangeWords(values.data() + range.base, first, width, occupied & whole, passed->words);
  ForEachWord(occupied & ~whole, [&](uint32_t word) {
    const uint32_t begin = range.base + word * 64;
    ForEachBit(candidates.words[word], 0, [&](uint32_t bit) {
      passed->words[word] |= uint64_t{is_within(values[begin + bit])} << bit;
    });
  });
  ForEachWord(occupied, [&](uint32_t word) { passed->words[word] &= candidates.words[word]; });
}

// Keeps the candidates that have a raw value that passes. Both loops index `values` directly: the width of the values
// is determined once per window, not per document.
template <typename Values, typename Test, typename HasValue>
void TestValues(const Column& column, Values values, WindowRange range, const WindowBits& candidates, WindowBits* passed,
                Test&& test, HasValue&& has_value) {
  if (values.empty()) return passed->Clear();
  if (!column.many()) {
    TestEach(range, candidates, passed,
             [&](uint32_t document) { return bool{test(values[document])} && has_value(document); });
    return;
  }
  TestEach(range, candidates, passed, [&](uint32_t document) {
    const auto [begin, end] = column.ValueRange(document);
    for (uint32_t i = begin; i < end; ++i) {
      if (test(values[i])) return true;
    }
    return false;
  });
}

// `test` takes an ordinal. "None" is an ordinal that passes no test.
template <typename Test>
void TestOrdinals(const Column& column, WindowRange range, const WindowBits& candidates, WindowBits* passed, Test&& test) {
  column.VisitOrdinals([&](auto values) {
    TestValues(
        column, values, range, candidates, passed, [&](auto raw) { return test(static_cast<uint32_t>(raw)); },
        [](uint32_t) { return true; });
  });
}

// `test` takes a number.
template <typename Test>
void TestNumbers(const Column& column, WindowRange range, const WindowBits& candidates, WindowBits* passed, Test&& test) {
  column.VisitNumbers([&](auto values) {
    TestValues(
        column, values, range, candidates, passed, [&](auto raw) { return test(column.ToNumber(raw)); },
        [&](uint32_t document) { return column.HasNumber(document); });
  });
}

// Returns the raw values that represent numbers in [lowest, highest], as the first one and the number of those that
// follow; nothing if there is none. ToNumber preserves the order of raw values.
template <typename Raw>
std::optional<std::pair<Raw, Raw>> RawRange(const Column& column, double lowest, double highest) {
  constexpr uint64_t kEnd = uint64_t{std::numeric_limits<Raw>::max()} + 1;
  const auto first_where = [&](auto&& test) {
    uint64_t low = 0;
    uint64_t high = kEnd;
    while (low < high) {
      const uint64_t middle = (low + high) / 2;
      if (test(column.ToNumber(static_cast<Raw>(middle)))) high = middle; else low = middle + 1;
    }
    return low;
  };
  const uint64_t first = first_where([&](double number) { return number >= lowest; });
  const uint64_t end = first_where([&](double number) { return number > highest; });
  if (first >= end) return std::nullopt;
  return std::pair(static_cast<Raw>(first), static_cast<Raw>(end - 1 - first));
}

void KeepWithNumber(const Column& column, WindowRange range, WindowBits* passed) {
  const uint64_t* present = column.present_words();
  if (present == nullptr) return;
  // Words marked as used may be after the last document; they are then empty.
  ForEachWord(passed->used, [&](uint32_t word) {
    if (passed->words[word] != 0) passed->words[word] &= present[range.base / 64 + word];
  });
}

bool IsNumeric(const Column& column) {
  return column.type() != ColumnType::kString && column.type() != ColumnType::kLocation;
}

}  // namespace

const Column* FindColumn(const Segment& segment, uint32_t column) {
  return column < segment.meta().columns.size() ? &segment.column(column) : nullptr;
}

ColumnFilter::ColumnFilter(const FilterNode& root, const Segment& segment, FilterUse use)
    : root_(Compile(root, {segment, use})) {}

void ColumnFilter::Apply(Window* window) const {
  if (passes_all() || !window->matches.Any()) return;
  WindowBits passed;
  Evaluate(root_, window->range, window->matches, &passed);
  window->matches.Assign(passed);
}

ColumnFilter::Node ColumnFilter::Negate(Node node) {
  Node negated;
  if (node.kind == Kind::kNothing) {
    negated.kind = Kind::kEverything;
  } else if (node.kind != Kind::kEverything) {
    negated.kind = Kind::kNot;
    negated.children.push_back(std::move(node));
  }
  return negated;
}

ColumnFilter::Node ColumnFilter::Compile(const FilterNode& source, const Target& target) {
  Node node;
  switch (source.op) {
    case FilterOp::kAll:
      node.kind = Kind::kEverything;
      return node;
    case FilterOp::kAnd:
    case FilterOp::kOr: {
      const bool is_and = source.op == FilterOp::kAnd;
      const Kind neutral = is_and ? Kind::kEverything : Kind::kNothing;
      const Kind absorbing = is_and ? Kind::kNothing : Kind::kEverything;
      for (const FilterNode& child : source.children) {
        Node compiled = Compile(child, target);
        if (compiled.kind == absorbing) return compiled;
        if (compiled.kind != neutral) node.children.push_back(std::move(compiled));
      }
      node.kind = node.children.empty() ? neutral : is_and ? Kind::kAnd : Kind::kOr;
      return node;
    }
    case FilterOp::kNot:
      return Negate(Compile(source.children.front(), target));
    case FilterOp::kRecord:
      return CompileRecords(source, target.segment);
    default:
      break;
  }
  const bool has_column = FindColumn(target.segment, source.column) != nullptr;
  if (source.op == FilterOp::kIsNull && !has_column) {
    node.kind = Kind::kEverything;
    return node;
  }
  if (source.op == FilterOp::kNotEqual) {
    FilterNode equal = source;
    equal.op = FilterOp::kEqual;
    return Negate(has_column ? CompileComparison(equal, target) : Node{});
  }
  return has_column ? CompileComparison(source, target) : Node{};
}

ColumnFilter::Node ColumnFilter::CompileComparison(const FilterNode& source, const Target& target) {
  const Column& column = *FindColumn(target.segment, source.column);
  Node node;
  if (source.op == FilterOp::kIsNull) {
    node.kind = Kind::kIsNull;
  } else if (source.op == FilterOp::kWithin) {
    if (column.type() != ColumnType::kLocation) return node;
    node.kind = Kind::kCircle;
    node.circle.emplace_back(source.centre, source.metres);
  } else if (source.op == FilterOp::kInBox) {
    if (column.type() != ColumnType::kLocation) return node;
    node.kind = Kind::kBox;
    node.box.emplace_back(source.centre, source.opposite);
  } else if (source.op == FilterOp::kIn) {
    node = CompileIn(source, column);
  } else if (column.type() == ColumnType::kString && !source.values.front().is_number) {
    node = CompileOrdinalRange(source, column);
  } else if (IsNumeric(column) && source.values.front().is_number) {
    node = CompileNumberRange(source, column);
  }
  node.column = &column;
  if (target.use == FilterUse::kAgain && node.kind != Kind::kNothing) KeepPassing(source, target, &node);
  return node;
}

// Looks for cached bits of a comparison, and caches them if that pays.
void ColumnFilter::KeepPassing(const FilterNode& source, const Target& target, Node* node) {
  node->kept = KeptComparison(target.segment, ComparisonKey(source));
  if (!node->kept.IsWorthKeeping()) return;
  const uint32_t documents = target.segment.document_count();
  std::vector<uint64_t> bits((documents + kWindowSize - 1) / kWindowSize * kWindowWords);
  WindowBits all;
  WindowBits passed;
  for (uint32_t base = 0; base < documents; base += kWindowSize) {
    StopIfAsked();
    const WindowRange range{base, std::min(base + kWindowSize, documents)};
    all.Clear();
    all.AddRange(0, range.end - range.base);
    EvaluateLeaf(*node, range, all, &passed);
    ForEachWord(passed.used, [&](uint32_t word) { bits[base / 64 + word] = passed.words[word]; });
  }
  node->kept.Keep(std::move(bits));
}

ColumnFilter::Node ColumnFilter::CompileOrdinalRange(const FilterNode& source, const Column& column) {
  const std::string_view key = source.values.front().text;
  const uint32_t size = column.dictionary_size();
  const uint32_t lower = column.LowerBound(key);
  const uint32_t upper = lower < size && column.Key(lower) == key ? lower + 1 : lower;
  Node node;
  switch (source.op) {
    case FilterOp::kLess:
      node.end_ordinal = lower;
      break;
    case FilterOp::kLessOrEqual:
      node.end_ordinal = upper;
      break;
    case FilterOp::kGreater:
      node.first_ordinal = upper;
      node.end_ordinal = size;
      break;
    case FilterOp::kGreaterOrEqual:
      node.first_ordinal = lower;
      node.end_ordinal = size;
      break;
    default:
      node.first_ordinal = lower;
      node.end_ordinal = upper;
  }
  node.kind = node.first_ordinal < node.end_ordinal ? Kind::kOrdinalRange : Kind::kNothing;
  return node;
}

ColumnFilter::Node ColumnFilter::CompileNumberRange(const FilterNode& source, const Column& column) {
  const double number = source.values.front().number;
  Node node;
  node.kind = Kind::kNumberRange;
  node.lowest = -kInfinity;
  node.highest = kInfinity;
  switch (source.op) {
    case FilterOp::kLess:
      if (number == -kInfinity) node.kind = Kind::kNothing;
      node.highest = std::nextafter(number, -kInfinity);
      break;
    case FilterOp::kLessOrEqual:
      node.highest = number;
      break;
    case FilterOp::kGreater:
      if (number == kInfinity) node.kind = Kind::kNothing;
      node.lowest = std::nextafter(number, kInfinity);
      break;
    case FilterOp::kGreaterOrEqual:
      node.lowest = number;
      break;
    default:
      node.lowest = number;
      node.highest = number;
  }
  FindRawRange(column, &node);
  return node;
}

void ColumnFilter::FindRawRange(const Column& column, Node* node) {
  if (node->kind == Kind::kNothing) return;
  column.VisitNumbers([&]<typename Raw>(std::span<const Raw>) {
    if constexpr (!std::is_same_v<Raw, double>) {
      const auto raw = RawRange<Raw>(column, node->lowest, node->highest);
      if (!raw) {
        node->kind = Kind::kNothing;
        return;
      }
      node->first_raw = raw->first;
      node->last_raw = raw->first + uint32_t{raw->second};
    }
  });
}

ColumnFilter::Node ColumnFilter::CompileIn(const FilterNode& source, const Column& column) {
  Node node;
  for (const PlanValue& value : source.values) {
    if (value.is_number && IsNumeric(column)) {
      node.numbers.push_back(value.number);
    } else if (!value.is_number && column.type() == ColumnType::kString) {
      const uint32_t ordinal = column.LowerBound(value.text);
      if (ordinal < column.dictionary_size() && column.Key(ordinal) == value.text) node.ordinals.push_back(ordinal);
    }
  }
  std::sort(node.numbers.begin(), node.numbers.end());
  std::sort(node.ordinals.begin(), node.ordinals.end());
  if (!node.numbers.empty()) {
    node.kind = Kind::kNumbers;
    node.lowest = node.numbers.front();
    node.highest = node.numbers.back();
  } else if (!node.ordinals.empty()) {
    node.kind = Kind::kOrdinals;
  }
  return node;
}

ColumnFilter::Node ColumnFilter::CompileRecords(const FilterNode& source, const Segment& segment) {
  Node node;
  for (const PlanValue& value : source.values) {
    const bool is_record = value.is_number && value.number >= 0 && value.number < kNoRecord;
    if (!is_record) continue;
    if (const auto document = segment.FindDocument(static_cast<uint32_t>(value.number))) node.documents.push_back(*document);
  }
  std::sort(node.documents.begin(), node.documents.end());
  if (!node.documents.empty()) node.kind = Kind::kDocuments;
  return node;
}

void ColumnFilter::Evaluate(const Node& node, WindowRange range, const WindowBits& candidates, WindowBits* passed) {
  switch (node.kind) {
    case Kind::kAnd: {
      WindowBits remaining = candidates;
      for (const Node& child : node.children) {
        Evaluate(child, range, remaining, passed);
        if (!passed->Any()) return;
        remaining.Assign(*passed);
      }
      return;
    }
    case Kind::kOr: {
      WindowBits remaining = candidates;
      WindowBits found;
      passed->Clear();
      for (const Node& child : node.children) {
        if (!remaining.Any()) return;
        Evaluate(child, range, remaining, &found);
        passed->Unite(found);
        remaining.Subtract(found);
      }
      return;
    }
    case Kind::kNot: {
      WindowBits found;
      Evaluate(node.children.front(), range, candidates, &found);
      passed->Assign(candidates);
      passed->Subtract(found);
      return;
    }
    default:
      EvaluateLeaf(node, range, candidates, passed);
  }
}

bool ColumnFilter::CanMatchNumbers(const Node& node, WindowRange range) {
  double minimum;
  double maximum;
  if (!node.column->BlockRange(range.base / kColumnBlockSize, &minimum, &maximum)) return false;
  return maximum >= node.lowest && minimum <= node.highest;
}

void ColumnFilter::TestNumberRange(const Node& node, WindowRange range, const WindowBits& candidates,
                                   WindowBits* passed) {
  const Column& column = *node.column;
  if (!CanMatchNumbers(node, range)) return passed->Clear();
  if (column.many() || column.value_count() == 0 || column.value_bytes() == sizeof(double)) {
    return TestNumbers(column, range, candidates, passed,
                       [&](double number) { return number >= node.lowest && number <= node.highest; });
  }
  column.VisitNumbers([&]<typename Raw>(std::span<const Raw> values) {
    if constexpr (!std::is_same_v<Raw, double>) {
      const auto first = static_cast<Raw>(node.first_raw);
      TestRawRange<Raw>(values, first, static_cast<Raw>(node.last_raw - node.first_raw), range, candidates, passed);
    }
  });
  KeepWithNumber(column, range, passed);
}

void ColumnFilter::EvaluateLeaf(const Node& node, WindowRange range, const WindowBits& candidates, WindowBits* passed) {
  if (const uint64_t* bits = node.kept.bits(); bits != nullptr) {
    passed->Assign(candidates);
    ForEachWord(passed->used, [&](uint32_t word) { passed->words[word] &= bits[range.base / 64 + word]; });
    return;
  }
  if (node.kept.counts()) node.kept.LookAt(candidates.Count());
  switch (node.kind) {
    case Kind::kOrdinalRange: {
      // One comparison is enough: an ordinal below the first wraps around to a large number.
      const uint32_t first = node.first_ordinal;
      const uint32_t width = node.end_ordinal - first;
      if (!node.column->many() && node.column->value_count() > 0) {
        node.column->VisitOrdinals([&]<typename Raw>(std::span<const Raw> values) {
          TestRawRange<Raw>(values, static_cast<Raw>(first), static_cast<Raw>(width - 1), range, candidates, passed);
        });
        return;
      }
      TestOrdinals(*node.column, range, candidates, passed, [=](uint32_t ordinal) { return ordinal - first < width; });
      return;
    }
    case Kind::kOrdinals:
      TestOrdinals(*node.column, range, candidates, passed, [&](uint32_t ordinal) {
        return std::binary_search(node.ordinals.begin(), node.ordinals.end(), ordinal);
      });
      return;
    case Kind::kNumberRange:
      return TestNumberRange(node, range, candidates, passed);
    case Kind::kNumbers:
      if (!CanMatchNumbers(node, range)) return passed->Clear();
      TestNumbers(*node.column, range, candidates, passed,
                  [&](double number) { return std::binary_search(node.numbers.begin(), node.numbers.end(), number); });
      return;
    case Kind::kDocuments:
      passed->Clear();
      for (auto each = std::lower_bound(node.documents.begin(), node.documents.end(), range.base);
           each != node.documents.end() && *each < range.end; ++each) {
        if (candidates.Contains(*each - range.base)) passed->Add(*each - range.base);
      }
      return;
    case Kind::kIsNull:
      TestEach(range, candidates, passed, [&](uint32_t document) { return node.column->ValueCount(document) == 0; });
      return;
    case Kind::kCircle:
      return TestLocations(*node.column, range, candidates, passed, node.circle.front());
    case Kind::kBox:
      return TestLocations(*node.column, range, candidates, passed, node.box.front());
    case Kind::kEverything:
      passed->Assign(candidates);
      return;
    default:
      passed->Clear();
  }
}

}  // namespace gannet
