#include "runtime/cli/line_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <cwchar>
#include <new>
#include <poll.h>
#include <signal.h>
#include <stdexcept>
#include <string_view>
#include <unistd.h>

#include <histedit.h>

#include "runtime/io/files/new_file.h"
#include "runtime/io/files/regular_file.h"
#include "runtime/io/thread_locale.h"
#include "runtime/lua/interrupt.h"

namespace mr::cli {
namespace {

/// Returns "" if the file is a history that libedit wrote. Otherwise returns the reason why it must not be overwritten.
std::string no_history(const std::string& path) {
  constexpr std::string_view mark = "_HiStOrY_V2_\n";
  std::string found(mark.size(), '\0');
  const io::RegularFile file(path);
  file.read(0, found.data(), std::min(file.size(), static_cast<int64_t>(mark.size())));
  return found == mark ? "" : "it is no history of moonrank's, and is not replaced";
}

class PlainReader : public LineReader {
 public:
  Got read(const char*, std::string* line) override {
    line->clear();
    for (;;) {
      const int c = std::getchar();
      if (c == EOF) {
        if (lua::interrupted()) {
          std::clearerr(stdin);
          return Got::interrupt;
        }
        return line->empty() ? Got::end : Got::line;
      }
      if (c == '\n') return Got::line;
      line->push_back(static_cast<char>(c));
    }
  }
  void remember(const std::string&) override {}
};

bool is_readable() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) > 0;
}

/// True while the program reads input that was typed before the prompt appeared, when libedit had not set the
/// terminal's mode. In such input a Ctrl-D arrives as a zero byte; later a zero byte is a Ctrl-Space.
bool typed_ahead = false;

