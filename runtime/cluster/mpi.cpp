// Communication between the processes of an MPI job.
#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <list>
#include <mpi.h>
#include <numeric>
#include <stdexcept>
#include <unistd.h>

#include "kernels/core/shared_library.h"
#include "runtime/cluster/cluster.h"

namespace mr::cluster {
namespace {

struct Mpi : SharedLibrary {
  Mpi() : SharedLibrary(MR_LIBMPI, "processes that were started together reach each other by") {}
  MR_FUNCTION(MPI_Error_string);
  MR_FUNCTION(MPI_Test);
  MR_FUNCTION(MPI_Abort);
  MR_FUNCTION(MPI_Finalize);
  MR_FUNCTION(MPI_Init);
  MR_FUNCTION(MPI_Comm_set_errhandler);
  MR_FUNCTION(MPI_Comm_rank);
  MR_FUNCTION(MPI_Comm_size);
  MR_FUNCTION(MPI_Comm_split_type);
  MR_FUNCTION(MPI_Comm_free);
  MR_FUNCTION(MPI_Get_library_version);
  MR_FUNCTION(MPI_Isend);
  MR_FUNCTION(MPI_Iprobe);
  MR_FUNCTION(MPI_Get_count);
  MR_FUNCTION(MPI_Recv);
  MR_FUNCTION(MPI_Allgather);
  MR_FUNCTION(MPI_Allgatherv);
  MR_FUNCTION(MPI_Alltoall);
  MR_FUNCTION(MPI_Alltoallv);
};

const Mpi& mpi() {
  static const Mpi library;
  return library;
}

#ifdef OMPI_PREDEFINED_GLOBAL
// In Open MPI, constants such as MPI_COMM_WORLD are addresses of objects in the library, which is loaded at run time.
// So the addresses are looked up by name. In other implementations the constants are numbers.
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, object) static_cast<type>(mpi().symbol(#object))
#endif

constexpr int tag = 1;

struct Outgoing {
  std::string bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};

struct State {
  std::optional<Joined> joined;
  Purpose purpose = Purpose::trials;
  std::list<Outgoing> outbox;
  std::vector<bool> lost;
  bool told_to_end = false;
  bool agreed_to_end = false;
};

State& state() {
  static State state;
  return state;
}

/// Returns the state of this process's connection. Throws if the process is not connected to others.
State& connected() {
  if (!state().joined)
    throw std::runtime_error("this process is not connected to others: start it with mpirun or srun");
  return state();
}

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  mpi().MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string("MPI: ") + what + ": " + std::string(text, static_cast<size_t>(length)));
}

int size_of(std::string_view bytes) {
  if (bytes.size() > INT_MAX) {
    throw std::runtime_error("a message of " + std::to_string(bytes.size()) +
                             " bytes is too large: MPI sends at most 2 GiB");
  }
  return static_cast<int>(bytes.size());
}

/// Frees sent messages whose delivery MPI has finished.
void clear_outbox() {
  std::erase_if(state().outbox, [](Outgoing& each) {
    int done = 0;
    mpi().MPI_Test(&each.request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
}

void wait_a_moment() { usleep(1000); }

/// Waits at the end of this process. Rank 0 announces its end to all other ranks, and they wait for this message,
/// because a process that leaves earlier would end the job.
void part() {
  const int size = state().joined->size;
  if (state().joined->rank == 0) {
    for (int to = 1; to < size; ++to) send(to, "");
    return;
  }
  while (!state().told_to_end && !state().lost[0]) {
    if (!receive()) wait_a_moment();
  }
}

constexpr int interrupted = 130;  // exit status of a process that Ctrl-C ended

/// Runs at the exit of this process. If it failed during training, it aborts the whole job, because other processes
/// would wait for it forever. It also aborts if this process has lost another one.
void leave(int status, void*) {
  const bool agreed = status == 0 || (status == interrupted && state().agreed_to_end);
  if (!agreed && state().purpose == Purpose::training) mpi().MPI_Abort(MPI_COMM_WORLD, status);
  try {
    part();
  } catch (const std::exception&) {
    mpi().MPI_Abort(MPI_COMM_WORLD, std::max(status, 1));
  }
  const auto& lost = state().lost;
  if (std::find(lost.begin(), lost.end(), true) != lost.end()) {
    for (int i = 0; i < 100; ++i, wait_a_moment()) clear_outbox();
    mpi().MPI_Abort(MPI_COMM_WORLD, status);
  }
  mpi().MPI_Finalize();
}

Joined connect() {
  mpi().MPI_Init(nullptr, nullptr);
  mpi().MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  Joined joined{};
  mpi().MPI_Comm_rank(MPI_COMM_WORLD, &joined.rank);
  mpi().MPI_Comm_size(MPI_COMM_WORLD, &joined.size);
  MPI_Comm local = MPI_COMM_NULL;
  check(mpi().MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, joined.rank, MPI_INFO_NULL, &local),
        "starting");
  mpi().MPI_Comm_rank(local, &joined.local_rank);
  mpi().MPI_Comm_size(local, &joined.local_size);
  mpi().MPI_Comm_free(&local);
  return joined;
}

/// Sets the handlers of signals. SIGTERM, by which a launcher ends a job, acts like Ctrl-C. Ranks that run trials for
/// rank 0 ignore both, because rank 0 decides for them.
void take_signals(const Joined& joined) {
  struct sigaction action {};
  sigaction(SIGINT, nullptr, &action);
  if (joined.rank > 0 && state().purpose == Purpose::trials) {
    action.sa_handler = SIG_IGN;
    sigaction(SIGINT, &action, nullptr);
  }
  sigaction(SIGTERM, &action, nullptr);
}

/// Returns where the bytes of each rank begin, from the number of bytes of each rank. Throws if all together exceed the
/// limit of MPI.
std::vector<int> starts_of(const std::vector<int>& sizes) {
  if (std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) > INT_MAX) {
    throw std::runtime_error("the processes exchange more than 2 GiB at once, which MPI cannot send");
  }
  std::vector<int> starts(sizes.size(), 0);
  std::partial_sum(sizes.begin(), sizes.end() - 1, starts.begin() + 1);
  return starts;
}

std::vector<std::string> cut(const std::string& all, const std::vector<int>& sizes, const std::vector<int>& starts) {
  std::vector<std::string> pieces;
  for (size_t i = 0; i < sizes.size(); ++i) {
    pieces.push_back(all.substr(static_cast<size_t>(starts[i]), static_cast<size_t>(sizes[i])));
  }
  return pieces;
}

}  // namespace

std::optional<std::string> library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  mpi().MPI_Get_library_version(text, &length);
  const std::string whole(text, static_cast<size_t>(length));
  return whole.substr(0, whole.find_first_of(",\n"));
}

