// SHA-256 checksums (FIPS 180-4), computed by libnettle. That library is installed anyway, because libarchive depends
// on it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace mr::io {

/// Returns the SHA-256 of these bytes, as 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

/// Returns the SHA-256 of a file's content. Throws std::runtime_error that names the file if it cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace mr::io
