// Workers: this program again, as a process of its own that talks with the one that started it.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "runtime/io/channel.h"

namespace mr::cluster {

struct Started {
  io::Channel channel;
  pid_t id;
};

/// Starts this very program again, in a process group of its own, with these words as its command line and with these
/// variables ("NAME=VALUE") beside our own, but for those of an MPI launcher. It finds the other end of the channel
/// through `worker_end`; what it prints is added to the file `log`.
Started start_worker(const std::vector<std::string>& words, const std::string& log,
                     const std::vector<std::string>& added = {});
/// Takes the variable MOONRANK_WORKER, by which `start_worker` tells a process that it is one, out of the environment:
/// the process then ends with its parent, and what it starts itself does not inherit the channel. A std::runtime_error
/// where the variable was not set by `start_worker`.
void become_worker();
/// In a worker, the channel to its parent, once; nothing elsewhere.
std::optional<io::Channel> worker_end();

}  // namespace mr::cluster
