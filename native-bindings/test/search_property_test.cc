// Compares the search with the model over random lists. GANNET_SEED repeats a run, GANNET_ROUNDS multiplies its rounds.
#include <cinttypes>
#include <ctime>
#include <random>

#include "../kernel/collect/distinct_count.h"
#include "../kernel/query/prepared_query.h"
#include "check.h"
#include "search_model.h"

namespace gannet::test {
namespace {

enum Columns : uint16_t { kBrand, kTags, kPrice, kSizes, kActive, kReleased, kPlace, kSerial, kColumnCount };

const std::vector<std::string>& Words() {
  static const std::vector<std::string> words = {"new",   "york", "red",  "shoe",  "blue", "boat", "sea",   "gannet",
                                                 "cliff", "wind", "salt", "stone", "moss", "rain", "amber", "quartz"};
  return words;
}

// Rare words, which most words of natural texts are.
const std::vector<std::string>& RareWords() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all;
    for (char a = 'a'; a < 'a' + 20; ++a) {
      for (char b = 'a'; b < 'a' + 20; ++b) all.push_back({'q', a, b});
    }
    return all;
  }();
  return words;
}

const std::vector<std::string>& Brands() {
  static const std::vector<std::string> brands = {"acme", "bolt", "corvo", "delta", "\"quoted\\\"", "zebra"};
  return brands;
}

SegmentSchema MakeSchema(std::vector<uint32_t> weight_units) {
  return {std::move(weight_units),
          {{"brand", ColumnType::kString, false},
           {"tags", ColumnType::kString, true},
           {"price", ColumnType::kNumber, false},
           {"sizes", ColumnType::kNumber, true},
           {"active", ColumnType::kBoolean, false},
           {"released", ColumnType::kDate, false},
           {"place", ColumnType::kLocation, false},
           {"serial", ColumnType::kString, false}}};
}

class RandomList {
 public:
  // `rare_percent` of the words are rare.
  RandomList(uint32_t seed, std::vector<uint32_t> weight_units, const std::vector<uint32_t>& segment_sizes,
             double deleted_share, uint32_t rare_percent)
      : random_(seed), rare_percent_(rare_percent), has_large_dictionary_(segment_sizes.size() > 1) {
    model_.schema = MakeSchema(std::move(weight_units));
    uint32_t total = 0;
    for (const uint32_t size : segment_sizes) total += size;
    for (uint32_t i = 0; i < total; ++i) record_numbers_.push_back(i * 3 + 1);
    std::shuffle(record_numbers_.begin(), record_numbers_.end(), random_);
    std::vector<SegmentView> views;
    std::vector<SegmentDeletions> deletions;
    for (uint32_t i = 0; i < segment_sizes.size(); ++i) {
      const auto segment = MakeSegment(i, segment_sizes[i]);
      views.push_back({segment, {}});
      deletions.push_back({segment, DeleteSome(i, deleted_share)});
    }
    generation_ = DeriveGeneration(nullptr, views, {}, deletions, "{}");
    model_.generation = generation_.get();
  }

  const Generation& generation() const { return *generation_; }
  const SearchModel& model() const { return model_; }

  QueryPlan MakePlan() {
    QueryPlan plan;
    plan.flags = kNeedTotal;
    plan.size = 1 << 20;
    const uint32_t groups = Below(5);
    for (uint32_t i = 0; i < groups; ++i) plan.groups.push_back(MakeGroup());
    if (Below(3) != 0) plan.whole_field_weight = Below(5) == 0 ? 1.0f : 0.3f;
    if (Below(3) != 0) plan.proximity_weight = Below(5) == 0 ? 1.0f : 0.2f;
    for (uint32_t i = 0; groups > 0 && i < groups + 2; ++i) {
      const auto group = static_cast<uint16_t>(Below(groups));
      if (plan.groups[group].occur != Occur::kMustNot) plan.sequence.push_back(group);
    }
    for (uint32_t i = 1 + Below(3); groups > 0 && i > 0; --i) {
      const auto group = static_cast<uint16_t>(Below(groups));
      if (plan.groups[group].occur != Occur::kMustNot) plan.whole.push_back(group);
    }
    plan.filter = Below(2) == 0 ? FilterNode{} : MakeFilter(0);
    if (Below(2) == 0) {
      const uint32_t keys = 1 + Below(3);
      for (uint32_t i = 0; i < keys; ++i) plan.sort_keys.push_back(MakeSortKey());
    }
    for (const uint16_t column : {kBrand, kTags, kPrice, kSizes, kActive, kReleased}) {
      if (Below(3) == 0) plan.facets.push_back({column, 1 + Below(10)});
    }
    if (Below(3) == 0) {
      plan.has_distance = true;
      plan.distance_column = kPlace;
      plan.distance_origin = MakePoint();
    }
    return plan;
  }

