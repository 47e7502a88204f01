#include "vector_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../common/stop.h"

namespace gannet::vectors {
namespace {

// Number of candidates, beyond the wanted ones, that are compared by full vectors: codes misplace the true neighbours
// by some places, those of four bits by more.
constexpr uint32_t kComparedMoreMin = 10;
constexpr uint32_t kComparedMoreShare = 8;
constexpr uint32_t kComparedMoreMinOfFour = 18;
constexpr uint32_t kComparedMoreShareOfFour = 3;
// Number of codes that a scan compares in the time that a graph search needs per candidate of its width.
constexpr uint32_t kScannedForWidth = 45;
constexpr uint32_t kScannedMin = 4000;
constexpr uint64_t kWiderEachTime = 4;
// Up to this number, nodes are compared directly instead of first comparing centres.
constexpr uint32_t kScannedBeforeCells = 2000;
// A walk among passing nodes begins at the best nodes of at most kCellsOfWalk of the nearest cells; of fewer if the
// last kCodesInVain codes compared are not among the nearest fifth of what is kept. It ends if kStepsInVain steps have
// added nothing to the nearer two fifths.
constexpr uint32_t kCellsOfWalk = 48;
constexpr uint32_t kCodesInVain = 300;
constexpr uint32_t kStepsInVain = 30;
constexpr uint32_t kFifthsOfCells = 1;
constexpr uint32_t kFifthsOfWalk = 2;
constexpr uint32_t kNearerMin = 10;
// Such a walk is widened beyond the request: by a part if nodes have few passing neighbours, and by some candidates if
// the passing nodes are on one side, because queries may be far from all of them.
constexpr double kShareOfFew = 0.45;
constexpr uint32_t kWiderPart = 10;
constexpr uint32_t kWiderOnOneSide = 10;
// If this number of 32 neighbours of the nearest node of the upper levels pass, the query is deep inside the passing
// nodes and needs no cells.
constexpr uint32_t kPassingInside = 30;
// Number of codes compared at a time.
constexpr uint32_t kBlock = 256;
constexpr uint32_t kFetchedVectors = 32;
constexpr size_t kBytesInLine = 64;

uint32_t ComparedFor(const VectorGraph& graph, uint32_t wanted) {
  if (graph.bits() == CodeBits::kEight) return wanted + std::max(kComparedMoreMin, wanted / kComparedMoreShare);
  return wanted + std::max(kComparedMoreMinOfFour, wanted / kComparedMoreShareOfFour);
}

// With only as many candidates as are wanted, codes of four bits would leave out one in six true neighbours.
uint32_t LeastWidth(const VectorGraph& graph, uint32_t wanted) {
  return graph.bits() == CodeBits::kEight ? wanted : wanted + wanted / 4;
}

bool IsFiltered(const SearchRequest& request) { return request.allowed != nullptr || request.passing != nullptr; }

bool Allows(const SearchRequest& request, uint32_t ordinal) {
  if (request.passing != nullptr) return request.passing->Has(ordinal);
  return request.allowed == nullptr || request.allowed->Has(ordinal);
}

// Returns the approximate number of allowed vectors.
uint32_t AllowedIn(const VectorGraph& graph, const SearchRequest& request) {
  if (request.passing != nullptr) return request.passing->count();
  return request.allowed == nullptr ? graph.count() : request.allowed->count();
}

// Returns the number of candidates among all nodes that include `width` allowed ones, plus a margin of its square root:
// if the filter passed vectors at random, there would hardly ever be too few.
uint32_t WidthOfAll(const VectorGraph& graph, const SearchRequest& request) {
  if (!IsFiltered(request)) return request.width;
  const double width = request.width + 1.5 * std::sqrt(request.width) + 1;
  const double all = width * graph.count() / std::max(1u, AllowedIn(graph, request));
  return static_cast<uint32_t>(std::min<double>(all, graph.nodes()));
}

struct LowestLinks {
  const VectorGraph& graph;
  std::span<const uint32_t> Of(uint32_t place) const { return graph.links(place, 0); }
  void Fetch(uint32_t place) const {
    const std::span<const uint32_t> links = graph.links(place, 0);
    for (size_t at = 0; at < links.size(); at += kBytesInLine / sizeof(uint32_t)) __builtin_prefetch(&links[at]);
  }
};

// Returns true if comparing all allowed vectors is cheaper than a search with this width.
bool IsScanned(const VectorGraph& graph, const SearchRequest& request, uint64_t width) {
  const uint32_t allowed = IsFiltered(request) ? AllowedIn(graph, request) : graph.nodes();
  return !graph.has_links() || allowed <= kScannedMin || allowed / kScannedForWidth <= width;
}

// Returns true if the search walks among the passing nodes; not if comparing all of them is cheaper.
bool IsAmong(const VectorGraph& graph, const SearchRequest& request) {
  return request.passing != nullptr && request.passing->is_for_graph() && !IsScanned(graph, request, request.width);
}

uint32_t WidthAmong(const VectorGraph& graph, const SearchRequest& request) {
  const PassingVectors& passing = *request.passing;
  const uint32_t wider = request.width + request.width / kWiderPart;
  if (!passing.is_by_chance()) return wider + kWiderOnOneSide;
  return passing.nodes() < kShareOfFew * graph.nodes() ? wider : request.width;
}

// Returns how many of the nearest must stay the same; if few are kept, about all of them.
uint32_t NearerOf(const SearchRequest& request, uint32_t fifths) { return std::min(request.width, std::max(request.width * fifths / 5, kNearerMin)); }

// Returns true if the passing nodes are compared by cells; not if there are so few that comparing all of them is
// cheaper.
bool IsByCells(const VectorGraph& graph, const SearchRequest& request) {
  if (request.passing == nullptr || !graph.has_links()) return false;
  const PassingVectors& passing = *request.passing;
  return passing.nodes() > std::max(kScannedBeforeCells, CellSearch::Least(graph, passing, request.width));
}

}  // namespace

uint32_t VectorSearcher::GoDown(const VectorGraph& graph, const CodeQuery& query) {
  uint32_t best = 0;
  int32_t best_product = query.Product(graph.codes().of(best));
  for (uint32_t level = graph.levels(); --level > 0;) {
    const uint32_t last = graph.nodes_of_level(level) - 1;
    for (bool is_better = true; is_better;) {
      is_better = false;
      uint32_t count = 0;
      for (const uint32_t link : graph.links(std::min(best, last), level)) {
        // Unused links of a node are its own place.
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

void VectorSearcher::CompareCodes(const VectorGraph& graph, const CodeQuery& query, std::span<const uint32_t> places) {
  for (size_t begin = 0; begin < places.size(); begin += kBlock) {
    StopIfAsked();
    const std::span<const uint32_t> block = places.subspan(begin, std::min<size_t>(kBlock, places.size() - begin));
    query.Products(graph.codes(), block, products_.data());
    for (size_t i = 0; i < block.size(); ++i) {
      if (products_[i] > beam_.bar()) beam_.Add({products_[i], block[i]});
    }
  }
  cost_.compared += static_cast<uint32_t>(places.size());
}

void VectorSearcher::ScanCodes(const VectorGraph& graph, const CodeQuery& query, const SearchRequest& request) {
  cost_.way = SearchWay::kScan;
  best_ = &beam_;
  const uint32_t kept = std::max(request.width, ComparedFor(graph, request.wanted));
  beam_.Begin(kept);
  if (!IsFiltered(request)) {
    uint32_t block[kBlock];
    for (uint32_t begin = 0; begin < graph.nodes(); begin += kBlock) {
      const uint32_t size = std::min(kBlock, graph.nodes() - begin);
      std::iota(block, block + size, begin);
      CompareCodes(graph, query, {block, size});
    }
    return;
  }
  listed_.clear();
  if (request.passing != nullptr && request.passing->is_packed()) {
    cost_.compared = cells_.Scan(query, graph, *request.passing, {request.wanted, request.width, kept}).compared;
    best_ = &cells_.beam();
    return;
  }
  if (request.passing != nullptr) {
    request.passing->ListNodes(0, graph.nodes(), &listed_);
    return CompareCodes(graph, query, listed_);
  }
  request.allowed->List(&listed_);
  for (uint32_t& ordinal : listed_) ordinal = graph.place(ordinal);
  if (graph.has_equals()) {
    met_.Begin(graph.nodes());
    listed_.resize(met_.AddAll(listed_, graph.nodes() - 1, listed_.data()));
  }
  CompareCodes(graph, query, listed_);
}

void VectorSearcher::SearchCells(const VectorGraph& graph, const CodeQuery& query, const SearchRequest& request) {
  const uint32_t kept = std::max(request.width, ComparedFor(graph, request.wanted));
  const WalkCost cost = cells_.Search(query, graph, *request.passing, {request.wanted, request.width, kept});
  cost_ = {SearchWay::kCells, cost.compared, cost.left};
  best_ = &cells_.beam();
}

// If nearly all neighbours of the nearest node of the upper levels pass, a walk may begin at these.
bool VectorSearcher::EnterInside(const VectorGraph& graph, const CodeQuery& query, const PassingVectors& passing) {
  const std::span<const uint32_t> links = graph.links(GoDown(graph, query), 0);
  listed_.clear();
  for (const uint32_t any : links) {
    const uint32_t place = std::min(any, graph.nodes() - 1);
    if (passing.HasNode(place)) listed_.push_back(place);
  }
  if (listed_.size() * 32 < kPassingInside * links.size()) return false;
  query.Products(graph.codes(), listed_, products_.data());
  cost_.compared += static_cast<uint32_t>(listed_.size());
  for (size_t i = 0; i < listed_.size(); ++i) entries_.push_back({products_[i], listed_[i]});
  return true;
}

void VectorSearcher::EnterByCells(const VectorGraph& graph, const CodeQuery& query, const SearchRequest& request, uint32_t width) {
  const CellSearch::Few few{kCellsOfWalk, width, NearerOf(request, kFifthsOfCells), kCodesInVain};
  cost_.compared += cells_.SearchFew(query, graph, *request.passing, few).compared;
  for (uint32_t rank = 0; rank < cells_.beam().size(); ++rank) entries_.push_back(cells_.beam().at(rank));
}

// Walks among the passing nodes. Other nodes are crossed (one or two bridges per node), but never walked through: near
// nodes that do not pass would lead to more and more such nodes.
void VectorSearcher::SearchAmong(const VectorGraph& graph, const CodeQuery& query, const SearchRequest& request) {
  const PassingVectors& passing = *request.passing;
  const uint32_t width = WidthAmong(graph, request);
  cost_.way = SearchWay::kFilteredGraph;
  entries_.clear();
  if (passing.is_by_chance() || !EnterInside(graph, query, passing)) EnterByCells(graph, query, request, width);
  const BestFirst::StartAmong start{entries_, passing.node_bits(), width, graph.nodes(), NearerOf(request, kFifthsOfWalk), kStepsInVain};
  const WalkCost walk = search_.WalkAmong(query, graph.codes(), start, LowestLinks{graph});
  cost_.compared += walk.compared;
  cost_.left += walk.left;
  best_ = &search_.beam();
}

void VectorSearcher::CompareFully(const VectorGraph& graph, const SearchRequest& request) {
  const uint32_t compared = ComparedFor(graph, request.wanted);
  const auto fetch = [&](uint32_t rank) {
    if (rank < std::min(compared, best_->size())) graph.FetchVector(graph.rows(best_->at(rank).place).first);
  };
  for (uint32_t rank = 0; rank < kFetchedVectors; ++rank) fetch(rank);
  neighbours_.clear();
  for (uint32_t rank = 0; rank < best_->size() && neighbours_.size() < compared; ++rank) {
    fetch(rank + kFetchedVectors);
    uint32_t of_node = 0;
    for (auto [row, end] = graph.rows(best_->at(rank).place); row < end && of_node < request.wanted; ++row) {
      const uint32_t ordinal = graph.ordinal(row);
      if (!Allows(request, ordinal)) continue;
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
    if (!Allows(request, ordinal)) continue;
    neighbours_.push_back({graph.CosineOf(row, request.vector), ordinal});
    if (neighbours_.size() == kept_max) KeepNearest(request.wanted);
  }
  cost_.compared = graph.count();
}

// Keeps the nearest, in order.
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
  query_.resize(QueryComponents(graph.dimensions(), graph.bits()));
  fresh_.resize(2 * kLinksMax);
  products_.resize(std::max<size_t>(fresh_.size(), kBlock));
  graph.ToQuery(request.vector, query_);
  const CodeQuery query(query_.data(), graph.bytes_of_codes(), graph.bits());
  SearchRequest wide = request;
  wide.wanted = std::min(request.wanted, graph.count());
  wide.width = std::min(std::max(request.width, LeastWidth(graph, wide.wanted)), std::max(graph.nodes(), wide.wanted));
  if (request.exact) {
    cost_.way = SearchWay::kScan;
    ScanFully(graph, wide);
    KeepNearest(wide.wanted);
    return neighbours_;
  }
  if (IsAmong(graph, wide)) {
    SearchAmong(graph, query, wide);
    CompareFully(graph, wide);
    KeepNearest(wide.wanted);
    // Otherwise the walk was confined to an island, and there are more elsewhere.
    if (neighbours_.size() >= std::min(wide.wanted, AllowedIn(graph, wide))) return neighbours_;
  }
  if (IsByCells(graph, wide)) {
    SearchCells(graph, query, wide);
    CompareFully(graph, wide);
    KeepNearest(wide.wanted);
    return neighbours_;
  }
  uint64_t width = WidthOfAll(graph, wide);
  while (!IsScanned(graph, wide, width)) {
    cost_.way = IsFiltered(wide) ? SearchWay::kFilteredGraph : SearchWay::kGraph;
    SearchGraph(graph, query, static_cast<uint32_t>(width));
    CompareFully(graph, wide);
    KeepNearest(wide.wanted);
    if (!IsFiltered(wide) || neighbours_.size() >= std::min(wide.wanted, AllowedIn(graph, wide))) return neighbours_;
    // The allowed vectors are elsewhere.
    width *= kWiderEachTime;
  }
  ScanCodes(graph, query, wide);
  CompareFully(graph, wide);
  KeepNearest(wide.wanted);
  return neighbours_;
}

}  // namespace gannet::vectors
