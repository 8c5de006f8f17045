// Runs other programs: started without a shell, with input through a pipe, and waited for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mr::io {

struct Finished {
  int status;          // exit status of the program, or -1 if a signal killed it
  std::string output;  // text that the program wrote to standard output
  std::string errors;  // text that the program wrote to standard error; empty if the stream is shared
};

enum class Errors { captured, shared };

/// Runs a command (found in PATH) with `input` as its standard input and waits for its end. With Errors::shared it
/// writes to this program's standard error. Ctrl-C kills it and throws cpu::Interrupted. A command that cannot be
/// started throws std::runtime_error; if it is missing: `"NAME is not installed (on Debian: apt install PACKAGE)"`.
Finished run_process(const std::vector<std::string>& command, std::string_view input, Errors errors,
                     const std::string& package);

}  // namespace mr::io