/// Waits for typed input. Returns false after Ctrl-C. SIGINT is blocked except during the wait, so that a Ctrl-C just
/// before the wait is not lost.
bool wait_for_input() {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  pollfd input{STDIN_FILENO, POLLIN, 0};
  int ready = 0;
  // Signals other than Ctrl-C, such as that of a resized window, do not end the wait for input.
  while (!lua::interrupted() && ready == 0) {
    ready = ppoll(&input, 1, nullptr, &before);
    if (ready < 0 && errno == EINTR) ready = 0;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return !lua::interrupted();
}

/// Reads one character for libedit. A Ctrl-C ends the line, whereas libedit's own function would continue to read.
int read_character(EditLine*, wchar_t* out) {
  std::mbstate_t state{};
  for (;;) {
    char byte = 0;
    typed_ahead = typed_ahead && is_readable();
    if (!wait_for_input()) return -1;
    const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
    if (count < 0 && errno == EINTR && !lua::interrupted()) continue;
    if (count <= 0) return static_cast<int>(count);
    // ignores the zero byte of Ctrl-Space; in input typed before the prompt, a zero byte is a Ctrl-D, '\x04'
    if (byte == '\0' && !typed_ahead) continue;
    if (byte == '\0') byte = '\x04';
    const size_t used = std::mbrtowc(out, &byte, 1, &state);
    if (used == static_cast<size_t>(-1)) return *out = static_cast<unsigned char>(byte), 1;
    if (used != static_cast<size_t>(-2)) return 1;
  }
}

/// The user's locale. libedit uses it to convert between bytes and characters.
constexpr const char* of_terminal = "";

class EditedReader : public LineReader {
 public:
  EditedReader(std::string history_file, Completer completer)
      : history_file_(std::move(history_file)),
        completer_(std::move(completer)),
        edit_(nullptr),
        history_(history_init()) {
    const io::ThreadLocale characters(LC_CTYPE_MASK, of_terminal);
    edit_ = el_init("moonrank", stdin, stdout, stderr);
    if (edit_ == nullptr || history_ == nullptr) {
      if (history_ != nullptr) history_end(history_);
      if (edit_ != nullptr) el_end(edit_);
      throw std::bad_alloc();
    }
    HistEvent event;
    history(history_, &event, H_SETSIZE, 5000);
    history(history_, &event, H_SETUNIQUE, 1);
    if (!history_file_.empty()) history(history_, &event, H_LOAD, history_file_.c_str());
    el_set(edit_, EL_CLIENTDATA, this);
    el_set(edit_, EL_PROMPT, &prompt);
    el_set(edit_, EL_EDITOR, "emacs");
    el_set(edit_, EL_SIGNAL, 0);
    el_set(edit_, EL_HIST, history, history_);
    el_set(edit_, EL_GETCFN, &read_character);
    el_set(edit_, EL_ADDFN, "complete-name", "Complete a name", &complete);
    el_set(edit_, EL_BIND, "^I", "complete-name", nullptr);
    el_set(edit_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_source(edit_, nullptr);
  }
  ~EditedReader() override {
    history_end(history_);
    el_end(edit_);
  }
  EditedReader(const EditedReader&) = delete;
  EditedReader& operator=(const EditedReader&) = delete;

  Got read(const char* text, std::string* line) override {
    const io::ThreadLocale characters(LC_CTYPE_MASK, of_terminal);
    prompt_ = text;
    int count = 0;
    typed_ahead = is_readable();
    const char* const typed = el_gets(edit_, &count);
    if (lua::interrupted()) {
      el_reset(edit_);
      std::puts("^C");
      return Got::interrupt;
    }
    if (typed == nullptr || count <= 0) return Got::end;
    line->assign(typed, static_cast<size_t>(count));
    if (line->back() == '\n') line->pop_back();
    return Got::line;
  }

  void remember(const std::string& chunk) override {
    const io::ThreadLocale characters(LC_CTYPE_MASK, of_terminal);
    HistEvent event;
    history(history_, &event, H_ENTER, chunk.c_str());
    // All REPL sessions share one history file. It is written after each chunk of code, so that a crash loses nothing.
    if (history_file_.empty()) return;
    try {
      io::NewFile file(history_file_, &no_history);
      write_history(file.temporary());
      file.keep();
    } catch (const std::runtime_error& error) {
      std::fprintf(stderr, "moonrank: no history is kept: %s\n", error.what());
      history_file_.clear();
    }
  }

 private:
  /// Writes the history by libedit and checks the file for errors, which libedit does not report.
  void write_history(const std::string& path) {
    std::FILE* const out = std::fopen(path.c_str(), "we");
    if (out == nullptr) throw std::runtime_error(path + ": cannot write: " + std::strerror(errno));
    HistEvent event;
    history(history_, &event, H_SAVE_FP, out);
    const bool failed = std::ferror(out) != 0;
    if (std::fclose(out) != 0 || failed) throw std::runtime_error(path + ": cannot write: " + std::strerror(errno));
  }

  static EditedReader& self(EditLine* edit) {
    void* data = nullptr;
    el_get(edit, EL_CLIENTDATA, &data);
    return *static_cast<EditedReader*>(data);
  }
  static char* prompt(EditLine* edit) { return self(edit).prompt_.data(); }
  static unsigned char complete(EditLine* edit, int) {
    try {
      return self(edit).complete_word();
    } catch (const std::bad_alloc&) {
      return CC_ERROR;  // out of memory; the exception must not pass through libedit, which is written in C
    }
  }

  unsigned char complete_word() {
    const LineInfo* const line = el_line(edit_);
    const std::string before(line->buffer, static_cast<size_t>(line->cursor - line->buffer));
    if (before.find_first_not_of(" \t") == std::string::npos) {
      el_insertstr(edit_, "  ");
      return CC_REFRESH;
    }
    const Completions found = completions_of(before);
    if (found.words.empty()) return CC_REFRESH_BEEP;
    std::string common = found.words.front();
    for (const std::string& word : found.words) {
      common.resize(static_cast<size_t>(std::mismatch(common.begin(), common.end(), word.begin(), word.end()).first -
                                        common.begin()));
    }
    const std::string word = before.substr(found.start);
    if (common.size() > word.size()) {
      el_insertstr(edit_, common.c_str() + word.size());
      return CC_REFRESH;
    }
    if (found.words.size() == 1) return CC_NORM;
    show(found.words);
    return CC_REDISPLAY;
  }

  Completions completions_of(const std::string& before) const {
    const io::ThreadLocale plain(LC_CTYPE_MASK, "C");
    return completer_(before);
  }

  void show(const std::vector<std::string>& words) const {
    size_t width = 0;
    for (const std::string& word : words) width = std::max(width, word.size() + 2);
    const size_t columns = std::max<size_t>(1, 80 / width);
    for (size_t i = 0; i < words.size(); ++i) {
      std::printf("%s%-*s", i % columns == 0 ? "\n" : "", static_cast<int>(width), words[i].c_str());
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  std::string history_file_, prompt_;
  Completer completer_;
  EditLine* edit_;
  History* history_;
};

}  // namespace

std::unique_ptr<LineReader> make_line_reader(const std::string& history_file, Completer completer) {
  if (isatty(STDIN_FILENO) != 0) return std::make_unique<EditedReader>(history_file, std::move(completer));
  return std::make_unique<PlainReader>();
}

}  // namespace mr::cli
