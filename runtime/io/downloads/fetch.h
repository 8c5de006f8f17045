// Downloads files by the command `curl`, which supports proxies and certificates. It is started without a shell.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace mr::io {

/// Downloads an http or https address, at most `max_bytes`, to a temporary file, which is renamed to `target` when
/// complete. curl shows its progress if standard error is a terminal. Throws std::runtime_error with curl's message, or
/// one that says that curl is not installed.
void fetch(const std::string& url, const std::filesystem::path& target, int64_t max_bytes);

}  // namespace mr::io
