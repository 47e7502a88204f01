// Builds a hierarchical navigable small world graph (Malkov and Yashunin 2016, https://arxiv.org/abs/1603.09320) over the codes of
// vectors.
//
// All distances are products of codes: what is built from bytes is as good a graph as from floats (docs/decisions), at a quarter of the
// memory traffic. Deterministic: the same codes in the same order make the same graph.
//
// Thread-safety: one builder belongs to one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "best_first.h"
#include "code_dot.h"

namespace gannet::vectors {

struct GraphOptions {
  uint32_t links = 16;          // of a node on the upper levels; twice as many on the lowest
  uint32_t build_width = 200;   // candidates that are looked at for the links of a new node
  uint32_t nodes_min = 4000;    // up to so many nodes are compared one by one as fast, and get no graph
};

// In place of `nodes_min`: no graph, whatever their number is. It takes a second for every 10,000 nodes, which who waits for a commit does not have.
inline constexpr uint32_t kWithoutGraph = UINT32_MAX;

inline constexpr uint32_t kLevelsMax = 12;
inline constexpr uint32_t kLinksMax = 128;

class GraphBuilder {
 public:
  // `codes` are `count` vectors of `padded` components, which stay where they are as long as the builder lives.
  GraphBuilder(Codes codes, uint32_t count, uint32_t padded, GraphOptions options = {});

  // Puts the next vector into the graph: the first call that at place 0, and so on.
  void AddNext();
  uint32_t size() const { return size_; }

  uint32_t entry() const { return entry_; }
  uint32_t top_level() const { return top_level_; }
  uint32_t level_of(uint32_t place) const { return levels_[place]; }
  std::span<const uint32_t> links(uint32_t place, uint32_t level) const;

 private:
  struct LevelLinks;
  struct Links {
    uint32_t* count;
    uint32_t* places;
  };
  Links LinksOf(uint32_t place, uint32_t level);
  uint32_t links_max(uint32_t level) const { return level == 0 ? 2 * options_.links : options_.links; }
  uint32_t RandomLevel();
  void SetQuery(uint32_t place);
  uint32_t GoDown(uint32_t level_from, uint32_t level_to);
  void SearchLevel(uint32_t entry, uint32_t level);
  // Of `candidates_`, best first: those that are nearer to the node than to any that was chosen before.
  void Choose(uint32_t links_max);
  void Connect(uint32_t place, uint32_t level);
  void AddLink(uint32_t from, uint32_t to, uint32_t level);

  const Codes codes_;
  const uint32_t padded_;
  const GraphOptions options_;
  uint32_t size_ = 0;
  uint32_t entry_ = 0;
  uint32_t top_level_ = 0;
  uint64_t random_ = 0x9E3779B97F4A7C15u;
  std::vector<uint8_t> levels_;
  std::vector<uint32_t> lowest_;               // of each node: a count, then 2 * links places
  std::vector<std::vector<uint32_t>> upper_;   // of each node that has upper levels: a count and `links` places a level
  std::vector<int8_t> query_;
  std::vector<int8_t> other_;
  BestFirst search_;
  std::vector<Candidate> candidates_;
  std::vector<uint32_t> chosen_;
  std::vector<int32_t> products_;
};

}  // namespace gannet::vectors
