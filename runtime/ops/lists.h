// Names the Lua class of judged lists, mr.Lists, so that C++ functions can take and return Lists.
#pragma once

#include "runtime/lua/bind.h"
#include "runtime/tensor/lists.h"

namespace mr::lua {
template <>
inline constexpr const char* class_name<Lists> = "mr.Lists";
}
