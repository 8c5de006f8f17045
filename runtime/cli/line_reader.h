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
  /// Reads a line of input. On a terminal, it shows the prompt first. Returns `interrupt` after a Ctrl-C while typing.
  virtual Got read(const char* prompt, std::string* line) = 0;
  /// Adds a chunk of code to the history of typed input, which later sessions can recall.
  virtual void remember(const std::string& chunk) = 0;
};

/// Completions of typed text: `words` are candidates that would replace the last word, which begins at position
/// `start`.
struct Completions {
  size_t start = 0;
  std::vector<std::string> words;
};
using Completer = std::function<Completions(const std::string& before)>;

/// Returns a reader of standard input. On a terminal the history is kept in `history_file`, unless that is empty.
std::unique_ptr<LineReader> make_line_reader(const std::string& history_file, Completer completer);

}  // namespace mr::cli
