#include "vector_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <exception>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "../common/bytes.h"
#include "../common/file.h"
#include "../common/file_faults.h"
#include "../common/mapped_memory.h"
#include "../common/stop.h"
#include "cells.h"
#include "vector_graph.h"

namespace gannet::vectors {
namespace {

constexpr size_t kSampledMax = 1'000'000;
// Size of the pieces in which a file is written: each is then one large page, if the file system has those.
constexpr size_t kBufferBytes = kLargePageBytes;
// Approximate memory of a node's entry in the map of known nodes.
constexpr size_t kBytesOfName = 64;

[[noreturn]] void Invalid(const std::string& what) { throw Error(ErrorCode::kInvalidArgument, what); }

// A vector of length 1, stored elsewhere.
struct StoredVector {
  uint32_t record;
  uint32_t passage;
  const Half* halves;
};

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void Write(std::span<const uint8_t> bytes) = 0;
};

class MemorySink : public Sink {
 public:
  void Write(std::span<const uint8_t> more) override { bytes.insert(bytes.end(), more.begin(), more.end()); }
  std::vector<uint8_t> bytes;
};

class FileSink : public Sink {
 public:
  explicit FileSink(const std::string& path)
      : path_(path), descriptor_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
    if (descriptor_ < 0) ThrowErrno(errno, "create " + path);
    buffer_.reserve(kBufferBytes);
  }
  ~FileSink() override { close(descriptor_); }
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  void Write(std::span<const uint8_t> bytes) override {
    while (!bytes.empty()) {
      const size_t taken = std::min(bytes.size(), kBufferBytes - buffer_.size());
      buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(taken));
      bytes = bytes.subspan(taken);
      if (buffer_.size() == kBufferBytes) Flush();
    }
  }
  void Flush() {
    WriteAt(buffer_, at_);
    at_ += buffer_.size();
    buffer_.clear();
  }
  void WriteAt(std::span<const uint8_t> bytes, uint64_t at) {
    if (const int error = WriteWhole(descriptor_, bytes, at); error != 0) ThrowErrno(error, "write " + path_);
  }

 private:
  const std::string path_;
  const int descriptor_;
  std::vector<uint8_t> buffer_;
  uint64_t at_ = 0;
};

template <typename T>
std::span<const uint8_t> BytesOf(std::span<const T> values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()};
}

// Returns a sample of the vectors, evenly spaced from the first to the last.
std::vector<float> SampleOf(std::span<const StoredVector> vectors, uint32_t dimensions) {
  const size_t sampled = std::max<size_t>(1, std::min(vectors.size(), kSampledMax / dimensions));
  std::vector<float> components(sampled * dimensions);
  for (size_t i = 0; i < sampled; ++i) {
    const StoredVector& vector = vectors[i * vectors.size() / sampled];
    FromHalves({vector.halves, dimensions}, &components[i * dimensions]);
  }
  return components;
}

Quantizer QuantizerOf(std::vector<float> sample) { return Quantizer::Of(&sample); }

// Vectors as codes; equal codes are stored once.
class Nodes {
 public:
  Nodes(std::span<const StoredVector> vectors, uint32_t dimensions, Quantizer quantizer)
      : padded_(PaddedDimensions(dimensions)), of_(vectors.size()) {
    // Allocated completely beforehand, because the names of nodes point into it.
    memory_.resize(vectors.size() * padded_ + VectorLayout::kAlignment);
    void* at = memory_.data();
    size_t room = memory_.size();
    codes_ = static_cast<uint8_t*>(std::align(VectorLayout::kAlignment, 1, at, room));
    std::unordered_map<std::string_view, uint32_t> names;
    names.reserve(vectors.size());
    std::vector<float> values(dimensions);
    for (size_t i = 0; i < vectors.size(); ++i) {
      StopIfAskedAt(i);
      uint8_t* next = codes_ + names.size() * padded_;
      FromHalves({vectors[i].halves, dimensions}, values.data());
      quantizer.ToCodes(values, {next, padded_});
      of_[i] = names.emplace(AsText({next, padded_}), static_cast<uint32_t>(names.size())).first->second;
    }
    size_ = static_cast<uint32_t>(names.size());
  }
  Codes codes() const { return {codes_, padded_}; }
  uint32_t padded() const { return padded_; }
  uint32_t size() const { return size_; }
  uint32_t of(size_t ordinal) const { return of_[ordinal]; }

