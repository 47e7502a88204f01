// The addon: wrapping and argument checks only. Context-aware: every worker thread calls the initialiser, and shared
// state is in Registry.
#include <napi.h>

#include "bindings.h"
#include "call_guard.h"
#include "result_memory.h"

namespace gannet::addon {
namespace {

Napi::Object Initialise(Napi::Env env, Napi::Object exports) {
  return GuardCall(env, [&] {
    ResultMemory::Attach(env);
    DefineConstants(exports);
    DefineSegments(exports);
    DefineVectors(exports);
    DefineGenerations(exports);
    DefineSearch(exports);
    DefineExpansion(exports);
    DefineSuggest(exports);
    DefineText(exports);
    DefinePacking(exports);
    DefineFiles(exports);
    DefineMemory(exports);
    DefineStop(exports);
    DefineMapFaults(exports);
    DefineServiceManager(exports);
    return exports;
  });
}

}  // namespace

NODE_API_MODULE(gannet_kernel, Initialise)

}  // namespace gannet::addon
