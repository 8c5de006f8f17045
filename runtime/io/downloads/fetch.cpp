#include "runtime/io/downloads/fetch.h"

#include <stdexcept>
#include <unistd.h>
#include <vector>

#include "runtime/io/files/new_file.h"
#include "runtime/io/processes/process.h"

namespace mr::io {

void fetch(const std::string& url, const std::filesystem::path& target, int64_t max_bytes) {
  NewFile partial(target.string(), &replace_any);
  std::vector<std::string> command = {"curl",        "--fail",        "--location", "--proto",
                                      "=https,http", "--proto-redir", "=https,http"};
  for (const char* const word : {"--connect-timeout", "30", "--speed-time", "60", "--speed-limit", "1"})
    command.push_back(word);
  command.push_back(isatty(STDERR_FILENO) != 0 ? "--progress-bar" : "--silent");
  for (const std::string& word :
       {std::string("--max-filesize"), std::to_string(max_bytes), std::string("--write-out"),
        std::string("%{errormsg}"), std::string("--output"), partial.temporary(), std::string("--url"), url}) {
    command.push_back(word);
  }
  const Finished ended = run_process(command, "", Errors::shared, "curl");
  if (ended.status < 0) throw std::runtime_error("curl was killed while fetching " + url);
  if (ended.status != 0) {
    throw std::runtime_error(
        "cannot fetch " + url + ": " +
        (ended.output.empty() ? "curl ended with status " + std::to_string(ended.status) : ended.output));
  }
  partial.keep();
}

}  // namespace mr::io
