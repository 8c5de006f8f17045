#include "runtime/io/processes/process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "kernels/core/threads.h"

extern char** environ;

namespace mr::io {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

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

enum class Carries { input, output };

/// A connection to a child program: this program's end ("our end"), which never blocks, and the child's end. Input goes
/// through a socket, because writing to a program that has ended is then an error of `send` instead of SIGPIPE.
class Pipe {
 public:
  explicit Pipe(Carries carries) {
    const bool made = carries == Carries::input ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()) == 0
                                                : pipe2(ends_.data(), O_CLOEXEC) == 0;
    if (!made) fail("cannot make a pipe");
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    close_ours();
    close_theirs();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int ours() const { return ends_[0]; }
  int theirs() const { return ends_[1]; }
  void close_ours() { close_end(0); }
  void close_theirs() { close_end(1); }

 private:
  void close_end(size_t i) {
    if (ends_[i] >= 0) close(ends_[i]);
    ends_[i] = -1;
  }
  std::array<int, 2> ends_{-1, -1};
};

/// A running child program. The destructor kills it if it was not waited for.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  ~Child() {
    if (id_ <= 0) return;
    kill(id_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  int wait() {
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) continue;
    id_ = 0;
    return status;
  }

 private:
  pid_t id_;
};

/// Sends as much input as fits now. Closes our end after the last byte, or when the program no longer reads.
void feed(Pipe& in, std::string_view& input) {
  const ssize_t count = input.empty() ? 0 : send(in.ours(), input.data(), input.size(), MSG_NOSIGNAL);
  if (count > 0) input.remove_prefix(static_cast<size_t>(count));
  if (input.empty() || (count < 0 && errno != EAGAIN && errno != EINTR)) in.close_ours();
}

/// Reads the available output. Closes our end when the program has closed its end.
void drain(Pipe& out, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t count = read(out.ours(), buffer.data(), buffer.size());
  if (count > 0) text.append(buffer.data(), static_cast<size_t>(count));
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) out.close_ours();
}

/// Writes input and reads output in turn, as each is possible, so that the two programs do not deadlock.
void exchange(Pipe& in, std::string_view input, Pipe& out, Pipe& err, Finished& result) {
  while (out.ours() >= 0 || err.ours() >= 0) {
    // A closed pipe has a negative descriptor, which poll ignores.
    std::array<pollfd, 3> ready{{{in.ours(), POLLOUT, 0}, {out.ours(), POLLIN, 0}, {err.ours(), POLLIN, 0}}};
    // Waits at most 100 ms: a Ctrl-C just before poll begins is noticed afterwards.
    const int count = poll(ready.data(), ready.size(), 100);
    cpu::check_interrupt();
    if (count < 0 && errno != EINTR) fail("cannot wait for a program");
    if (count <= 0) continue;
    if (ready[0].revents != 0) feed(in, input);
    if (ready[1].revents != 0) drain(out, result.output);
    if (ready[2].revents != 0) drain(err, result.errors);
  }
}

/// Returns this process's environment with the locale "C": gnuplot must write numbers with a decimal point.
std::vector<char*> environment() {
  static std::string locale = "LC_ALL=C.UTF-8";
  std::vector<char*> out;
  for (char** each = environ; *each != nullptr; ++each) {
    if (std::strncmp(*each, "LC_ALL=", 7) != 0) out.push_back(*each);
  }
  out.push_back(locale.data());
  out.push_back(nullptr);
  return out;
}

pid_t spawn(const std::vector<std::string>& command, SpawnActions& actions, const std::string& package) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::vector<char*> variables = environment();
  pid_t child = 0;
  const int error = posix_spawnp(&child, words[0], actions.get(), nullptr, words.data(), variables.data());
  if (error == ENOENT) {
    throw std::runtime_error(command[0] + " is not installed (on Debian: apt install " + package + ")");
  }
  if (error != 0) throw std::runtime_error("cannot start " + command[0] + ": " + std::strerror(error));
  return child;
}

}  // namespace

Finished run_process(const std::vector<std::string>& command, std::string_view input, Errors errors,
                     const std::string& package) {
  Pipe in(Carries::input), out(Carries::output), err(Carries::output);
  SpawnActions actions;
  posix_spawn_file_actions_adddup2(actions.get(), in.theirs(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(actions.get(), out.theirs(), STDOUT_FILENO);
  if (errors == Errors::captured) posix_spawn_file_actions_adddup2(actions.get(), err.theirs(), STDERR_FILENO);
  Child child(spawn(command, actions, package));
  for (Pipe* const pipe : {&in, &out, &err}) pipe->close_theirs();
  Finished result{0, "", ""};
  exchange(in, input, out, err, result);
  const int status = child.wait();
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) {
    cpu::take_interrupt();
    throw cpu::Interrupted();
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

}  // namespace mr::io
