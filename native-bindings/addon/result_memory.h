// Memory of short-lived results: views of one ArrayBuffer, one behind the other, until it is full and the next takes its place. An
// ArrayBuffer of its own costs a result more than its bytes do: two allocations, and a visit of the garbage collector, which
// searches wait for.
//
// A view keeps the whole of its ArrayBuffer, and its other views would go with it if it were transferred: this is not for what is kept,
// or sent to another thread.
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

  // A Uint8Array with a copy of the bytes.
  static Napi::Value MakeBytes(Napi::Env env, std::span<const uint8_t> bytes);
  // The same, but large results hand over their memory.
  static Napi::Value MakeBytes(Napi::Env env, std::vector<uint8_t> bytes);

 private:
  Napi::Reference<Napi::ArrayBuffer> buffer_;
  size_t used_ = 0;
};

}  // namespace gannet::addon
