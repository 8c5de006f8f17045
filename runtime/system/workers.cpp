// Other processes of this program as scripts see them: channels, how they end, locks, memory.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include "runtime/io/channel.h"
#include "runtime/lua/bind.h"
#include "runtime/lua/interrupt.h"

namespace mr::lua {
template <>
inline constexpr const char* class_name<io::Channel> = "mr.Channel";
template <>
inline constexpr const char* class_name<io::FileLock> = "mr.FileLock";
}  // namespace mr::lua

namespace mr {
namespace {

std::tuple<io::Channel, int64_t> start_worker_of(const std::vector<std::string>& words, const std::string& log,
                                                 const std::vector<std::string>& variables) {
  io::Started started = io::start_worker(words, log, variables);
  return {std::move(started.channel), started.id};
}

std::optional<std::string> how_it_ended_of(int64_t id, bool wait) {
  if (id <= 1) throw ArgumentError("id", std::to_string(id) + " is no process");
  return io::how_it_ended(static_cast<pid_t>(id), wait);
}

void signal_process(int64_t id, const std::string& name) {
  // 0 and numbers below would mean groups of processes
  if (id <= 1) throw ArgumentError("id", std::to_string(id) + " is no process");
  if (name != "interrupt" && name != "kill") {
    throw ArgumentError("name", "'" + name + "', expected 'interrupt' or 'kill'");
  }
  kill(static_cast<pid_t>(id), name == "kill" ? SIGKILL : SIGINT);
  // one that was stopped goes on, to hear of it
  kill(static_cast<pid_t>(id), SIGCONT);
}

void wait_for_of(const std::vector<int64_t>& descriptors, double seconds) {
  if (!(seconds >= 0 && seconds <= 3600)) {
    throw ArgumentError("seconds", std::to_string(seconds) + ", expected 0 to 3600");
  }
  io::wait_for({descriptors.begin(), descriptors.end()}, seconds);
}

bool send_of(io::Channel& channel, const std::string& message) { return channel.send(message); }
std::optional<std::string> receive_of(io::Channel& channel) { return channel.receive(); }
bool broken_of(const io::Channel& channel) { return channel.broken(); }
bool ended_of(const io::Channel& channel) { return channel.ended(); }
int64_t descriptor_of(const io::Channel& channel) { return channel.descriptor(); }

std::optional<io::FileLock> lock_file(const std::string& path) { return io::FileLock::take(path); }
bool pressed_of() { return lua::interrupted(); }

/// From the system's account of this process, in kB; 0 where it keeps none.
int64_t highest_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stoll(line.substr(6)) * 1024;
  }
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss * 1024 : 0;
}

int64_t peak_memory_of(bool reset) {
  const int64_t highest = highest_memory();
  if (reset) std::ofstream("/proc/self/clear_refs") << "5";
  return highest;
}

int64_t cores_of() { return std::max<int64_t>(1, std::thread::hardware_concurrency()); }
int64_t machine_cores_of() { return std::max<int64_t>(1, sysconf(_SC_NPROCESSORS_ONLN)); }

}  // namespace

using lua::op;
extern const lua::OpTable worker_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&start_worker_of>("start_worker", "words, log, variables",
                             "Starts this program again with a command line; a channel to it and its number."),
        op<&io::worker_end>("worker_end", "", "In a started worker, once, the channel to its parent."),
        op<&how_it_ended_of>("how_it_ended", "id, wait", "How a process ended, or nil while it runs."),
        op<&signal_process>("signal_process", "id, name", "Sends 'interrupt' or 'kill' to a process."),
        op<&wait_for_of>("wait_for", "descriptors, seconds", "Waits until something came on a channel, or so long."),
        op<&lock_file>("lock_file", "path", "Holds a file until collected; nil where another process holds it."),
        op<&pressed_of>("pressed", "", "Whether Ctrl-C came since the program or the line of the REPL began."),
        op<&peak_memory_of>("peak_memory", "reset", "Most bytes that were resident since the last reset."),
        op<&cores_of>("cores", "", "How many cores this process may use."),
        op<&machine_cores_of>("machine_cores", "", "How many cores the machine has."),
    }};
extern const lua::OpTable channel_methods{
    lua::OpTable::methods,
    &lua::push_metatable<io::Channel>,
    {
        op<&send_of>("send", "channel, message",
                     "Sends a string, in pieces where need be; false where nobody is there any more."),
        op<&receive_of>("receive", "channel", "The next string that came, or nil; does not wait."),
        op<&broken_of>("broken", "channel", "Whether what came is no message; nothing more is received."),
        op<&ended_of>("ended", "channel", "Whether the other end is gone and all it sent was received."),
        op<&descriptor_of>("descriptor", "channel", "For `wait_for`."),
    }};
extern const lua::OpTable lock_methods{lua::OpTable::methods, &lua::push_metatable<io::FileLock>, {}};

}  // namespace mr
