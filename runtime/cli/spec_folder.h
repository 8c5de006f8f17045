// A temporary folder for a spec, which is a file of tests. The folder is deleted afterwards.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/io/at_exit.h"

namespace mr::cli {

/// Creates a temporary folder and sets the variable TMPDIR to it, until the end of the scope. The folder is then
/// removed with its content, also if a script calls os.exit.
class SpecFolder {
 public:
  SpecFolder();
  ~SpecFolder();
  SpecFolder(const SpecFolder&) = delete;
  SpecFolder& operator=(const SpecFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::optional<std::string> before_;  // value of TMPDIR before this object changed it
  std::unique_ptr<io::AtExit> at_exit_;
};

}  // namespace mr::cli