 private:
  uint32_t padded_;
  uint32_t size_ = 0;
  uint8_t* codes_ = nullptr;
  std::vector<uint8_t> memory_;
  std::vector<uint32_t> of_;  // by ordinal
};

// Returns the nodes in the order in which they are met from the entry.
std::vector<uint32_t> OrderOfMeeting(const GraphBuilder& graph) {
  std::vector<uint32_t> order;
  order.reserve(graph.size());
  std::vector<bool> is_met(graph.size());
  const auto meet = [&](uint32_t node) {
    if (is_met[node]) return;
    is_met[node] = true;
    order.push_back(node);
  };
  meet(graph.entry());
  // Nodes to which no link leads follow in the order in which they were added.
  for (uint32_t next = 0, left = 0; order.size() < graph.size();) {
    if (next == order.size()) {
      while (is_met[left]) ++left;
      meet(left);
    }
    for (const uint32_t node : graph.links(order[next++], 0)) meet(node);
  }
  return order;
}

// Returns the nodes of higher levels before those of lower ones, within a level by cells, and within a cell in the
// order of meeting; the entry comes first.
std::vector<uint32_t> OrderOfNodes(const GraphBuilder& graph, const Cells& cells) {
  std::vector<uint32_t> order = OrderOfMeeting(graph);
  std::ranges::stable_sort(order, {}, [&](uint32_t node) { return std::pair(graph.top_level() - graph.level_of(node), cells.of[node]); });
  return order;
}

class VectorWriter {
 public:
  VectorWriter(std::vector<StoredVector> vectors, uint32_t dimensions, GraphOptions options)
      : vectors_(std::move(vectors)),
        dimensions_(dimensions),
        options_(options),
        quantizer_(QuantizerOf(SampleOf(vectors_, dimensions))),
        nodes_(vectors_, dimensions, quantizer_) {
    if (nodes_.size() > options_.nodes_min) {
      graph_ = std::make_unique<GraphBuilder>(nodes_.codes(), nodes_.size(), nodes_.padded(), options_);
      for (uint32_t i = 0; i < nodes_.size(); ++i) {
        StopIfAsked();
        graph_->AddNext();
      }
      cells_ = FindCells({nodes_.codes(), nodes_.size(), graph_->entry()}, dimensions_, quantizer_);
      order_ = OrderOfNodes(*graph_, cells_);
    } else {
      order_.resize(nodes_.size());
      std::iota(order_.begin(), order_.end(), 0u);
    }
    place_of_.resize(order_.size());
    for (uint32_t place = 0; place < order_.size(); ++place) place_of_[order_[place]] = place;
    SetRows();
    SetHeader();
  }

  const VectorHeader& header() const { return header_; }
  VectorSummary summary() const {
    return {header_.count, header_.nodes, header_.dimensions, header_.bytes, header_.levels > 0};
  }

  void Write(Sink* sink) {
    sink_ = sink;
    std::array<uint8_t, VectorLayout::kHeaderBytes> head{};
    std::memcpy(head.data(), &header_, sizeof(header_));
    Put(head);
    WriteCodes();
    WriteCells();
    for (uint32_t level = 0; level < header_.levels; ++level) WriteLinks(level);
    PutAll<uint32_t>(rows_);
    PutAll<uint32_t>(ordinals_);
    WriteEach([&](size_t i) { return place_of_[nodes_.of(i)]; });
    WriteEach([&](size_t i) { return vectors_[i].record; });
    WriteEach([&](size_t i) { return vectors_[i].passage; });
    for (const uint32_t ordinal : ordinals_) Put(BytesOf<Half>({vectors_[ordinal].halves, dimensions_}));
    Fill();
  }

