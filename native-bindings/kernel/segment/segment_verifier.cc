#include <algorithm>
#include <array>
#include <vector>

#include "../common/error.h"
#include "../postings/norm.h"
#include "../vocabulary/stem_group.h"
#include "segment.h"

namespace gannet {
namespace {

// Thrown only within this file: says what is wrong, as a sentence.
struct Finding {
  std::string text;
};

void Expect(bool condition, const std::string& what) {
  if (!condition) throw Finding{what};
}

class Verifier {
 public:
  explicit Verifier(const Segment& segment)
      : segment_(segment), meta_(segment.meta()), stem_groups_(meta_.language) {}

  void Run() {
    VerifyLengths();
    VerifyRecordNumbers();
    for (uint32_t column = 0; column < meta_.columns.size(); ++column) VerifyColumn(column);
    uint64_t terms = 0;
    const auto cursor = segment_.Terms({});
    while (cursor->Next()) {
      ++terms;
      Expect(!cursor->term().empty() && cursor->term().size() <= kTermBytesMax, "a term has an impossible length");
      VerifyList(cursor->Postings(), "term '" + std::string(cursor->term()) + "': ");
      stem_groups_.Add(cursor->term(), cursor->document_frequency());
      spelling_.Add(cursor->term());
    }
    Expect(terms == meta_.term_count, "the number of terms is not what the meta data says");
    VerifyStemGroups();
    VerifySpelling();
  }

 private:
  void VerifyLengths() {
    const uint32_t fields = static_cast<uint32_t>(meta_.text_fields.size());
    std::vector<uint64_t> tokens(fields, 0);
    uint64_t weighted_sum = 0;
    for (uint32_t document = 0; document < meta_.document_count; ++document) {
      uint64_t weighted = 0;
      for (uint32_t field = 0; field < fields; ++field) {
        const uint32_t length = segment_.FieldLength(field, document);
        tokens[field] += length;
        weighted += uint64_t{length} * meta_.text_fields[field].weight_units;
      }
      weighted_sum += weighted;
      Expect(segment_.norms()[document] == EncodeNorm(weighted), "a length code does not fit the field lengths");
    }
    Expect(weighted_sum == meta_.weighted_length_sum, "the sum of lengths is not what the meta data says");
    for (uint32_t field = 0; field < fields; ++field) {
      Expect(tokens[field] == meta_.text_fields[field].token_count, "token counts are not what the meta data says");
    }
  }

  void VerifyRecordNumbers() {
    std::vector<uint32_t> sorted(segment_.record_numbers().begin(), segment_.record_numbers().end());
    std::ranges::sort(sorted);
    Expect(std::ranges::adjacent_find(sorted) == sorted.end(), "a record number occurs twice");
    for (uint32_t document = 0; document < meta_.document_count; ++document) {
      Expect(segment_.FindDocument(segment_.record_numbers()[document]) == document, "a record number is not found");
    }
  }

  void VerifyColumn(uint32_t index) {
    const Column& column = segment_.column(index);
    const std::string where = "column " + meta_.columns[index].name + ": ";
    for (uint32_t ordinal = 1; ordinal < column.dictionary_size(); ++ordinal) {
      Expect(column.Key(ordinal - 1) < column.Key(ordinal), where + "the dictionary is out of order");
    }
    for (uint32_t begin = 0; begin < meta_.document_count; begin += kColumnBlockSize) {
      double minimum = 0;
      double maximum = -1;
      const bool ranged = column.BlockRange(begin / kColumnBlockSize, &minimum, &maximum);
      const uint32_t end = std::min(begin + kColumnBlockSize, meta_.document_count);
      for (uint32_t document = begin; document < end; ++document) {
        const uint32_t count = column.ValueCount(document);
        Expect(count == 0 || column.many() || count == 1, where + "two values in a single-valued column");
        if (column.type() == ColumnType::kLocation) {
          const auto point = column.points()[document];
          Expect(count == 0 || (std::abs(int64_t{point.latitude}) <= 900000000 &&
                                std::abs(int64_t{point.longitude}) <= 1800000000),
                 where + "a place outside the globe");
          continue;
        }
        for (uint32_t i = 0; i < count; ++i) {
          if (column.type() == ColumnType::kString) {
            const uint32_t raw = column.RawOrdinal((column.many() ? column.ValueRange(document).first : document) + i);
            Expect(raw < column.dictionary_size(), where + "an ordinal outside the dictionary");
            Expect(i == 0 || column.Ordinal(document, i - 1) < raw, where + "values of a document out of order");
          } else {
            const double number = column.Number(document, i);
            Expect(ranged && minimum <= number && number <= maximum, where + "a number outside its block's range");
            Expect(i == 0 || column.Number(document, i - 1) < number, where + "values of a document out of order");
          }
        }
      }
    }
  }