Joined join(Purpose purpose) {
  if (state().joined) {
    if (state().purpose != purpose) {
      throw std::runtime_error(
          "one mpirun or srun cannot both train a model on all processes and run a sweep's trials");
    }
    return *state().joined;
  }
  const std::optional<Launched> expected = launched();
  if (!expected) throw std::runtime_error("this process was not started by mpirun or srun");
  const Joined joined = connect();
  if (joined.size != expected->size) {
    throw std::runtime_error(std::to_string(expected->size) + " processes were started together, but MPI finds " +
                             std::to_string(joined.size) + " of them (with srun: srun --mpi=pmix)");
  }
  state().joined = joined;
  state().purpose = purpose;
  state().lost.resize(static_cast<size_t>(joined.size), false);
  take_signals(joined);
  on_exit(&leave, nullptr);
  return joined;
}

void send(int to, std::string bytes) {
  const bool lost = connected().lost.at(static_cast<size_t>(to));
  clear_outbox();
  if (lost) return;
  Outgoing& out = state().outbox.emplace_back(Outgoing{std::move(bytes)});
  check(mpi().MPI_Isend(out.bytes.data(), size_of(out.bytes), MPI_BYTE, to, tag, MPI_COMM_WORLD, &out.request),
        "sending");
}

std::optional<Message> receive() {
  connected();
  clear_outbox();
  int there = 0, size = 0;
  MPI_Status status;
  check(mpi().MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &status), "receiving");
  if (there == 0) return std::nullopt;
  mpi().MPI_Get_count(&status, MPI_BYTE, &size);
  Message message{status.MPI_SOURCE, std::string(static_cast<size_t>(size), '\0')};
  check(mpi().MPI_Recv(message.bytes.data(), size, MPI_BYTE, message.from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        "receiving");
  if (size == 0) state().told_to_end = true;
  return message;
}

void agree_to_end() { connected().agreed_to_end = true; }

void lose(int rank) { connected().lost.at(static_cast<size_t>(rank)) = true; }

std::vector<std::string> gather(std::string_view mine) {
  const int size = size_of(mine);
  std::vector<int> sizes(static_cast<size_t>(connected().joined->size));
  check(mpi().MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD), "gathering");
  const std::vector<int> starts = starts_of(sizes);
  std::string all(static_cast<size_t>(starts.back() + sizes.back()), '\0');
  check(mpi().MPI_Allgatherv(mine.data(), size, MPI_BYTE, all.data(), sizes.data(), starts.data(), MPI_BYTE,
                             MPI_COMM_WORLD),
        "gathering");
  return cut(all, sizes, starts);
}

std::vector<std::string> exchange(const std::vector<std::string>& pieces) {
  if (pieces.size() != static_cast<size_t>(connected().joined->size)) {
    throw std::runtime_error(std::to_string(pieces.size()) + " pieces to send, expected one for each of " +
                             std::to_string(state().joined->size) + " processes");
  }
  std::vector<int> given, taken(pieces.size());
  std::string mine;
  for (const std::string& piece : pieces) {
    given.push_back(size_of(piece));
    mine += piece;
  }
  check(mpi().MPI_Alltoall(given.data(), 1, MPI_INT, taken.data(), 1, MPI_INT, MPI_COMM_WORLD), "exchanging");
  const std::vector<int> from = starts_of(given), to = starts_of(taken);
  std::string all(static_cast<size_t>(to.back() + taken.back()), '\0');
  check(mpi().MPI_Alltoallv(mine.data(), given.data(), from.data(), MPI_BYTE, all.data(), taken.data(), to.data(),
                            MPI_BYTE, MPI_COMM_WORLD),
        "exchanging");
  return cut(all, taken, to);
}

}  // namespace mr::cluster
