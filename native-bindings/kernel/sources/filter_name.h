// Names a filter: two filters have the same name if they are equal in every part.
#pragma once

#include <string>

#include "../query/query_plan.h"

namespace gannet {

std::string NameOf(const FilterNode& filter);

}  // namespace gannet
