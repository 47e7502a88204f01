// Appends JSON to a string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gannet {

void AppendJsonString(std::string_view text, std::string* out);

// Appends the shortest decimal that reads back as the same double; whole numbers have no exponent. NaN and infinities,
// which JSON does not have, become null.
void AppendJsonNumber(double number, std::string* out);

// Appends milliseconds since 1970 as a quoted ISO 8601 string in JavaScript's form ("2024-05-01T00:00:00.000Z"). A
// value outside the years of the calendar is written as a number.
void AppendJsonDate(double milliseconds, std::string* out);

}  // namespace gannet
