// Several processes of this program, started together by mpirun or srun: which of them this is, and messages between
// them. Ranks count from 0. MPI is loaded when it is first needed, and nothing of it but its version is called before
// `join`.
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

/// Rank and size from the launcher's environment variables; nothing if this process is alone.
std::optional<Launched> launched();
/// True if a variable is one of those: a process that is started afresh is none of the launcher's.
bool is_of_launcher(std::string_view variable);

/// Version of the MPI library, or nothing where this program was built without; std::runtime_error where the library
/// cannot be loaded.
std::optional<std::string> library();

/// This process among them.
struct Joined {
  int rank, size;
  int local_rank, local_size;  // among those of the same machine
};

/// The work that joined processes do together, for as long as they run.
enum class Purpose { trials, training };

/// Connects all of them; each has to call it. Later calls return the same; std::runtime_error where there is no
/// MPI, where it cannot reach the others, or where they were joined for another purpose. SIGTERM, by which launchers
/// end a job, is Ctrl-C from then on. When the program ends it waits for rank 0.
Joined join(Purpose purpose);

struct Message {
  int from;
  std::string bytes;
};

/// Hands a message over and does not wait. The empty message of rank 0 says that it ends.
void send(int to, std::string bytes);
/// The next message of any rank, or nothing.
std::optional<Message> receive();
/// Marks a rank that does not answer: it is not waited for at the end.
void lose(int rank);

/// Says that all ranks have learnt of a Ctrl-C at the same point, so that each ends by itself. A rank that ends by one
/// that the others do not know of would leave them waiting: it ends the job.
void agree_to_end();

/// The argument of every rank, by rank; all have to call it.
std::vector<std::string> gather(std::string_view mine);
/// Each rank sends one piece to each; returns the pieces that this one receives, by rank.
std::vector<std::string> exchange(const std::vector<std::string>& pieces);

}  // namespace mr::cluster