  // Returns a plan of typed words alone: terms and phrases, without the expansions and bonuses of the service.
  QueryPlan MakePlainPlan() {
    QueryPlan plan;
    plan.flags = kNeedTotal;
    plan.size = 1 << 20;
    const bool is_conjunction = Below(3) == 0;
    for (uint32_t groups = 1 + Below(5); groups > 0; --groups) {
      PlanGroup group{is_conjunction && Below(4) > 0 ? Occur::kMust : Occur::kShould, 1, {}};
      group.alternatives.push_back({1, {MakeWord()}, AlternativeKind::kWord});
      if (Below(6) == 0) group.alternatives[0].terms.push_back(MakeWord());
      plan.groups.push_back(std::move(group));
    }
    if (Below(5) == 0) plan.groups.push_back({Occur::kMustNot, 1, {{1, {MakeWord()}, AlternativeKind::kWord}}});
    if (Below(4) == 0) plan.filter = MakeFilter(0);
    return plan;
  }

  uint32_t Below(uint32_t end) { return std::uniform_int_distribution<uint32_t>(0, end - 1)(random_); }

 private:
  // Returns a random word. Words at the beginning of the lists are more frequent.
  const std::string& MakeWord() {
    if (Below(100) < rare_percent_) return RareWords()[std::min(Below(400), Below(400))];
    return Words()[std::min(Below(16), Below(16))];
  }

  GeoPoint MakePoint() { return {Below(1801) / 10.0 - 90, Below(3600) / 10.0 - 180}; }

  std::shared_ptr<const Segment> MakeSegment(uint32_t index, uint32_t size) {
    std::vector<DocumentWriter> writers;
    for (uint32_t i = 0; i < size; ++i) {
      ModelDocument document;
      document.record_number = record_numbers_[model_.documents.size()];
      document.segment = index;
      document.document = i;
      writers.push_back(FillDocument(&document));
      model_.documents.push_back(std::move(document));
    }
    return folder_.Build(model_.schema, writers);
  }

  DocumentWriter FillDocument(ModelDocument* document) {
    DocumentWriter writer(document->record_number);
    document->fields.resize(model_.schema.text_field_weight_units.size());
    for (uint16_t field = 0; field < document->fields.size(); ++field) {
      const uint32_t values = Below(4) == 0 ? Below(3) : 1;
      for (uint32_t i = 0; i < values; ++i) {
        std::vector<std::string> words;
        std::string text;
        for (uint32_t count = Below(6); count > 0; --count) {
          words.push_back(MakeWord());
          text += (text.empty() ? "" : " ") + words.back();
        }
        writer.Text(field, text);
        document->fields[field].push_back(std::move(words));
      }
    }
    if (has_large_dictionary_ && document->segment == 0 && document->document == 0) AddManyTerms(document, &writer);
    FillColumns(document, &writer);
    return writer;
  }

  // Adds more terms than a segment has a table for, so that the terms of queries are cached for it, while other segments look them up each time.
  static void AddManyTerms(ModelDocument* document, DocumentWriter* writer) {
    std::vector<std::string> words;
    std::string text;
    for (uint32_t i = 0; i < 9000; ++i) {
      words.push_back("z" + std::to_string(i));
      text += words.back() + ' ';
    }
    writer->Text(0, text);
    document->fields[0].push_back(std::move(words));
  }

  void FillColumns(ModelDocument* document, DocumentWriter* writer) {
    const auto add_string = [&](uint16_t column, const std::string& key) {
      writer->String(column, key, key + "#" + std::to_string(document->segment));
      document->strings[column].push_back(key);
    };
    const auto add_number = [&](uint16_t column, double number) {
      writer->Number(column, number);
      document->numbers[column].push_back(number);
    };
    if (Below(5) != 0) add_string(kBrand, Brands()[Below(static_cast<uint32_t>(Brands().size()))]);
    for (uint32_t count = Below(4); count > 0; --count) add_string(kTags, MakeWord());
    if (Below(5) != 0) add_number(kPrice, Below(2) == 0 ? Below(20) : Below(2000) / 100.0 - 10);
    for (uint32_t count = Below(4); count > 0; --count) add_number(kSizes, Below(12));
    if (Below(5) != 0) add_number(kActive, Below(2));
    if (Below(5) != 0) add_number(kReleased, (Below(300) - 100.0) * 86'400'000);
    if (Below(5) != 0) {
      const GeoPoint point = MakePoint();
      writer->Location(kPlace, point.latitude, point.longitude);
      // Locations are stored in steps of 1e-7 degrees.
      document->location = SearchModel::AsStored(point);
    }
    add_string(kSerial, "s" + std::to_string(Below(1000)));
  }

