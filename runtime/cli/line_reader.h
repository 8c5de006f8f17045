// Where the REPL's lines come from: an edited line on a terminal (libedit), plain lines elsewhere.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mr::cli {

class LineReader {
 public:
  enum class Got { line, interrupt, end };
  virtual ~LineReader() = default;
  /// Shows the prompt on a terminal. `interrupt` is Ctrl-C while typing.
  virtual Got read(const char* prompt, std::string* line) = 0;
  /// Keeps what was entered for later sessions.
  virtual void remember(const std::string& chunk) = 0;
};

/// Possible completions of the text left of the cursor: whole candidates for its last word, which
/// begins at `start`.
struct Completions {
  size_t start = 0;
  std::vector<std::string> words;
};
using Completer = std::function<Completions(const std::string& before)>;

/// A reader for standard input. On a terminal the history is kept in `history_file`, unless that is empty.
std::unique_ptr<LineReader> make_line_reader(const std::string& history_file, Completer completer);

}  // namespace mr::cli