 private:
  void SetRows() {
    rows_.resize(nodes_.size() + 1);
    for (size_t i = 0; i < vectors_.size(); ++i) ++rows_[place_of_[nodes_.of(i)] + 1];
    std::partial_sum(rows_.begin(), rows_.end(), rows_.begin());
    ordinals_.resize(vectors_.size());
    std::vector<uint32_t> next(rows_.begin(), rows_.end() - 1);
    for (uint32_t i = 0; i < vectors_.size(); ++i) ordinals_[next[place_of_[nodes_.of(i)]]++] = i;
  }

  void SetHeader() {
    header_.magic = kVectorMagic;
    header_.format = kVectorFormat;
    header_.count = static_cast<uint32_t>(vectors_.size());
    header_.dimensions = dimensions_;
    header_.links = options_.links;
    header_.step = quantizer_.step();
    header_.nodes = nodes_.size();
    header_.bits = static_cast<uint32_t>(BitsFor(dimensions_));
    if (graph_) {
      header_.levels = graph_->top_level() + 1;
      header_.cells = static_cast<uint32_t>(cells_.centres.size() / dimensions_);
      for (uint32_t node = 0; node < graph_->size(); ++node) {
        for (uint32_t level = 0; level <= graph_->level_of(node); ++level) ++header_.nodes_of_level[level];
      }
    }
    header_.bytes = VectorLayout(header_).bytes;
  }

  void Put(std::span<const uint8_t> bytes) {
    StopIfAsked();
    sink_->Write(bytes);
    written_ += bytes.size();
  }
  // Writes zeros up to the beginning of the next section.
  void Fill() {
    constexpr std::array<uint8_t, VectorLayout::kAlignment> kZeros{};
    if (written_ % kZeros.size() != 0) Put(std::span(kZeros).first(kZeros.size() - written_ % kZeros.size()));
  }
  template <typename T>
  void PutAll(std::span<const T> values) {
    Put(BytesOf<T>(values));
    Fill();
  }
  template <typename Value>
  void WriteEach(Value&& value) {
    std::vector<uint32_t> values(vectors_.size());
    for (size_t i = 0; i < values.size(); ++i) values[i] = value(i);
    PutAll<uint32_t>(values);
  }

  void WriteCodes() {
    if (header_.code_bits() == CodeBits::kEight) {
      for (const uint32_t node : order_) Put({nodes_.codes().of(node), nodes_.padded()});
      Fill();
      return WriteCentres([&](std::span<const float> centre, std::span<uint8_t> codes) { quantizer_.ToCodes(centre, codes); });
    }
    const std::vector<float> numbers = FourBitScale::Of(SampleOf(vectors_, dimensions_), dimensions_);
    PutAll<float>(numbers);
    const FourBitScale scale(numbers);
    std::vector<float> vector(dimensions_);
    std::vector<uint8_t> codes(BytesOfCodes(dimensions_, CodeBits::kFour));
    for (uint32_t place = 0; place < header_.nodes; ++place) {
      FromHalves({vectors_[ordinals_[rows_[place]]].halves, dimensions_}, vector.data());
      scale.ToCodes(vector, codes);
      Put(codes);
    }
    Fill();
    WriteCentres([&](std::span<const float> centre, std::span<uint8_t> of_centre) { scale.ToCodes(centre, of_centre); });
  }

  template <typename ToCodes>
  void WriteCentres(const ToCodes& to_codes) {
    std::vector<uint8_t> codes(BytesOfCodes(dimensions_, header_.code_bits()));
    for (std::span<const float> left = cells_.centres; !left.empty(); left = left.subspan(dimensions_)) {
      to_codes(left.first(dimensions_), std::span<uint8_t>(codes));
      Put(codes);
    }
    Fill();
  }