  std::vector<uint32_t> DeleteSome(uint32_t segment, double share) {
    std::vector<uint32_t> deleted;
    for (ModelDocument& document : model_.documents) {
      if (document.segment != segment || Below(1000) >= share * 1000) continue;
      document.deleted = true;
      deleted.push_back(document.document);
    }
    return deleted;
  }

  PlanGroup MakeGroup() {
    PlanGroup group;
    const uint32_t occur = Below(6);
    group.occur = occur < 3 ? Occur::kShould : occur < 5 ? Occur::kMust : Occur::kMustNot;
    group.boost = Below(3) == 0 ? 0.5f + static_cast<float>(Below(4)) : 1.0f;
    const uint32_t alternatives = Below(2) == 0 ? 1 : 1 + Below(rare_percent_ > 0 ? 12 : 4);
    for (uint32_t i = 0; i < alternatives; ++i) {
      PlanAlternative alternative;
      alternative.weight = i == 0 ? 1.0f : static_cast<float>(1 + Below(9)) / 10;
      const uint32_t terms = Below(3) == 0 ? 2 + Below(2) : 1;
      for (uint32_t j = 0; j < terms; ++j) {
        alternative.terms.push_back(j > 0 && Below(4) == 0 ? alternative.terms.back() : std::string_view(MakeWord()));
      }
      if (Below(12) == 0) alternative.terms[0] = "absent";
      alternative.kind = static_cast<AlternativeKind>(i == 0 || Below(2) == 0 ? 0 : Below(4));
      group.alternatives.push_back(std::move(alternative));
    }
    return group;
  }

  PlanValue MakeValue(uint16_t column) {
    PlanValue value;
    const bool is_string = column == kBrand || column == kTags || column == kSerial;
    value.is_number = Below(20) == 0 ? is_string : !is_string;
    if (!value.is_number) {
      value.text = column == kBrand    ? std::string_view(Brands()[Below(static_cast<uint32_t>(Brands().size()))])
                   : column == kSerial ? std::string_view("s5")
                                       : std::string_view(MakeWord());
      if (Below(8) == 0) value.text = "between";
    } else if (column == kReleased) {
      value.number = (Below(300) - 100.0) * 86'400'000;
    } else {
      value.number = column == kActive ? Below(2) : column == kPrice ? Below(2000) / 100.0 - 10 : Below(12);
    }
    return value;
  }

  FilterNode MakeFilter(uint32_t depth) {
    FilterNode node;
    const uint32_t op = depth >= 3 ? 4 + Below(11) : Below(15);
    node.op = static_cast<FilterOp>(op);
    node.column = static_cast<uint16_t>(Below(kColumnCount));
    switch (node.op) {
      case FilterOp::kAll:
        break;
      case FilterOp::kAnd:
      case FilterOp::kOr:
        for (uint32_t count = Below(4); count > 0; --count) node.children.push_back(MakeFilter(depth + 1));
        break;
      case FilterOp::kNot:
        node.children.push_back(MakeFilter(depth + 1));
        break;
      case FilterOp::kIn:
        for (uint32_t count = Below(4); count > 0; --count) node.values.push_back(MakeValue(node.column));
        break;
      case FilterOp::kRecord:
        // Some of the numbers are of no record.
        for (uint32_t count = Below(4); count > 0; --count) {
          node.values.push_back({true, static_cast<double>(record_numbers_[Below(static_cast<uint32_t>(record_numbers_.size()))] + Below(2)), {}});
        }
        break;
      case FilterOp::kIsNull:
        break;
      case FilterOp::kWithin:
        if (Below(8) != 0) node.column = kPlace;
        node.centre = MakePoint();
        node.metres = Below(12'000'000);
        break;
      case FilterOp::kInBox:
        if (Below(8) != 0) node.column = kPlace;
        node.centre = MakePoint();
        node.opposite = MakePoint();
        if (node.centre.latitude > node.opposite.latitude) std::swap(node.centre.latitude, node.opposite.latitude);
        break;
      default:
        node.values.push_back(MakeValue(node.column));
    }
    return node;
  }

  SortKey MakeSortKey() {
    SortKey key;
    key.by = static_cast<SortBy>(Below(4));
    key.descending = Below(2) == 1;
    do key.column = static_cast<uint16_t>(Below(kColumnCount));
    while (key.column == kPlace);
    if (key.by == SortBy::kDistance) {
      key.column = kPlace;
      key.origin = MakePoint();
    }
    return key;
  }

  std::mt19937 random_;
  uint32_t rare_percent_;
  bool has_large_dictionary_;
  TemporaryFolder folder_;
  std::vector<uint32_t> record_numbers_;
  SearchModel model_;
  std::shared_ptr<const Generation> generation_;
};

// --- expected order

