// Parses the command line of `moonrank`.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace mr::cli {

struct Command {
  enum Mode { repl, script, test, doc, manual, results, data_get, data_list, library, version, help, dump_api };
  Mode mode = repl;
  std::vector<std::string> code;  // Lua code of all -e options, in their order; it runs before the script
  bool stay = false;              // -i: start the REPL after the script
  int threads = 0;                // number of threads; 0 means all cores
  int script_at = 0;              // position of the script's name on the command line; 0 means no script
  // Words after the command test, doc, results or data get. For help, the command to explain. For eval, kernel, new and
  // serve, the command itself and the words after it.
  std::vector<std::string> names;
  std::vector<std::string> given;  // options before a script or command, without their values
};

/// The error of a wrong command line. Its text is shown as it is, and the program then exits with status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Parses a command line. Throws UsageError, which suggests the nearest known option if one is similar.
Command parse(const std::vector<std::string>& words);

}  // namespace mr::cli
