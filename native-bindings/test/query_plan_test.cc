#include <cmath>
#include <limits>
#include <random>

#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

QueryPlan FullPlan() {
  QueryPlan plan;
  plan.flags = kNeedTotal | kExplain;
  plan.skip = 5;
  plan.size = 10;
  plan.minimum_score = 0.25f;
  plan.groups = {Word("sea"), Group(Occur::kMust, {{1, {"new", "york"}}, {0.5f, {"gannet"}}}, 2)};
  FilterNode price{FilterOp::kLess, 1, {{true, 9.5, {}}}, {}, {}, 0};
  FilterNode brands{FilterOp::kIn, 0, {{false, 0, "acme"}, {false, 0, "bolt"}}, {}, {}, 0};
  FilterNode near{FilterOp::kWithin, 2, {}, {}, {51.5, -0.12}, 10'000};
  FilterNode inside{FilterOp::kInBox, 2, {}, {}, {-10, 170}, 0, {50, -120}};
  FilterNode missing{FilterOp::kIsNull, 3, {}, {}, {}, 0};
  FilterNode negated{FilterOp::kNot, 0, {}, {missing}, {}, 0};
  plan.filter = {FilterOp::kAnd, 0, {}, {price, {FilterOp::kOr, 0, {}, {brands, near, inside}, {}, 0}, negated}, {}, 0};
  plan.sort_keys = {{SortBy::kColumn, true, 1, {}}, {SortBy::kDistance, false, 2, {10, 20}}};
  plan.facets = {{0, 20}, {1, 5}};
  plan.has_distance = true;
  plan.distance_column = 2;
  plan.distance_origin = {51.5, -0.12};
  return plan;
}

FilterNode Nested(uint32_t depth) {
  FilterNode node;
  for (uint32_t i = 1; i < depth; ++i) node = {FilterOp::kNot, 0, {}, {node}, {}, 0};
  return node;
}

}  // namespace

TEST(query_plan_reads_back_what_was_written) {
  const std::vector<uint8_t> bytes = EncodePlan(FullPlan());
  CHECK(EncodePlan(ParsePlan(bytes)) == bytes);
}

TEST(query_plan_that_is_cut_short_or_too_long_is_refused) {
  const std::vector<uint8_t> bytes = EncodePlan(FullPlan());
  for (size_t length = 0; length < bytes.size(); ++length) {
    // A copy of exactly that length, so that AddressSanitizer sees reads behind it.
    const std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(length));
    CHECK_THROWS(kInvalidArgument, ParsePlan(cut));
  }
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  CHECK_THROWS(kInvalidArgument, ParsePlan(longer));
}

TEST(query_plan_with_random_changes_is_read_or_refused) {
  std::mt19937 random(7);
  const std::vector<uint8_t> bytes = EncodePlan(FullPlan());
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> changed = bytes;
    for (uint32_t i = 0; i <= round % 4u; ++i) changed[random() % changed.size()] = static_cast<uint8_t>(random());
    try {
      const QueryPlan plan = ParsePlan(changed);
      CHECK(plan.skip + uint64_t{plan.size} <= kHitsMax);
    } catch (const Error& error) {
      CHECK_EQ(error.code(), ErrorCode::kInvalidArgument);
    }
  }
}

TEST(query_plan_limits_are_checked) {
  const auto refuses = [](auto&& change) {
    QueryPlan plan;
    plan.groups = {Word("sea")};
    change(plan);
    CHECK_THROWS(kInvalidArgument, ParsePlan(EncodePlan(plan)));
  };
  refuses([](QueryPlan& plan) { plan.flags = 64; });
  refuses([](QueryPlan& plan) {
    plan.skip = kHitsMax;
    plan.size = 1;
  });
  refuses([](QueryPlan& plan) {
    plan.skip = 0xffffffffu;
    plan.size = 0xffffffffu;
  });
  refuses([](QueryPlan& plan) { plan.minimum_score = 1.5f; });
  refuses([](QueryPlan& plan) { plan.minimum_score = std::numeric_limits<float>::quiet_NaN(); });
  refuses([](QueryPlan& plan) { plan.groups[0].boost = 0; });
  refuses([](QueryPlan& plan) { plan.groups[0].boost = std::numeric_limits<float>::infinity(); });
  refuses([](QueryPlan& plan) { plan.groups[0].occur = static_cast<Occur>(3); });
  refuses([](QueryPlan& plan) { plan.groups[0].alternatives.clear(); });
  refuses([](QueryPlan& plan) { plan.groups[0].alternatives.resize(kAlternativesMax + 1, {1, {"a"}}); });
  refuses([](QueryPlan& plan) { plan.groups[0].alternatives[0].weight = 1.01f; });
  refuses([](QueryPlan& plan) { plan.groups[0].alternatives[0].weight = 0; });
  refuses([](QueryPlan& plan) { plan.groups[0].alternatives[0].terms.clear(); });
  refuses([](QueryPlan& plan) { plan.groups.resize(kGroupsMax + 1, plan.groups[0]); });
  refuses([](QueryPlan& plan) {
    plan.groups[0].alternatives[0].terms.resize(40'000, "a");
    plan.groups.push_back(plan.groups[0]);
  });
  refuses([](QueryPlan& plan) { plan.filter = Nested(kFilterDepthMax + 1); });
  refuses([](QueryPlan& plan) { plan.filter = {FilterOp::kWithin, 0, {}, {}, {91, 0}, 1}; });
  refuses([](QueryPlan& plan) { plan.filter = {FilterOp::kWithin, 0, {}, {}, {0, 0}, -1}; });
  refuses([](QueryPlan& plan) { plan.filter = {FilterOp::kInBox, 0, {}, {}, {10, 0}, 0, {9, 1}}; });
  refuses([](QueryPlan& plan) { plan.filter = {FilterOp::kInBox, 0, {}, {}, {10, 0}, 0, {11, 361}}; });
  refuses([](QueryPlan& plan) { plan.filter = {FilterOp::kLess, 0, {{true, std::nan(""), {}}}, {}, {}, 0}; });
  refuses([](QueryPlan& plan) { plan.sort_keys.resize(kSortKeysMax + 1); });
  refuses([](QueryPlan& plan) { plan.facets = {{1, 5}, {1, 6}}; });
  QueryPlan deep;
  deep.filter = Nested(kFilterDepthMax);
  ParsePlan(EncodePlan(deep));
}

}  // namespace gannet::test
