#include "vector_search.h"

#include <algorithm>
#include <numeric>

#include "../common/stop.h"

namespace gannet::vectors {
namespace {

// What is compared by full vectors beside those that are wanted: codes put the true neighbours a few places off.
constexpr uint32_t kComparedMoreMin = 10;
constexpr uint32_t kComparedMoreShare = 8;
// A filtered search through the graph reads links until it has so many nodes that are allowed, as many as one without a filter compares.
constexpr uint32_t kGatheredMax = 16;
// Codes that a scan compares in the time that a search through the graph needs for one candidate of its width.
constexpr uint32_t kScannedForWidth = 100;
constexpr uint32_t kScannedMin = 4000;
// Codes that are compared at a time.
constexpr uint32_t kBlock = 256;
constexpr uint32_t kFetchedVectors = 24;
constexpr size_t kBytesInLine = 64;

uint32_t ComparedFor(uint32_t wanted) { return wanted + std::max(kComparedMoreMin, wanted / kComparedMoreShare); }

void FetchVector(std::span<const Half> vector) {
  for (size_t at = 0; at < vector.size(); at += kBytesInLine / sizeof(Half)) __builtin_prefetch(&vector[at]);
}

struct LowestLinks {
  const VectorGraph& graph;
  std::span<const uint32_t> Of(uint32_t place) const { return graph.links(place, 0); }
  void Fetch(uint32_t place) const {
    const std::span<const uint32_t> links = graph.links(place, 0);
    for (size_t at = 0; at < links.size(); at += kBytesInLine / sizeof(uint32_t)) __builtin_prefetch(&links[at]);
  }
};

}  // namespace

SearchWay VectorSearcher::Choose(const VectorGraph& graph, const SearchRequest& request) const {
  const uint32_t allowed = request.allowed == nullptr ? graph.nodes() : request.allowed->count();
  if (!graph.has_links() || allowed <= kScannedMin || allowed / kScannedForWidth <= request.width) {
    return SearchWay::kScan;
  }
  return request.allowed == nullptr ? SearchWay::kGraph : SearchWay::kFilteredGraph;
}

uint32_t VectorSearcher::GoDown(const VectorGraph& graph, const CodeQuery& query) {
  uint32_t best = 0;
  int32_t best_product = query.Product(graph.codes().of(best));
  for (uint32_t level = graph.levels(); --level > 0;) {
    const uint32_t last = graph.nodes_of_level(level) - 1;
    for (bool is_better = true; is_better;) {
      is_better = false;
      uint32_t count = 0;
      for (const uint32_t link : graph.links(std::min(best, last), level)) {
        // What is left of a node's links is its own place.
        if (link == best) break;
        fresh_[count++] = std::min(link, last);
      }
      query.Fetch(graph.codes(), {fresh_.data(), count});
      query.ProductsOfFetched(graph.codes(), {fresh_.data(), count}, products_.data());
      cost_.compared += count;
      for (uint32_t i = 0; i < count; ++i) {
        if (products_[i] <= best_product) continue;
        best_product = products_[i];
        best = fresh_[i];
        is_better = true;
      }
    }
  }
  return best;
}

void VectorSearcher::SearchGraph(const VectorGraph& graph, const CodeQuery& query, uint32_t width) {
  const WalkCost cost = search_.Walk(query, graph.codes(), {GoDown(graph, query), width, graph.nodes()}, LowestLinks{graph});
  cost_.compared += cost.compared;
  cost_.left += cost.left;
  best_ = &search_.beam();
}

// True where one of the node's vectors is.
bool VectorSearcher::IsAllowed(const VectorGraph& graph, uint32_t place, const OrdinalFilter& allowed) {
  for (auto [row, end] = graph.rows(place); row < end; ++row) {
    if (allowed.Has(graph.ordinal(row))) return true;
  }
  return false;
}

// Of the node's neighbours those that are allowed, and in place of those that are not, their neighbours that are.
uint32_t VectorSearcher::GatherAllowed(const VectorGraph& graph, uint32_t place, const OrdinalFilter& allowed) {
  const uint32_t last = graph.nodes() - 1;
  uint32_t count = 0;
  uint32_t others[2 * kLinksMax];
  uint32_t others_count = 0;
  uint32_t first[2 * kLinksMax];
  const uint32_t first_count = met_.AddAll(graph.links(place, 0), last, first);
  for (uint32_t i = 0; i < first_count; ++i) {
    const bool is_allowed = IsAllowed(graph, first[i], allowed);
    fresh_[count] = first[i];
    others[others_count] = first[i];
    count += is_allowed;
    others_count += !is_allowed;
    if (!is_allowed) __builtin_prefetch(graph.links(first[i], 0).data());
  }
  for (uint32_t i = 0; i < others_count && count < kGatheredMax; ++i) {
    // A neighbour of a neighbour that is not allowed is met again from elsewhere: only what is compared is marked.
    for (const uint32_t any : graph.links(others[i], 0)) {
      const uint32_t link = std::min(any, last);
      if (!IsAllowed(graph, link, allowed)) continue;
      count += met_.AddAll({&link, 1}, last, &fresh_[count]);
    }
  }
  return count;
}

void VectorSearcher::SearchFiltered(const VectorGraph& graph, const CodeQuery& query, const SearchRequest& request) {
  const uint32_t entry = GoDown(graph, query);
  const Codes codes = graph.codes();
  beam_.Begin(request.width);
  found_.Begin(request.width);
  met_.Begin(graph.nodes());
  met_.Add(entry);
  const Candidate first{query.Product(codes.of(entry)), entry};
  beam_.Add(first);
  if (IsAllowed(graph, entry, *request.allowed)) found_.Add(first);
  for (uint32_t place; beam_.Leave(&place);) {
    StopIfAsked();
    const uint32_t count = GatherAllowed(graph, place, *request.allowed);
    query.Products(codes, {fresh_.data(), count}, products_.data());
    cost_.compared += count;
    ++cost_.left;
    for (uint32_t i = 0; i < count; ++i) {
      beam_.Add({products_[i], fresh_[i]});
      found_.Add({products_[i], fresh_[i]});
    }
  }
  best_ = &found_;
}

void VectorSearcher::CompareCodes(const VectorGraph& graph, const CodeQuery& query, std::span<const uint32_t> places) {
  for (size_t begin = 0; begin < places.size(); begin += kBlock) {
    StopIfAsked();
    const std::span<const uint32_t> block = places.subspan(begin, std::min<size_t>(kBlock, places.size() - begin));
    query.Products(graph.codes(), block, products_.data());
    for (size_t i = 0; i < block.size(); ++i) beam_.Add({products_[i], block[i]});
  }
  cost_.compared += static_cast<uint32_t>(places.size());
}

void VectorSearcher::ScanCodes(const VectorGraph& graph, const CodeQuery& query, const SearchRequest& request) {
  cost_.way = SearchWay::kScan;
  best_ = &beam_;
  beam_.Begin(std::max(request.width, ComparedFor(request.wanted)));
  if (request.allowed == nullptr) {
    uint32_t block[kBlock];
    for (uint32_t begin = 0; begin < graph.nodes(); begin += kBlock) {
      const uint32_t size = std::min(kBlock, graph.nodes() - begin);
      std::iota(block, block + size, begin);
      CompareCodes(graph, query, {block, size});
    }
    return;
  }
  listed_.clear();
  request.allowed->List(&listed_);
  met_.Begin(graph.nodes());
  for (uint32_t& ordinal : listed_) ordinal = graph.place(ordinal);
  const uint32_t count = met_.AddAll(listed_, graph.nodes() - 1, listed_.data());
  CompareCodes(graph, query, {listed_.data(), count});
}

void VectorSearcher::CompareFully(const VectorGraph& graph, const SearchRequest& request) {
  const uint32_t compared = ComparedFor(request.wanted);
  const auto fetch = [&](uint32_t rank) {
    if (rank < std::min(compared, best_->size())) FetchVector(graph.vector(graph.rows(best_->at(rank).place).first));
  };
  for (uint32_t rank = 0; rank < kFetchedVectors; ++rank) fetch(rank);
  neighbours_.clear();
  for (uint32_t rank = 0; rank < best_->size() && neighbours_.size() < compared; ++rank) {
    fetch(rank + kFetchedVectors);
    uint32_t of_node = 0;
    for (auto [row, end] = graph.rows(best_->at(rank).place); row < end && of_node < request.wanted; ++row) {
      const uint32_t ordinal = graph.ordinal(row);
      if (request.allowed != nullptr && !request.allowed->Has(ordinal)) continue;
      neighbours_.push_back({graph.CosineOf(row, request.vector), ordinal});
      ++of_node;
    }
  }
}

void VectorSearcher::ScanFully(const VectorGraph& graph, const SearchRequest& request) {
  const size_t kept_max = 2 * size_t{request.wanted} + kBlock;
  for (uint32_t row = 0; row < graph.count(); ++row) {
    StopIfAskedAt(row);
    const uint32_t ordinal = graph.ordinal(row);
    if (request.allowed != nullptr && !request.allowed->Has(ordinal)) continue;
    neighbours_.push_back({graph.CosineOf(row, request.vector), ordinal});
    if (neighbours_.size() == kept_max) KeepNearest(request.wanted);
  }
  cost_.compared = graph.count();
}

// In their order.
void VectorSearcher::KeepNearest(uint32_t wanted) {
  const size_t kept = std::min<size_t>(neighbours_.size(), wanted);
  std::partial_sort(neighbours_.begin(), neighbours_.begin() + static_cast<ptrdiff_t>(kept), neighbours_.end(),
                    [](const Neighbour& a, const Neighbour& b) {
                      return a.cosine != b.cosine ? a.cosine > b.cosine : a.ordinal < b.ordinal;
                    });
  neighbours_.resize(kept);
}

std::span<const Neighbour> VectorSearcher::Search(const VectorGraph& graph, const SearchRequest& request) {
  cost_ = {};
  neighbours_.clear();
  if (request.wanted == 0) return {};
  query_.resize(graph.padded());
  fresh_.resize(std::max<size_t>(fresh_.size(), kGatheredMax + 4 * kLinksMax));
  products_.resize(std::max<size_t>(fresh_.size(), kBlock));
  graph.quantizer().ToQuery(request.vector, query_);
  const CodeQuery query(query_.data(), graph.padded());
  SearchRequest wide = request;
  wide.wanted = std::min(request.wanted, graph.count());
  wide.width = std::clamp(request.width, wide.wanted, std::max(graph.nodes(), wide.wanted));
  if (request.exact) {
    cost_.way = SearchWay::kScan;
    ScanFully(graph, wide);
    KeepNearest(wide.wanted);
    return neighbours_;
  }
  cost_.way = Choose(graph, wide);
  switch (cost_.way) {
    case SearchWay::kGraph:
      SearchGraph(graph, query, wide.width);
      break;
    case SearchWay::kFilteredGraph:
      SearchFiltered(graph, query, wide);
      // The way through those that are allowed may end too early: then there are few, or they lie apart.
      if (best_->size() < std::min(wide.wanted, wide.allowed->count())) ScanCodes(graph, query, wide);
      break;
    case SearchWay::kScan:
      ScanCodes(graph, query, wide);
      break;
  }
  CompareFully(graph, wide);
  KeepNearest(wide.wanted);
  return neighbours_;
}

}  // namespace gannet::vectors
