// A test harness in one header. TEST(name) { ... } registers a test. CHECK* record a failure and continue, so that
// one run shows every failure. test_main.cc runs the tests in the order of registration.
//
// Thread-safety: CHECK* may be used from several threads; TEST bodies run one after the other.
#pragma once

#include <atomic>
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "../kernel/common/error.h"

namespace gannet::test {

struct Test {
  const char* name;
  void (*run)();
};

inline std::vector<Test>& Tests() {
  static std::vector<Test> tests;
  return tests;
}

struct Registration {
  Registration(const char* name, void (*run)()) { Tests().push_back({name, run}); }
};

inline std::atomic<int> failures_of_current_test{0};

inline void Fail(const char* file, int line, const std::string& what) {
  // Prints the first ten failures of a test only, as a broken loop would print for minutes.
  if (++failures_of_current_test <= 10) std::fprintf(stderr, "  %s:%d: %s\n", file, line, what.c_str());
}

template <typename T>
std::string Show(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<long long>(value));
  } else if constexpr (std::is_convertible_v<decltype(std::declval<std::ostringstream&>() << 0), std::ostream&> &&
                       requires(std::ostringstream& out) { out << value; }) {
    std::ostringstream out;
    out << value;
    return out.str();
  } else {
    return "(value)";
  }
}

}  // namespace gannet::test

#define TEST(name)                                                                     \
  static void Test_##name();                                                           \
  static const ::gannet::test::Registration registration_##name(#name, &Test_##name);  \
  static void Test_##name()

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) ::gannet::test::Fail(__FILE__, __LINE__, #condition);   \
  } while (false)

// Compares two values. Each argument is evaluated once.
#define CHECK_EQ(left, right)                                                                                   \
  do {                                                                                                          \
    const auto& check_left = (left);                                                                            \
    const auto& check_right = (right);                                                                          \
    if (!(check_left == check_right)) {                                                                         \
      ::gannet::test::Fail(__FILE__, __LINE__, std::string(#left " == " #right ": ") +                          \
                                                   ::gannet::test::Show(check_left) + " against " +             \
                                                   ::gannet::test::Show(check_right));                          \
    }                                                                                                           \
  } while (false)

// Checks that the expression throws an Error with the code, an ErrorCode without its scope: CHECK_THROWS(kDamaged, Parse(bytes)).
#define CHECK_THROWS(expected_code, ...)                                                                        \
  do {                                                                                                          \
    bool check_thrown = false;                                                                                  \
    try {                                                                                                       \
      static_cast<void>(__VA_ARGS__);                                                                           \
    } catch (const ::gannet::Error& check_error) {                                                              \
      check_thrown = true;                                                                                      \
      if (check_error.code() != ::gannet::ErrorCode::expected_code) {                                           \
        ::gannet::test::Fail(__FILE__, __LINE__, std::string(#__VA_ARGS__ " threw another code: ") +            \
                                                     check_error.what());                                       \
      }                                                                                                         \
    }                                                                                                           \
    if (!check_thrown) ::gannet::test::Fail(__FILE__, __LINE__, #__VA_ARGS__ " did not throw " #expected_code); \
  } while (false)
