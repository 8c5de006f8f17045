#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "runtime/cluster/cluster.h"

namespace mr::cluster {
namespace {

std::optional<int> number(const char* variable) {
  const char* const text = std::getenv(variable);
  int value = 0;
  if (text == nullptr || std::from_chars(text, text + std::strlen(text), value).ec != std::errc()) return std::nullopt;
  return value;
}

struct Names {
  const char *rank, *size;
};
// Environment variables with the rank and the number of processes, one pair per launcher: mpirun of Open MPI, srun, and
// launchers that use PMI, such as that of MPICH.
constexpr std::array<Names, 3> launchers{{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                          {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
                                          {"PMI_RANK", "PMI_SIZE"}}};

}  // namespace

std::optional<Launched> launched() {
  for (const Names& names : launchers) {
    const std::optional<int> rank = number(names.rank), size = number(names.size);
    if (rank && size && *size > 1) return Launched{*rank, *size};
  }
  return std::nullopt;
}

bool is_of_launcher(std::string_view variable) {
  for (const std::string_view prefix : {"OMPI_", "PMIX_", "PMI_", "SLURM_PROCID=", "SLURM_STEP_NUM_TASKS="}) {
    if (variable.substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

}  // namespace mr::cluster
