// Workers: child processes that run this program, with a channel for messages to and from their parent.
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

/// Starts this program as a worker with the given command line, in its own process group. It inherits the environment
/// without the variables of an MPI launcher; `added` has more variables ("NAME=VALUE"). The worker gets its end of the
/// channel from `worker_end`. Its output is appended to the file `log`.
Started start_worker(const std::vector<std::string>& words, const std::string& log,
                     const std::vector<std::string>& added = {});
/// Called at the start of every process. If MOONRANK_WORKER, which `start_worker` sets, marks this process as a worker,
/// the process will end together with its parent. The variable is removed, so that child processes do not use the
/// channel. Throws std::runtime_error if the variable has a value that `start_worker` did not set.
void become_worker();
/// Returns the channel to the parent if this process is a worker; a second call returns nothing. In other processes it
/// returns nothing.
std::optional<io::Channel> worker_end();

}  // namespace mr::cluster
