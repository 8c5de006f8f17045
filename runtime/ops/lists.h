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

/// The rows whose grade is at least `relevant` as lists of their own, with grade 1, and the numbers of these rows.
std::tuple<Lists, Tensor> relevant_part(const Lists& lists, double relevant);

}  // namespace mr
