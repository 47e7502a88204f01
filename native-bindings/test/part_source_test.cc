// Compares searches of parts of records (pages in their own index) with a simple model, before and after deletions and merges.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "../kernel/sources/part_source.h"
#include "check.h"
#include "search_support.h"

namespace gannet::test {
namespace {

const SegmentSchema kRecordSchema{{1}, {{"brand", ColumnType::kString, false}}};
const SegmentSchema kPageSchema{{1}, {{"record", ColumnType::kNumber, false}, {"place", ColumnType::kNumber, false}}};
const char* const kWords[] = {"sea", "wind", "moss", "cliff", "amber", "quartz", "stone"};

struct Page {
  uint32_t record;
  uint32_t place;
};

// Records and their pages, in two segments each. Deleting records deletes their pages.
class Library {
 public:
  // The first `first_count` records and their pages are in the first segments. Each record has at least `pages_min` pages.
  Library(uint32_t seed, uint32_t record_count, uint32_t first_count, uint32_t pages_min)
      : pages_min_(pages_min), random_(seed) {
    for (const uint32_t begin : {0u, first_count}) {
      const uint32_t end = begin == 0 ? first_count : record_count;
      std::vector<DocumentWriter> records;
      std::vector<DocumentWriter> pages;
      for (uint32_t record = begin; record < end; ++record) AddRecord(record, &records, &pages);
      Add(&records_, kRecordSchema, records);
      Add(&pages_, kPageSchema, pages);
    }
    Publish();
  }

  void Delete(const std::vector<uint32_t>& records) {  // ascending
    deleted_.insert(records.begin(), records.end());
    for (SegmentView& view : records_) {
      std::vector<uint32_t> documents;
      for (const uint32_t record : records) {
        if (const auto document = view.segment->FindDocument(record)) documents.push_back(*document);
      }
      MarkDeleted(documents, &view);
    }
    DeletePages(records);
  }

  // Deletes the pages of the records, but not the records.
  void DeletePages(const std::vector<uint32_t>& records) {  // ascending
    for (SegmentView& view : pages_) MarkDeleted(FindPartDocuments(*view.segment, records), &view);
    Publish();
  }

  void Merge() {
    Merge(kRecordSchema, &records_);
    Merge(kPageSchema, &pages_);
    Publish();
  }

  uint32_t Below(uint32_t end) { return std::uniform_int_distribution<uint32_t>(0, end - 1)(random_); }
  const Generation& records() const { return *record_generation_; }
  const Generation& pages() const { return *page_generation_; }
  const Page& page(uint32_t number) const { return all_pages_.at(number); }
  bool is_deleted(uint32_t record) const { return deleted_.contains(record); }

 private:
  std::string Text(uint32_t words_max) {
    std::string text;
    for (uint32_t i = Below(words_max); i > 0; --i) text += std::string(kWords[std::min(Below(7), Below(7))]) + " ";
    return text;
  }

  void AddRecord(uint32_t record, std::vector<DocumentWriter>* records, std::vector<DocumentWriter>* pages) {
    records->push_back(DocumentWriter(record).Text(0, Text(4)).String(0, Below(2) == 0 ? "acme" : "bolt"));
    for (uint32_t count = pages_min_ + Below(6 - pages_min_), place = 1; place <= count; ++place) {
      const auto number = static_cast<uint32_t>(all_pages_.size());
      all_pages_[number] = {record, place};
      pages->push_back(DocumentWriter(number).Text(0, Text(9)).Number(0, record).Number(1, place));
    }
  }

  void Add(std::vector<SegmentView>* views, const SegmentSchema& schema, const std::vector<DocumentWriter>& documents) {
    views->push_back({folder_.Build(schema, documents), {}, Below(2) == 0 ? std::make_shared<PartHomes>() : nullptr});
    views->back().deletions.chunks.resize((documents.size() + kWindowSize - 1) / kWindowSize);
  }

  static void MarkDeleted(const std::vector<uint32_t>& documents, SegmentView* view) {
    const auto generation = DeriveGeneration(nullptr, {*view}, {}, {{view->segment, documents}}, "");
    *view = generation->segments[0];
  }

  void Merge(const SegmentSchema& schema, std::vector<SegmentView>* views) {
    std::vector<MergeSource> sources;
    std::vector<std::vector<uint8_t>> bitmaps;
    for (const SegmentView& view : *views) {
      std::vector<uint8_t>& bits = bitmaps.emplace_back((view.segment->document_count() + 7) / 8);
      for (uint32_t i = 0; i < view.segment->document_count(); ++i) {
        if (view.deletions.Contains(i)) bits[i / 8] |= static_cast<uint8_t>(1 << (i % 8));
      }
    }
    for (size_t i = 0; i < views->size(); ++i) sources.push_back({(*views)[i].segment, bitmaps[i]});
    const std::string path = merged_folder_ / (std::to_string(merges_++) + ".mdb");
    MergeSegments(path, schema, sources, nullptr);
    views->assign(1, {Segment::Open(path), {}});
    views->back().deletions.chunks.resize((views->back().segment->document_count() + kWindowSize - 1) / kWindowSize);
  }

