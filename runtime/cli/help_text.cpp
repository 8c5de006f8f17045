#include "runtime/cli/help_text.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace mr::cli {
namespace {

constexpr size_t narrowest = 20, widest = 120;

size_t width_of_output() {
  const char* const asked = std::getenv("COLUMNS");
  size_t width = asked != nullptr ? std::strtoul(asked, nullptr, 10) : 0;
  winsize size{};
  if (width == 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  return width == 0 ? widest : std::clamp(width, narrowest, widest);
}

/// Wraps one line of a help text at blanks. The words that do not fit continue below the line's last column, which
/// begins after its last two blanks in a row. If that column begins in the right half, continuation lines are indented
/// less.
std::string wrapped_line(std::string_view line, size_t width) {
  const size_t gap = line.rfind("  ");
  size_t indent = gap == std::string_view::npos ? 0 : gap + 2;
  if (indent > width / 2) indent = std::min<size_t>(line.find_first_not_of(' ') + 4, width / 2);
  std::string out;
  for (size_t used = 0; used + line.size() > width; used = indent) {
    size_t end = line.rfind(' ', width - used);
    const size_t words = line.find_first_not_of(' ');
    if (end == std::string_view::npos || end <= std::max(words, used == 0 ? indent : 0))
      end = line.find(' ', width - used);
    if (end == std::string_view::npos) break;
    const std::string_view part = line.substr(0, end);
    out += std::string(part.substr(0, part.find_last_not_of(' ') + 1)) + "\n" + std::string(indent, ' ');
    line.remove_prefix(end + 1);
  }
  return out + std::string(line) + "\n";
}

const char* help_text(const std::string& command) {
  static const std::map<std::string, const char*> texts = {
      {"",
       "usage: moonrank [options]                          a prompt\n"
       "       moonrank [options] SCRIPT [script options]  run a script; `moonrank SCRIPT --help` shows its options\n"
       "       moonrank test SPEC...                       run specs\n"
       "       moonrank doc [WORD...]                      documentation: moonrank doc ndcg\n"
       "       moonrank doc --html DIR                     the manual, as pages for a browser\n"
       "       moonrank eval QRELS RUN...                  metrics of TREC runs, and tests of their differences\n"
       "       moonrank new FOLDER                         a study to start from: script, sweep, spec and README\n"
       "       moonrank results STORE                      studies of sweeps in a store, and their best trials\n"
       "       moonrank serve STORE                        studies and trials of a store as pages in a browser\n"
       "       moonrank kernel install                     add Moonrank to Jupyter: notebooks in Lua\n"
       "       moonrank data list                          data sets that can be fetched, and which are present\n"
       "       moonrank data get NAME                      fetch a data set: moonrank data get movielens\n"
       "       moonrank COMMAND --help                     more about test, doc, eval, kernel, new, results, serve or "
       "data\n"
       "\n"
       "options:\n"
       "  -e CODE        run a string (with `mr` defined), before the script if there is one\n"
       "  -i             start the prompt afterwards\n"
       "  --threads N    number of threads (default: all cores)\n"
       "  --version      version, Lua, numerics version, devices\n"
       "  --dump-api     the core's functions as a LuaCATS file\n"
       "  --help         show this\n"
       "\n"
       "MOONRANK_STDLIB names a folder whose files take precedence over the standard library in the program, "
       "MOONRANK_DATA a folder of data sets, MOONRANK_DEVICE the device ('cpu', 'cuda'), MOONRANK_SIMD the "
       "instructions ('scalar', 'avx2', 'avx512'; on aarch64 'neon'), MOONRANK_SAMPLES_GIB the limit of sampled "
       "distributions in the user's cache folder (default 8).\n"
       "Exit status: 0; 1 error; 2 wrong command line; 130 after Ctrl-C.\n"},
      {"test",
       "usage: moonrank [--threads N] test SPEC...\n"
       "\n"
       "Runs files of tests, each in its own Lua state, and prints for each how many tests, checks and failures it "
       "had. "
       "A spec is a script that calls `it` of `require \"moonrank.test\"`; one without tests fails.\n"
       "\n"
       "Exit status: 0 if all passed, 1 if one failed.\n"},
      {"doc",
       "usage: moonrank doc              an overview\n"
       "       moonrank doc NAME         a function, class, method, bound or metric: moonrank doc mr.fit\n"
       "       moonrank doc WORD...      entries with these words in name, options or text, the best first\n"
       "       moonrank doc --html DIR   the manual as pages in a folder: guide, cookbook, reference, papers, file "
       "formats\n"
       "\n"
       "The last part of a name suffices: `ndcg` finds mr.losses.ndcg, mr.metrics.ndcg and mr.smooth.ndcg. At the "
       "prompt `?NAME` and `help(value)` print the same. The manual needs no network: open DIR/index.html in a "
       "browser. DIR is created if it does not exist. If it contains other files than the manual's, that is an error, "
       "and nothing is deleted.\n"},
      {"results",
       "usage: moonrank results STORE\n"
       "\n"
       "Prints the studies in a store that mr.sweep keeps (`store = \"results.db\"`): how many trials are done, and "
       "the best. It only reads, so it works while a sweep runs, too. `moonrank doc mr.results` explains how a script "
       "reads a "
       "store.\n"},
      {"data",
       "usage: moonrank data list        data sets that can be fetched, and where they are\n"
       "       moonrank data get NAME    fetch a data set from its publisher into the user's data folder\n"
       "\n"
       "Data sets are searched, as by the library, in this folder, in $MOONRANK_DATA, and in the "
       "user's data folder, $XDG_DATA_HOME/moonrank or ~/.local/share/moonrank. `get` verifies the files and shows the "
       "terms of use.\n"},
  };
  return texts.at(command);
}

}  // namespace

std::string help(const std::string& command) {
  std::string out;
  std::istringstream text(help_text(command));
  for (std::string line; std::getline(text, line);) out += wrapped_line(line, width_of_output());
  return out;
}

}  // namespace mr::cli
