// Other programs: started without a shell, given their input through a pipe, waited for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mr::io {

struct Finished {
  int status;          // exit status, or -1 where a signal ended it
  std::string output;  // standard output
  std::string errors;  // standard error, unless it was shared
};

enum class Errors { captured, shared };

/// Runs a command (its name is looked up in PATH) with `input` as its standard input, to its end. With Errors::shared
/// it writes to our own standard error. Ctrl-C ends it and throws cpu::Interrupted; a command that cannot be started
/// throws std::runtime_error, `"NAME is not installed (on Debian: apt install PACKAGE)"` where it is not there.
Finished run_process(const std::vector<std::string>& command, std::string_view input, Errors errors,
                     const std::string& package);

}  // namespace mr::io
