#include "runtime/cli/options.h"

#include <algorithm>
#include <charconv>

#include "runtime/io/nearest_name.h"

namespace mr::cli {

const char* const help_text =
    "usage: moonrank [options]                        the REPL\n"
    "       moonrank [options] SCRIPT [script options]  run a script; `moonrank SCRIPT --help` shows its options\n"
    "       moonrank test SPEC...                     run specs\n"
    "       moonrank doc [NAME]                       documentation: moonrank doc ndcg\n"
    "       moonrank results STORE                    studies of sweeps in a store, and their best trials\n"
    "       moonrank data list                        data sets that can be fetched, and which are there\n"
    "       moonrank data get NAME                    fetch one from its publisher: moonrank data get movielens\n"
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
    "one of data sets, MOONRANK_DEVICE the device ('cpu', 'cuda'), MOONRANK_SIMD the instructions ('scalar', 'avx2',\n"
    "'avx512'), MOONRANK_SAMPLES_GIB how much of sampled distributions the user's cache folder keeps (default 8).\n"
    "Exit status: 0; 1 error; 2 wrong command line; 130 after Ctrl-C.\n";

namespace {

const std::vector<std::string> known_options = {"-e", "-i", "-h", "--threads", "--version", "--dump-api", "--help"};

/// Whether a word is meant as an option; a file that is called so is written ./-x.
bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

[[noreturn]] void unknown(const std::string& what, const std::string& word, const std::vector<std::string>& known) {
  const std::optional<std::string> nearest = io::nearest_name(word, known);
  throw UsageError("unknown " + what + " '" + word + "'" + (nearest ? ", did you mean '" + *nearest + "'?" : "") +
                   " (moonrank --help lists all)");
}

int thread_count(const std::string& text) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < 1 || n > 4096) {
    throw UsageError("--threads: expected a number from 1 to 4096, got '" + text + "'");
  }
  return n;
}

const std::string& value_after(const std::vector<std::string>& words, size_t* i, const char* what) {
  if (*i + 1 >= words.size()) throw UsageError(words[*i] + ": " + what + " is missing");
  return words[++*i];
}

/// One option at words[*i]; moves *i to its last word.
void read_option(const std::vector<std::string>& words, size_t* i, Command* command) {
  const std::string& word = words[*i];
  if (word == "-e") {
    command->code.push_back(value_after(words, i, "the code"));
  } else if (word == "-i") {
    command->stay = true;
  } else if (word == "--threads") {
    command->threads = thread_count(value_after(words, i, "the number of threads"));
  } else if (word.rfind("--threads=", 0) == 0) {
    command->threads = thread_count(word.substr(10));
  } else if (word == "--version") {
    command->mode = Command::version;
  } else if (word == "--help" || word == "-h") {
    command->mode = Command::help;
  } else if (word == "--dump-api") {
    command->mode = Command::dump_api;
  } else {
    unknown("option", word, known_options);
  }
}

void read_data(const std::vector<std::string>& words, size_t at, Command* command) {
  if (at >= words.size()) throw UsageError("data: 'get NAME' or 'list' is missing");
  if (words[at] == "list" && at + 1 == words.size()) {
    command->mode = Command::data_list;
  } else if (words[at] == "get" && at + 2 == words.size()) {
    command->mode = Command::data_get;
    command->names = {words[at + 1]};
  } else if (words[at] == "get" || words[at] == "list") {
    throw UsageError("data " + words[at] + ": expected " +
                     (words[at] == "get" ? "one name after it" : "nothing after it"));
  } else {
    unknown("data command", words[at], {"get", "list"});
  }
}

/// What follows `data`, `test`, `doc` or `results`: --help, or no option at all.
void read_subcommand(const std::vector<std::string>& words, size_t at, Command* command) {
  const std::string& name = words[at];
  const std::vector<std::string> rest(words.begin() + static_cast<ptrdiff_t>(at) + 1, words.end());
  for (const std::string& word : rest) {
    if (word == "--help" || word == "-h") {
      command->mode = Command::help;
      return;
    }
    if (!is_option(word)) continue;
    if (std::find(known_options.begin(), known_options.end(), word) != known_options.end()) {
      throw UsageError(name + ": option '" + word + "' stands before '" + name + "'");
    }
    unknown("option of " + name, word, {"--help", "-h"});
  }
  if (name == "data") return read_data(words, at + 1, command);
  command->mode = name == "test" ? Command::test : name == "doc" ? Command::doc : Command::results;
  command->names = rest;
  if (name == "test" && rest.empty()) throw UsageError("test: name one spec at least");
  if (name == "results" && rest.size() != 1) {
    throw UsageError("results: expected the name of one store, got " + std::to_string(rest.size()));
  }
  if (name == "doc" && rest.size() > 1) {
    throw UsageError("doc: expected one name, got " + std::to_string(rest.size()));
  }
}

}  // namespace

Command parse(const std::vector<std::string>& words) {
  Command command;
  size_t i = 1;
  for (; i < words.size() && is_option(words[i]); ++i) read_option(words, &i, &command);
  if (i >= words.size()) {
    if (command.mode == Command::repl && !command.code.empty() && !command.stay) command.mode = Command::script;
    return command;
  }
  if (command.mode != Command::repl) throw UsageError("unexpected argument '" + words[i] + "'");
  const std::string& word = words[i];
  if (word == "data" || word == "test" || word == "doc" || word == "results") {
    read_subcommand(words, i, &command);
  } else {
    command.mode = Command::script;
    command.script_at = static_cast<int>(i);
  }
  return command;
}

}  // namespace mr::cli
