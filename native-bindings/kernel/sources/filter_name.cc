#include "filter_name.h"

#include <cstdint>
#include <string_view>

namespace gannet {
namespace {

// Appends the bytes of a value: all values of a type have the same length.
template <typename T>
void AppendBytes(T value, std::string* name) {
  name->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void Append(std::string_view text, std::string* name) {
  AppendBytes(uint64_t{text.size()}, name);
  name->append(text);
}

void Append(const FilterNode& filter, std::string* name) {
  AppendBytes(filter.op, name);
  AppendBytes(filter.column, name);
  AppendBytes(filter.centre.latitude, name);
  AppendBytes(filter.centre.longitude, name);
  AppendBytes(filter.metres, name);
  AppendBytes(filter.opposite.latitude, name);
  AppendBytes(filter.opposite.longitude, name);
  AppendBytes(uint64_t{filter.values.size()}, name);
  for (const PlanValue& value : filter.values) {
    AppendBytes(value.is_number, name);
    AppendBytes(value.number, name);
    Append(value.text, name);
  }
  AppendBytes(uint64_t{filter.children.size()}, name);
  for (const FilterNode& child : filter.children) Append(child, name);
}

}  // namespace

std::string NameOf(const FilterNode& filter) {
  std::string name;
  Append(filter, &name);
  return name;
}

}  // namespace gannet
