// Lua functions for workers: channels, and how a process ended.
#include <csignal>

#include "runtime/cluster/start_worker.h"
#include "runtime/io/processes/channel.h"
#include "runtime/lua/bind.h"

namespace mr::lua {
template <>
inline constexpr const char* class_name<io::Channel> = "mr.Channel";
}  // namespace mr::lua

namespace mr {
namespace {

std::tuple<io::Channel, int64_t> start_worker_of(const std::vector<std::string>& words, const std::string& log,
                                                 const std::vector<std::string>& variables) {
  cluster::Started started = cluster::start_worker(words, log, variables);
  return {std::move(started.channel), started.id};
}

std::optional<std::string> how_it_ended_of(int64_t id, bool wait) {
  if (id <= 1) throw ArgumentError("id", std::to_string(id) + " is not the number of a started process");
  return io::how_it_ended(static_cast<pid_t>(id), wait);
}

void signal_process(int64_t id, const std::string& name) {
  // Refuses ids of 1 and below. The function `kill` reads 0 and negative ids as process groups, and 1 is the system's
  // first process.
  if (id <= 1) throw ArgumentError("id", std::to_string(id) + " is not the number of a started process");
  if (name != "interrupt" && name != "kill") {
    throw ArgumentError("name", "'" + name + "', expected 'interrupt' or 'kill'");
  }
  kill(static_cast<pid_t>(id), name == "kill" ? SIGKILL : SIGINT);
  // A process that is stopped must be continued before it can receive the signal.
  kill(static_cast<pid_t>(id), SIGCONT);
}

void wait_for_of(const std::vector<int64_t>& descriptors, double seconds,
                 const std::optional<std::vector<int64_t>>& full) {
  if (!(seconds >= 0 && seconds <= 3600)) {
    throw ArgumentError("seconds", std::to_string(seconds) + ", expected 0 to 3600");
  }
  const std::vector<int64_t> none;
  const std::vector<int64_t>& outgoing = full ? *full : none;
  io::wait_for({descriptors.begin(), descriptors.end()}, seconds, {outgoing.begin(), outgoing.end()});
}

bool send_of(io::Channel& channel, const std::string& message) { return channel.send(message); }
std::optional<std::string> receive_from(io::Channel& channel) { return channel.receive(); }
bool unsent_of(const io::Channel& channel) { return channel.unsent(); }
bool broken_of(const io::Channel& channel) { return channel.broken(); }
bool ended_of(const io::Channel& channel) { return channel.ended(); }
int64_t descriptor_of(const io::Channel& channel) { return channel.descriptor(); }

}  // namespace

using lua::once;
using lua::op;
extern const lua::OpTable worker_functions{
    lua::OpTable::functions,
    nullptr,
    {
        once<&start_worker_of>(
            "start_worker", "words, log, variables",
            "Starts this program again with a command line. Returns a channel to it and its process number."),
        once<&cluster::worker_end>("worker_end", "", "In a worker, returns the channel to its parent, once."),
        once<&how_it_ended_of>("how_it_ended", "id, wait", "How a process ended, or nil while it runs."),
        op<&signal_process>("signal_process", "id, name", "Sends 'interrupt' or 'kill' to a process."),
        op<&wait_for_of>("wait_for", "descriptors, seconds, full?",
                         "Waits until a channel has a message, a channel in `full` has room, or the time is over."),
    }};
extern const lua::OpTable channel_methods{
    lua::OpTable::methods,
    &lua::push_metatable<io::Channel>,
    {
        once<&send_of>("send", "channel, message", "Sends a string. Returns false if the other end is closed."),
        once<&receive_from>("receive", "channel", "The next received string, or nil. Does not wait."),
        op<&unsent_of>("unsent", "channel", "True if a part of a message is unsent; `receive` sends it."),
        op<&broken_of>("broken", "channel", "True if invalid data was received. Nothing more can be received."),
        op<&ended_of>("ended", "channel", "True if the other end is closed and all its messages were received."),
        op<&descriptor_of>("descriptor", "channel", "The file descriptor, for `wait_for`."),
    }};

}  // namespace mr
