// The tests' main: what they leave in the temporary folder is in a folder of this run, which is removed at its end.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "tests/support/temporary_folder.h"

/// Under AddressSanitizer: the leak check of GCC 12 crashes on thread-local data of libraries that were unloaded, as
/// glibc does with modules that convert character sets.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "intercept_tls_get_addr=0"; }

int main(int argc, char** argv) {
  const mr::test::TemporaryFolder folder;
  const mr::test::ScopedVariable variable("TMPDIR", folder.path().string());
  return Catch::Session().run(argc, argv);
}
