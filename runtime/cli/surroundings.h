// Checks the process's environment: the standard streams and the variables MOONRANK_*.
#pragma once

struct lua_State;

namespace mr::cli {

/// Opens standard streams that are closed, so that a file that a script opens does not get their descriptor. Also makes
/// the exit status 1 if the program's output cannot be written.
void watch_standard_streams();

/// Prints an error and returns false if the script's default output (io.output) cannot be written.
bool check_default_output(lua_State* L);

/// Checks the environment variables MOONRANK_*. Throws std::runtime_error that names the wrong one. If `computes` is
/// true, it also throws if the device that MOONRANK_DEVICE names is not available.
void check_variables(bool computes);

}  // namespace mr::cli
