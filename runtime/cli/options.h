// Parses the command line of `moonrank`.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace mr::cli {

struct Command {
  enum Mode { repl, script, test, doc, manual, results, data_get, data_list, library, version, help, dump_api };
  Mode mode = repl;
  std::vector<std::string> code;   // Lua code of -e options, in order; runs before the script
  bool stay = false;               // -i: start the REPL after the script
  int threads = 0;                 // number of threads; 0 means all cores
  int script_at = 0;               // index in argv of the script's name; 0 means no script
  std::vector<std::string> names;  // words after the commands test, doc, results, data get, help, eval or new
  std::vector<std::string> given;  // options given before a script or command, without their values
};

/// A wrong command line. The message is complete; the exit status is 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Parses a command line. Throws UsageError, which suggests the nearest known option if one is similar.
Command parse(const std::vector<std::string>& words);

}  // namespace mr::cli
