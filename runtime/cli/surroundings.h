// The process's environment: standard streams and the variables MOONRANK_*.
#pragma once

struct lua_State;

namespace mr::cli {

/// Opens what was closed among input, output and errors, so that no file of a script becomes one of them, and makes the
/// exit status 1 where the program's output could not be written.
void watch_standard_streams();

/// False, and an error on the terminal, where the file that a script made the default output (io.output) cannot be
/// written.
bool check_default_output(lua_State* L);

/// A std::runtime_error that names the variable whose value is wrong; `computes`: also where the device that it asks
/// for is not there.
void check_variables(bool computes);

}  // namespace mr::cli
