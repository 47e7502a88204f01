// Reads JavaScript arguments with checks, and makes JavaScript values. A wrong type throws ArgumentError, which
// CallGuard turns into a TypeError that names the argument.
//
// Spans point into JavaScript memory. They are valid until JavaScript code may run again, which reading a property of
// an object can already cause; so bytes must be read last.
//
// Thread-safety: only the thread of the environment.
#pragma once

#include <napi.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace gannet::addon {

class ArgumentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Each of these throws ArgumentError("<what> has to be ...").
std::string ReadString(const Napi::Value& value, const char* what);
// A string without NUL characters.
std::string ReadPath(const Napi::Value& value, const char* what);
bool ReadBoolean(const Napi::Value& value, const char* what);
uint32_t ReadUint32(const Napi::Value& value, const char* what);
uint64_t ReadSize(const Napi::Value& value, const char* what);  // an integer of at most 2^53
Napi::Object ReadObject(const Napi::Value& value, const char* what);
Napi::Array ReadArray(const Napi::Value& value, const char* what);
std::vector<std::string> ReadStrings(const Napi::Value& value, const char* what);
std::span<const uint8_t> ReadBytes(const Napi::Value& value, const char* what);          // Uint8Array
std::span<const uint32_t> ReadUint32s(const Napi::Value& value, const char* what);       // Uint32Array
std::span<const float> ReadFloats(const Napi::Value& value, const char* what);           // Float32Array
double ReadNumber(const Napi::Value& value, const char* what);                           // not NaN
std::span<uint32_t> ReadWritableUint32s(const Napi::Value& value, const char* what);     // Uint32Array, writable
std::span<uint8_t> ReadWritableBytes(const Napi::Value& value, const char* what);        // Uint8Array, writable
std::string_view ReadText(const Napi::Value& value, const char* what);                   // Uint8Array of UTF-8

// These copy their argument.
Napi::Value MakeBytes(Napi::Env env, std::span<const uint8_t> bytes);
Napi::Value MakeUint32s(Napi::Env env, std::span<const uint32_t> values);
Napi::Value MakeStrings(Napi::Env env, std::span<const std::string> values);
// Transfers the memory if that is cheaper than a copy.
Napi::Value MakeBytes(Napi::Env env, std::vector<uint8_t> bytes);

}  // namespace gannet::addon