std::optional<double> KeyNumber(const ModelDocument& document, const SortKey& key) {
  if (key.by == SortBy::kDistance) {
    if (!document.location) return std::nullopt;
    return DistanceMetres(key.origin, *document.location);
  }
  const auto found = document.numbers.find(key.column);
  if (found == document.numbers.end()) return std::nullopt;
  const auto [least, most] = std::minmax_element(found->second.begin(), found->second.end());
  return key.descending ? *most : *least;
}

std::optional<std::string> KeyString(const ModelDocument& document, const SortKey& key) {
  const auto found = document.strings.find(key.column);
  if (found == document.strings.end()) return std::nullopt;
  const auto [least, most] = std::minmax_element(found->second.begin(), found->second.end());
  return key.descending ? *most : *least;
}

template <typename T>
int CompareValues(const std::optional<T>& a, const std::optional<T>& b, bool descending) {
  if (!a || !b) return !a && !b ? 0 : !a ? 1 : -1;
  const int order = *a < *b ? -1 : *b < *a ? 1 : 0;
  return descending ? -order : order;
}

int CompareHits(const SearchModel& model, const QueryPlan& plan, const ModelDocument& a, float a_score,
                const ModelDocument& b, float b_score) {
  for (const SortKey& key : plan.sort_keys) {
    int order = 0;
    if (key.by == SortBy::kScore) {
      order = CompareValues<float>(a_score, b_score, key.descending);
    } else if (key.by == SortBy::kRecordNumber) {
      order = CompareValues<uint32_t>(a.record_number, b.record_number, key.descending);
    } else if (key.by == SortBy::kColumn && model.IsString(key.column)) {
      order = CompareValues(KeyString(a, key), KeyString(b, key), key.descending);
    } else {
      order = CompareValues(KeyNumber(a, key), KeyNumber(b, key), key.descending);
    }
    if (order != 0) return order;
  }
  if (a_score != b_score) return a_score > b_score ? -1 : 1;
  return a.record_number < b.record_number ? -1 : 1;
}

// --- expected facets

std::string DateText(double milliseconds) {
  const auto seconds = static_cast<time_t>(milliseconds / 1000);
  struct tm parts;
  gmtime_r(&seconds, &parts);
  char text[64];
  std::strftime(text, sizeof(text), "\"%Y-%m-%dT%H:%M:%S.000Z\"", &parts);
  return text;
}

std::string NumberText(uint16_t column, double number) {
  if (column == kActive) return number != 0 ? "true" : "false";
  if (column == kReleased) return DateText(number);
  for (int digits = 1; digits < 18; ++digits) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.*g", digits, number);
    if (std::strtod(text, nullptr) == number && std::string(text).find('e') == std::string::npos) return text;
  }
  return "?";
}

std::string QuotedText(const std::string& text) {
  std::string quoted = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') quoted += '\\';
    quoted += character;
  }
  return quoted + "\"";
}

template <typename T, typename Format>
std::string FacetText(const std::map<T, uint64_t>& counts, uint32_t wanted, Format&& format) {
  std::vector<std::pair<T, uint64_t>> values(counts.begin(), counts.end());
  std::stable_sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (values.size() > wanted) values.resize(wanted);
  std::string text = "[";
  for (const auto& [value, count] : values) {
    if (text.size() > 1) text += ",";
    text += "{\"value\":" + format(value) + ",\"count\":" + std::to_string(count) + "}";
  }
  return text + "]";
}

std::string DisplayText(const SearchModel& model, uint16_t column, const std::string& key) {
  for (const ModelDocument& document : model.documents) {
    const auto found = document.strings.find(column);
    if (found == document.strings.end()) continue;
    for (const auto& value : found->second) {
      if (value == key) return QuotedText(key + "#" + std::to_string(document.segment));
    }
  }
  return "?";
}

std::string StringFacet(const SearchModel& model, const std::vector<ModelHit>& hits, const PlanFacet& facet) {
  std::map<std::string, uint64_t> counts;
  for (const ModelHit& hit : hits) {
    const auto found = hit.document->strings.find(facet.column);
    if (found == hit.document->strings.end()) continue;
    for (const auto& value : std::set<std::string>(found->second.begin(), found->second.end())) ++counts[value];
  }
  return FacetText(counts, facet.values_wanted, [&](const std::string& key) { return DisplayText(model, facet.column, key); });
}

