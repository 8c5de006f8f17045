// Tests of reading this process's rank and size from launchers' environment variables.
#include <cstdlib>

#include <catch2/catch.hpp>

#include "runtime/cluster/cluster.h"

namespace mr::cluster {
namespace {

/// Sets an environment variable for the duration of one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("launched returns nothing for a single process, with and without a launcher") {
  CHECK(!launched());
  const Variable rank("OMPI_COMM_WORLD_RANK", "0"), size("OMPI_COMM_WORLD_SIZE", "1");
  CHECK(!launched());
}

TEST_CASE("launched reads rank and size from the variables of Open MPI, Slurm and MPICH") {
  using Names = std::pair<const char*, const char*>;
  for (const auto& [rank_name, size_name] :
       {Names{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, Names{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
        Names{"PMI_RANK", "PMI_SIZE"}}) {
    const Variable rank(rank_name, "2"), size(size_name, "3");
    const std::optional<Launched> found = launched();
    REQUIRE(found);
    CHECK(found->rank == 2);
    CHECK(found->size == 3);
  }
  // Slurm sets some of its variables in a batch script, too, which srun did not launch as one of several processes
  const Variable task("SLURM_PROCID", "0"), tasks("SLURM_NTASKS", "8");
  CHECK(!launched());
}

TEST_CASE("launched ignores variables that are not numbers") {
  const Variable rank("OMPI_COMM_WORLD_RANK", "x"), size("OMPI_COMM_WORLD_SIZE", "3");
  CHECK(!launched());
}

TEST_CASE("is_of_launcher recognizes variables of launchers and no others") {
  CHECK(is_of_launcher("OMPI_COMM_WORLD_RANK=1"));
  CHECK(is_of_launcher("PMIX_RANK=1"));
  CHECK(is_of_launcher("SLURM_STEP_NUM_TASKS=3"));
  CHECK(!is_of_launcher("SLURM_JOB_ID=3"));
  CHECK(!is_of_launcher("PATH=/bin"));
}

TEST_CASE("cluster functions throw in a process that has not joined a cluster") {
  CHECK_THROWS(join(Purpose::trials));
  CHECK_THROWS(send(0, "x"));
  CHECK_THROWS(receive());
  CHECK_THROWS(lose(0));
  CHECK_THROWS(gather("x"));
  CHECK_THROWS(exchange({"x"}));
}

}  // namespace mr::cluster
