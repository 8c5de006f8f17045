#include "runtime/io/fetch.h"

#include <stdexcept>
#include <unistd.h>
#include <vector>

#include "runtime/io/process.h"

namespace mr::io {

void fetch(const std::string& url, const std::filesystem::path& target, int64_t max_bytes) {
  const std::filesystem::path partial = target.string() + ".partial-" + std::to_string(getpid());
  std::vector<std::string> command = {"curl",        "--fail",        "--location", "--proto",
                                      "=https,http", "--proto-redir", "=https,http"};
  for (const char* const word : {"--connect-timeout", "30", "--speed-time", "60", "--speed-limit", "1"})
    command.push_back(word);
  command.push_back(isatty(STDERR_FILENO) != 0 ? "--progress-bar" : "--silent");
  for (const std::string& word :
       {std::string("--max-filesize"), std::to_string(max_bytes), std::string("--write-out"),
        std::string("%{errormsg}"), std::string("--output"), partial.string(), std::string("--url"), url}) {
    command.push_back(word);
  }
  std::error_code ignored;
  try {
    const Finished ended = run_process(command, "", Errors::shared, "curl");
    if (ended.status < 0) throw std::runtime_error("curl was killed while fetching " + url);
    if (ended.status != 0) {
      throw std::runtime_error(
          "cannot fetch " + url + ": " +
          (ended.output.empty() ? "curl ended with status " + std::to_string(ended.status) : ended.output));
    }
    std::filesystem::rename(partial, target);
  } catch (...) {
    std::filesystem::remove(partial, ignored);
    throw;
  }
}

}  // namespace mr::io
