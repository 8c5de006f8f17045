#include "kernels/core/shared_library.h"

#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mr {
namespace {

std::string last_error() {
  const char* const text = dlerror();
  return text != nullptr ? text : "unknown error";
}

struct Provider {
  std::string_view library, package;
};

/// The Debian 12 packages of the libraries that are loaded on first use.
constexpr Provider providers[] = {
    {"libarchive.so", "libarchive13"}, {"libjpeg.so", "libjpeg62-turbo"}, {"libmpi.so", "libopenmpi3 openmpi-bin"},
    {"libpng16.so", "libpng16-16"},    {"libxgboost.so", "libxgboost0"},
};

std::string advice(std::string_view file) {
  file.remove_prefix(file.rfind('/') + 1);
  for (const Provider& each : providers) {
    if (file.substr(0, each.library.size()) == each.library)
      return " (on Debian: apt install " + std::string(each.package) + ")";
  }
  return "";
}

}  // namespace

// RTLD_GLOBAL, because plug-ins of the loaded library may use the library's symbols without linking to it. Plug-ins of
// Open MPI do.
SharedLibrary::SharedLibrary(const char* file, const char* purpose)
    : file_(file), handle_(dlopen(file, RTLD_LAZY | RTLD_GLOBAL)) {
  if (handle_ == nullptr) {
    throw std::runtime_error(std::string(purpose) + " " + file + ", which cannot be loaded: " + last_error() +
                             advice(file));
  }
}

void* SharedLibrary::symbol(const char* name) const {
  dlerror();
  void* const found = dlsym(handle_, name);
  if (found == nullptr) throw std::runtime_error(std::string(file_) + " lacks '" + name + "': " + last_error());
  return found;
}

}  // namespace mr
