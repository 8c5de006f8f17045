#include "runtime/io/files/user_folder.h"

#include <catch2/catch.hpp>

#include "tests/support/temporary_folder.h"

using mr::test::ScopedVariable;

TEST_CASE("user folders follow the XDG variables and otherwise HOME") {
  const ScopedVariable home("HOME", "/home/somebody");
  {
    const ScopedVariable data("XDG_DATA_HOME", "/data");
    const ScopedVariable state("XDG_STATE_HOME", "/state");
    CHECK(mr::io::user_data_folder() == "/data/moonrank");
    CHECK(mr::io::user_state_folder() == "/state/moonrank");
    const ScopedVariable cache("XDG_CACHE_HOME", "/cache");
    CHECK(mr::io::user_cache_folder() == "/cache/moonrank");
  }
  const ScopedVariable state("XDG_STATE_HOME", std::nullopt);
  CHECK(mr::io::user_state_folder() == "/home/somebody/.local/state/moonrank");
  const ScopedVariable cache("XDG_CACHE_HOME", std::nullopt);
  CHECK(mr::io::user_cache_folder() == "/home/somebody/.cache/moonrank");
  for (const char* const value : {"", "relative/is/ignored"}) {
    const ScopedVariable data("XDG_DATA_HOME", value);
    CHECK(mr::io::user_data_folder() == "/home/somebody/.local/share/moonrank");
  }
}

TEST_CASE("user_data_folder names both variables if neither XDG_DATA_HOME nor HOME is set") {
  const ScopedVariable home("HOME", std::nullopt);
  const ScopedVariable data("XDG_DATA_HOME", std::nullopt);
  CHECK_THROWS_WITH(mr::io::user_data_folder(), Catch::Contains("XDG_DATA_HOME") && Catch::Contains(" HOME "));
}
