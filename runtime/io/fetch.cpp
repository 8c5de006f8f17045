#include "runtime/io/fetch.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace mr::io {
namespace {

struct Ended {
  int status;        // as waitpid gives it
  std::string said;  // standard output
};

class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

std::string read_all(int descriptor) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t count = read(descriptor, buffer, sizeof buffer);
    if (count > 0) text.append(buffer, static_cast<size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
  }
}

/// Runs a command found in PATH to its end and collects what it writes to standard output.
Ended run(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  SpawnActions actions;
  posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(actions.get(), ends[1], STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], actions.get(), nullptr, arguments.data(), environ);
  close(ends[1]);
  std::string said = error == 0 ? read_all(ends[0]) : "";
  close(ends[0]);
  if (error == ENOENT) {
    throw std::runtime_error(command[0] + " is not installed (on Debian: apt install " + command[0] + ")");
  }
  if (error != 0) throw std::runtime_error("cannot start " + command[0] + ": " + std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return {status, std::move(said)};
}

}  // namespace

void fetch(const std::string& url, const std::filesystem::path& target, int64_t max_bytes) {
  const std::filesystem::path partial = target.string() + ".partial-" + std::to_string(getpid());
  std::vector<std::string> command = {"curl",        "--fail",        "--location", "--proto",
                                      "=https,http", "--proto-redir", "=https,http"};
  for (const char* const word : {"--connect-timeout", "30", "--speed-time", "60", "--speed-limit", "1"})
    command.push_back(word);
  command.push_back(isatty(STDERR_FILENO) != 0 ? "--progress-bar" : "--silent");
  for (const std::string& word :
       {std::string("--max-filesize"), std::to_string(max_bytes), std::string("--write-out"),
        std::string("%{errormsg}"), std::string("--output"), partial.string(), std::string("--url"), url}) {
    command.push_back(word);
  }
  std::error_code ignored;
  try {
    const Ended ended = run(command);
    if (WIFSIGNALED(ended.status)) {
      throw std::runtime_error(WTERMSIG(ended.status) == SIGINT ? "interrupted"
                                                                : "curl was killed while fetching " + url);
    }
    const int status = WEXITSTATUS(ended.status);
    if (status != 0) {
      const std::string reason = ended.said.empty() ? "curl ended with status " + std::to_string(status) : ended.said;
      throw std::runtime_error("cannot fetch " + url + ": " + reason);
    }
    std::filesystem::rename(partial, target);
  } catch (...) {
    std::filesystem::remove(partial, ignored);
    throw;
  }
}

}  // namespace mr::io
