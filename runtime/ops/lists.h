// The Lua class of judged lists.
#pragma once

#include "runtime/lua/bind.h"
#include "runtime/tensor/lists.h"

namespace mr::lua {
template <>
inline constexpr const char* class_name<Lists> = "mr.Lists";
}
