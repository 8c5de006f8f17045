#include "runtime/io/files/user_folder.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace mr::io {
namespace {

std::filesystem::path xdg_folder(const char* variable, const char* below_home) {
  // The XDG specification says that relative paths in its variables are ignored.
  if (const char* const base = std::getenv(variable); base != nullptr && std::filesystem::path(base).is_absolute()) {
    return std::filesystem::path(base) / "moonrank";
  }
  if (const char* const home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::filesystem::path(home) / below_home / "moonrank";
  }
  throw std::runtime_error(std::string("no folder for user files: ") + variable +
                           " is not set to an absolute path, and HOME is not set. Set one of them");
}

}  // namespace

std::filesystem::path user_data_folder() { return xdg_folder("XDG_DATA_HOME", ".local/share"); }
std::vector<std::filesystem::path> data_folders() {
  std::vector<std::filesystem::path> folders = {""};
  if (const char* const chosen = std::getenv("MOONRANK_DATA"); chosen != nullptr && *chosen != '\0') {
    folders.emplace_back(chosen);
  }
  folders.emplace_back("../shared/data");
  try {
    folders.push_back(user_data_folder());
  } catch (const std::runtime_error&) {
    // There is no home folder, so no data folder of the user is searched.
  }
  return folders;
}

std::filesystem::path user_state_folder() { return xdg_folder("XDG_STATE_HOME", ".local/state"); }
std::filesystem::path user_cache_folder() { return xdg_folder("XDG_CACHE_HOME", ".cache"); }

}  // namespace mr::io
