// Several processes of this program, started together by mpirun or srun: the rank of this process, and messages between
// processes. Ranks count from 0. MPI is loaded on first use, and before `join` only its version is queried.
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

/// Returns rank and number of processes from the launcher's environment variables; nothing if this process was started
/// alone.
std::optional<Launched> launched();
/// Returns true if a variable is one of the MPI launcher's. A worker process must not inherit them.
bool is_of_launcher(std::string_view variable);

/// Returns the version of the MPI library, or nothing if this program was built without MPI. Throws std::runtime_error
/// if the library cannot be loaded.
std::optional<std::string> library();

/// The rank of this process and the number of processes.
struct Joined {
  int rank, size;
  int local_rank, local_size;  // this process's rank among the processes on the same machine, and their number
};

/// The work that connected processes share until they end: trials of a sweep, or one training.
enum class Purpose { trials, training };

/// Connects all processes; each of them must call it. Later calls return the same result. Throws std::runtime_error
/// without MPI, if other processes cannot be reached, or if they were connected for another purpose. Afterwards
/// SIGTERM, which launchers send to end a job, acts like Ctrl-C. A process waits at its end until rank 0 ends, too.
Joined join(Purpose purpose);

struct Message {
  int from;
  std::string bytes;
};

/// Sends a message without waiting for its delivery. An empty message from rank 0 means that rank 0 ends.
void send(int to, std::string bytes);
/// Returns the next message from any rank, or nothing if none has arrived.
std::optional<Message> receive();
/// Marks a rank as lost: this process does not wait for it at the end.
void lose(int rank);

/// Records that all ranks have seen a Ctrl-C at the same point, so that each ends by itself. A rank that ends by a
/// Ctrl-C that other ranks have not seen would make them wait forever, so it ends the whole job.
void agree_to_end();

/// Collects values (all-gather): returns the argument of every rank, by rank. All ranks must call it.
std::vector<std::string> gather(std::string_view mine);
/// Exchanges texts (all-to-all): sends pieces[r] to each rank r and returns the received texts, by rank.
std::vector<std::string> exchange(const std::vector<std::string>& pieces);

}  // namespace mr::cluster
