// The class of judged lists in scripts.
#pragma once

#include "runtime/lua/bind.h"
#include "runtime/tensor/lists.h"

namespace mr::lua {
template <>
inline constexpr const char* class_name<Lists> = "mr.Lists";
}
