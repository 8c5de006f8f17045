// The command line of `moonrank`.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace mr::cli {

struct Command {
  enum Mode { repl, script, test, doc, manual, results, data_get, data_list, version, help, dump_api };
  Mode mode = repl;
  std::vector<std::string> code;   // of -e, in order; run before the script
  bool stay = false;               // -i: the REPL afterwards
  int threads = 0;                 // 0: all cores
  int script_at = 0;               // index in argv of the script's name; 0: none
  std::vector<std::string> names;  // specs, the manual's folder, or what doc, results, data get and help are about
  std::vector<std::string> given;  // the options before a script or command, without their values
};

/// A wrong command line. Its text is the whole message; the exit status is 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads a command line; throws UsageError, with the nearest known option where one is near.
Command parse(const std::vector<std::string>& words);

}  // namespace mr::cli
