// What a script raises to end the program with a status and a message, as a wrong command line does. A class of the
// core: no table that looks like it is taken for it.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/lua/box.h"

namespace mr::lua {

struct Exit {
  int64_t status;
  std::string message;
};

template <>
inline constexpr const char* class_name<Exit> = "mr.Exit";

}  // namespace mr::lua