void CheckFacets(const SearchModel& model, const QueryPlan& plan, const std::vector<ModelHit>& hits,
                 const Result& result) {
  std::string facets;
  std::string ranges;
  for (const PlanFacet& facet : plan.facets) {
    const std::string name = "\"" + model.schema.columns[facet.column].name + "\":";
    facets += (facets.empty() ? "{" : ",") + name;
    if (model.IsString(facet.column)) {
      facets += StringFacet(model, hits, facet);
      continue;
    }
    std::map<double, uint64_t> counts;
    for (const ModelHit& hit : hits) {
      const auto found = hit.document->numbers.find(facet.column);
      if (found == hit.document->numbers.end()) continue;
      for (const double value : std::set<double>(found->second.begin(), found->second.end())) ++counts[value + 0.0];
    }
    const auto format = [&](double number) { return NumberText(facet.column, number); };
    facets += FacetText(counts, facet.values_wanted, format);
    if (facet.column == kActive || counts.empty()) continue;
    ranges += (ranges.empty() ? "{" : ",") + name + "{\"min\":" + format(counts.begin()->first) +
              ",\"max\":" + format(counts.rbegin()->first) + "}";
  }
  CHECK_EQ(result.facets, facets.empty() ? "" : facets + "}");
  CHECK_EQ(result.ranges, ranges.empty() ? "" : ranges + "}");
}

// --- one query

void CheckHits(const SearchModel& model, const QueryPlan& plan, const std::vector<ModelHit>& expected,
               const Result& result) {
  CHECK_EQ(result.total_count, static_cast<double>(expected.size()));
  CHECK_EQ(result.hits.size(), expected.size());
  std::map<uint32_t, const ModelHit*> by_record;
  for (const ModelHit& hit : expected) by_record[hit.document->record_number] = &hit;
  const ModelDocument* previous = nullptr;
  float previous_score = 0;
  for (const ResultHit& hit : result.hits) {
    const auto found = by_record.find(hit.record_number);
    CHECK(found != by_record.end());
    if (found == by_record.end()) continue;
    const ModelHit* model_hit = found->second;
    by_record.erase(found);  // A second hit of the record would not be found.
    CHECK(hit.score >= 0 && hit.score <= 1);
    const bool close = std::abs(hit.score - model_hit->score) <= 1e-5;
    if (!close) CHECK_EQ(hit.score, model_hit->score);
    const ModelDocument& document = *model_hit->document;
    if (previous != nullptr) CHECK(CompareHits(model, plan, *previous, previous_score, document, hit.score) < 0);
    previous = &document;
    previous_score = hit.score;
    const bool located = plan.has_distance && document.location;
    CHECK_EQ(std::isnan(hit.distance), !located);
    if (!located) continue;
    CHECK_EQ(hit.latitude, document.location->latitude);
    CHECK(std::abs(hit.distance - DistanceMetres(plan.distance_origin, *document.location)) < 1e-6);
  }
}

void CheckPages(RandomList* list, QueryPlan plan, const Result& all) {
  const auto total = static_cast<uint32_t>(all.hits.size());
  for (int i = 0; i < 3; ++i) {
    plan.skip = list->Below(total + 10);
    plan.size = i == 0 ? 10 : list->Below(total + 10);
    if (i == 2) plan.skip = 0;
    // Without a total, the search skips more.
    const bool needs_total = list->Below(2) == 0;
    plan.flags = needs_total ? plan.flags | kNeedTotal : plan.flags & ~uint32_t{kNeedTotal};
    const Result page = RunSearch(list->generation(), plan);
    if (needs_total) CHECK_EQ(page.total_count, all.total_count);
    const uint32_t begin = std::min(plan.skip, total);
    const uint32_t end = static_cast<uint32_t>(std::min<uint64_t>(uint64_t{plan.skip} + plan.size, total));
    CHECK_EQ(page.hits.size(), size_t{end - begin});
    for (uint32_t hit = begin; hit < end && hit - begin < page.hits.size(); ++hit) {
      CHECK_EQ(page.hits[hit - begin].record_number, all.hits[hit].record_number);
      CHECK_EQ(page.hits[hit - begin].score, all.hits[hit].score);
    }
  }
}

void CheckMinimumScore(const RandomList& list, QueryPlan plan, const Result& all) {
  if (all.hits.empty()) return;
  plan.minimum_score = all.hits[all.hits.size() / 2].score;
  if (!(plan.minimum_score > 0)) return;
  const auto expected = static_cast<double>(std::count_if(
      all.hits.begin(), all.hits.end(), [&](const ResultHit& hit) { return hit.score >= plan.minimum_score; }));
  const Result result = RunSearch(list.generation(), plan);
  CHECK_EQ(result.total_count, expected);
  CHECK_EQ(result.hits.size(), static_cast<size_t>(expected));
}

