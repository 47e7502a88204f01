// Turns C++ exceptions into JavaScript exceptions. Every function that JavaScript can call is guarded by it.
#pragma once

#include <napi.h>

#include <exception>
#include <new>

#include "../kernel/common/error.h"
#include "arguments.h"

namespace gannet::addon {

// Returns an Error with the name and code of KernelError (index.ts).
inline Napi::Error MakeKernelError(Napi::Env env, const Error& error) {
  const char* code = "invalid-argument";
  switch (error.code()) {
    case ErrorCode::kInvalidArgument: break;
    case ErrorCode::kDamaged: code = "damaged"; break;
    case ErrorCode::kUnsupportedFormat: code = "unsupported-format"; break;
    case ErrorCode::kIo: code = "io"; break;
    case ErrorCode::kUnreadable: code = "unreadable"; break;
    case ErrorCode::kDiskFull: code = "disk-full"; break;
    case ErrorCode::kLimit: code = "limit"; break;
    case ErrorCode::kStopped: code = "stopped"; break;
    case ErrorCode::kDeadline: code = "deadline"; break;
    case ErrorCode::kSlice: code = "slice"; break;
  }
  Napi::Error result = Napi::Error::New(env, error.what());
  result.Set("name", Napi::String::New(env, "KernelError"));
  result.Set("code", Napi::String::New(env, code));
  return result;
}

template <typename Body>
auto GuardCall(Napi::Env env, Body body) {
  try {
    return body();
  } catch (const Napi::Error&) {
    throw;
  } catch (const ArgumentError& error) {
    throw Napi::TypeError::New(env, error.what());
  } catch (const Error& error) {
    throw MakeKernelError(env, error);
  } catch (const std::bad_alloc&) {
    throw Napi::Error::New(env, "the kernel is out of memory");
  } catch (const std::exception& error) {
    throw Napi::Error::New(env, error.what());
  }
}

template <Napi::Value (*Function)(const Napi::CallbackInfo&)>
Napi::Value Guarded(const Napi::CallbackInfo& info) {
  return GuardCall(info.Env(), [&] { return Function(info); });
}

// Sets a guarded function as a property of the addon.
template <Napi::Value (*Function)(const Napi::CallbackInfo&)>
void Define(Napi::Object exports, const char* name) {
  exports.Set(name, Napi::Function::New<Guarded<Function>>(exports.Env(), name));
}

}  // namespace gannet::addon
