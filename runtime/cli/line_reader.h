// Reads the lines of the REPL: edited lines on a terminal (libedit), plain lines otherwise.
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
  /// Reads a line, with the prompt on a terminal. Returns `interrupt` for Ctrl-C while typing.
  virtual Got read(const char* prompt, std::string* line) = 0;
  /// Adds a chunk to the history for later sessions.
  virtual void remember(const std::string& chunk) = 0;
};

/// Returns completions of the text left of the cursor: whole candidates for its last word, which begins at `start`.
struct Completions {
  size_t start = 0;
  std::vector<std::string> words;
};
using Completer = std::function<Completions(const std::string& before)>;

/// Returns a reader of standard input. On a terminal the history is kept in `history_file`, unless that is empty.
std::unique_ptr<LineReader> make_line_reader(const std::string& history_file, Completer completer);

}  // namespace mr::cli
