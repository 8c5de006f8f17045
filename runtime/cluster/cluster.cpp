// Lua functions for several processes of this program that mpirun or srun started together.
#include "runtime/cluster/cluster.h"

#include "runtime/lua/bind.h"

namespace mr {
namespace {

std::tuple<int64_t, int64_t> launched_of() {
  const std::optional<cluster::Launched> found = cluster::launched();
  return found ? std::tuple<int64_t, int64_t>{found->rank, found->size} : std::tuple<int64_t, int64_t>{0, 1};
}

cluster::Purpose purpose_of(const std::string& purpose) {
  if (purpose == "trials") return cluster::Purpose::trials;
  if (purpose == "training") return cluster::Purpose::training;
  throw ArgumentError("purpose", "'" + purpose + "', expected 'trials' or 'training'");
}

std::tuple<int64_t, int64_t, int64_t, int64_t> join_of(const std::string& purpose) {
  const cluster::Joined joined = cluster::join(purpose_of(purpose));
  return {joined.rank, joined.size, joined.local_rank, joined.local_size};
}

int rank_of(int64_t rank) {
  const auto size = std::get<1>(launched_of());
  if (rank < 0 || rank >= size) {
    throw ArgumentError("rank", std::to_string(rank) + ", expected 0 to " + std::to_string(size - 1));
  }
  return static_cast<int>(rank);
}

void send_to(int64_t rank, const std::string& message) { cluster::send(rank_of(rank), message); }
void lose_of(int64_t rank) { cluster::lose(rank_of(rank)); }

std::tuple<std::optional<int64_t>, std::string> receive_of() {
  std::optional<cluster::Message> message = cluster::receive();
  if (!message) return {std::nullopt, ""};
  return {message->from, std::move(message->bytes)};
}

}  // namespace

using lua::once;
using lua::op;
extern const lua::OpTable cluster_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&launched_of>("launched", "",
                         "This process's rank, from 0, and the number of processes that mpirun or srun started."),
        op<&cluster::library>("mpi_library", "",
                              "Version of the MPI library, or nil if the program was built without MPI."),
        once<&join_of>(
            "cluster_join", "purpose",
            "Connects all processes for 'trials' or 'training'. Returns rank and size, in all and on this machine."),
        once<&send_to>("cluster_send", "rank, message", "Sends a string to a rank without waiting."),
        once<&receive_of>("cluster_receive", "", "Rank and text of the next message, or nil. Does not wait."),
        op<&lose_of>("cluster_lose", "rank",
                     "Marks a rank as lost, so that the end of the program does not wait for it."),
    }};

}  // namespace mr
