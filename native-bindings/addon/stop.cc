// Ends work early (stop.h), ends the process, and sets a thread's slice (thread_slice.h) and name (thread_name.h).
#include "../kernel/common/stop.h"

#include <unistd.h>

#include "../kernel/common/thread_name.h"
#include "../kernel/common/thread_slice.h"
#include "bindings.h"
#include "call_guard.h"

namespace gannet::addon {
namespace {

Napi::Value RaiseStopCall(const Napi::CallbackInfo& info) {
  RaiseStop(ReadUint32(info[0], "flag"));
  return info.Env().Undefined();
}

Napi::Value LowerStopCall(const Napi::CallbackInfo& info) {
  LowerStop(ReadUint32(info[0], "flag"));
  return info.Env().Undefined();
}

Napi::Value WatchStopCall(const Napi::CallbackInfo& info) {
  WatchStop(ReadUint32(info[0], "flag"), ReadNumber(info[1], "sliceMs"), ReadNumber(info[2], "deadlineMs"));
  return info.Env().Undefined();
}

Napi::Value UnwatchStopCall(const Napi::CallbackInfo& info) {
  UnwatchStop();
  return info.Env().Undefined();
}

Napi::Value StopIfAskedCall(const Napi::CallbackInfo& info) {
  StopNowIfAsked();
  return info.Env().Undefined();
}

// Node.js would end each thread first, waiting for native code and interrupting JavaScript anywhere.
Napi::Value EndProcessCall(const Napi::CallbackInfo& info) { _exit(static_cast<int>(ReadUint32(info[0], "status"))); }

Napi::Value SteadyMsCall(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), SteadyMs()); }

double ReadSliceMs(const Napi::Value& value) {
  const double slice_ms = ReadNumber(value, "sliceMs");
  if (!(slice_ms >= kSliceMsMin && slice_ms <= kSliceMsMax)) throw Error(ErrorCode::kInvalidArgument, "sliceMs is not 0.1 to 100");
  return slice_ms;
}

Napi::Value SetThreadSliceCall(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), SetThreadSlice(ReadSliceMs(info[0])));
}

Napi::Value NameThreadCall(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), NameThread(ReadString(info[0], "name")));
}

Napi::Value SetSliceOfOtherThreadsCall(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), SetSliceOfOtherThreads(ReadSliceMs(info[0])));
}

}  // namespace

void DefineStop(Napi::Object exports) {
  Define<RaiseStopCall>(exports, "raiseStop");
  Define<LowerStopCall>(exports, "lowerStop");
  Define<WatchStopCall>(exports, "watchStop");
  Define<UnwatchStopCall>(exports, "unwatchStop");
  Define<StopIfAskedCall>(exports, "stopIfAsked");
  Define<EndProcessCall>(exports, "endProcess");
  Define<SteadyMsCall>(exports, "steadyMs");
  Define<NameThreadCall>(exports, "nameThread");
  Define<SetThreadSliceCall>(exports, "setThreadSlice");
  Define<SetSliceOfOtherThreadsCall>(exports, "setSliceOfOtherThreads");
}

}  // namespace gannet::addon
