// The temporary folder of a spec.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/io/at_exit.h"

namespace mr::cli {

/// A new folder, which TMPDIR names until the end of the scope. It is removed then with all that is in it, also after
/// os.exit.
class SpecFolder {
 public:
  SpecFolder();
  ~SpecFolder();
  SpecFolder(const SpecFolder&) = delete;
  SpecFolder& operator=(const SpecFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::optional<std::string> before_;  // value of TMPDIR
  std::unique_ptr<io::AtExit> at_exit_;
};

}  // namespace mr::cli
