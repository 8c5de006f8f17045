// Downloads through the `curl` command, which knows proxies and certificates; started without a shell.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace mr::io {

/// Downloads an http or https address into `target`, which appears only when complete (a temporary file beside it is
/// renamed). At most `max_bytes`. curl shows its progress where standard error is a terminal. Throws std::runtime_error
/// with curl's message, or one that says that curl is not installed.
void fetch(const std::string& url, const std::filesystem::path& target, int64_t max_bytes);

}  // namespace mr::io
