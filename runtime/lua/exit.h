// Exit is the error that a script raises to end the program with a status and a message, for
// example after a wrong command line. It is a class of the core, so no table that looks like it is
// mistaken for it.
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
