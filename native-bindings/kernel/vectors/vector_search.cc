#include "vector_search.h"

#include <algorithm>
#include <bit>

namespace gannet::vectors {
namespace {

// What is compared by full vectors, for one that is wanted: codes put the true neighbours a few places off.
constexpr uint32_t kComparedForWanted = 2;
constexpr uint32_t kComparedMin = 16;
// A filtered search through the graph reads this many links to find as many nodes that are allowed as one without a filter compares.
constexpr uint32_t kGatheredMax = 16;
// Codes that a scan compares in the time that a search through the graph needs for one candidate of its width.
constexpr uint32_t kScannedForWidth = 100;
constexpr uint32_t kScannedMin = 4000;
// Codes that are compared at a time.
constexpr uint32_t kBlock = 256;
constexpr uint32_t kFetchedVectors = 4;
constexpr size_t kFloatsInLine = 16;

void FetchVector(std::span<const float> vector) {
  for (size_t at = 0; at < vector.size(); at += kFloatsInLine) __builtin_prefetch(&vector[at]);
}

}  // namespace

SearchWay VectorSearcher::Choose(const VectorGraph& graph, const SearchRequest& request) const {
  const uint32_t allowed = request.allowed.bits == nullptr ? graph.nodes() : request.allowed.count;
  if (request.exact || allowed <= kScannedMin || allowed <= request.width * kScannedForWidth) return SearchWay::kScan;
  return request.allowed.bits == nullptr ? SearchWay::kGraph : SearchWay::kFilteredGraph;
}

uint32_t VectorSearcher::GoDown(const VectorGraph& graph, const CodeQuery& query) {
  uint32_t best = 0;
  int32_t best_product = query.Product(graph.codes().of(best));
  for (uint32_t level = graph.levels(); --level > 0;) {
    for (bool is_better = true; is_better;) {
      is_better = false;
      const std::span<const uint32_t> links = graph.links(best, level);
      query.Products(graph.codes(), links, products_.data());
      cost_.compared += static_cast<uint32_t>(links.size());
      for (size_t i = 0; i < links.size(); ++i) {
        if (products_[i] <= best_product) continue;
        best_product = products_[i];
        best = links[i];
        is_better = true;
      }
    }
  }
  return best;
}

void VectorSearcher::SearchGraph(const VectorGraph& graph, const CodeQuery& query, uint32_t width) {
  const uint32_t entry = GoDown(graph, query);
  const Codes codes = graph.codes();
  beam_.Begin(width);
  beam_.Add({query.Product(codes.of(entry)), entry});
  met_.Begin(graph.nodes());
  met_.Add(entry);
  for (uint32_t place; beam_.Leave(&place);) {
    const uint32_t count = met_.AddAll(graph.links(place, 0), fresh_.data());
    uint32_t next;
    if (beam_.PeekNext(&next)) {
      const std::span<const uint32_t> links = graph.links(next, 0);
      __builtin_prefetch(links.data());
      __builtin_prefetch(links.data() + kFloatsInLine);
    }
    query.Products(codes, {fresh_.data(), count}, products_.data());
    cost_.compared += count;
    ++cost_.left;
    for (uint32_t i = 0; i < count; ++i) beam_.Add({products_[i], fresh_[i]});
  }
}

// True where one of the node's vectors is.
bool VectorSearcher::IsAllowed(const VectorGraph& graph, uint32_t place, const Allowed& allowed) {
  for (auto [row, end] = graph.rows(place); row < end; ++row) {
    if (allowed.Has(graph.ordinal(row))) return true;
  }
  return false;
}

// Of the node's neighbours those that are allowed, and in place of those that are not, their neighbours that are.
uint32_t VectorSearcher::GatherAllowed(const VectorGraph& graph, uint32_t place, const Allowed& allowed) {
  uint32_t count = 0;
  uint32_t others[2 * kLinksMax];
  uint32_t others_count = 0;
  uint32_t first[2 * kLinksMax];
  const uint32_t first_count = met_.AddAll(graph.links(place, 0), first);
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
    for (const uint32_t link : graph.links(others[i], 0)) {
      if (!IsAllowed(graph, link, allowed)) continue;
      count += met_.AddAll({&link, 1}, &fresh_[count]);
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
  if (IsAllowed(graph, entry, request.allowed)) found_.Add(first);
  for (uint32_t place; beam_.Leave(&place);) {
    const uint32_t count = GatherAllowed(graph, place, request.allowed);
    query.Products(codes, {fresh_.data(), count}, products_.data());
    cost_.compared += count;
    ++cost_.left;
    for (uint32_t i = 0; i < count; ++i) {
      beam_.Add({products_[i], fresh_[i]});
      found_.Add({products_[i], fresh_[i]});
    }
  }
  std::swap(beam_, found_);
}

void VectorSearcher::ScanCodes(const VectorGraph& graph, const CodeQuery& query, const SearchRequest& request) {
  cost_.way = SearchWay::kScan;
  beam_.Begin(request.exact ? std::max(request.width, kComparedForWanted * request.wanted + kComparedMin) : request.width);
  met_.Begin(graph.nodes());
  uint32_t block[kBlock];
  uint32_t used = 0;
  const auto compare = [&] {
    query.Products(graph.codes(), {block, used}, products_.data());
    cost_.compared += used;
    for (uint32_t i = 0; i < used; ++i) beam_.Add({products_[i], block[i]});
    used = 0;
  };
  const auto add = [&](uint32_t place) {
    block[used++] = place;
    if (used == kBlock) compare();
  };
  if (request.allowed.bits == nullptr) {
    for (uint32_t place = 0; place < graph.nodes(); ++place) add(place);
  } else {
    for (uint32_t word = 0; word * 64 < graph.count(); ++word) {
      for (uint64_t bits = request.allowed.bits[word]; bits != 0; bits &= bits - 1) {
        const uint32_t ordinal = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
        if (ordinal >= graph.count()) break;
        const uint32_t place = graph.place(ordinal);
        uint32_t fresh[1];
        if (met_.AddAll({&place, 1}, fresh) != 0) add(place);
      }
    }
  }
  compare();
}

void VectorSearcher::CompareFully(const VectorGraph& graph, const SearchRequest& request) {
  const uint32_t compared = std::max(kComparedMin, kComparedForWanted * request.wanted);
  const auto fetch = [&](uint32_t rank) {
    if (rank < std::min(compared, beam_.size())) FetchVector(graph.vector(graph.rows(beam_.at(rank).place).first));
  };
  for (uint32_t rank = 0; rank < kFetchedVectors; ++rank) fetch(rank);
  neighbours_.clear();
  for (uint32_t rank = 0; rank < beam_.size() && neighbours_.size() < compared; ++rank) {
    fetch(rank + kFetchedVectors);
    uint32_t of_node = 0;
    for (auto [row, end] = graph.rows(beam_.at(rank).place); row < end && of_node < request.wanted; ++row) {
      const uint32_t ordinal = graph.ordinal(row);
      if (request.allowed.bits != nullptr && !request.allowed.Has(ordinal)) continue;
      neighbours_.push_back({Product(graph.vector(row), request.vector), ordinal});
      ++of_node;
    }
  }
  std::sort(neighbours_.begin(), neighbours_.end(), [](const Neighbour& a, const Neighbour& b) {
    return a.cosine != b.cosine ? a.cosine > b.cosine : a.ordinal < b.ordinal;
  });
  neighbours_.resize(std::min<size_t>(neighbours_.size(), request.wanted));
}

std::span<const Neighbour> VectorSearcher::Search(const VectorGraph& graph, const SearchRequest& request) {
  cost_ = {};
  neighbours_.clear();
  if (graph.count() == 0 || request.wanted == 0) return {};
  query_.resize(graph.padded());
  fresh_.resize(std::max<size_t>(fresh_.size(), kGatheredMax + 4 * kLinksMax));
  products_.resize(std::max<size_t>(fresh_.size(), kBlock));
  graph.quantizer().ToQuery(request.vector, query_);
  const CodeQuery query(query_.data(), graph.padded());
  SearchRequest wide = request;
  wide.width = std::max(request.width, request.wanted);
  cost_.way = Choose(graph, wide);
  switch (cost_.way) {
    case SearchWay::kGraph:
      SearchGraph(graph, query, wide.width);
      break;
    case SearchWay::kFilteredGraph:
      SearchFiltered(graph, query, wide);
      // The way through those that are allowed may end too early: then there are few, or they lie apart.
      if (beam_.size() < std::min(request.wanted, request.allowed.count)) ScanCodes(graph, query, wide);
      break;
    case SearchWay::kScan:
      ScanCodes(graph, query, wide);
      break;
  }
  CompareFully(graph, request);
  return neighbours_;
}

}  // namespace gannet::vectors
