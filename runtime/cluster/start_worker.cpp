// Starts workers with posix_spawn, because a process with threads or a CUDA context must not fork.
#include "runtime/cluster/start_worker.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "runtime/cluster/cluster.h"
#include "runtime/io/files/regular_file.h"

extern char** environ;

namespace mr::cluster {
namespace {

// file descriptor of the channel to the parent in a worker: the first one after the standard streams
constexpr int channel_descriptor = 3;

// file descriptor of the channel to the parent; -1 if this process is not a worker, or after `worker_end`
int to_parent = -1;

struct Spawn {
  Spawn() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~Spawn() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

/// Prepares the start of a worker process. It gets default signal handlers and its own process group, so that Ctrl-C
/// reaches only the parent.
void set_up(Spawn& spawn, int theirs, const std::string& log) {
  posix_spawnattr_setflags(&spawn.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&spawn.attributes, 0);
  sigset_t usual, blocked;
  sigemptyset(&blocked);
  // A launcher such as mpirun ends a job by sending SIGTERM to every process. A worker blocks SIGTERM, because its
  // parent decides when the worker ends.
  if (launched()) sigaddset(&blocked, SIGTERM);
  posix_spawnattr_setsigmask(&spawn.attributes, &blocked);
  sigemptyset(&usual);
  for (const int each : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) sigaddset(&usual, each);
  posix_spawnattr_setsigdefault(&spawn.attributes, &usual);
  posix_spawn_file_actions_addopen(&spawn.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&spawn.actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0666);
  posix_spawn_file_actions_adddup2(&spawn.actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&spawn.actions, theirs, channel_descriptor);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

/// Returns true if `added` also sets this environment variable ("NAME=VALUE").
bool is_set(std::string_view variable, const std::vector<std::string>& added) {
  const std::string_view name = variable.substr(0, variable.find('=') + 1);
  return std::any_of(added.begin(), added.end(),
                     [&](std::string_view each) { return each.substr(0, name.size()) == name; });
}

}  // namespace

Started start_worker(const std::vector<std::string>& words, const std::string& log,
                     const std::vector<std::string>& added) {
  if (words.empty()) throw std::runtime_error("cannot start a worker: its command line is empty");
  io::need_regular(log);
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::runtime_error(std::string("cannot make a channel: ") + std::strerror(errno));
  }
  io::Channel ours(ends[0]), theirs(ends[1]);
  std::vector<std::string> variables = added;
  for (char** each = environ; *each != nullptr; ++each) {
    if (!is_of_launcher(*each) && !is_set(*each, added)) variables.emplace_back(*each);
  }
  variables.push_back("MOONRANK_WORKER=" + std::to_string(channel_descriptor) + ":" + std::to_string(getpid()));
  Spawn spawn;
  set_up(spawn, theirs.descriptor(), log);
  pid_t id = 0;
  // Starts the executable that this process runs, even if the program's file has been replaced since.
  const int error = posix_spawn(&id, "/proc/self/exe", &spawn.actions, &spawn.attributes, pointers(words).data(),
                                pointers(variables).data());
  if (error != 0) throw std::runtime_error(std::string("cannot start a worker: ") + std::strerror(error));
  return {std::move(ours), id};
}

void become_worker() {
  const char* const text = std::getenv("MOONRANK_WORKER");
  if (text == nullptr) return;
  int descriptor = -1, parent = -1;
  const char* const end = text + std::strlen(text);
  const auto [colon, error] = std::from_chars(text, end, descriptor);
  const bool readable = error == std::errc() && colon != end && *colon == ':';
  if (!readable || std::from_chars(colon + 1, end, parent).ptr != end || parent <= 0 ||
      fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) {
    throw std::runtime_error(
        "the variable MOONRANK_WORKER is '" + std::string(text) +
        "', which does not name a channel to a parent. Only moonrank sets this variable: unset it");
  }
  unsetenv("MOONRANK_WORKER");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent ended before prctl could ask for a signal at the parent's end
  to_parent = descriptor;
}

std::optional<io::Channel> worker_end() {
  if (to_parent < 0) return std::nullopt;
  return io::Channel(std::exchange(to_parent, -1));
}

}  // namespace mr::cluster
