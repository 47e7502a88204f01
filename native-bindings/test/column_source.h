// A source of scores beside words: a number of each record, such as its popularity. It shows all that a new source needs.
#pragma once

#include <algorithm>
#include <memory>

#include "../kernel/filter/column_filter.h"
#include "../kernel/sources/source.h"

namespace gannet::test {

// Scores number / most. Documents without a number, or with zero, have no score. `looked_at` counts the documents whose number was read.
class ColumnSource : public Source {
 public:
  ColumnSource(const Generation* generation, uint16_t column, double most)
      : generation_(generation), column_(column), most_(most) {}

  uint64_t looked_at = 0;

  ScoreKind kind() const override { return ScoreKind::kColumn; }

  std::unique_ptr<SegmentSource> Open(uint32_t segment, bool) override {
    return std::make_unique<OfSegment>(this, segment);
  }

  SourceScore ScoreOf(uint32_t segment, uint32_t document) override {
    const Column* column = FindColumn(*generation_->segments[segment].segment, column_);
    return {column->ValueCount(document) == 0 ? 0 : ScoreOf(column->Number(document))};
  }

  void Explain(uint32_t, uint32_t, std::string* out) override { out->append(",\"of\":" + std::to_string(most_)); }

 private:
  float ScoreOf(double number) const { return static_cast<float>(std::clamp(number / most_, 0.0, 1.0)); }

  class OfSegment : public SegmentSource {
   public:
    OfSegment(ColumnSource* all, uint32_t segment)
        : all_(*all),
          documents_(all->generation_->segments[segment].segment->document_count()),
          column_(*FindColumn(*all->generation_->segments[segment].segment, all->column_)) {}

    float Bound() const override { return Bound({0, documents_}); }
    float Bound(WindowRange range) override { return std::as_const(*this).Bound(range); }
    float Bound(WindowRange range) const {
      float bound = 0;
      double least = 0;
      double most = 0;
      for (uint32_t block = range.base / kColumnBlockSize; block * kColumnBlockSize < range.end; ++block) {
        if (column_.BlockRange(block, &least, &most)) bound = std::max(bound, all_.ScoreOf(most));
      }
      return bound;
    }

    uint32_t NextWindow(uint32_t from, float least) override {
      for (; from * kWindowSize < documents_; ++from) {
        const float bound = Bound(WindowRange{from * kWindowSize, std::min((from + 1) * kWindowSize, documents_)});
        if (bound > 0 && bound >= least) break;
      }
      return from;
    }

    Window* Find(WindowRange range, float) override {
      WindowBits documents;
      documents.AddRange(0, range.end - range.base);
      return FindAmong(range, documents, 0);
    }

    Window* FindAmong(WindowRange range, const WindowBits& documents, float) override {
      window_.matches.Clear();
      ForEachBit(documents, [&](uint32_t offset) {
        ++all_.looked_at;
        const uint32_t document = range.base + offset;
        window_.scores[offset] = column_.ValueCount(document) == 0 ? 0 : all_.ScoreOf(column_.Number(document));
        if (window_.scores[offset] > 0) window_.matches.Add(offset);
      });
      return &window_;
    }

   private:
    ColumnSource& all_;
    uint32_t documents_;
    const Column& column_;
    Window window_;
  };

  const Generation* generation_;
  uint16_t column_;
  double most_;
};

}  // namespace gannet::test
