// Checks the process's environment: the standard streams and the variables MOONRANK_*.
#pragma once

struct lua_State;

namespace mr::cli {

/// Opens standard streams that are closed, so that a script's file does not get their descriptor. Makes the exit status
/// 1 if the program's output could not be written.
void watch_standard_streams();

/// Prints an error and returns false if the script's default output (io.output) cannot be written.
bool check_default_output(lua_State* L);

/// Checks the variables MOONRANK_*. Throws std::runtime_error that names the wrong one. `computes`: also throws if the
/// requested device is not available.
void check_variables(bool computes);

}  // namespace mr::cli
