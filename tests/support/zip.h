// Makes zip files in memory with libarchive, for tests of the functions that read them.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <archive.h>
#include <archive_entry.h>

namespace mr::test {

/// Makes a zip file with one entry per pair (path, content). A content of "-> target" makes a symbolic link.
inline std::string make_zip(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string bytes(1 << 20, '\0');
  size_t used = 0;
  archive* const writer = archive_write_new();
  archive_write_set_format_zip(writer);
  if (archive_write_open_memory(writer, bytes.data(), bytes.size(), &used) != ARCHIVE_OK)
    throw std::runtime_error("no zip");
  for (const auto& [path, content] : entries) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, path.c_str());
    archive_entry_set_perm(entry, 0644);
    const bool link = content.rfind("-> ", 0) == 0;
    archive_entry_set_filetype(entry, link ? AE_IFLNK : AE_IFREG);
    if (link) archive_entry_set_symlink(entry, content.c_str() + 3);
    archive_entry_set_size(entry, link ? 0 : static_cast<int64_t>(content.size()));
    archive_write_header(writer, entry);
    if (!link) archive_write_data(writer, content.data(), content.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  bytes.resize(used);
  return bytes;
}

}  // namespace mr::test
