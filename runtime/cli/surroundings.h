// What the program is started in: standard streams and the variables MOONRANK_*.
#pragma once

namespace mr::cli {

/// Opens what was closed among input, output and errors, so that no file of a script becomes one of them, and sees to
/// it that the program does not end well where its output could not be written.
void watch_standard_streams();

/// A std::runtime_error that names the variable whose value means nothing; `computes`: also where the device that it
/// asks for is not there.
void check_variables(bool computes);

}  // namespace mr::cli
