// Names the Lua class of judged lists, mr.Lists, so that C++ functions can take and return Lists.
#pragma once

#include <tuple>

#include "runtime/lua/bind.h"
#include "runtime/tensor/lists.h"

namespace mr::lua {
template <>
inline constexpr const char* class_name<Lists> = "mr.Lists";
}  // namespace mr::lua

namespace mr {

/// Returns lists of only the rows whose grade is at least `relevant`, with grade 1, and the numbers of these rows.
std::tuple<Lists, Tensor> relevant_part(const Lists& lists, double relevant);

}  // namespace mr
