// A plan's filter, compiled for one segment: strings become ordinals, comparisons become closed ranges.
#pragma once

#include <cstdint>
#include <vector>

#include "../query/query_plan.h"
#include "../segment/segment.h"
#include "../window/window.h"
#include "geo.h"
#include "kept_comparison.h"

namespace gannet {

// Returns the column, or null if the segment has fewer columns: then no document has a value.
const Column* FindColumn(const Segment& segment, uint32_t column);

// Whether other searches may use the same filter: if so, the documents that pass its comparisons are cached.
enum class FilterUse : uint8_t { kOnce, kAgain };

class ColumnFilter {
 public:
  ColumnFilter(const FilterNode& root, const Segment& segment, FilterUse use = FilterUse::kOnce);

  // True if every document passes; Apply then need not be called.
  bool passes_all() const { return root_.kind == Kind::kEverything; }

  // Removes the documents that do not pass from the window's matches; examines no others.
  void Apply(Window* window) const;
  // Sets passed = the candidates that pass; `passed` and `candidates` must be different sets.
  void Apply(WindowRange range, const WindowBits& candidates, WindowBits* passed) const {
    Evaluate(root_, range, candidates, passed);
  }

 private:
  enum class Kind : uint8_t {
    kNothing,
    kEverything,
    kAnd,
    kOr,
    kNot,
    kOrdinalRange,
    kOrdinals,
    kNumberRange,
    kNumbers,
    kDocuments,
    kIsNull,
    kCircle,
    kBox,
  };

  struct Node {
    Kind kind = Kind::kNothing;
    const Column* column = nullptr;
    std::vector<Node> children;
    uint32_t first_ordinal = 0;  // kOrdinalRange: [first, end)
    uint32_t end_ordinal = 0;
    double lowest = 0;  // kNumberRange: [lowest, highest]
    double highest = 0;
    uint32_t first_raw = 0;  // the same as raw values, if these are integers
    uint32_t last_raw = 0;
    std::vector<uint32_t> ordinals;  // ascending
    std::vector<double> numbers;     // ascending
    std::vector<uint32_t> documents; // ascending
    std::vector<GeoCircle> circle;   // one
    std::vector<GeoBox> box;         // one
    KeptComparison kept;
  };
  struct Target {
    const Segment& segment;
    FilterUse use;
  };

  static Node Compile(const FilterNode& source, const Target& target);
  static Node CompileComparison(const FilterNode& source, const Target& target);
  static void KeepPassing(const FilterNode& source, const Target& target, Node* node);
  static Node CompileOrdinalRange(const FilterNode& source, const Column& column);
  static Node CompileNumberRange(const FilterNode& source, const Column& column);
  static Node CompileRecords(const FilterNode& source, const Segment& segment);
  static Node CompileIn(const FilterNode& source, const Column& column);
  static Node Negate(Node node);

  // Sets passed = the candidates that pass; `passed` and `candidates` must be different sets.
  static void Evaluate(const Node& node, WindowRange range, const WindowBits& candidates, WindowBits* passed);
  static void EvaluateLeaf(const Node& node, WindowRange range, const WindowBits& candidates, WindowBits* passed);
  static void FindRawRange(const Column& column, Node* node);
  static void TestNumberRange(const Node& node, WindowRange range, const WindowBits& candidates, WindowBits* passed);
  static bool CanMatchNumbers(const Node& node, WindowRange range);

  Node root_;
};

}  // namespace gannet
