// Tests that every long loop looks for a stop, reports its reason, and leaves no state that later work sees.
#include "../kernel/common/stop.h"

#include <functional>
#include <limits>
#include <optional>
#include <thread>

#include "../kernel/highlight/highlighter.h"
#include "../kernel/terms/completion_lookup.h"
#include "../kernel/terms/context_count.h"
#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr uint32_t kDocuments = 100'000;
constexpr uint32_t kFlag = 7;

struct StoppedWork {
  const char* name;
  std::function<void()> work;
};

PlanGroup Phrase(std::initializer_list<std::string_view> terms) {
  PlanAlternative alternative;
  for (const std::string_view term : terms) alternative.terms.push_back(term);
  return Group(Occur::kMust, {std::move(alternative)});
}

// Every document has "common", a unique number and unique names, and every second one "even".
std::shared_ptr<const Generation> MakeList(TemporaryFolder* folder) {
  const SegmentSchema schema{{1}, {{"number", ColumnType::kNumber, false}, {"name", ColumnType::kString, true}}};
  std::vector<DocumentWriter> documents;
  for (uint32_t i = 0; i < kDocuments; ++i) {
    const std::string name = "name" + std::to_string(i * 7919u % kDocuments);
    documents.push_back(DocumentWriter(i)
                            .Text(0, (i % 2 == 0 ? "common even w" : "even odd common w") + std::to_string(i))
                            .Number(0, i)
                            .String(1, name)
                            .String(1, "other" + name));
  }
  return DeriveGeneration(nullptr, {{folder->Build(schema, documents), {}}}, {}, {}, "");
}

std::vector<std::pair<const char*, QueryPlan>> Plans() {
  std::vector<std::pair<const char*, QueryPlan>> plans;
  const auto add = [&](const char* name, std::vector<PlanGroup> groups, const std::function<void(QueryPlan*)>& change) {
    QueryPlan plan;
    plan.size = 20;
    plan.flags = kNeedTotal;
    plan.groups = std::move(groups);
    if (change) change(&plan);
    plans.emplace_back(name, std::move(plan));
  };
  add("union", {Word("common"), Word("even")}, {});
  add("intersection", {Word("common", Occur::kMust), Word("even", Occur::kMust)}, {});
  add("phrase", {Phrase({"common", "even"})}, {});
  add("counting", {Phrase({"common", "even"})}, [](QueryPlan* plan) { plan->size = 0; });
  add("facets over everything", {}, [](QueryPlan* plan) { plan->facets = {{0, 10}, {1, 10}}; });
  add("facets over a union", {Word("common"), Word("even")}, [](QueryPlan* plan) { plan->facets = {{1, 10}}; });
  add("the order of a column", {}, [](QueryPlan* plan) {
    plan->skip = kDocuments / 2;
    plan->sort_keys = {{SortBy::kColumn, false, 1, {}}};
  });
  add("a filter", {}, [](QueryPlan* plan) {
    plan->filter.op = FilterOp::kGreater;
    plan->filter.column = 0;
    plan->filter.values = {{true, 5.0, {}}};
  });
  return plans;
}

std::optional<ErrorCode> CodeOf(const std::function<void()>& work) {
  try {
    work();
    return std::nullopt;
  } catch (const Error& error) {
    return error.code();
  }
}

class Watched {
 public:
  Watched(double slice_ms, double deadline_ms) {
    LowerStop(kFlag);
    WatchStop(kFlag, slice_ms, deadline_ms);
  }
  ~Watched() { UnwatchStop(); }
};

void CheckStops(const StoppedWork& one) {
  {
    const Watched watched(kNever, kNever);
    const uint64_t before = internal::looks;
    one.work();
    // The work looks at its beginning and at least once more.
    if (internal::looks - before < 2) Fail(__FILE__, __LINE__, std::string("looks too seldom: ") + one.name);
    RaiseStop(kFlag);
    if (CodeOf(one.work) != ErrorCode::kStopped) Fail(__FILE__, __LINE__, std::string("not stopped: ") + one.name);
  }
  {
    const Watched watched(kNever, SteadyMs());
    if (CodeOf(one.work) != ErrorCode::kDeadline) Fail(__FILE__, __LINE__, std::string("no deadline: ") + one.name);
  }
  {
    const Watched watched(0, kNever);
    if (CodeOf(one.work) != ErrorCode::kSlice) Fail(__FILE__, __LINE__, std::string("no slice: ") + one.name);
  }
  RaiseStop(kFlag);
  CHECK(CodeOf(one.work) == std::nullopt);  // The thread watches no flag any more.
}

// Repeats the work until another thread raises the flag, hence mostly in the middle of it.
void StopInTheMiddle(const std::function<void()>& work) {
  const Watched watched(kNever, kNever);
  std::thread stopping([] { RaiseStop(kFlag); });
  while (CodeOf(work) == std::nullopt) {
  }
  stopping.join();
}

}  // namespace

TEST(stop_ends_searches_of_every_kind_and_later_searches_are_unchanged) {
  TemporaryFolder folder;
  const auto generation = MakeList(&folder);
  for (const auto& [name, plan] : Plans()) {
    const std::vector<uint8_t> bytes = EncodePlan(plan);
    const std::vector<uint8_t> expected = Search(*generation, bytes);
    CheckStops({name, [&] { Search(*generation, bytes); }});
    CheckStops({name, [&] { CollectRecordNumbers(*generation, bytes); }});
    for (int round = 0; round < 5; ++round) {
      StopInTheMiddle([&] { Search(*generation, bytes); });
      CHECK(Search(*generation, bytes) == expected);
    }
  }
}

TEST(stop_ends_counts_in_context_completions_and_highlights) {
  TemporaryFolder folder;
  const auto generation = MakeList(&folder);
  const std::vector<ContextWord> context = {{"common"}, {"even"}};
  const std::vector<std::string> completions = {"even", "odd", "common"};
  CheckStops({"counting in a context", [&] { CountInContext(*generation, context, completions, 3); }});
  CheckStops({"words with typos", [&] { CompleteWord(*generation, "w99", 1, 10); }});
  std::string text;
  for (int i = 0; i < 50'000; ++i) text.append("word ");
  HighlightTerms terms;
  terms.terms.push_back("nowhere");
  CheckStops({"marking", [&] { HighlightText(text, terms, 100); }});
}

TEST(stop_flags_out_of_range_are_refused) {
  CHECK(CodeOf([] { RaiseStop(kStopFlagsMax); }) == ErrorCode::kInvalidArgument);
  CHECK(CodeOf([] { WatchStop(kStopFlagsMax, kNever, kNever); }) == ErrorCode::kInvalidArgument);
}

}  // namespace gannet::test
