// An open file of vectors (vector_graph.h), mapped.
//
// Thread-safety: immutable after Open; any number of threads. The file must not be changed while it is open; unlinking
// it is fine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "../common/file.h"
#include "../common/file_faults.h"
#include "vector_graph.h"

namespace gannet::vectors {

struct OrdinalRange {
  uint32_t first = 0;
  uint32_t end = 0;
};

class VectorSegment {
 public:
  // Reads only the header. Throws Error(kDamaged), kUnsupportedFormat, kIo.
  static std::shared_ptr<const VectorSegment> Open(const std::string& path);
  explicit VectorSegment(const std::string& path) : file_(path), graph_(file_.bytes()) {}

  const VectorGraph& graph() const { return graph_; }
  uint64_t file_bytes() const { return file_.bytes().size(); }
  // True once a part of the file could not be read: then nothing that was read from it is reliable.
  bool is_unreadable() const { return HasFault(file_.bytes().data()); }

  // Returns the vectors of a record; first == end if it has none. Fast if records ascend from call to call: `near` is
  // where the search begins, the end of the range found last, or 0.
  OrdinalRange OrdinalsOf(uint32_t record, uint32_t near = 0) const;
  // Prefetches what OrdinalsOf reads first.
  void Fetch(uint32_t record) const { __builtin_prefetch(&graph_.records()[Near(record)]); }

 private:
  // Returns approximately where a record is, if it is there.
  uint32_t Near(uint32_t record) const;

  MappedFile file_;
  VectorGraph graph_;
};

// Reads and checks the whole file. Throws Error(kDamaged), kUnsupportedFormat, kIo.
void CheckVectorFile(const std::string& path);

}  // namespace gannet::vectors
