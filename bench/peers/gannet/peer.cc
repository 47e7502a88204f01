// Gannet's engine process of bench/peers: runs the kernel as the service does, from the bytes of plans to the bytes of results.
//
//   peer <corpus.tsv> <queries.tsv> <folder for the index>
//
// engine-process.mjs describes the protocol.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "../../../native-bindings/kernel/query/prepared_query.h"
#include "../../../native-bindings/test/search_support.h"
#include "indexing.h"

namespace {

using namespace gannet;
using namespace gannet::peer;
using namespace gannet::test;
using Clock = std::chrono::steady_clock;

constexpr uint32_t kDeletedEvery = 10;

std::shared_ptr<const Segment> BuildIndex(const std::string& corpus, const std::string& folder) {
  std::ifstream in(corpus);
  ByteWriter documents;
  uint32_t count = 0;
  for (std::string line; std::getline(in, line);) AppendRecord(line, count++, &documents);
  const std::string path = folder + "/gannet.mdb";
  WriteSegment(path, count, documents);
  return Segment::Open(path);
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

// A query with the strings that its plan refers to.
struct Query {
  std::vector<std::vector<std::string>> words;
  QueryPlan plan;
};

void AddPart(const std::string& part, Query* query) {
  if (part[0] == '#') {
    query->plan.filter = {FilterOp::kLess, 0, {{true, std::stod(part.substr(1)), {}}}, {}, {}, 0};
    return;
  }
  const Occur occur = part[0] == '+' ? Occur::kMust : part[0] == '-' ? Occur::kMustNot : Occur::kShould;
  const std::string text = occur == Occur::kShould ? part : part.substr(1);
  const bool has_alternatives = text.find('~') != std::string::npos;
  PlanGroup group{occur, 1, {}};
  query->words.push_back(Split(text, has_alternatives ? '~' : '_'));
  const auto& words = query->words.back();
  if (has_alternatives) {
    for (size_t i = 0; i < words.size(); ++i) {
      group.alternatives.push_back({1 / static_cast<float>(i + 1), {words[i]}, AlternativeKind::kWord});
    }
  } else {
    group.alternatives.push_back({1, {words.begin(), words.end()}, AlternativeKind::kWord});
  }
  query->plan.groups.push_back(std::move(group));
}

std::vector<Query> ReadQueries(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line.substr(line.find('\t') + 1));
  std::vector<Query> queries(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    queries[i].words.reserve(lines[i].size());  // Plans refer to these words, so they must not move.
    for (const std::string& part : Split(lines[i], ' ')) AddPart(part, &queries[i]);
  }
  return queries;
}

void SetCommand(const std::string& command, QueryPlan* plan) {
  plan->size = command == "COUNT" ? 0 : command.starts_with("TOP_100") ? 100 : 10;
  plan->flags = command.ends_with("COUNT") ? uint32_t{kNeedTotal} : 0;
}

}  // namespace

int main(int, char** argv) {
  const auto segment = BuildIndex(argv[1], argv[3]);
  std::vector<uint32_t> deleted;
  for (uint32_t document = 3; document < segment->document_count(); document += kDeletedEvery) {
    deleted.push_back(document);
  }
  const auto all = DeriveGeneration(nullptr, {{segment, {}}}, {}, {}, "");
  const auto rest = DeriveGeneration(all.get(), {}, {}, {{segment, deleted}}, "");
  std::vector<Query> queries = ReadQueries(argv[2]);
  std::cout << "ready\tGannet, k1 " << kSaturationK1 << ", b " << kLengthB << std::endl;
  std::string command;
  std::string view;
  std::string mode;
  size_t first;
  size_t end;
  std::unique_ptr<IndexingThread> indexing;
  while (std::cin >> mode >> command >> view >> first >> end) {
    if (mode == "index") {
      if (command == "start") {
        indexing = std::make_unique<IndexingThread>(argv[1], argv[3]);
      } else {
        std::printf("%.0f\n", indexing->Stop());
        indexing.reset();
      }
      std::printf("done\n");
      std::fflush(stdout);
      continue;
    }
    const Generation& generation = view == "deleted" ? *rest : *all;
    for (size_t i = first; i < end; ++i) {
      SetCommand(command, &queries[i].plan);
      const std::vector<uint8_t> plan = EncodePlan(queries[i].plan);
      const auto start = Clock::now();
      const std::vector<uint8_t> bytes = Search(generation, plan);
      const std::chrono::duration<double, std::nano> time = Clock::now() - start;
      if (mode == "time") {
        std::printf("%.0f\n", time.count());
        continue;
      }
      const Result result = DecodeResult(bytes);
      std::printf("%.0f", command.ends_with("COUNT") ? result.total_count : -1);
      for (const ResultHit& hit : result.hits) std::printf(" %u:%.9g", hit.record_number, hit.score);
      std::printf("\n");
    }
    std::printf("done\n");
    std::fflush(stdout);
  }
}
