#include "runtime/cli/options.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include "runtime/io/nearest_name.h"

namespace mr::cli {

namespace {

const std::vector<std::string> known_options = {"-e", "-i", "-h", "--threads", "--version", "--dump-api", "--help"};

const std::vector<std::string> commands = {"data", "doc", "eval", "help", "kernel", "new", "results", "serve", "test"};

/// Returns true for commands that the standard library implements (module moonrank.command). The module also reads the
/// rest of their command line.
bool is_of_library(const std::string& command) {
  return command == "eval" || command == "kernel" || command == "new" || command == "serve";
}

/// Suggestions for options and commands that users know from other programs and that moonrank does not have.
const std::map<std::string, std::string> instead = {
    {"-c", "-e CODE"},
    {"-v", "--version"},
    {"-V", "--version"},
    {"create", "moonrank new FOLDER"},
    {"evaluate", "moonrank eval QRELS RUN"},
    {"exec", "moonrank -e CODE"},
    {"version", "moonrank --version"},
    {"repl", "moonrank alone"},
    {"init", "moonrank new FOLDER"},
    {"shell", "moonrank alone"},
    {"run", "moonrank SCRIPT"},
    {"man", "moonrank doc"},
    {"manual", "moonrank doc --html DIR"},
    {"download", "moonrank data get NAME"},
    {"fetch", "moonrank data get NAME"},
    {"list", "moonrank data list"},
    {"trec_eval", "moonrank eval QRELS RUN"},
    {"studies", "moonrank results STORE"},
    {"dashboard", "moonrank serve STORE"},
    {"ui", "moonrank serve STORE"},
};

/// Returns true if a word of the command line is an option. A file with such a name can be written as ./-x.
bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

[[noreturn]] void unknown(const std::string& what, const std::string& word, const std::vector<std::string>& known) {
  const auto other = instead.find(word);
  const bool at_start = what.find(" of ") == std::string::npos;
  if (at_start && other != instead.end())
    throw UsageError("unknown " + what + " '" + word + "'; write " + other->second);
  const std::optional<std::string> nearest = io::nearest_name(word, known);
  throw UsageError("unknown " + what + " '" + word + "'" + (nearest ? ", did you mean '" + *nearest + "'?" : "") +
                   " (moonrank --help lists all)");
}

int thread_count(const std::string& text) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < 1 || n > 4096) {
    throw UsageError("--threads: expected an integer from 1 to 4096, got '" + text + "'");
  }
  return n;
}

const std::string& value_after(const std::vector<std::string>& words, size_t* i, const char* what) {
  if (*i + 1 >= words.size()) throw UsageError(words[*i] + ": " + what + " is missing");
  return words[++*i];
}

/// Reads one option of the command line, words[*i], and moves *i to its value if it has one.
void read_option(const std::vector<std::string>& words, size_t* i, Command* command) {
  const std::string& word = words[*i];
  const Command::Mode before = command->mode;
  command->given.push_back(word.substr(0, word.find('=')));
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
  if (before == Command::help) command->mode = before;  // after --help, other options are ignored
  if (before == Command::version || before == Command::dump_api) {
    if (command->mode != before && command->mode != Command::help) throw UsageError(word + ": unexpected option");
  }
}

/// Throws if the command line has an option that has no effect on its command, named `what`.
void check_used(const Command& command, const std::string& what) {
  const bool runs = command.mode == Command::repl || command.mode == Command::script;
  const bool takes_threads = command.mode == Command::test || command.mode == Command::library;
  if (runs || command.mode == Command::help) return;
  for (const std::string& option : command.given) {
    if (option == what || (option == "--threads" && takes_threads)) continue;
    throw UsageError(what + ": option '" + option + "' has no effect here, remove it");
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
                     (words[at] == "get" ? "one name after 'get'" : "no words after 'list'"));
  } else {
    unknown("data command", words[at], {"get", "list"});
  }
}

/// Reads the words of `moonrank doc --html DIR`. Returns false if --html is not among them.
bool read_manual(const std::vector<std::string>& rest, Command* command) {
  if (std::find(rest.begin(), rest.end(), "--html") == rest.end()) return false;
  if (rest.front() != "--html" || rest.size() > 2) {
    throw UsageError("doc --html: expected the name of one folder after --html and no other words");
  }
  if (rest.size() < 2) throw UsageError("doc --html: the name of a folder is missing");
  if (is_option(rest[1]))
    throw UsageError("doc --html: expected the name of a folder, got the option '" + rest[1] + "'");
  command->mode = Command::manual;
  command->names = {rest[1]};
  return true;
}

