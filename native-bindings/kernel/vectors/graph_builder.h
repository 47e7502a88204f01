// Builds a hierarchical navigable small world graph (Malkov and Yashunin 2016, https://arxiv.org/abs/1603.09320) over
// the codes of vectors.
//
// All distances are products of codes: a graph built from bytes is as good as one built from floats (docs/decisions),
// with a quarter of the memory traffic. Deterministic: the same codes in the same order give the same graph.
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
  uint32_t build_width = 200;   // number of candidates considered for the links of a new node
  // Up to this number of nodes, comparing them one by one is as fast, and no graph is built.
  uint32_t nodes_min = 4000;
};

// Value of `nodes_min` that never builds a graph. Building takes a second per 10,000 nodes, too long if a commit waits
// for it.
inline constexpr uint32_t kWithoutGraph = UINT32_MAX;

inline constexpr uint32_t kLevelsMax = 12;
inline constexpr uint32_t kLinksMax = 128;

class GraphBuilder {
 public:
  // `codes` are `count` vectors of `padded` components; they must stay valid as long as the builder.
  GraphBuilder(Codes codes, uint32_t count, uint32_t padded, GraphOptions options = {});

  // Adds the next vector to the graph: the first call adds the one at place 0, and so on.
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
  // Chooses from `candidates_`, best first, those that are nearer to the node than to any candidate chosen before.
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
  std::vector<uint32_t> lowest_;               // per node: a count, then 2 * links places
  // per node with upper levels: for each of these, a count and `links` places
  std::vector<std::vector<uint32_t>> upper_;
  std::vector<int8_t> query_;
  std::vector<int8_t> other_;
  BestFirst search_;
  std::vector<Candidate> candidates_;
  std::vector<uint32_t> chosen_;
  std::vector<int32_t> products_;
};

}  // namespace gannet::vectors
