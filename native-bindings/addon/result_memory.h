// Memory of short-lived results: consecutive views of one ArrayBuffer, which is replaced when it is full. An
// ArrayBuffer for each result would cost more than its bytes: two allocations, and work for the garbage collector, for
// which searches wait.
//
// A view keeps its whole ArrayBuffer alive, and transferring the buffer would detach the other views: do not use this
// for results that are kept or sent to another thread.
//
// Thread-safety: each environment has its own.
#pragma once

#include <napi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gannet::addon {

class ResultMemory {
 public:
  static void Attach(Napi::Env env) { env.SetInstanceData(new ResultMemory); }

  // Returns a Uint8Array with a copy of the bytes.
  static Napi::Value MakeBytes(Napi::Env env, std::span<const uint8_t> bytes);
  // The same, but a large result transfers its memory.
  static Napi::Value MakeBytes(Napi::Env env, std::vector<uint8_t> bytes);

 private:
  Napi::Reference<Napi::ArrayBuffer> buffer_;
  size_t used_ = 0;
};

}  // namespace gannet::addon
