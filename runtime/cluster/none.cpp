// Replaces mpi.cpp in builds without MPI.
#include <stdexcept>

#include "runtime/cluster/cluster.h"

namespace mr::cluster {
namespace {

[[noreturn]] void fail() {
  throw std::runtime_error(
      "this moonrank was built without MPI, which connects processes started by mpirun or srun (on Debian: "
      "apt install libopenmpi-dev, then rebuild)");
}

}  // namespace

std::optional<std::string> library() { return std::nullopt; }
Joined join(Purpose) { fail(); }
void send(int, std::string) { fail(); }
std::optional<Message> receive() { fail(); }
void lose(int) { fail(); }
void agree_to_end() { fail(); }
std::vector<std::string> gather(std::string_view) { fail(); }
std::vector<std::string> exchange(const std::vector<std::string>&) { fail(); }

}  // namespace mr::cluster
