// Runs an interactive session of `moonrank` on a pseudo-terminal: tests type text and wait for the expected output.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace mr::test {

class Terminal {
 public:
  Terminal() {
    master_ = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0) throw std::runtime_error("no terminal");
    const std::string name = ptsname(master_);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, name.c_str(), O_RDWR,
                                     // the first terminal that a new session opens becomes its controlling terminal
                                     0);
    posix_spawn_file_actions_adddup2(&actions, 0, 1);
    posix_spawn_file_actions_adddup2(&actions, 0, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    std::string program = MR_MOONRANK_PATH;
    char* words[] = {program.data(), nullptr};
    const int error = posix_spawn(&child_, words[0], &actions, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) throw std::runtime_error("cannot start " + program);
  }
  ~Terminal() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& keys) const {
    if (write(master_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size()))
      throw std::runtime_error("typing failed");
  }

  /// Reads output until `text` appears after the previously expected text. Throws an error with what was read if the
  /// output ends or nothing comes for 20 seconds.
  void expect(const std::string& text) {
    for (;;) {
      const size_t at = seen_.find(text);
      if (at != std::string::npos) {
        seen_.erase(0, at + text.size());
        return;
      }
      pollfd wait{master_, POLLIN, 0};
      char buffer[4096];
      const ssize_t count = poll(&wait, 1, 20'000) > 0 ? read(master_, buffer, sizeof buffer) : 0;
      if (count <= 0) throw std::runtime_error("expected '" + text + "' on the terminal, saw '" + seen_ + "'");
      seen_.append(buffer, static_cast<size_t>(count));
    }
  }

  /// Ends the session with Ctrl-D and returns its exit status. Ctrl-D is repeated, because the terminal itself consumes
  /// it if it arrives between two prompts.
  int finish() {
    char buffer[4096];
    for (int i = 0; i < 40; ++i) {
      type("\x04");
      pollfd wait{master_, POLLIN, 0};
      while (poll(&wait, 1, 500) > 0) {
        if (read(master_, buffer, sizeof buffer) <= 0) return wait_for_end();
      }
    }
    throw std::runtime_error("Ctrl-D did not end the session");
  }

 private:
  int wait_for_end() {
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

  int master_ = -1;
  pid_t child_ = 0;
  std::string seen_;
};

}  // namespace mr::test
