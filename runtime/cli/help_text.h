// The texts that `moonrank --help` and `moonrank COMMAND --help` print.
#pragma once

#include <string>

namespace mr::cli {

/// Returns the help text of a command ("test", "doc", "results", "data"), or of the program for "". It is wrapped at
/// the width of the terminal, which the environment variable COLUMNS replaces, and at 120 columns at most.
std::string help(const std::string& command);

}  // namespace mr::cli
