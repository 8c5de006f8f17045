// Helpers that run the built command moonrank as a user would: with arguments, input, environment variables, a working
// folder and signals.
#pragma once

#include <chrono>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <signal.h>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace mr::test {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Ran {
  int status;  // exit status of the process, or 1000 + the number of the signal that ended it
  std::string out, err;
};

/// A running process of the command `moonrank`. The destructor kills it if it still runs.
class Command {
 public:
  explicit Command(std::vector<std::string> arguments, const std::string& input = "",
                   const std::string& in_folder = "") {
    std::ofstream(folder_.path() / "in") << input;
    arguments.insert(arguments.begin(), MR_MOONRANK_PATH);
    std::vector<char*> words;
    for (std::string& word : arguments) words.push_back(word.data());
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    const std::string in = path("in"), out = path("out"), err = path("err");
    posix_spawn_file_actions_addopen(&actions, 0, in.c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT, 0600);
    if (!in_folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, in_folder.c_str());
    const int error = posix_spawn(&child_, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot start " MR_MOONRANK_PATH);
  }
  ~Command() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// Waits until the command has written `text` to standard output; throws after four minutes.
  void wait_for(const std::string& text) const {
    for (int i = 0; i < 24'000; ++i) {  // four minutes, because a busy machine is slow
      if (read_text(folder_.path() / "out").find(text) != std::string::npos) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw std::runtime_error("the command never wrote '" + text + "'");
  }
  void send(int signal) const { kill(child_, signal); }

  Ran finish() {
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = 0;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), read_text(folder_.path() / "out"),
            read_text(folder_.path() / "err")};
  }

 private:
  std::string path(const char* name) const { return (folder_.path() / name).string(); }

  TemporaryFolder folder_;
  pid_t child_ = 0;
};

inline Ran run(std::vector<std::string> arguments, const std::string& input = "", const std::string& in_folder = "") {
  return Command(std::move(arguments), input, in_folder).finish();
}

/// A file with the given text, in a temporary folder of its own.
class TextFile {
 public:
  TextFile(const std::string& name, const std::string& text) : path_((folder_.path() / name).string()) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  const std::string& path() const { return path_; }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

}  // namespace mr::test
