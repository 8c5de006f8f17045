#include "runtime/cli/help_text.h"

#include <map>

namespace mr::cli {

const char* help_text(const std::string& command) {
  static const std::map<std::string, const char*> texts = {
      {"",
       "usage: moonrank [options]                        the REPL\n"
       "       moonrank [options] SCRIPT [script options]  run a script; `moonrank SCRIPT --help` shows its options\n"
       "       moonrank test SPEC...                     run specs\n"
       "       moonrank doc [WORD...]                    documentation: moonrank doc ndcg\n"
       "       moonrank doc --html DIR                   the manual, as pages for a browser\n"
       "       moonrank results STORE                    studies of sweeps in a store, and their best trials\n"
       "       moonrank data list                        data sets that can be fetched, and which are there\n"
       "       moonrank data get NAME                    fetch one from its publisher: moonrank data get movielens\n"
       "       moonrank COMMAND --help                   more about test, doc, results or data\n"
       "\n"
       "options:\n"
       "  -e CODE        run a string (`mr` is there), before the script if there is one\n"
       "  -i             stay in the REPL afterwards\n"
       "  --threads N    how many threads share the work (default: all cores)\n"
       "  --version      version, Lua, numerics, devices\n"
       "  --dump-api     the core's functions as a LuaCATS file\n"
       "  --help         show this\n"
       "\n"
       "MOONRANK_STDLIB names a folder whose files take precedence over the standard library in the program, "
       "MOONRANK_DATA\n"
       "one of data sets, MOONRANK_DEVICE the device ('cpu', 'cuda'), MOONRANK_SIMD the instructions ('scalar', "
       "'avx2',\n"
       "'avx512'), MOONRANK_SAMPLES_GIB how much of sampled distributions the user's cache folder keeps (default 8).\n"
       "Exit status: 0; 1 error; 2 wrong command line; 130 after Ctrl-C.\n"},
      {"test",
       "usage: moonrank [--threads N] test SPEC...\n"
       "\n"
       "Runs files of tests, each in a state of its own, and prints for each how many tests, checks and failures it "
       "had.\n"
       "A spec is a script that calls `it` of `require \"moonrank.test\"`; one without tests fails.\n"
       "\n"
       "Exit status: 0 where all passed, 1 where one failed.\n"},
      {"doc",
       "usage: moonrank doc              what there is\n"
       "       moonrank doc NAME         a function, class, method, bound or metric: moonrank doc mr.fit\n"
       "       moonrank doc WORD...      what has these words in its name, options or text, the best first\n"
       "       moonrank doc --html DIR   the manual as pages in a folder: guide, cookbook, reference, papers, file "
       "formats\n"
       "\n"
       "A name may be its end alone: `ndcg` means mr.losses.ndcg, mr.metrics.ndcg and mr.smooth.ndcg. At the prompt "
       "`?NAME`\n"
       "and `help(value)` print the same. The manual needs no network: open DIR/index.html in a browser. DIR is made "
       "where it\n"
       "is not there; one that holds other files than the manual's is an error, and nothing is ever deleted in it.\n"},
      {"results",
       "usage: moonrank results STORE\n"
       "\n"
       "Prints the studies in a store that mr.sweep keeps (`store = \"results.db\"`): how many trials are done, and "
       "the best.\n"
       "It only reads, also while a sweep runs. `moonrank doc mr.results` says how a script reads one.\n"},
      {"data",
       "usage: moonrank data list        data sets that can be fetched, and where they are\n"
       "       moonrank data get NAME    fetch one from its publisher into the user's data folder\n"
       "\n"
       "A data set is looked for as the library does: in this folder, in $MOONRANK_DATA, in ../shared/data, and in the "
       "user's\n"
       "data folder, $XDG_DATA_HOME/moonrank or ~/.local/share/moonrank. `get` checks what it fetched, and shows the "
       "terms of\n"
       "use.\n"},
  };
  return texts.at(command);
}

}  // namespace mr::cli
