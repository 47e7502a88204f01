#include "graph_builder.h"

#include <algorithm>
#include <cmath>

namespace gannet::vectors {
namespace {

constexpr uint32_t kNumbersInLine = 64 / sizeof(uint32_t);

}  // namespace

GraphBuilder::GraphBuilder(Codes codes, uint32_t count, uint32_t padded, GraphOptions options)
    : codes_(codes),
      padded_(padded),
      options_(options),
      levels_(count),
      lowest_(static_cast<size_t>(count) * (2 * options.links + 1)),
      upper_(count),
      query_(padded),
      other_(padded),
      products_(2 * options.links) {}

GraphBuilder::Links GraphBuilder::LinksOf(uint32_t place, uint32_t level) {
  uint32_t* at = level == 0 ? &lowest_[static_cast<size_t>(place) * (2 * options_.links + 1)]
                            : &upper_[place][(level - 1) * (options_.links + 1)];
  return {at, at + 1};
}

std::span<const uint32_t> GraphBuilder::links(uint32_t place, uint32_t level) const {
  const Links links = const_cast<GraphBuilder*>(this)->LinksOf(place, level);
  return {links.places, *links.count};
}

// Returns a random level: each level has one in `links` of the nodes of the level below.
uint32_t GraphBuilder::RandomLevel() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  const double uniform = (static_cast<double>(random_ >> 11) + 1) * 0x1.0p-53;
  return std::min(static_cast<uint32_t>(-std::log(uniform) / std::log(options_.links)), kLevelsMax - 1);
}

void GraphBuilder::SetQuery(uint32_t place) { CodeQuery::FromCodes(codes_.of(place), padded_, query_.data()); }

uint32_t GraphBuilder::GoDown(uint32_t level_from, uint32_t level_to) {
  const CodeQuery query(query_.data(), padded_);
  uint32_t best = entry_;
  int32_t best_product = query.Product(codes_.of(best));
  for (uint32_t level = level_from; level > level_to; --level) {
    for (bool is_better = true; is_better;) {
      is_better = false;
      const std::span<const uint32_t> places = links(best, level);
      query.Products(codes_, places, products_.data());
      for (size_t i = 0; i < places.size(); ++i) {
        if (products_[i] <= best_product) continue;
        best_product = products_[i];
        best = places[i];
        is_better = true;
      }
    }
  }
  return best;
}

// The links of one level.
struct GraphBuilder::LevelLinks {
  const GraphBuilder& builder;
  uint32_t level;
  std::span<const uint32_t> Of(uint32_t place) const { return builder.links(place, level); }
  void Fetch(uint32_t place) const {
    if (level > 0) return;
    const uint32_t width = 2 * builder.options_.links + 1;
    const uint32_t* links = &builder.lowest_[static_cast<size_t>(place) * width];
    for (uint32_t at = 0; at < width; at += kNumbersInLine) __builtin_prefetch(links + at);
  }
};

void GraphBuilder::SearchLevel(uint32_t entry, uint32_t level) {
  const CodeQuery query(query_.data(), padded_);
  const BestFirst::Start start{entry, options_.build_width, size_};
  search_.Walk(query, codes_, start, LevelLinks{*this, level});
  const Beam& beam = search_.beam();
  candidates_.resize(beam.size());
  for (uint32_t i = 0; i < beam.size(); ++i) candidates_[i] = beam.at(i);
}

void GraphBuilder::Choose(uint32_t links_max) {
  chosen_.clear();
  for (const Candidate& candidate : candidates_) {
    if (chosen_.size() == links_max) break;
    CodeQuery::FromCodes(codes_.of(candidate.place), padded_, other_.data());
    const CodeQuery other(other_.data(), padded_);
    const bool is_wanted = std::none_of(chosen_.begin(), chosen_.end(), [&](uint32_t place) {
      return other.Product(codes_.of(place)) > candidate.product;
    });
    if (is_wanted) chosen_.push_back(candidate.place);
  }
}

void GraphBuilder::AddLink(uint32_t from, uint32_t to, uint32_t level) {
  const Links links = LinksOf(from, level);
  if (*links.count < links_max(level)) {
    links.places[(*links.count)++] = to;
    return;
  }
  // The node is full: choose the best of its links and the new one.
  SetQuery(from);
  const CodeQuery query(query_.data(), padded_);
  candidates_.clear();
  query.Products(codes_, {links.places, *links.count}, products_.data());
  for (uint32_t i = 0; i < *links.count; ++i) candidates_.push_back({products_[i], links.places[i]});
  candidates_.push_back({query.Product(codes_.of(to)), to});
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.product != b.product ? a.product > b.product : a.place < b.place;
  });
  Choose(links_max(level));
  std::copy(chosen_.begin(), chosen_.end(), links.places);
  *links.count = static_cast<uint32_t>(chosen_.size());
}

void GraphBuilder::Connect(uint32_t place, uint32_t level) {
  Choose(options_.links);
  const Links links = LinksOf(place, level);
  std::copy(chosen_.begin(), chosen_.end(), links.places);
  *links.count = static_cast<uint32_t>(chosen_.size());
  const std::vector<uint32_t> neighbours = chosen_;
  for (const uint32_t neighbour : neighbours) AddLink(neighbour, place, level);
}

void GraphBuilder::AddNext() {
  const uint32_t place = size_++;
  const uint32_t level = RandomLevel();
  levels_[place] = static_cast<uint8_t>(level);
  upper_[place].resize(level * (options_.links + 1));
  if (place == 0) {
    top_level_ = level;
    return;
  }
  SetQuery(place);
  uint32_t entry = GoDown(top_level_, std::min(level, top_level_));
  for (uint32_t at = std::min(level, top_level_) + 1; at-- > 0;) {
    SetQuery(place);
    SearchLevel(entry, at);
    entry = candidates_.front().place;
    Connect(place, at);
  }
  if (level > top_level_) {
    top_level_ = level;
    entry_ = place;
  }
}

}  // namespace gannet::vectors
