#include "runtime/cli/spec_folder.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "runtime/io/tidily.h"

namespace mr::cli {
namespace {

namespace fs = std::filesystem;

void remove_folder(const std::string& path) {
  std::error_code ignored;
  // Makes folders writable before they are removed: a test that made one read-only may have failed before it could undo
  // that.
  for (fs::recursive_directory_iterator at(path, ignored), end; !ignored && at != end; at.increment(ignored)) {
    std::error_code unchanged;
    if (at->is_directory(unchanged) && !at->is_symlink(unchanged))
      fs::permissions(at->path(), fs::perms::owner_all, fs::perm_options::add, unchanged);
  }
  fs::remove_all(path, ignored);
}

}  // namespace

SpecFolder::SpecFolder() {
  if (const char* const before = std::getenv("TMPDIR")) before_ = before;
  std::string name = (fs::temp_directory_path() / "moonrank-spec-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder of the form " + name);
  path_ = name;
  setenv("TMPDIR", path_.c_str(), 1);
  at_exit_ = std::make_unique<io::AtExit>([path = path_] { remove_folder(path); });
}

SpecFolder::~SpecFolder() {
  at_exit_.reset();
  if (before_) {
    setenv("TMPDIR", before_->c_str(), 1);
  } else {
    unsetenv("TMPDIR");
  }
  io::tidily([this] { remove_folder(path_); });
}

}  // namespace mr::cli
