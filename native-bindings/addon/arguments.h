// Checked reading of JavaScript arguments, and values back. A wrong type throws ArgumentError, which CallGuard turns
// into a TypeError that names the argument.
//
// Spans point into JavaScript memory: they are good until JavaScript code may run again, which reading a property of
// an object can already cause. So bytes are read last.
//
// Thread-safety: each environment's thread only.
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

// Each throws ArgumentError("<what> has to be ...").
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
double ReadNumber(const Napi::Value& value, const char* what);                           // that is one
std::span<uint32_t> ReadWritableUint32s(const Napi::Value& value, const char* what);     // Uint32Array, to be written
std::span<uint8_t> ReadWritableBytes(const Napi::Value& value, const char* what);        // Uint8Array, to be written
std::string_view ReadText(const Napi::Value& value, const char* what);                   // Uint8Array of UTF-8

// Copies.
Napi::Value MakeBytes(Napi::Env env, std::span<const uint8_t> bytes);
Napi::Value MakeUint32s(Napi::Env env, std::span<const uint32_t> values);
Napi::Value MakeStrings(Napi::Env env, std::span<const std::string> values);
// Hands the memory over where that is cheaper than a copy.
Napi::Value MakeBytes(Napi::Env env, std::vector<uint8_t> bytes);

}  // namespace gannet::addon