  void VerifyList(const PostingList& list, const std::string& where) {
    std::array<uint32_t, kBlockSize> documents;
    std::array<uint32_t, kBlockSize> frequencies;
    std::array<uint32_t, kBlockSize> ends;
    std::array<Impact, kImpactsPerList> list_scratch;
    std::array<Impact, kImpactsPerBlock> block_scratch;
    const auto list_impacts = list.ListImpacts(&list_scratch);
    uint64_t total = 0;
    int64_t previous = -1;
    for (uint32_t block = 0; block < list.block_count(); ++block) {
      const uint32_t length = list.block_length(block);
      list.DecodeDocuments(block, documents.data());
      list.DecodeFrequencies(block, frequencies.data());
      list.DecodeBlockPositions(block, ends.data(), &positions_);
      const auto impacts = list.BlockImpacts(block, &block_scratch);
      uint32_t begin = 0;
      for (uint32_t i = 0; i < length; ++i) {
        const uint32_t document = documents[i];
        Expect(document > previous, where + "documents out of order");
        previous = document;
        Expect(Bounded(impacts, frequencies[i], document) && Bounded(list_impacts, frequencies[i], document),
               where + "a posting beyond its impacts");
        const auto positions = std::span<const uint32_t>(positions_).subspan(begin, ends[i] - begin);
        begin = ends[i];
        Expect(FitsPositions(frequencies[i], positions, document), where + "a frequency does not fit positions");
      }
      total += positions_.size();
      Expect(documents[length - 1] == list.last_document(block), where + "the last document of a block is wrong");
    }
    Expect(total == list.total_occurrences(), where + "the number of occurrences is wrong");
  }

  // Stem groups and spelling are made only from the terms.
  void VerifyStemGroups() {
    stem_groups_.Write([&](std::string_view stem, std::span<const uint8_t> value) {
      Expect(std::ranges::equal(segment_.FindStemGroup(stem), value), "the terms of a stem are not those of the segment");
    });
  }

  void VerifySpelling() {
    const SpellingIndex& stored = segment_.spelling();
    const std::vector<uint32_t> order = spelling_.Backwards();
    bool same = stored.size() == order.size();
    for (uint32_t i = 0; same && i < order.size(); ++i) {
      same = stored.term(i) == spelling_.term(i) && stored.backward_number(i) == order[i];
    }
    Expect(same, "the spelling index is not of the segment's terms");
  }

  bool Bounded(std::span<const Impact> impacts, uint32_t frequency, uint32_t document) const {
    const uint32_t saturated = std::min(frequency, 65535u);
    const uint8_t norm = segment_.norms()[document];
    return std::ranges::any_of(impacts, [&](Impact impact) {
      return impact.frequency >= saturated && impact.norm <= norm;
    });
  }

  // The parts of the words of each field come after all fields.
  bool FitsPositions(uint32_t frequency, std::span<const uint32_t> positions, uint32_t document) const {
    const std::vector<TextFieldMeta>& fields = meta_.text_fields;
    const auto count = static_cast<uint32_t>(fields.size());
    uint64_t sum = 0;
    uint32_t place = 0;  // the fields, and their parts
    uint64_t begin = 0;
    int64_t previous = -1;
    for (const uint32_t position : positions) {
      if (position <= previous) return false;
      previous = position;
      for (; place < 2 * count && position >= begin + ExtentOf(place, document); ++place) {
        begin += ExtentOf(place, document) + (place < count ? 1 : 0);
      }
      if (position < begin || place == 2 * count) return false;
      sum += fields[place % count].weight_units;
    }
    return sum == frequency;
  }

  uint32_t ExtentOf(uint32_t place, uint32_t document) const {
    const auto count = static_cast<uint32_t>(meta_.text_fields.size());
    return place < count ? segment_.FieldLength(place, document) : segment_.PartLength(place - count, document);
  }

  const Segment& segment_;
  const SegmentMeta& meta_;
  std::vector<uint32_t> positions_;
  StemGroupWriter stem_groups_;
  SpellingIndexWriter spelling_;
};

}  // namespace

std::string VerifySegment(const std::string& path) {
  try {
    Verifier(*Segment::Open(path)).Run();
    return {};
  } catch (const Finding& finding) {
    return finding.text;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kDamaged && error.code() != ErrorCode::kUnsupportedFormat) throw;
    return error.what();
  }
}

}  // namespace gannet
