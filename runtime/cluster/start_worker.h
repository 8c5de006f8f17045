// Workers: child processes of this program, connected to their parent by a channel.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "runtime/io/processes/channel.h"

namespace mr::cluster {

struct Started {
  io::Channel channel;
  pid_t id;
};

/// Starts this program again in its own process group, with the given command line, and with the given variables
/// ("NAME=VALUE") in addition to the environment, without those of an MPI launcher. The worker gets its end of the
/// channel from `worker_end`. Its output is appended to the file `log`.
Started start_worker(const std::vector<std::string>& words, const std::string& log,
                     const std::vector<std::string>& added = {});
/// Removes the variable MOONRANK_WORKER, by which `start_worker` marks a worker, from the environment. The process then
/// ends together with its parent, and its own child processes do not inherit the channel. Throws std::runtime_error if
/// `start_worker` did not set the variable.
void become_worker();
/// In a worker, returns the channel to its parent, once. In other processes, returns nothing.
std::optional<io::Channel> worker_end();

}  // namespace mr::cluster
