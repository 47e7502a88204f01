// Compares segments with a naive model: built, merged, and read by many threads.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "../kernel/postings/norm.h"
#include "check.h"
#include "segment_fixture.h"

namespace gannet::segment_test {
namespace {

struct ModelPosting {
  uint32_t frequency = 0;
  std::vector<uint32_t> positions;
  bool operator==(const ModelPosting&) const = default;
};

// The expected contents of a segment of the documents, computed as simply as possible.
struct Model {
  std::map<std::string, std::map<uint32_t, ModelPosting>> terms;
  std::vector<std::vector<uint32_t>> lengths;  // by document and field
  std::vector<uint64_t> weighted;

  Model(const SegmentSchema& schema, const std::vector<TestDocument>& documents) {
    const size_t fields = schema.text_field_weight_units.size();
    for (uint32_t number = 0; number < documents.size(); ++number) {
      std::vector<uint32_t> document_lengths;
      // Parts of words with their weight units, and an empty entry after the parts of each word.
      std::vector<std::pair<std::string, uint32_t>> parts;
      uint32_t field_begin = 0;
      uint64_t sum = 0;
      for (uint32_t field = 0; field < fields; ++field) {
        uint32_t extent = 0;
        for (const auto& [index, text] : documents[number].texts) {
          if (index != field) continue;
          std::istringstream words(text);
          uint32_t position = extent == 0 ? 0 : extent + 1;
          for (std::string word; words >> word; ++position) {
            ModelPosting& posting = terms[word][number];
            posting.frequency += schema.text_field_weight_units[field];
            posting.positions.push_back(field_begin + position);
            extent = position + 1;
            if (word.find('_') == std::string::npos) continue;
            std::istringstream letters(word);
            for (std::string part; std::getline(letters, part, '_');) {
              parts.emplace_back(part, schema.text_field_weight_units[field]);
            }
            parts.emplace_back();
          }
        }
        document_lengths.push_back(extent);
        sum += uint64_t{extent} * schema.text_field_weight_units[field];
        field_begin += extent + 1;
      }
      for (uint32_t place = 0; place < parts.size(); ++place) {
        const auto& [part, units] = parts[place];
        if (part.size() < 2) continue;
        ModelPosting& posting = terms[part][number];
        posting.frequency += units;
        posting.positions.push_back(field_begin + place);
      }
      lengths.push_back(document_lengths);
      weighted.push_back(sum);
    }
  }
};

std::map<uint32_t, ModelPosting> ReadList(const PostingList& list) {
  std::map<uint32_t, ModelPosting> postings;
  uint32_t documents[kBlockSize];
  uint32_t frequencies[kBlockSize];
  for (uint32_t block = 0; block < list.block_count(); ++block) {
    list.DecodeDocuments(block, documents);
    list.DecodeFrequencies(block, frequencies);
    for (uint32_t i = 0; i < list.block_length(block); ++i) {
      ModelPosting posting{frequencies[i], {}};
      list.DecodePositions(block, i, &posting.positions);
      postings[documents[i]] = posting;
    }
  }
  return postings;
}

void CheckColumns(const Segment& segment, const std::vector<TestDocument>& documents) {
  for (uint32_t index = 0; index < segment.meta().columns.size(); ++index) {
    const Column& column = segment.column(index);
    for (uint32_t number = 0; number < documents.size(); ++number) {
      std::set<std::string> keys;
      std::set<double> numbers;
      for (const auto& [which, value] : documents[number].values) {
        if (which != index) continue;
        if (const auto* text = std::get_if<StringValue>(&value)) keys.insert(text->key);
        if (const auto* single = std::get_if<double>(&value)) numbers.insert(*single);
        if (const auto* point = std::get_if<PointValue>(&value)) {
          CHECK_EQ(column.ValueCount(number), 1u);
          CHECK(std::abs(column.Location(number).latitude - point->latitude) < 1e-6);
          CHECK(std::abs(column.Location(number).longitude - point->longitude) < 1e-6);
          numbers.insert(0);
        }
      }
      CHECK_EQ(column.ValueCount(number), keys.size() + numbers.size());
      if (column.ValueCount(number) != keys.size() + numbers.size()) return;
      uint32_t i = 0;
      for (const std::string& key : keys) {
        const uint32_t ordinal = column.Ordinal(number, i++);
        CHECK_EQ(column.Key(ordinal), key);
        CHECK_EQ(column.LowerBound(key), ordinal);
        CHECK(column.Display(ordinal) == key || column.Display(ordinal) == "Key" + key.substr(3));
      }
      if (column.type() == ColumnType::kLocation) continue;
      i = 0;
      for (const double single : numbers) CHECK_EQ(column.Number(number, i++), single);
    }
  }
}

void CheckAgainstModel(const Segment& segment, const SegmentSchema& schema,
                       const std::vector<TestDocument>& documents) {
  const Model model(schema, documents);
  const SegmentMeta& meta = segment.meta();
  CHECK_EQ(meta.document_count, documents.size());
  CHECK_EQ(meta.term_count, model.terms.size());
  std::vector<uint64_t> tokens(schema.text_field_weight_units.size());
  uint64_t weighted_sum = 0;
  for (uint32_t number = 0; number < documents.size(); ++number) {
    for (uint32_t field = 0; field < tokens.size(); ++field) {
      CHECK_EQ(segment.FieldLength(field, number), model.lengths[number][field]);
      tokens[field] += model.lengths[number][field];
    }
    weighted_sum += model.weighted[number];
    CHECK_EQ(segment.norms()[number], EncodeNorm(model.weighted[number]));
    CHECK_EQ(segment.record_numbers()[number], documents[number].record_number);
    CHECK(segment.FindDocument(documents[number].record_number) == number);
  }
  CHECK(!segment.FindDocument(4242424242u));
  CHECK_EQ(meta.weighted_length_sum, weighted_sum);
  for (uint32_t field = 0; field < tokens.size(); ++field) {
    CHECK_EQ(meta.text_fields[field].token_count, tokens[field]);
  }

  auto expected = model.terms.begin();
  for (auto cursor = segment.Terms(""); cursor->Next() && expected != model.terms.end(); ++expected) {
    CHECK_EQ(cursor->term(), expected->first);
    CHECK_EQ(cursor->document_frequency(), expected->second.size());
    const auto postings = ReadList(cursor->Postings());
    CHECK(postings == expected->second);
    CHECK(ReadList(segment.FindTerm(expected->first)) == expected->second);
    uint64_t occurrences = 0;
    for (const auto& [document, posting] : expected->second) occurrences += posting.positions.size();
    CHECK_EQ(segment.FindTerm(expected->first).total_occurrences(), occurrences);
  }
  CHECK(expected == model.terms.end());
  CHECK_EQ(segment.FindTerm("absentword").document_frequency(), 0u);
  CheckColumns(segment, documents);
}

TEST(segment_contents_agree_with_a_naive_model) {
  const TemporaryFolder folder;
  for (const uint32_t count : {1u, 2u, 127u, 700u, 5000u}) {
    const auto documents = RandomDocuments(count, count);
    const auto summary = BuildSegment(folder.File("s"), TestSchema(), EncodeBatch(documents));
    CHECK_EQ(summary.document_count, count);
    CHECK_EQ(VerifySegment(folder.File("s")), "");
    const auto segment = Segment::Open(folder.File("s"));
    CHECK_EQ(summary.file_bytes, segment->file_bytes());
    CHECK_EQ(summary.file_bytes, std::filesystem::file_size(folder.File("s")));
    CHECK_EQ(summary.term_count, segment->meta().term_count);
    CheckAgainstModel(*segment, TestSchema(), documents);
    CHECK_EQ(folder.FileCount(), 1u);
  }
}

TEST(segment_merge_equals_a_build_of_the_live_documents) {
  const TemporaryFolder folder;
  std::mt19937 random(5);
  std::vector<TestDocument> live;
  std::vector<MergeSource> sources;
  for (const uint32_t count : {300u, 1u, 2500u, 40u}) {
    const uint32_t seed = static_cast<uint32_t>(sources.size());
    const auto documents = RandomDocuments(seed, count, seed == 2 ? 300 : 2000);
    const std::string path = folder.File(std::to_string(seed));
    BuildSegment(path, TestSchema(), EncodeBatch(documents));
    MergeSource source{Segment::Open(path), {}};
    if (seed != 0) source.deleted.resize((count + 7) / 8);
    for (uint32_t i = 0; i < count; ++i) {
      if (seed != 0 && (random() % 3 == 0 || (seed == 2 && i < 400))) {
        source.deleted[i / 8] |= static_cast<uint8_t>(1u << (i % 8));
      } else {
        live.push_back(documents[i]);
      }
    }
    sources.push_back(source);
  }
  MergeSegments(folder.File("merged"), TestSchema(), sources);
  CHECK_EQ(VerifySegment(folder.File("merged")), "");
  CheckAgainstModel(*Segment::Open(folder.File("merged")), TestSchema(), live);

}

TEST(segment_merge_stops_when_cancelled_and_leaves_nothing) {
  const TemporaryFolder folder;
  BuildSegment(folder.File("a"), TestSchema(), EncodeBatch(RandomDocuments(2, 50)));
  const volatile bool cancelled = true;
  CHECK_THROWS(kIo, MergeSegments(folder.File("m"), TestSchema(), {{Segment::Open(folder.File("a")), {}}}, &cancelled));
  CHECK_EQ(folder.FileCount(), 1u);
}

TEST(segment_merge_refuses_no_sources_repeated_sources_and_other_schemas) {
  const TemporaryFolder folder;
  BuildSegment(folder.File("a"), TestSchema(), EncodeBatch(RandomDocuments(2, 9)));
  const auto segment = Segment::Open(folder.File("a"));
  const auto merge = [&](const std::vector<MergeSource>& sources, const SegmentSchema& schema) {
    return MergeSegments(folder.File("m"), schema, sources);
  };
  CHECK_THROWS(kInvalidArgument, merge({}, TestSchema()));
  CHECK_THROWS(kInvalidArgument, merge({{segment, {0xff, 0xff}}}, TestSchema()));
  CHECK_THROWS(kInvalidArgument, merge({{segment, {0xff}}}, TestSchema()));
  CHECK_THROWS(kInvalidArgument, merge({{segment, {}}, {segment, {}}}, TestSchema()));
  SegmentSchema other = TestSchema();
  other.text_field_weight_units[0] = 9;
  CHECK_THROWS(kInvalidArgument, merge({{segment, {}}}, other));
  CHECK_EQ(folder.FileCount(), 1u);
}

TEST(segment_is_read_by_many_threads) {
  const TemporaryFolder folder;
  const auto documents = RandomDocuments(8, 800);
  BuildSegment(folder.File("s"), TestSchema(), EncodeBatch(documents));
  const auto segment = Segment::Open(folder.File("s"));
  std::filesystem::remove(folder.File("s"));  // An open segment can be unlinked.
  const Model model(TestSchema(), documents);
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      uint32_t turn = thread;
      for (const auto& [term, postings] : model.terms) {
        if (turn++ % 3 == 0) continue;
        CHECK(ReadList(segment->FindTerm(term)) == postings);
        if (turn % 64 == 0) {
          const auto cursor = segment->Terms(term);
          CHECK(cursor->Next() && cursor->term() == term);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(segment_terms_are_visited_from_a_prefix_on) {
  const TemporaryFolder folder;
  BuildSegment(folder.File("s"), {{1}, {}}, EncodeBatch({{7, {{0, "apple banana cherry"}}, {}}}));
  const auto segment = Segment::Open(folder.File("s"));
  struct Collector : Segment::TermVisitor {
    std::string terms;
    bool Visit(std::string_view term, uint32_t document_frequency) override {
      terms += std::string(term) + std::to_string(document_frequency) + " ";
      return term != "cherry";
    }
  };
  Collector all;
  segment->VisitTerms("", &all);
  CHECK_EQ(all.terms, "apple1 banana1 cherry1 ");
  Collector some;
  segment->VisitTerms("b", &some);
  CHECK_EQ(some.terms, "banana1 cherry1 ");
  Collector none;
  segment->VisitTerms("zebra", &none);
  segment->VisitTerms(std::string(2000, 'z'), &none);
  CHECK_EQ(none.terms, "");
}

TEST(segment_finds_terms_however_long) {
  const TemporaryFolder folder;
  const std::string longest(kTermBytesMax, 'a');
  const std::string longer(5000, 'a');
  const std::string another = std::string(4999, 'a') + "b";
  BuildSegment(folder.File("s"), {{1}, {}},
               EncodeBatch({{1, {{0, longest}}, {}}, {2, {{0, longer}}, {}}, {3, {{0, another}}, {}}}));
  CHECK_EQ(VerifySegment(folder.File("s")), "");
  const auto segment = Segment::Open(folder.File("s"));
  CHECK_EQ(segment->meta().term_count, 3u);
  CHECK_EQ(segment->FindTerm(longest).last_document(0), 0u);
  CHECK_EQ(segment->FindTerm(longer).last_document(0), 1u);
  CHECK_EQ(segment->FindTerm(another).last_document(0), 2u);
}

// A small segment has a table of its terms, a large one looks them up in its file. Both give the same results.
TEST(segment_finds_the_same_terms_with_and_without_a_table) {
  struct Collector : Segment::TermVisitor {
    std::vector<std::string> terms;
    bool Visit(std::string_view term, uint32_t) override {
      terms.emplace_back(term);
      return true;
    }
  };
  for (const uint32_t words : {3u, 2500u, 9000u}) {
    const TemporaryFolder folder;
    std::string text = std::string(5000, 'a') + " run runs running";
    for (uint32_t word = 0; word < words; ++word) text += " w" + std::to_string(word * 7);
    BuildSegment(folder.File("s"), {{1}, {}, "en"}, EncodeBatch({{1, {{0, text}}, {}}}));
    const auto segment = Segment::Open(folder.File("s"));
    CHECK_EQ(segment->has_table(), words < 9000);
    Collector all;
    segment->VisitTerms("", &all);
    CHECK_EQ(all.terms.size(), size_t{words} + 4);
    size_t missing = 0;
    size_t wrong = 0;
    for (const std::string& term : all.terms) missing += segment->FindTerm(term).document_frequency() != 1;
    for (uint32_t word = 0; word < words; ++word) wrong += segment->FindTerm("w" + std::to_string(word * 7 + 1)).document_frequency() != 0;
    CHECK_EQ(missing, 0u);
    CHECK_EQ(wrong, 0u);
    CHECK_EQ(segment->FindTerm(std::string(5000, 'a')).document_frequency(), 1u);
    CHECK(segment->FindEntry(std::string(5001, 'a')).empty());
    CHECK(segment->FindEntry("").empty());
    CHECK(!segment->FindStemGroup("run").empty());
    CHECK(segment->FindStemGroup("w7").empty());
  }
}

TEST(segment_builder_rejects_malformed_batches) {
  const TemporaryFolder folder;
  const auto build = [&](const std::vector<uint8_t>& bytes) {
    return BuildSegment(folder.File("s"), TestSchema(), bytes);
  };
  CHECK_THROWS(kInvalidArgument, build({}));
  CHECK_THROWS(kInvalidArgument, build(EncodeBatch({})));
  CHECK_THROWS(kInvalidArgument, build(EncodeBatch({{1, {{3, "no such field"}}, {}}})));
  CHECK_THROWS(kInvalidArgument, build(EncodeBatch({{1, {}, {{7, 1.0}}}})));
  CHECK_THROWS(kInvalidArgument, build(EncodeBatch({{1, {}, {{0, 1.0}}}})));
  CHECK_THROWS(kInvalidArgument, build(EncodeBatch({{1, {}, {{2, StringValue{"a", ""}}}}})));
  CHECK_THROWS(kInvalidArgument, build(EncodeBatch({{1, {}, {{2, 1.0}, {2, 2.0}}}})));
  CHECK_THROWS(kInvalidArgument, build(EncodeBatch({{1, {}, {{2, std::nan("")}}}})));
  CHECK_THROWS(kInvalidArgument, build(EncodeBatch({{1, {}, {{4, 2.0}}}})));
  CHECK_THROWS(kInvalidArgument, build(EncodeBatch({{1, {}, {{6, PointValue{91, 0}}}}})));
  CHECK_THROWS(kInvalidArgument, build(EncodeBatch({{1, {}, {}}, {1, {}, {}}})));
  auto bytes = EncodeBatch(RandomDocuments(3, 2));
  for (size_t length = 0; length < bytes.size(); ++length) {
    CHECK_THROWS(kInvalidArgument, build({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)}));
  }
  bytes.push_back(0);
  CHECK_THROWS(kInvalidArgument, build(bytes));
  CHECK_EQ(folder.FileCount(), 0u);
}

}  // namespace
}  // namespace gannet::segment_test