  void WriteCells() {
    if (header_.cells == 0) return;
    std::vector<uint32_t> begins((size_t{header_.cells} + 1) * header_.levels);
    // Counts the nodes per cell and level, at the index of the next cell.
    for (uint32_t node = 0; node < graph_->size(); ++node) ++begins[(size_t{cells_.of[node]} + 1) * header_.levels + graph_->level_of(node)];
    for (uint32_t level = 0; level < header_.levels; ++level) begins[level] = level + 1 < header_.levels ? header_.nodes_of_level[level + 1] : 0;
    for (size_t at = header_.levels; at < begins.size(); ++at) begins[at] += begins[at - header_.levels];
    PutAll<uint32_t>(begins);
  }

  void WriteLinks(uint32_t level) {
    std::vector<uint32_t> row(level == 0 ? 2 * options_.links : options_.links);
    for (uint32_t place = 0; place < header_.nodes_of_level[level]; ++place) {
      const std::span<const uint32_t> links = graph_->links(order_[place], level);
      std::fill(row.begin(), row.end(), place);
      std::transform(links.begin(), links.end(), row.begin(), [&](uint32_t node) { return place_of_[node]; });
      Put(BytesOf<uint32_t>(row));
    }
    Fill();
  }

  const std::vector<StoredVector> vectors_;
  const uint32_t dimensions_;
  const GraphOptions options_;
  const Quantizer quantizer_;
  const Nodes nodes_;
  std::unique_ptr<GraphBuilder> graph_;  // null if there are too few nodes
  Cells cells_;                          // empty if there is no graph
  std::vector<uint32_t> order_;          // nodes, by place
  std::vector<uint32_t> place_of_;       // by node
  std::vector<uint32_t> rows_;
  std::vector<uint32_t> ordinals_;
  VectorHeader header_{};
  Sink* sink_ = nullptr;
  uint64_t written_ = 0;
};

void CheckLimits(uint64_t count, uint32_t dimensions, const GraphOptions& options) {
  if (dimensions == 0 || dimensions > kDimensionsMax) Invalid("vectors of " + std::to_string(dimensions) + " dimensions");
  if (options.links < 2 || options.links > kLinksMax) Invalid("links of a graph of vectors");
  if (count == 0) Invalid("a segment of no vectors");
  if (count > kVectorsMax) throw Error(ErrorCode::kLimit, "more vectors than a segment holds");
}

void Sort(std::vector<StoredVector>* vectors) {
  const auto key = [](const StoredVector& vector) { return uint64_t{vector.record} << 32 | vector.passage; };
  if (!std::ranges::is_sorted(*vectors, {}, key)) std::ranges::sort(*vectors, {}, key);
  const auto twice = std::ranges::adjacent_find(*vectors, {}, key);
  if (twice != vectors->end()) {
    Invalid("passage " + std::to_string(twice->passage) + " of record " + std::to_string(twice->record) + " twice");
  }
}

// New vectors, scaled to length 1.
struct Halves {
  std::vector<Half> values;
  std::vector<StoredVector> vectors;

  explicit Halves(const VectorRows& rows) {
    const size_t count = rows.records.size();
    const uint32_t dimensions = rows.dimensions;
    if (rows.passages.size() != count || rows.vectors.size() != count * dimensions) {
      Invalid("vectors, records and passages of different numbers");
    }
    values.resize(rows.vectors.size());
    std::vector<float> vector(dimensions);
    for (size_t i = 0; i < count; ++i) {
      std::ranges::copy(rows.vectors.subspan(i * dimensions, dimensions), vector.begin());
      if (!Normalize(vector)) {
        Invalid("vector " + std::to_string(i) + " has a length of zero, or a component that is no finite number");
      }
      ToHalves(vector, &values[i * dimensions]);
      vectors.push_back({rows.records[i], rows.passages[i], &values[i * dimensions]});
    }
    Sort(&vectors);
  }
};

// `require_sources` throws if anything that the writer has read could not be read; it is called when all has been read.
template <typename RequireSources>
VectorSummary WriteFile(const std::string& path, VectorWriter* writer, const RequireSources& require_sources) {
  const FaultWatch watch;
  const std::string unfinished = UnfinishedPath(path);
  UnlinkGuard guard(unfinished);
  {
    FileSink file(unfinished);
    writer->Write(&file);
    file.Flush();
    const uint64_t sum = SumOfVectors(MappedFile(unfinished).bytes());
    file.WriteAt(BytesOf<uint64_t>({&sum, 1}), offsetof(VectorHeader, sum));
  }
  Sync(unfinished);
  watch.RequireNone("write vectors");
  require_sources();
  RenameAndSyncDirectory(unfinished, path);
  guard.Keep();
  return writer->summary();
}

}  // namespace

