// Includes Lua's headers for either build of the library: liblua5.4 is C, liblua5.4-c++ raises errors as exceptions.
#pragma once

#ifdef MR_LUA_CXX
#include <lauxlib.h>

#include <lua.h>
#include <lualib.h>
#else
#include <lua.hpp>
#endif