  void Publish() {
    record_generation_ = DeriveGeneration(nullptr, records_, {}, {}, "");
    page_generation_ = DeriveGeneration(nullptr, pages_, {}, {}, "");
  }

  uint32_t pages_min_;
  std::mt19937 random_;
  TemporaryFolder folder_;
  std::filesystem::path merged_folder_ = folder_.path();
  uint32_t merges_ = 0;
  std::vector<SegmentView> records_;
  std::vector<SegmentView> pages_;
  std::shared_ptr<const Generation> record_generation_;
  std::shared_ptr<const Generation> page_generation_;
  std::map<uint32_t, Page> all_pages_;
  std::set<uint32_t> deleted_;
};

struct BestPage {
  float score;
  uint32_t place;
};

// Returns the best page of each record from a search of all pages.
std::map<uint32_t, BestPage> ModelOf(const Library& library, QueryPlan plan) {
  plan.size = 1 << 20;
  std::map<uint32_t, BestPage> best;
  for (const ResultHit& hit : RunSearch(library.pages(), plan).hits) {
    const Page& page = library.page(hit.record_number);
    CHECK(!library.is_deleted(page.record));
    const auto [kept, is_new] = best.try_emplace(page.record, BestPage{hit.score, page.place});
    if (is_new) continue;
    BestPage& other = kept->second;
    if (hit.score > other.score || (hit.score == other.score && page.place < other.place)) other = {hit.score, page.place};
  }
  return best;
}

QueryPlan PagePlan(Library* library) {
  QueryPlan plan;
  const uint32_t groups = 1 + library->Below(3);
  for (uint32_t i = 0; i < groups; ++i) {
    plan.groups.push_back(Word(kWords[library->Below(7)], library->Below(5) == 0 ? Occur::kMust : Occur::kShould));
    if (library->Below(5) == 0) plan.groups.back().alternatives[0].terms.push_back(kWords[library->Below(7)]);
    plan.sequence.push_back(static_cast<uint16_t>(i));
  }
  plan.proximity_weight = library->Below(2) == 0 ? 0.2f : 0;
  return plan;
}

// Checks a search of pages alone: each record is a hit once, with its best page.
void CheckPages(Library* library) {
  const QueryPlan pages = PagePlan(library);
  const auto expected = ModelOf(*library, pages);
  QueryPlan plan;
  plan.flags = kNeedTotal;
  plan.size = 1 << 20;
  EvaluatorScratch scratch;
  std::vector<PostingCursor> cursors;
  PartSource source(ScoreKind::kDocument, &library->records(), &plan, {&library->pages(), &pages}, {}, &scratch, &cursors);
  const Result result = RunSearch(library->records(), plan, {{{&source, 1, 0, true}}, 1, 0});
  CHECK_EQ(result.total_count, static_cast<double>(expected.size()));
  CHECK_EQ(result.hits.size(), expected.size());
  for (size_t i = 0; i < result.hits.size(); ++i) {
    const auto found = expected.find(result.hits[i].record_number);
    CHECK(found != expected.end());
    if (found == expected.end()) continue;
    CHECK(result.hits[i].score == found->second.score);
    CHECK(result.scores[2 * i + 1].place == found->second.place);
    if (i > 0) CHECK(result.hits[i].score <= result.hits[i - 1].score);
  }
}

// Checks a search of pages beside the words of the fields, with a filter on the records.
void CheckBesideWords(Library* library) {
  const QueryPlan pages = PagePlan(library);
  const auto expected = ModelOf(*library, pages);
  QueryPlan plan = PagePlan(library);
  plan.flags = kNeedTotal;
  plan.size = 1 << 20;
  plan.filter = {FilterOp::kEqual, 0, {{false, 0, "acme"}}, {}, {}, 0};
  EvaluatorScratch scratch;
  std::vector<PostingCursor> cursors;
  PartSource source(ScoreKind::kDocument, &library->records(), &plan, {&library->pages(), &pages}, {}, &scratch, &cursors);
  std::map<uint32_t, float> sums;
  for (const ResultHit& hit : RunSearch(library->records(), plan).hits) sums[hit.record_number] = 0.5f * hit.score;
  QueryPlan everything;
  everything.size = 1 << 20;
  everything.filter = plan.filter;
  for (const ResultHit& hit : RunSearch(library->records(), everything).hits) {
    if (const auto best = expected.find(hit.record_number); best != expected.end()) {
      sums[hit.record_number] += 0.5f * best->second.score;
    }
  }
  const Result result = RunSearch(library->records(), plan, {{{&source, 0.5f, 0, true}}, 0.5f, 0});
  CHECK_EQ(result.total_count, static_cast<double>(sums.size()));
  for (const ResultHit& hit : result.hits) CHECK(std::abs(hit.score - sums.at(hit.record_number)) < 1e-6f);
}

// Checks a search that scores by the stronger of pages and text, each with a floor, with a filter on the records, and its pages of hits.
void CheckStrongest(Library* library) {
  const QueryPlan pages = PagePlan(library);
  const auto expected = ModelOf(*library, pages);
  const float page_floor = library->Below(2) == 0 ? 0 : 0.3f;
  const float text_floor = library->Below(2) == 0 ? 0 : 0.3f;
  const float full = library->Below(2) == 0 ? 1 : 0.5f;
  QueryPlan plan = PagePlan(library);
  if (library->Below(3) == 0) plan.groups.push_back(Word(kWords[library->Below(7)], Occur::kMustNot));
  plan.size = 1 << 20;
  plan.flags = kNeedTotal;
  plan.filter = {FilterOp::kEqual, 0, {{false, 0, "acme"}}, {}, {}, 0};
  std::map<uint32_t, float> strongest;
  for (const ResultHit& hit : RunSearch(library->records(), plan).hits) {
    if (hit.score >= text_floor) strongest[hit.record_number] = hit.score;
  }
  QueryPlan others;
  others.size = 1 << 20;
  others.filter = plan.filter;
  for (const PlanGroup& group : plan.groups) {
    if (group.occur == Occur::kMustNot) others.groups.push_back(group);
  }
  for (const ResultHit& hit : RunSearch(library->records(), others).hits) {
    const auto best = expected.find(hit.record_number);
    if (best == expected.end() || best->second.score < page_floor * full) continue;
    float& score = strongest[hit.record_number];
    score = std::max(score, best->second.score / full);
  }
  BesideWords parts;
  const std::shared_ptr<const Generation> part(&library->pages(), [](const Generation*) {});
  parts.parts = {{ScoreKind::kDocument, part, EncodePlan(pages), page_floor, full}};
  parts.text_floor = text_floor;
  plan.facets = {{0, 10}};
  const auto search = [&] { return DecodeResult(SearchBesideWords(library->records(), EncodePlan(plan), parts)); };
  const Result whole = search();
  CHECK_EQ(whole.total_count, static_cast<double>(strongest.size()));
  for (const ResultHit& hit : whole.hits) {
    CHECK(std::abs(hit.score - std::min(1.0f, strongest.at(hit.record_number))) < 1e-6f);
  }
  plan.flags = library->Below(2) * kNeedTotal;
  plan.skip = library->Below(4);
  plan.size = library->Below(20);
  if (library->Below(3) != 0) plan.facets.clear();
  const Result page = search();
  const size_t behind = whole.hits.size() - std::min<size_t>(plan.skip, whole.hits.size());
  const size_t shown = std::min<size_t>(behind, plan.size);
  CHECK_EQ(page.hits.size(), shown);
  // Hits that are only counted are in the total, too.
  if (plan.flags != 0) CHECK_EQ(page.total_count, whole.total_count);
  if (!plan.facets.empty()) CHECK(page.facets == whole.facets);
  for (size_t i = 0; i < page.hits.size(); ++i) {
    CHECK_EQ(page.hits[i].record_number, whole.hits[plan.skip + i].record_number);
    CHECK(page.hits[i].score == whole.hits[plan.skip + i].score);
    for (size_t source = 0; source < 3; ++source) {
      const SourceScore& score = page.scores[3 * i + source];
      const SourceScore& same = whole.scores[3 * (plan.skip + i) + source];
      CHECK(score.score == same.score && score.place == same.place);
    }
  }
  // With one hit per brand, each brand has its best record, whichever source found it and however many better records another brand has.
  std::set<uint32_t> of_acme;
  for (const ResultHit& hit : RunSearch(library->records(), [&] {
         QueryPlan acme;
         acme.size = 1 << 20;
         acme.filter = plan.filter;
         return acme;
       }()).hits) {
    of_acme.insert(hit.record_number);
  }
  plan.filter = {};
  plan.facets.clear();
  plan.skip = 0;
  plan.size = 1 << 20;
  std::map<bool, ResultHit> best;
  for (const ResultHit& hit : search().hits) best.try_emplace(of_acme.contains(hit.record_number), hit);
  plan.is_distinct = true;
  plan.size = 2;
  const Result distinct = search();
  CHECK_EQ(distinct.hits.size(), best.size());
  for (const ResultHit& hit : distinct.hits) {
    const ResultHit& expected_hit = best[of_acme.contains(hit.record_number)];
    CHECK_EQ(hit.record_number, expected_hit.record_number);
    CHECK(hit.score == expected_hit.score);
  }
}

}  // namespace

TEST(part_search_agrees_with_the_model) {
  // Records without pages; all with some, so that many records have the same order in both; and a small segment beside a large one.
  Library some(1, 5000, 2500, 0);
  Library all(2, 300, 150, 1);
  Library uneven(3, 2000, 1980, 1);
  for (Library* each : {&some, &all, &uneven}) {
    Library& library = *each;
    const auto check = [&] {
      for (uint32_t i = 0; i < 12; ++i) {
        CheckPages(&library);
        CheckBesideWords(&library);
        CheckStrongest(&library);
      }
    };
    check();
    library.Delete({3, 7, 20, 151, 200, 299});
    check();
    library.Merge();
    check();
    library.Delete({1, 150});
    library.DeletePages({2, 5, 6, 90, 91, 92, 93, 160, 161});
    check();
  }
}

// More than eight times as many pages as wanted records belong to one record. Their scores were taken for those of other records, so all pages were searched again.
TEST(part_source_begins_with_the_bar_of_so_many_records) {
  constexpr uint32_t kAlike = 200;
  constexpr uint32_t kRecords = 100;
  TemporaryFolder folder;
  std::vector<DocumentWriter> records;
  std::vector<DocumentWriter> pages;
  for (uint32_t record = 0; record < kRecords; ++record) records.push_back(DocumentWriter(record).Text(0, "x").String(0, "acme"));
  for (uint32_t page = 0; page < kAlike + kRecords - 1; ++page) {
    const uint32_t record = page < kAlike ? 0 : page - kAlike + 1;
    std::string text = "sea";
    for (uint32_t i = 0; i < record; ++i) text += " wind";
    pages.push_back(DocumentWriter(page).Text(0, text).Number(0, record).Number(1, page));
  }
  const auto generation = DeriveGeneration(nullptr, {{folder.Build(kRecordSchema, records), {}}}, {}, {}, "");
  const auto part = DeriveGeneration(nullptr, {{folder.Build(kPageSchema, pages), {}}}, {}, {}, "");
  const QueryPlan everything;
  QueryPlan plan;
  plan.groups = {Word("sea")};
  EvaluatorScratch scratch;
  std::vector<PostingCursor> cursors;
  PartSource source(ScoreKind::kDocument, generation.get(), &everything, {part.get(), &plan}, {.wanted = 2, .all_matches = false}, &scratch, &cursors);
  CHECK(source.Reached(2) > 0);
  CHECK(source.ScoreOf(0, 0).score > source.ScoreOf(0, 1).score);
  std::string explained;
  source.Explain(0, 0, &explained);
  const size_t at = explained.find("\"evaluated\":");
  CHECK(at != std::string::npos);
  // The pages are evaluated once, with hardly any of the other records.
  if (at != std::string::npos) CHECK(std::stoul(explained.substr(at + 12)) < kAlike + kRecords / 2);
}

TEST(part_documents_of_records_are_found) {
  TemporaryFolder folder;
  std::vector<DocumentWriter> pages;
  for (uint32_t i = 0; i < 10; ++i) pages.push_back(DocumentWriter(i).Text(0, "sea").Number(0, i / 3).Number(1, i % 3));
  const auto segment = folder.Build(kPageSchema, pages);
  const std::vector<uint32_t> records = {0, 2, 9};
  CHECK((FindPartDocuments(*segment, records) == std::vector<uint32_t>{0, 1, 2, 6, 7, 8}));
}

// An index without the columns that lead to records is no part.
TEST(part_source_refuses_an_index_without_part_columns) {
  TemporaryFolder folder;
  const auto segment = folder.Build(kRecordSchema, {DocumentWriter(1).Text(0, "sea").String(0, "acme")});
  const auto generation = DeriveGeneration(nullptr, {{segment, {}}}, {}, {}, "");
  QueryPlan plan;
  plan.groups = {Word("sea")};
  EvaluatorScratch scratch;
  std::vector<PostingCursor> cursors;
  CHECK_THROWS(kInvalidArgument,
               PartSource(ScoreKind::kDocument, generation.get(), &plan, {generation.get(), &plan}, {}, &scratch, &cursors));
  CHECK_THROWS(kInvalidArgument, FindPartDocuments(*segment, {}));
}

}  // namespace gannet::test