void CheckOtherModes(const RandomList& list, QueryPlan plan, const std::vector<ModelHit>& expected) {
  std::vector<uint32_t> numbers;
  for (const ModelHit& hit : expected) numbers.push_back(hit.document->record_number);
  std::sort(numbers.begin(), numbers.end());
  CHECK(CollectRecordNumbers(list.generation(), EncodePlan(plan)) == numbers);
  plan.flags |= kStorageOrder;
  const Result stored = RunSearch(list.generation(), plan);
  std::vector<uint32_t> stored_numbers;
  for (const ResultHit& hit : stored.hits) stored_numbers.push_back(hit.record_number);
  CHECK(stored_numbers == numbers);
  plan.flags &= ~uint32_t{kStorageOrder};
  plan.size = 0;
  plan.sort_keys.clear();
  CHECK_EQ(RunSearch(list.generation(), plan).total_count, static_cast<double>(expected.size()));
  plan.facets.clear();
  CHECK_EQ(RunSearch(list.generation(), plan).total_count, static_cast<double>(expected.size()));
}

// Checks that the contributions in the JSON of explanations add up to the score. Nothing else in it has their name.
void CheckExplain(const RandomList& list, QueryPlan plan) {
  plan.flags |= kExplain;
  plan.size = 5;
  const Result result = RunSearch(list.generation(), plan);
  size_t at = 0;
  for (const ResultHit& hit : result.hits) {
    at = result.explain.find("{\"score\":", at);
    CHECK(at != std::string::npos);
    if (at == std::string::npos) return;
    const double score = std::strtod(result.explain.c_str() + at + 9, nullptr);
    CHECK(std::abs(score - hit.score) < 1e-6);
    const size_t end = std::min(result.explain.find("{\"score\":", at + 1), result.explain.size());
    double sum = 0;
    bool has_groups = false;
    static constexpr std::string_view kName = "\"contribution\":";
    for (size_t part = result.explain.find(kName, at); part < end; part = result.explain.find(kName, part + 1)) {
      sum += std::strtod(result.explain.c_str() + part + kName.size(), nullptr);
      has_groups = true;
    }
    if (has_groups) CHECK(std::abs(sum - score) < 1e-5);
    at = end;
  }
}

// --- one hit per value

// Returns the value of a document in a single-valued column, or nothing if it has none.
std::optional<std::string> ValueOf(const ModelDocument& document, uint16_t column) {
  if (const auto found = document.strings.find(column); found != document.strings.end()) return "s" + found->second[0];
  const auto found = document.numbers.find(column);
  if (found == document.numbers.end()) return std::nullopt;
  return "n" + std::to_string(found->second[0] + 0.0);
}

std::map<uint32_t, const ModelDocument*> ByRecord(const SearchModel& model) {
  std::map<uint32_t, const ModelDocument*> by_record;
  for (const ModelDocument& document : model.documents) by_record[document.record_number] = &document;
  return by_record;
}

// Returns the first of the hits of each value, in their order.
std::vector<ResultHit> FirstOfEachValue(const SearchModel& model, const std::vector<ResultHit>& hits, uint16_t column) {
  const auto by_record = ByRecord(model);
  std::set<std::string> values;
  std::vector<ResultHit> first;
  for (const ResultHit& hit : hits) {
    const auto value = ValueOf(*by_record.at(hit.record_number), column);
    if (!value || values.insert(*value).second) first.push_back(hit);
  }
  return first;
}

void CheckSameHits(const std::vector<ResultHit>& hits, const std::vector<ResultHit>& expected, uint32_t skip, uint32_t size) {
  const size_t begin = std::min<size_t>(skip, expected.size());
  const size_t end = std::min<size_t>(size_t{skip} + size, expected.size());
  CHECK_EQ(hits.size(), end - begin);
  for (size_t i = begin; i < end && i - begin < hits.size(); ++i) {
    CHECK_EQ(hits[i - begin].record_number, expected[i].record_number);
    CHECK_EQ(hits[i - begin].score, expected[i].score);
  }
}

// One list of a count over several lists.
struct ModelCounted {
  const SearchModel* model;
  std::vector<uint32_t> matches;  // record numbers
  std::optional<uint16_t> distinct;
};

