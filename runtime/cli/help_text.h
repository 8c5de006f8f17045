// The texts that `moonrank --help` and `moonrank COMMAND --help` print.
#pragma once

#include <string>

namespace mr::cli {

/// The help text of a command ("test", "doc", "results", "data"), or of the program for "".
const char* help_text(const std::string& command);

}  // namespace mr::cli
