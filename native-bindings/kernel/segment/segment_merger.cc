#include <algorithm>
#include <array>
#include <queue>
#include <utility>

#include "../postings/posting_writer.h"
#include "segment_builder.h"
#include "segment_writer.h"

namespace gannet {
namespace {

constexpr uint32_t kNoDocument = 0xffffffffu;
constexpr uint64_t kMergedSlackBytes = 64u << 20;
// Ordinals of 1 byte may become 4 bytes.
constexpr uint64_t kMergedSizeFactor = 4;

struct Source {
  const Segment* segment;
  std::vector<uint32_t> new_document;  // by document; kNoDocument if deleted
};

class Merger {
 public:
  Merger(const SegmentSchema& schema, const std::vector<MergeSource>& sources, const volatile bool* cancelled)
      : schema_(schema), cancelled_(cancelled) {
    uint64_t count = 0;
    for (const MergeSource& source : sources) {
      CheckSource(source);
      file_bytes_ += source.segment->file_bytes();
      const uint32_t documents = source.segment->document_count();
      Source& added = sources_.emplace_back(Source{source.segment.get(), {}});
      added.new_document.reserve(documents);
      for (uint32_t document = 0; document < documents; ++document) {
        const bool deleted = !source.deleted.empty() && (source.deleted[document / 8] >> (document % 8) & 1) != 0;
        added.new_document.push_back(deleted ? kNoDocument : static_cast<uint32_t>(count++));
        if (count > kMaxDocumentsPerSegment) throw Error(ErrorCode::kLimit, "more than 2^24 documents in a segment");
      }
    }
    if (count == 0) throw Error(ErrorCode::kInvalidArgument, "a merge that leaves no document");
    document_count_ = static_cast<uint32_t>(count);
  }

  SegmentSummary Merge(const std::string& path) {
    const uint64_t fixed_bytes = 64 + 4 * schema_.text_field_weight_units.size() + 32 * schema_.columns.size();
    SegmentWriter writer(path, schema_, document_count_,
                         file_bytes_ * kMergedSizeFactor + document_count_ * fixed_bytes + kMergedSlackBytes);
    // The writer watches for faults from here on. Segments that had a fault before would not be noticed by it.
    for (const Source& source : sources_) RequireReadable(*source.segment);
    for (uint32_t column = 0; column < schema_.columns.size(); ++column) {
      ColumnWriter values(schema_.columns[column].type, schema_.columns[column].many);
      for (const Source& source : sources_) CopyColumn(source, column, &values);
      writer.WriteColumn(column, &values);
    }
    for (uint32_t field = 0; field < schema_.text_field_weight_units.size(); ++field) {
      writer.WriteFieldLengths(field, Collect<uint32_t>([&](const Source& source, uint32_t document) {
                                 return source.segment->FieldLength(field, document);
                               }));
    }
    for (uint32_t field = 0; field < schema_.text_field_weight_units.size(); ++field) {
      writer.WritePartLengths(field, Collect<uint32_t>([&](const Source& source, uint32_t document) {
                                return source.segment->PartLength(field, document);
                              }));
    }
    const auto norms = Collect<uint8_t>([](const Source& source, uint32_t document) {
      return source.segment->norms()[document];
    });
    writer.WriteNorms(norms);
    MergeTerms(norms, &writer);
    SegmentSummary summary = writer.Finish(Collect<uint32_t>([](const Source& source, uint32_t document) {
      return source.segment->record_numbers()[document];
    }));
    summary.lost_terms = std::move(lost_terms_);
    return summary;
  }

 private:
  static void RequireReadable(const Segment& segment) {
    if (segment.is_unreadable()) throw Error(ErrorCode::kUnreadable, "a merge of a segment that cannot be read");
  }

  void CheckSource(const MergeSource& source) const {
    if (source.segment == nullptr) throw Error(ErrorCode::kInvalidArgument, "a merge of no segment");
    RequireReadable(*source.segment);
    const SegmentMeta& meta = source.segment->meta();
    bool same = meta.text_fields.size() == schema_.text_field_weight_units.size() &&
                meta.columns.size() == schema_.columns.size();
    for (size_t i = 0; same && i < meta.text_fields.size(); ++i) {
      same = meta.text_fields[i].weight_units == schema_.text_field_weight_units[i];
    }
    for (size_t i = 0; same && i < meta.columns.size(); ++i) {
      same = meta.columns[i].name == schema_.columns[i].name && meta.columns[i].type == schema_.columns[i].type &&
             meta.columns[i].many == schema_.columns[i].many;
    }
    same = same && meta.language == schema_.language;
    if (!same) throw Error(ErrorCode::kInvalidArgument, "a merge of segments with different schemas");
    if (!source.deleted.empty() && source.deleted.size() != (size_t{meta.document_count} + 7) / 8) {
      throw Error(ErrorCode::kInvalidArgument, "deletions of another number of documents than the segment has");
    }
  }