void CheckDistinctCounts(const std::vector<ModelCounted>& lists, const std::vector<PlanFacet>& facets,
                         const DistinctCounts& counts) {
  std::set<std::string> hits;
  std::vector<std::map<std::string, std::set<std::string>>> strings(facets.size());
  std::vector<std::map<double, std::set<std::string>>> numbers(facets.size());
  for (const ModelCounted& list : lists) {
    const auto by_record = ByRecord(*list.model);
    for (const uint32_t record : list.matches) {
      const ModelDocument& document = *by_record.at(record);
      const auto value = list.distinct ? ValueOf(document, *list.distinct) : std::nullopt;
      const std::string hit = value.value_or("alone" + std::to_string(&list - lists.data()) + "/" + std::to_string(record));
      hits.insert(hit);
      for (size_t i = 0; i < facets.size(); ++i) {
        const auto texts = document.strings.find(facets[i].column);
        if (texts != document.strings.end()) for (const auto& text : texts->second) strings[i][text].insert(hit);
        const auto found = document.numbers.find(facets[i].column);
        if (found != document.numbers.end()) for (const double number : found->second) numbers[i][number + 0.0].insert(hit);
      }
    }
  }
  CHECK_EQ(counts.total, hits.size());
  CHECK_EQ(counts.facets.size(), facets.size());
  for (size_t i = 0; i < facets.size() && i < counts.facets.size(); ++i) {
    std::map<std::string, uint64_t> of_strings;
    for (const auto& [text, found] : strings[i]) of_strings[text] = found.size();
    std::map<double, uint64_t> of_numbers;
    for (const auto& [number, found] : numbers[i]) of_numbers[number] = found.size();
    const SearchModel& model = *lists.front().model;
    const auto number_text = [&](double number) { return NumberText(facets[i].column, number); };
    const auto text_of = [&](const std::string& key) { return DisplayText(model, facets[i].column, key); };
    CHECK_EQ(counts.facets[i], model.IsString(facets[i].column) ? FacetText(of_strings, 1000, text_of) : FacetText(of_numbers, 1000, number_text));
    const bool has_range = !of_numbers.empty() && facets[i].column != kActive;
    CHECK_EQ(counts.ranges[i], has_range ? "{\"min\":" + number_text(of_numbers.begin()->first) + ",\"max\":" + number_text(of_numbers.rbegin()->first) + "}" : "");
  }
}

DistinctList CountedOf(const Generation& generation, const QueryPlan& plan, const std::vector<PlanFacet>& facets, const Result& result) {
  DistinctList list{&generation, KeptMatches(generation, result.matches)};
  if (plan.is_distinct) list.distinct = CountedColumn{plan.distinct_column, plan.distinct_column};
  for (uint32_t i = 0; i < facets.size(); ++i) list.facets.push_back({facets[i].column, i});
  return list;
}

std::vector<uint32_t> RecordsOf(const std::vector<ModelHit>& hits, float minimum, const std::vector<ResultHit>& scored) {
  std::vector<uint32_t> records;
  if (minimum <= 0) for (const ModelHit& hit : hits) records.push_back(hit.document->record_number);
  else for (const ResultHit& hit : scored) if (hit.score >= minimum) records.push_back(hit.record_number);
  return records;
}

void CheckDistinct(RandomList* list, QueryPlan plan, const std::vector<ModelHit>& matches, const Result& all) {
  static constexpr uint16_t kSingle[] = {kBrand, kPrice, kActive, kReleased, kSerial};
  const std::vector<PlanFacet> facets = std::exchange(plan.facets, {});
  plan.is_distinct = true;
  plan.distinct_column = kSingle[list->Below(std::size(kSingle))];
  plan.flags |= kKeepMatches;
  if (list->Below(3) == 0 && !all.hits.empty()) plan.minimum_score = all.hits[list->Below(static_cast<uint32_t>(all.hits.size()))].score;
  std::vector<ResultHit> reaching = all.hits;
  std::erase_if(reaching, [&](const ResultHit& hit) { return plan.minimum_score > 0 && hit.score < plan.minimum_score; });
  std::vector<ResultHit> expected = FirstOfEachValue(list->model(), reaching, plan.distinct_column);
  const Result whole = RunSearch(list->generation(), plan);
  CheckSameHits(whole.hits, expected, 0, plan.size);
  CHECK_EQ(whole.total_count, static_cast<double>(reaching.size()));
  for (int i = 0; i < 3; ++i) {
    QueryPlan page = plan;
    page.skip = i == 0 ? 0 : list->Below(static_cast<uint32_t>(expected.size()) + 3);
    page.size = 1 + list->Below(i == 1 ? static_cast<uint32_t>(expected.size()) + 3 : 12);
    if (list->Below(2) == 0) page.flags &= ~uint32_t{kNeedTotal | kKeepMatches};
    CheckSameHits(RunSearch(list->generation(), page).hits, expected, page.skip, page.size);
  }
  QueryPlan other = plan;
  other.sort_keys.clear();
  other.flags |= kStorageOrder;
  std::ranges::sort(reaching, {}, &ResultHit::record_number);
  expected = FirstOfEachValue(list->model(), reaching, plan.distinct_column);
  const Result stored = RunSearch(list->generation(), other);
  CHECK_EQ(stored.hits.size(), expected.size());
  for (size_t i = 0; i < std::min(expected.size(), stored.hits.size()); ++i) CHECK_EQ(stored.hits[i].record_number, expected[i].record_number);
  // Counts the same list several times, like lists of a group, with other matches and without the column.
  other = plan;
  other.groups.clear();
  other.sequence.clear();
  other.whole.clear();
  other.minimum_score = 0;
  other.size = 0;
  const Result everything = RunSearch(list->generation(), other);
  std::vector<ModelCounted> counted = {{&list->model(), RecordsOf(matches, plan.minimum_score, all.hits), plan.distinct_column}};
  std::vector<DistinctList> lists = {CountedOf(list->generation(), plan, facets, whole)};
  const DistinctFacets wanted{static_cast<uint32_t>(facets.size()), 1000};
  CheckDistinctCounts(counted, facets, CountDistinct(lists, wanted));
  const std::vector<uint32_t> passing = RecordsOf(list->model().Matches(other, 1), 0, {});
  counted.push_back({&list->model(), passing, plan.distinct_column});
  lists.push_back(CountedOf(list->generation(), other, facets, everything));
  other.is_distinct = false;
  counted.push_back({&list->model(), passing, std::nullopt});
  lists.push_back(CountedOf(list->generation(), other, facets, everything));
  for (const ResultHit& hit : stored.hits) lists[0].hits.push_back(hit.record_number);
  const DistinctCounts counts = CountDistinct(lists, wanted);
  CheckDistinctCounts(counted, facets, counts);
  const auto by_record = ByRecord(list->model());
  std::map<std::string, uint32_t> sharing;
  for (size_t i = 0; i < 2; ++i) {
    for (const uint32_t record : counted[i].matches) {
      if (const auto value = ValueOf(*by_record.at(record), plan.distinct_column)) ++sharing[*value];
    }
  }
  for (size_t i = 0; i < stored.hits.size(); ++i) {
    const auto value = ValueOf(*by_record.at(stored.hits[i].record_number), plan.distinct_column);
    CHECK_EQ(counts.sharing[0][i], value ? sharing.at(*value) : 1);
  }
}

