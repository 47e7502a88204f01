// Reads the members of a validated JSON object without building a tree. On bytes that are not JSON it stops with false;
// it never reads out of bounds and never recurses.
//
// Thread-safety: one thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gannet {

class JsonScanner {
 public:
  explicit JsonScanner(std::string_view json) : json_(json) {}

  // Skips white space and consumes `byte`; returns false and consumes nothing if another byte is next.
  bool Take(char byte);
  // Returns the next byte that is not white space without consuming it; NUL at the end.
  char Peek();
  // Reads a string, unescaped; the view is valid until `scratch` is used again. Lone surrogates become U+FFFD.
  bool ReadString(std::string* scratch, std::string_view* value);
  // Skips any value, including nested ones.
  bool SkipValue();

 private:
  // Skips to after the quote that ends a string; sets `has_escapes` if it has an escape.
  bool SkipString(bool* has_escapes);
  bool Unescape(std::string_view escaped, std::string* out);

  std::string_view json_;
  size_t at_ = 0;
};

}  // namespace gannet
