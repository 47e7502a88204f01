// Reads the members of a JSON object that somebody else has validated, without building a tree. On bytes that are not
// JSON it stops with false; it never reads out of bounds and never recurses.
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

  // Takes `byte`, after white space; false and nothing taken if there is another.
  bool Take(char byte);
  // The next byte that is no white space, not taken; NUL at the end.
  char Peek();
  // A string, unescaped; the view is good until `scratch` is used again. Lone surrogates become U+FFFD.
  bool ReadString(std::string* scratch, std::string_view* value);
  // Any value, nested ones included.
  bool SkipValue();

 private:
  // To behind the quote that ends a string; sets `has_escapes` where there is one.
  bool SkipString(bool* has_escapes);
  bool Unescape(std::string_view escaped, std::string* out);

  std::string_view json_;
  size_t at_ = 0;
};

}  // namespace gannet