void CheckQueries(RandomList* list, int rounds) {
  const SearchModel& model = list->model();
  for (int round = 0; round < rounds; ++round) {
    const QueryPlan plan = list->Below(2) == 0 ? list->MakePlan() : list->MakePlainPlan();
    const double maximum = PrepareQuery(list->generation(), plan).maximum;
    const std::vector<ModelHit> expected = model.Matches(plan, maximum);
    const Result all = RunSearch(list->generation(), plan);
    CheckHits(model, plan, expected, all);
    CheckFacets(model, plan, expected, all);
    CheckPages(list, plan, all);
    CheckMinimumScore(*list, plan, all);
    CheckOtherModes(*list, plan, expected);
    CheckExplain(*list, plan);
    if (list->Below(3) == 0) CheckDistinct(list, plan, expected, all);
    // No document may exceed the maximum, which is computed from impacts, not by the model.
    const SearchModel::Factors weights = model.Weights(plan);
    for (const ModelDocument& document : model.documents) {
      CHECK(model.RawScore(document, plan, weights) <= maximum * (1 + 1e-6));
    }
    if (failures_of_current_test > 0) {
      std::fprintf(stderr, "  round %d\n", round);
      return;
    }
  }
}

uint32_t Number(const char* name, uint32_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

void CheckList(const char* what, std::vector<uint32_t> weight_units, const std::vector<uint32_t>& sizes,
               double deleted_share, int rounds, uint32_t rare_percent = 0) {
  const uint32_t seed = Number("GANNET_SEED", std::random_device{}());
  RandomList list(seed, std::move(weight_units), sizes, deleted_share, rare_percent);
  CheckQueries(&list, rounds * static_cast<int>(Number("GANNET_ROUNDS", 1)));
  if (failures_of_current_test > 0) std::fprintf(stderr, "  %s: GANNET_SEED=%" PRIu32 "\n", what, seed);
}

}  // namespace

TEST(search_agrees_with_the_model_on_one_document) { CheckList("one", {1}, {1}, 0, 30); }
TEST(search_agrees_with_the_model_on_small_segments) { CheckList("small", {1, 3}, {7, 130, 40}, 0.1, 60); }
TEST(search_agrees_with_the_model_on_one_field) { CheckList("field", {2}, {300}, 0.3, 40); }
TEST(search_agrees_with_the_model_on_four_fields) { CheckList("four", {5, 3, 3, 1}, {200, 50}, 0.2, 40); }
TEST(search_agrees_with_the_model_over_windows) { CheckList("windows", {1}, {9000, 4097}, 0.05, 12); }
TEST(search_agrees_with_the_model_over_many_windows) { CheckList("many", {1}, {26'000}, 0.02, 8); }
TEST(search_agrees_with_the_model_where_words_are_rare) { CheckList("rare", {1}, {20'000, 4500}, 0.05, 16, 95); }
TEST(search_agrees_with_the_model_where_some_are_rare) { CheckList("some", {3, 2}, {6000, 300}, 0.02, 20, 70); }
TEST(search_agrees_with_the_model_where_all_are_deleted) { CheckList("deleted", {1}, {150}, 1, 10); }

}  // namespace gannet::test
