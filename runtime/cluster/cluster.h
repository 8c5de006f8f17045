// Several processes of this program that mpirun or srun started together: the rank (number, counted from 0) of this
// process, and messages between processes. MPI is loaded on first use, and before `join` only its version is queried.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mr::cluster {

struct Launched {
  int rank;
  int size;
};

/// Returns rank and number of processes from the environment variables of mpirun or srun. Returns nothing if this
/// process was started alone.
std::optional<Launched> launched();
/// Returns true if an environment variable, "NAME=VALUE", was set by mpirun or srun. Such variables are removed for
/// worker processes.
bool is_of_launcher(std::string_view variable);

/// Returns the version of the MPI library, or nothing if this program was built without MPI. Throws std::runtime_error
/// if the library cannot be loaded.
std::optional<std::string> library();

/// Numbers of this process among all processes that were started together, and among those on the same machine.
struct Joined {
  int rank, size;
  int local_rank, local_size;  // rank and number of processes, counted on this machine only
};

/// The common work of the connected processes until they end: run the trials of a sweep, or train one model.
enum class Purpose { trials, training };

/// Connects all processes that were started together; each of them must call it. Later calls return the same result.
/// Throws std::runtime_error without MPI, if other processes cannot be reached, or if they were connected for another
/// purpose. Afterwards SIGTERM, which launchers send to end a job, acts like Ctrl-C; ranks above 0 that run trials
/// ignore both. When this process ends, it waits until rank 0 has ended too.
Joined join(Purpose purpose);

struct Message {
  int from;
  std::string bytes;
};

/// Sends a message to a rank without waiting for its delivery. An empty message from rank 0 says that rank 0 ends.
void send(int to, std::string bytes);
/// Returns the next message from any other process, or nothing if none has arrived.
std::optional<Message> receive();
/// Marks a rank as lost. This process then sends it no messages and does not wait for it at the end.
void lose(int rank);

/// Records that all ranks have seen a Ctrl-C at the same point of their work, so that each can end by itself. Without
/// that, a rank that ends by Ctrl-C during training ends the whole job, because other ranks would wait for it forever.
void agree_to_end();

/// Returns the argument `mine` of every rank, in the order of ranks (all-gather). All ranks must call it.
std::vector<std::string> gather(std::string_view mine);
/// Sends pieces[r] to each rank r, and returns the pieces that the ranks sent to this one, in the order of ranks
/// (all-to-all).
std::vector<std::string> exchange(const std::vector<std::string>& pieces);

}  // namespace mr::cluster
