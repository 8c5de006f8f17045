// What `moonrank --help` and `moonrank COMMAND --help` print.
#pragma once

#include <string>

namespace mr::cli {

/// Of a command ("test", "doc", "results", "data"), or of the program for "".
const char* help_text(const std::string& command);

}  // namespace mr::cli