  void Poll() const {
    if (cancelled_ != nullptr && *cancelled_) throw Error(ErrorCode::kIo, "cancelled");
  }

  // Collects value(source, document) for the live documents, in their new order.
  template <typename T, typename Value>
  std::vector<T> Collect(const Value& value) const {
    std::vector<T> values;
    values.reserve(document_count_);
    for (const Source& source : sources_) {
      Poll();
      for (uint32_t document = 0; document < source.new_document.size(); ++document) {
        if (source.new_document[document] != kNoDocument) values.push_back(value(source, document));
      }
    }
    return values;
  }

  void CopyColumn(const Source& source, uint32_t index, ColumnWriter* values) const {
    Poll();
    const Column& column = source.segment->column(index);
    std::vector<uint32_t> interned(column.dictionary_size(), kNoOrdinal);
    for (uint32_t document = 0; document < source.new_document.size(); ++document) {
      if (source.new_document[document] == kNoDocument) continue;
      const uint32_t count = column.ValueCount(document);
      for (uint32_t i = 0; i < count; ++i) {
        if (column.type() == ColumnType::kString) {
          const uint32_t ordinal = column.Ordinal(document, i);
          if (ordinal >= interned.size()) throw Error(ErrorCode::kDamaged, "column: an ordinal without a dictionary");
          // Only values of live documents are kept.
          uint32_t& number = interned[ordinal];
          if (number == kNoOrdinal) number = values->InternString(column.Key(ordinal), column.Display(ordinal));
          values->AddInterned(number);
        } else if (column.type() == ColumnType::kLocation) {
          values->AddPoint(column.points()[document]);
        } else {
          values->AddNumber(column.Number(document, i));
        }
      }
      values->EndDocument();
    }
  }

  void MergeTerms(const std::vector<uint8_t>& norms, SegmentWriter* writer) {
    std::vector<std::unique_ptr<TermCursor>> cursors;
    // Orders by term; for equal terms, the earlier source comes first.
    const auto later = [&](size_t left, size_t right) {
      const int order = cursors[left]->term().compare(cursors[right]->term());
      return order != 0 ? order > 0 : left > right;
    };
    std::priority_queue<size_t, std::vector<size_t>, decltype(later)> queue(later);
    for (const Source& source : sources_) {
      cursors.push_back(source.segment->Terms({}));
      if (cursors.back() == nullptr) throw Error(ErrorCode::kInvalidArgument, "a segment that is not a file");
      if (cursors.back()->Next()) queue.push(cursors.size() - 1);
    }
    PostingWriter postings(writer->AverageLength());
    std::vector<uint8_t> list;
    std::vector<size_t> same;
    for (uint64_t terms = 0; !queue.empty(); ++terms) {
      if (terms % 256 == 0) Poll();
      const std::string_view term = cursors[queue.top()]->term();
      same.clear();
      while (!queue.empty() && cursors[queue.top()]->term() == term) {
        same.push_back(queue.top());
        queue.pop();
      }
      for (const size_t index : same) AppendPostings(sources_[index], cursors[index]->Postings(), norms, &postings);
      if (postings.document_frequency() > 0) {
        list.clear();
        postings.Finish(&list);
        writer->AddTerm(term, list);
      } else if (lost_terms_.size() <= kLostTermsMax) {
        lost_terms_.emplace_back(term);
      }
      for (const size_t index : same) {
        if (cursors[index]->Next()) queue.push(index);
      }
    }
  }

  void AppendPostings(const Source& source, const PostingList& list, const std::vector<uint8_t>& norms,
                      PostingWriter* postings) const {
    std::array<uint32_t, kBlockSize> documents;
    std::array<uint32_t, kBlockSize> frequencies;
    std::array<uint32_t, kBlockSize> ends;
    std::vector<uint32_t> positions;
    for (uint32_t block = 0; block < list.block_count(); ++block) {
      if (block % 1024 == 1023) Poll();
      list.DecodeDocuments(block, documents.data());
      list.DecodeFrequencies(block, frequencies.data());
      list.DecodeBlockPositions(block, ends.data(), &positions);
      uint32_t begin = 0;
      for (uint32_t i = 0; i < list.block_length(block); ++i) {
        const uint32_t document = source.new_document[documents[i]];
        const auto own = std::span<const uint32_t>(positions).subspan(begin, ends[i] - begin);
        if (document != kNoDocument) postings->Add(document, frequencies[i], own, norms[document]);
        begin = ends[i];
      }
    }
  }

  const SegmentSchema& schema_;
  const volatile bool* cancelled_;
  std::vector<Source> sources_;
  uint32_t document_count_ = 0;
  uint64_t file_bytes_ = 0;
  std::vector<std::string> lost_terms_;
};

}  // namespace

SegmentSummary MergeSegments(const std::string& path, const SegmentSchema& schema,
                             const std::vector<MergeSource>& sources, const volatile bool* cancelled) {
  CheckSchema(schema);
  return Merger(schema, sources, cancelled).Merge(path);
}

}  // namespace gannet
