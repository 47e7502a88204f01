// Compares searches over the pages of records with a list in which each page is a record, to bound the cost of parts.
//
//   make -C native-bindings build-test/bench-part_bench
//   native-bindings/build-test/bench-part_bench [records] [pages of each] [words of a page] [turns]
//
// The words of a page come from a Zipf distribution, but one in four comes from twenty words of its record, as the pages of a
// document share words. Titles have eight words. A query is one to three adjacent words of a random page, each with two
// alternatives of lower weight. Each runs with totals for ten hits and for none, over titles and pages in turns with the list of
// pages. Prints the mean of both over all queries, by the number of words, in microseconds of one thread.
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <numeric>
#include <sstream>

#include "../kernel/engine/search.h"
#include "synthetic_list.h"

namespace {

using namespace gannet;
using namespace gannet::bench;

constexpr uint32_t kQueries = 300;
constexpr uint32_t kTitleWords = 8;
constexpr uint32_t kOwnWords = 20;  // per record

class Library {
 public:
  Library(uint32_t records, uint32_t pages, uint32_t words) : random_(7) {
    std::vector<DocumentWriter> titles;
    std::vector<DocumentWriter> documents;
    for (uint32_t record = 0; record < records; ++record) {
      std::vector<std::string> own;
      for (uint32_t i = 0; i < kOwnWords; ++i) own.push_back(zipf_.Word(&random_));
      titles.push_back(DocumentWriter(record).Text(0, Text(own, kTitleWords)));
      for (uint32_t page = 0; page < pages; ++page) {
        const uint32_t number = record * pages + page;
        const std::string text = Text(own, words / 2 + random_() % (words + 1));
        if (random_() % 50 == 0) AddQuery(text);
        documents.push_back(DocumentWriter(number).Text(0, text).Number(0, record).Number(1, page + 1));
      }
    }
    const SegmentSchema schema{{1}, {{"record", ColumnType::kNumber, false}, {"place", ColumnType::kNumber, false}}};
    pages_ = DeriveGeneration(nullptr, {{folder_.Build(schema, documents), {}, std::make_shared<PartHomes>()}}, {}, {}, "");
    records_ = DeriveGeneration(nullptr, {{folder_.Build({{1}, {}}, titles), {}}}, {}, {}, "");
    std::shuffle(queries_.begin(), queries_.end(), random_);
    queries_.resize(std::min<size_t>(queries_.size(), kQueries));
  }

  const Generation& records() const { return *records_; }
  const std::shared_ptr<const Generation>& pages() const { return pages_; }
  const std::vector<QueryPlan>& queries() const { return queries_; }

 private:
  std::string Text(const std::vector<std::string>& own, uint32_t length) {
    std::string text;
    for (uint32_t i = 0; i < length; ++i) text += (random_() % 4 == 0 ? own[random_() % own.size()] : zipf_.Word(&random_)) + " ";
    return text;
  }

  void AddQuery(const std::string& text) {
    const uint32_t words = 1 + random_() % 3;
    std::istringstream rest(text.substr(text.find(' ') + 1));
    std::string word;
    QueryPlan plan = Top(10, {});
    for (uint32_t i = 0; i < words && rest >> word; ++i) {
      // Keeps the words until the program ends, as plans hold views of them.
      const auto keep = [&](std::string kept) { return std::string_view(*words_.emplace(words_.end(), std::move(kept))); };
      plan.groups.push_back(Group(Occur::kShould, {{1, {keep(word)}}, {0.7f, {keep(zipf_.Word(&random_))}}, {0.4f, {keep(zipf_.Word(&random_))}}}));
      plan.sequence.push_back(static_cast<uint16_t>(i));
    }
    plan.proximity_weight = 0.2f;
    if (!plan.groups.empty()) queries_.push_back(plan);
  }

  std::mt19937 random_;
  ZipfWords zipf_;
  TemporaryFolder folder_;
  std::shared_ptr<const Generation> records_;
  std::shared_ptr<const Generation> pages_;
  std::list<std::string> words_;
  std::vector<QueryPlan> queries_;
};

double Microseconds(const auto& action) {
  const auto start = Clock::now();
  action();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// Compares all queries with `size` hits. The least time of all turns counts for a query.
void Compare(const Library& library, uint32_t size, uint32_t turns) {
  std::map<size_t, std::vector<double>> list_times;
  std::map<size_t, std::vector<double>> part_times;
  for (QueryPlan plan : library.queries()) {
    plan.size = size;
    const std::vector<uint8_t> bytes = EncodePlan(plan);
    std::vector<double> list;
    std::vector<double> part;
    for (uint32_t turn = 0; turn < turns; ++turn) {
      list.push_back(Microseconds([&] { Search(*library.pages(), bytes); }));
      part.push_back(Microseconds([&] {
        BesideWords beside;
        beside.parts.push_back({ScoreKind::kDocument, library.pages(), bytes, 0, 1});
        SearchBesideWords(library.records(), bytes, std::move(beside));
      }));
    }
    list_times[plan.groups.size()].push_back(*std::ranges::min_element(list));
    part_times[plan.groups.size()].push_back(*std::ranges::min_element(part));
  }
  const auto mean = [](const std::vector<double>& times) {
    return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  };
  double list_sum = 0;
  double part_sum = 0;
  for (const auto& [words, times] : list_times) {
    list_sum += mean(times) * static_cast<double>(times.size());
    part_sum += mean(part_times[words]) * static_cast<double>(times.size());
    std::printf("%zu words: list of pages %8.1f us, records with pages %8.1f us, rate %.2f of the list's\n", words, mean(times),
                mean(part_times[words]), mean(times) / mean(part_times[words]));
  }
  std::printf("all: rate %.2f of the list's\n", list_sum / part_sum);
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int index, uint32_t otherwise) {
    return argc > index ? static_cast<uint32_t>(std::atoi(argv[index])) : otherwise;
  };
  const uint32_t records = argument(1, 10'000);
  const uint32_t pages = argument(2, 20);
  const Library library(records, pages, argument(3, 200));
  const uint32_t turns = argument(4, 7);
  std::printf("%s; %u records of %u pages, %.0f words a page, %zu queries\n", Processor().c_str(), records, pages,
              library.pages()->average_length, library.queries().size());
  for (const uint32_t size : {10u, 0u}) {
    std::printf("%s\n", size == 0 ? "the total alone" : "ten hits and the total");
    Compare(library, size, turns);
  }
}
