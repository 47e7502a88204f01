#include "arguments.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <string_view>

namespace gannet::addon {
namespace {

// Up to this size, a copy costs less than a finalizer.
constexpr size_t kCopyBytesMax = 64u << 10;
constexpr double kSafeIntegerMax = 9007199254740991.0;

[[noreturn]] void Wrong(const char* what, const char* expected) {
  throw ArgumentError(std::string(what) + " has to be " + expected);
}

template <typename T>
std::span<T> ReadTyped(const Napi::Value& value, napi_typedarray_type type, const char* what, const char* expected) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) Wrong(what, expected);
  auto array = value.As<Napi::TypedArrayOf<T>>();
  // A detached or empty array may have no memory.
  if (array.ElementLength() == 0 || array.Data() == nullptr) return {};
  return {array.Data(), array.ElementLength()};
}

uint64_t ReadInteger(const Napi::Value& value, double maximum, const char* what, const char* expected) {
  if (!value.IsNumber()) Wrong(what, expected);
  const double number = value.As<Napi::Number>().DoubleValue();
  if (!(number >= 0 && number <= maximum) || number != std::floor(number)) Wrong(what, expected);
  return static_cast<uint64_t>(number);
}

}  // namespace

std::string ReadString(const Napi::Value& value, const char* what) {
  if (!value.IsString()) Wrong(what, "a string");
  return value.As<Napi::String>().Utf8Value();
}

std::string ReadPath(const Napi::Value& value, const char* what) {
  std::string path = ReadString(value, what);
  if (path.empty() || path.find('\0') != std::string::npos) Wrong(what, "a path");
  return path;
}

bool ReadBoolean(const Napi::Value& value, const char* what) {
  if (!value.IsBoolean()) Wrong(what, "true or false");
  return value.As<Napi::Boolean>().Value();
}

uint32_t ReadUint32(const Napi::Value& value, const char* what) {
  return static_cast<uint32_t>(ReadInteger(value, 4294967295.0, what, "an integer of 0 to 4294967295"));
}

uint64_t ReadSize(const Napi::Value& value, const char* what) {
  return ReadInteger(value, kSafeIntegerMax, what, "an integer that is not negative");
}

Napi::Object ReadObject(const Napi::Value& value, const char* what) {
  if (!value.IsObject() || value.IsFunction()) Wrong(what, "an object");
  return value.As<Napi::Object>();
}

Napi::Array ReadArray(const Napi::Value& value, const char* what) {
  if (!value.IsArray()) Wrong(what, "an array");
  return value.As<Napi::Array>();
}

std::vector<std::string> ReadStrings(const Napi::Value& value, const char* what) {
  if (!value.IsArray()) Wrong(what, "an array of strings");
  const auto array = value.As<Napi::Array>();
  std::vector<std::string> strings;
  const uint32_t length = array.Length();
  for (uint32_t i = 0; i < length; ++i) {
    const Napi::Value element = array[i];
    if (!element.IsString()) Wrong(what, "an array of strings");
    strings.push_back(element.As<Napi::String>().Utf8Value());
  }
  return strings;
}

std::span<const uint8_t> ReadBytes(const Napi::Value& value, const char* what) {
  return ReadTyped<uint8_t>(value, napi_uint8_array, what, "a Uint8Array");
}

std::span<const uint32_t> ReadUint32s(const Napi::Value& value, const char* what) {
  return ReadTyped<uint32_t>(value, napi_uint32_array, what, "a Uint32Array");
}

std::span<const float> ReadFloats(const Napi::Value& value, const char* what) {
  return ReadTyped<float>(value, napi_float32_array, what, "a Float32Array");
}

double ReadNumber(const Napi::Value& value, const char* what) {
  if (!value.IsNumber()) Wrong(what, "a number");
  return value.As<Napi::Number>().DoubleValue();
}

std::span<uint32_t> ReadWritableUint32s(const Napi::Value& value, const char* what) {
  return ReadTyped<uint32_t>(value, napi_uint32_array, what, "a Uint32Array");
}

std::span<uint8_t> ReadWritableBytes(const Napi::Value& value, const char* what) {
  return ReadTyped<uint8_t>(value, napi_uint8_array, what, "a Uint8Array");
}

std::string_view ReadText(const Napi::Value& value, const char* what) {
  const std::span<const uint8_t> bytes = ReadBytes(value, what);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Napi::Value MakeBytes(Napi::Env env, std::span<const uint8_t> bytes) {
  return Napi::Buffer<uint8_t>::Copy(env, bytes.data(), bytes.size());
}

Napi::Value MakeBytes(Napi::Env env, std::vector<uint8_t> bytes) {
  if (bytes.size() <= kCopyBytesMax) return MakeBytes(env, std::span<const uint8_t>(bytes));
  auto owned = std::make_unique<std::vector<uint8_t>>(std::move(bytes));
  auto* memory = owned.get();
  auto buffer = Napi::Buffer<uint8_t>::NewOrCopy(
      env, memory->data(), memory->size(), [](Napi::Env, uint8_t*, std::vector<uint8_t>* done) { delete done; },
      memory);
  owned.release();  // the finalizer owns it, or has run already
  return buffer;
}

Napi::Value MakeUint32s(Napi::Env env, std::span<const uint32_t> values) {
  auto array = Napi::Uint32Array::New(env, values.size());
  if (!values.empty()) std::memcpy(array.Data(), values.data(), values.size_bytes());
  return array;
}

Napi::Value MakeStrings(Napi::Env env, std::span<const std::string> values) {
  Napi::Array result = Napi::Array::New(env, values.size());
  for (size_t i = 0; i < values.size(); ++i) result[static_cast<uint32_t>(i)] = Napi::String::New(env, values[i]);
  return result;
}

}  // namespace gannet::addon