VectorSummary BuildVectors(const std::string& path, const VectorRows& rows, GraphOptions options) {
  CheckLimits(rows.records.size(), rows.dimensions, options);
  const Halves halves(rows);
  VectorWriter writer(halves.vectors, rows.dimensions, options);
  return WriteFile(path, &writer, [] {});
}

std::vector<uint8_t> EncodeVectors(const VectorRows& rows, GraphOptions options) {
  CheckLimits(rows.records.size(), rows.dimensions, options);
  const Halves halves(rows);
  VectorWriter writer(halves.vectors, rows.dimensions, options);
  MemorySink sink;
  sink.bytes.reserve(writer.header().bytes);
  writer.Write(&sink);
  Store(sink.bytes.data() + offsetof(VectorHeader, sum), SumOfVectors(sink.bytes));
  return std::move(sink.bytes);
}

namespace {

// Zeros in place of what the disk does not return look like any other vectors and record numbers, so this must be
// checked.
void RequireReadable(std::span<const VectorMergeSource> sources) {
  for (const VectorMergeSource& source : sources) {
    if (source.segment->is_unreadable()) throw Error(ErrorCode::kUnreadable, "a merge of vectors that cannot be read");
  }
}

VectorSummary MergeReadable(const std::string& path, std::span<const VectorMergeSource> sources, GraphOptions options) {
  if (sources.empty()) Invalid("a merge of no segments");
  const uint32_t dimensions = sources.front().segment->graph().dimensions();
  std::vector<StoredVector> vectors;
  for (const VectorMergeSource& source : sources) {
    const VectorGraph& graph = source.segment->graph();
    if (graph.dimensions() != dimensions) Invalid("a merge of vectors of different dimensions");
    if (source.deleted.size() > (size_t{graph.count()} + 7) / 8) Invalid("a bitmap of deletions is longer than its segment");
    for (uint32_t ordinal = 0; ordinal < graph.count(); ++ordinal) {
      StopIfAskedAt(ordinal);
      if (ordinal / 8 < source.deleted.size() && (source.deleted[ordinal / 8] >> (ordinal % 8) & 1) != 0) continue;
      vectors.push_back({graph.records()[ordinal], graph.passages()[ordinal], graph.vector(graph.RowOf(ordinal)).data()});
    }
  }
  CheckLimits(vectors.size(), dimensions, options);
  Sort(&vectors);
  // The writer reads all vectors, and builds the graph, before it writes the first byte.
  VectorWriter writer(std::move(vectors), dimensions, options);
  return WriteFile(path, &writer, [&] { RequireReadable(sources); });
}

}  // namespace

VectorSummary MergeVectors(const std::string& path, std::span<const VectorMergeSource> sources, GraphOptions options) {
  try {
    return MergeReadable(path, sources, options);
  } catch (const std::exception&) {
    RequireReadable(sources);
    throw;
  }
}

uint64_t BytesWhileWriting(uint64_t count, uint32_t dimensions) {
  constexpr uint64_t kLinkBytes = (2 * GraphOptions{}.links + 1) * sizeof(uint32_t);
  constexpr uint64_t kNumbersOfVector = 7;
  // Centres of cells, their sums and what is written of them.
  constexpr uint64_t kNumbersOfCentre = 4;
  const uint64_t centres = CellsFor(static_cast<uint32_t>(std::min<uint64_t>(count, kVectorsMax)));
  return count * (PaddedDimensions(dimensions) + kLinkBytes + kBytesOfName + sizeof(StoredVector) +
                  kNumbersOfVector * sizeof(uint32_t)) +
         centres * dimensions * kNumbersOfCentre * sizeof(float);
}

}  // namespace gannet::vectors
