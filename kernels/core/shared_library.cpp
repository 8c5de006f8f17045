#include "kernels/core/shared_library.h"

#include <dlfcn.h>
#include <stdexcept>
#include <string>

namespace mr {
namespace {

std::string last_error() {
  const char* const text = dlerror();
  return text != nullptr ? text : "unknown error";
}

}  // namespace

// RTLD_GLOBAL, because plug-ins of the loaded library may use the library's symbols without linking to it. Plug-ins of
// Open MPI do.
SharedLibrary::SharedLibrary(const char* file, const char* purpose)
    : file_(file), handle_(dlopen(file, RTLD_LAZY | RTLD_GLOBAL)) {
  if (handle_ == nullptr) {
    throw std::runtime_error(std::string(purpose) + " " + file + ", which cannot be loaded: " + last_error());
  }
}

void* SharedLibrary::symbol(const char* name) const {
  dlerror();
  void* const found = dlsym(handle_, name);
  if (found == nullptr) throw std::runtime_error(std::string(file_) + " lacks '" + name + "': " + last_error());
  return found;
}

}  // namespace mr
