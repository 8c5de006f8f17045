#include "runtime/io/formats/archive.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <archive.h>
#include <archive_entry.h>

#include "kernels/core/shared_library.h"
#include "kernels/core/threads.h"
#include "runtime/io/character_set.h"
#include "runtime/io/files/regular_file.h"
#include "runtime/io/files/unpack_limit.h"

namespace mr::io {
namespace {

constexpr int64_t most_entries = 100'000;

struct Libarchive : SharedLibrary {
  Libarchive() : SharedLibrary(MR_LIBARCHIVE, "zip files are unpacked by") {}
  MR_FUNCTION(archive_read_free);
  MR_FUNCTION(archive_read_new);
  MR_FUNCTION(archive_read_support_format_zip_seekable);
  MR_FUNCTION(archive_read_open_filename);
  MR_FUNCTION(archive_read_next_header);
  MR_FUNCTION(archive_read_data);
  MR_FUNCTION(archive_error_string);
  MR_FUNCTION(archive_entry_pathname);
  MR_FUNCTION(archive_entry_filetype);
};

const Libarchive& libarchive() {
  static const Libarchive library;
  return library;
}

struct CloseArchive {
  void operator()(::archive* reader) const { libarchive().archive_read_free(reader); }
};
struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using Reader = std::unique_ptr<::archive, CloseArchive>;

class Unpacking {
 public:
  Unpacking(const std::filesystem::path& archive, const std::filesystem::path& folder,
            const std::set<std::string>& wanted, int64_t max_bytes)
      : name_(archive.string()),
        folder_(folder),
        wanted_(wanted),
        limit_(RegularFile(archive.string()).size(), max_bytes),
        reader_(libarchive().archive_read_new()) {
    if (!reader_) throw std::bad_alloc();
    // the seekable reader needs the directory at the end, so a truncated file fails before anything is written
    libarchive().archive_read_support_format_zip_seekable(reader_.get());
    if (libarchive().archive_read_open_filename(reader_.get(), archive.c_str(), 1 << 16) != ARCHIVE_OK)
      fail("", reason());
  }

  void all() {
    // names of files stay UTF-8, because libarchive converts them to the locale's encoding
    const CharacterSet of_names("C.UTF-8");
    for (int64_t entries = 0;; ++entries) {
      archive_entry* entry = nullptr;
      const int status = libarchive().archive_read_next_header(reader_.get(), &entry);
      if (status == ARCHIVE_EOF) return;
      if (status != ARCHIVE_OK) fail("", "is not a complete zip file (" + reason() + ")");
      if (entries == most_entries) fail("", "has more than " + std::to_string(most_entries) + " entries");
      one(entry);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& entry, const std::string& what) const {
    throw std::runtime_error(name_ + (entry.empty() ? "" : ": entry '" + entry + "'") + ": " + what);
  }
  std::string reason() const {
    const char* const text = libarchive().archive_error_string(reader_.get());
    return text != nullptr ? text : "unknown error";
  }

  /// The path of the entry's file in the target folder.
  std::filesystem::path target_of(const std::string& path) const {
    const std::filesystem::path relative(path);
    if (path.empty() || relative.is_absolute() || path.find('\\') != std::string::npos)
      fail(path, "its path is not relative");
    for (const auto& part : relative) {
      if (part == "..") fail(path, "its path leads out of the folder");
    }
    return folder_ / relative;
  }

  void one(archive_entry* entry) {
    const char* const raw = libarchive().archive_entry_pathname(entry);
    const std::string path = raw != nullptr ? raw : "";
    const std::filesystem::path target = target_of(path);
    const auto type = libarchive().archive_entry_filetype(entry);
    if (type != AE_IFDIR && type != AE_IFREG) fail(path, "it is neither a file nor a folder");
    if (type == AE_IFDIR || wanted_.count(path) == 0) return;
    std::filesystem::create_directories(target.parent_path());
    write(path, target);
  }

  void write(const std::string& path, const std::filesystem::path& target) {
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(target.c_str(), "wbx"));
    if (!file) fail(path, std::strerror(errno));
    for (;;) {
      cpu::check_interrupt();
      const la_ssize_t count = libarchive().archive_read_data(reader_.get(), buffer_.data(), buffer_.size());
      if (count < 0) fail(path, "damaged (" + reason() + ")");
      if (count == 0) break;
      bytes_ += count;
      if (bytes_ > limit_.bytes()) fail(path, limit_.text());
      const auto wanted = static_cast<size_t>(count);
      if (std::fwrite(buffer_.data(), 1, wanted, file.get()) != wanted) fail(path, std::strerror(errno));
    }
    if (std::fflush(file.get()) != 0 || fsync(fileno(file.get())) != 0) fail(path, std::strerror(errno));
  }

  std::string name_;
  std::filesystem::path folder_;
  const std::set<std::string>& wanted_;
  UnpackLimit limit_;
  Reader reader_;
  int64_t bytes_ = 0;
  std::vector<char> buffer_ = std::vector<char>(1 << 16);
};

}  // namespace

void unpack_zip(const std::filesystem::path& archive, const std::filesystem::path& folder,
                const std::set<std::string>& wanted, int64_t max_bytes) {
  Unpacking(archive, folder, wanted, max_bytes).all();
}

}  // namespace mr::io
