// Checks a whole file in a thread of libuv's pool, because reading some GB from the disk takes seconds.
#pragma once

#include <napi.h>

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "call_guard.h"

namespace gannet::addon {

class FileCheck : public Napi::AsyncWorker {
 public:
  using Check = void (*)(const std::string& path);

  // Returns a promise that is rejected with what `check` throws. The worker deletes itself when it has settled the
  // promise.
  static Napi::Value Run(Napi::Env env, std::string path, Check check) {
    auto* worker = new FileCheck(env, std::move(path), check);
    const Napi::Promise promise = worker->deferred_.Promise();
    worker->Queue();
    return promise;
  }

 protected:
  void Execute() override {
    try {
      check_(path_);
    } catch (const Error& error) {
      failure_.emplace(error);
    } catch (const std::exception& error) {
      SetError(error.what());
    }
  }
  void OnOK() override {
    if (failure_.has_value()) {
      deferred_.Reject(MakeKernelError(Env(), *failure_).Value());
    } else {
      deferred_.Resolve(Env().Undefined());
    }
  }
  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

 private:
  FileCheck(Napi::Env env, std::string path, Check check)
      : Napi::AsyncWorker(env), path_(std::move(path)), check_(check), deferred_(Napi::Promise::Deferred::New(env)) {}

  std::string path_;
  Check check_;
  Napi::Promise::Deferred deferred_;
  std::optional<Error> failure_;
};

}  // namespace gannet::addon
