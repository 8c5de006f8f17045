// The tests' main: what they leave in the temporary folder is in a folder of this run, which is removed at its end.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "tests/support/temporary_folder.h"

int main(int argc, char** argv) {
  const mr::test::TemporaryFolder folder;
  const mr::test::ScopedVariable variable("TMPDIR", folder.path().string());
  return Catch::Session().run(argc, argv);
}