/// Reads the words after the commands `data`, `test`, `doc` and `results`. Their only options are --help and, for
/// `doc`, --html.
void read_subcommand(const std::vector<std::string>& words, size_t at, Command* command) {
  const std::string& name = words[at];
  const std::vector<std::string> rest(words.begin() + static_cast<ptrdiff_t>(at) + 1, words.end());
  if (std::any_of(rest.begin(), rest.end(), [](const std::string& word) { return word == "--help" || word == "-h"; })) {
    command->mode = Command::help;
    command->names = {name};
    return;
  }
  if (name == "doc" && read_manual(rest, command)) return;
  for (const std::string& word : rest) {
    if (!is_option(word)) continue;
    if (std::find(known_options.begin(), known_options.end(), word) != known_options.end()) {
      throw UsageError(name + (name == "test" && word == "--threads"
                                   ? ": option '" + word + "' must be written before 'test'"
                                   : ": option '" + word + "' has no effect here, remove it"));
    }
    std::vector<std::string> known = {"--help", "-h"};
    if (name == "doc") known.push_back("--html");
    unknown("option of " + name, word, known);
  }
  if (name == "data") return read_data(words, at + 1, command);
  command->mode = name == "test" ? Command::test : name == "doc" ? Command::doc : Command::results;
  command->names = rest;
  if (name == "test" && rest.empty()) throw UsageError("test: expected the name of at least one spec, got none");
  if (name == "results" && rest.size() != 1) {
    throw UsageError("results: expected the name of one store, got " +
                     (rest.empty() ? "none" : std::to_string(rest.size()) + " names"));
  }
  const auto is_blank = [](const std::string& word) { return word.find_first_not_of(" \t\n") == std::string::npos; };
  if (name == "doc" && !rest.empty() && std::all_of(rest.begin(), rest.end(), is_blank)) {
    throw UsageError(
        "doc: expected a name such as mr.fit or words to search for, got an empty text; without words it "
        "shows an overview");
  }
  if (name == "doc" && rest.size() > 1) {
    command->names = {rest.front()};
    for (size_t i = 1; i < rest.size(); ++i) command->names.front() += " " + rest[i];
  }
}

bool is_file(const std::string& path) {
  std::error_code unreadable;
  const std::filesystem::file_status status = std::filesystem::status(path, unreadable);
  return std::filesystem::exists(status) && !std::filesystem::is_directory(status);
}

void read_help(const std::vector<std::string>& rest, Command* command) {
  command->mode = Command::help;
  const bool named =
      rest.size() == 1 && rest[0] != "help" && std::find(commands.begin(), commands.end(), rest[0]) != commands.end();
  if (named) command->names = rest;
  if (named && is_of_library(rest[0])) {
    command->mode = Command::library;
    command->names = {rest[0], "--help"};
  }
  const bool asks_for_help = rest.size() == 1 && (rest[0] == "--help" || rest[0] == "-h" || rest[0] == "help");
  if (!rest.empty() && !named && !asks_for_help) {
    throw UsageError("help: expected one command after it: test, doc, results, data, eval, kernel, new or serve");
  }
}

/// Throws for a first word that is neither a command nor a file and does not look like a path. The error suggests a
/// similar name.
[[noreturn]] void refuse_word(const std::string& word) {
  if (is_file(word + ".lua")) throw UsageError("no command or script '" + word + "', did you mean '" + word + ".lua'?");
  unknown("command or script", word, commands);
}

}  // namespace

Command parse(const std::vector<std::string>& words) {
  Command command;
  size_t i = 1;
  for (; i < words.size() && is_option(words[i]); ++i) read_option(words, &i, &command);
  if (i >= words.size()) {
    if (command.mode == Command::repl && !command.code.empty() && !command.stay) command.mode = Command::script;
    check_used(command, command.mode == Command::version ? "--version" : "--dump-api");
    return command;
  }
  if (command.mode != Command::repl) throw UsageError("unexpected argument '" + words[i] + "'");
  const std::string& word = words[i];
  if (word == "data" || word == "test" || word == "doc" || word == "results") {
    read_subcommand(words, i, &command);
    check_used(command, word);
  } else if (is_of_library(word) && !is_file(word)) {
    command.mode = Command::library;
    command.names.assign(words.begin() + static_cast<ptrdiff_t>(i), words.end());
    check_used(command, word);
  } else if (word == "help" && !is_file(word)) {
    read_help({words.begin() + static_cast<ptrdiff_t>(i) + 1, words.end()}, &command);
  } else if (word.find_first_of("./-") == std::string::npos && !is_file(word)) {
    refuse_word(word);
  } else {
    command.mode = Command::script;
    command.script_at = static_cast<int>(i);
  }
  return command;
}

}  // namespace mr::cli
