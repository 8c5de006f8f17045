#include "runtime/cli/surroundings.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include "kernels/core/simd/simd.h"
#include "runtime/bounds/samples/sample_folder.h"
#include "runtime/cli/run.h"
#include "runtime/cluster/start_worker.h"
#include "runtime/lua/lua.h"
#include "runtime/tensor/device.h"

namespace mr::cli {
namespace {

namespace fs = std::filesystem;

/// Runs at the very end of the program, also if a script calls os.exit. If the program's output could not be written,
/// the exit status becomes 1.
void check_output() {
  const bool failed = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0 && !failed) return;
  const std::string why = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  print_error("standard output cannot be written" + why);
  _exit(1);
}

std::string value_of(const char* variable) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? text : "";
}

[[noreturn]] void refuse(const char* variable, const std::string& why) {
  throw std::runtime_error(std::string(variable) + " is '" + value_of(variable) + "', " + why);
}

void check_folder(const char* variable, const char* what, const char* inside) {
  const std::string folder = value_of(variable);
  std::error_code ignored;
  if (!folder.empty() && !fs::is_directory(fs::path(folder) / inside, ignored)) refuse(variable, what);
}

void check_device(bool computes) {
  const std::string device = value_of("MOONRANK_DEVICE");
  if (!device.empty() && device != "cpu" && device != "cuda") {
    refuse("MOONRANK_DEVICE", "expected 'cpu' or 'cuda'");
  }
  if (!computes) return;
  try {
    default_device();
  } catch (const std::invalid_argument& error) {
    refuse("MOONRANK_DEVICE", std::string("but ") + error.what());
  }
}

}  // namespace

bool check_default_output(lua_State* L) {
  // the key in Lua's registry under which the io library stores its default output file
  lua_getfield(L, LUA_REGISTRYINDEX, "_IO_output");
  const auto* const stream = static_cast<luaL_Stream*>(luaL_testudata(L, -1, LUA_FILEHANDLE));
  lua_pop(L, 1);
  if (stream == nullptr || stream->closef == nullptr || stream->f == stdout) return true;
  const bool failed = std::ferror(stream->f) != 0;
  errno = 0;
  if (std::fflush(stream->f) == 0 && !failed) return true;
  const std::string why = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  print_error("the file of io.output cannot be written" + why);
  return false;
}

void watch_standard_streams() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // A standard stream is closed, so its descriptor is opened in the opposite mode. Reading standard input or writing
    // an output then still fails, and no other file can get the descriptor.
    open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
  std::atexit(&check_output);
}

void check_variables(bool computes) {
  cpu::simd();          // throws if the variable MOONRANK_SIMD has a wrong value
  most_sample_bytes();  // throws if the variable MOONRANK_SAMPLES_GIB has a wrong value
  check_device(computes);
  check_folder("MOONRANK_DATA", "expected a folder of data sets", "");
  check_folder("MOONRANK_STDLIB", "expected a folder with moonrank/ in it, as stdlib/ of the sources", "moonrank");
  cluster::become_worker();
}

}  // namespace mr::cli
