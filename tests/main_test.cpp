// The main function of the test programs. Temporary files of the tests go to a folder of this run, which is removed at
// the end.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "tests/support/temporary_folder.h"

/// Options of AddressSanitizer: without this one, the leak check of GCC 12 crashes on thread-local data of unloaded
/// libraries. glibc loads and unloads such libraries to convert character sets.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "intercept_tls_get_addr=0"; }

int main(int argc, char** argv) {
  const mr::test::TemporaryFolder folder;
  const mr::test::ScopedVariable variable("TMPDIR", folder.path().string());
  return Catch::Session().run(argc, argv);
}
