#include "result_memory.h"

#include <algorithm>
#include <utility>

#include "arguments.h"

namespace gannet::addon {
namespace {

constexpr size_t kBufferBytes = 64 * 1024;
// Larger results get an ArrayBuffer each, because they would leave much of this one unused.
constexpr size_t kResultBytesMax = kBufferBytes / 8;
constexpr size_t kAlignment = 8;

}  // namespace

Napi::Value ResultMemory::MakeBytes(Napi::Env env, std::span<const uint8_t> bytes) {
  if (bytes.size() > kResultBytesMax) return addon::MakeBytes(env, bytes);
  auto* memory = env.GetInstanceData<ResultMemory>();
  const bool has_buffer = !memory->buffer_.IsEmpty() && !memory->buffer_.Value().IsDetached();
  if (!has_buffer || kBufferBytes - memory->used_ < bytes.size()) {
    memory->buffer_ = Napi::Persistent(Napi::ArrayBuffer::New(env, kBufferBytes));
    memory->used_ = 0;
  }
  Napi::ArrayBuffer buffer = memory->buffer_.Value();
  std::ranges::copy(bytes, static_cast<uint8_t*>(buffer.Data()) + memory->used_);
  const auto view = Napi::Uint8Array::New(env, bytes.size(), buffer, memory->used_);
  memory->used_ += (bytes.size() + kAlignment - 1) / kAlignment * kAlignment;
  return view;
}

Napi::Value ResultMemory::MakeBytes(Napi::Env env, std::vector<uint8_t> bytes) {
  if (bytes.size() > kResultBytesMax) return addon::MakeBytes(env, std::move(bytes));
  return MakeBytes(env, std::span<const uint8_t>(bytes));
}

}  // namespace gannet::addon
