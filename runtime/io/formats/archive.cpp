#include "runtime/io/formats/archive.h"

#include <array>
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
#include "runtime/io/files/regular_file.h"
#include "runtime/io/files/unpack_limit.h"
#include "runtime/io/thread_locale.h"

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
  MR_FUNCTION(archive_entry_size);
  MR_FUNCTION(archive_write_new);
  MR_FUNCTION(archive_write_set_format_zip);
  MR_FUNCTION(archive_write_zip_set_compression_store);
  MR_FUNCTION(archive_write_open_filename);
  MR_FUNCTION(archive_write_header);
  MR_FUNCTION(archive_write_data);
  MR_FUNCTION(archive_write_close);
  MR_FUNCTION(archive_write_free);
  MR_FUNCTION(archive_entry_new);
  MR_FUNCTION(archive_entry_free);
  MR_FUNCTION(archive_entry_set_pathname);
  MR_FUNCTION(archive_entry_set_size);
  MR_FUNCTION(archive_entry_set_filetype);
  MR_FUNCTION(archive_entry_set_perm);
  MR_FUNCTION(archive_entry_set_mtime);
};

const Libarchive& libarchive() {
  static const Libarchive library;
  return library;
}

struct CloseArchive {
  void operator()(::archive* reader) const { libarchive().archive_read_free(reader); }
};
struct FinishArchive {
  void operator()(::archive* writer) const { libarchive().archive_write_free(writer); }
};
struct FreeEntry {
  void operator()(::archive_entry* entry) const { libarchive().archive_entry_free(entry); }
};
struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using Reader = std::unique_ptr<::archive, CloseArchive>;

std::string reason_of(::archive* of) {
  const char* const text = libarchive().archive_error_string(of);
  return text != nullptr ? text : "unknown error";
}

/// An error whose text names the zip file.
struct ZipError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void fail_at(const std::string& archive, const std::string& entry, const std::string& what) {
  throw ZipError(archive + (entry.empty() ? "" : ": entry '" + entry + "'") + ": " + what);
}

/// Returns true if the file is a zip file without entries: the record that ends every zip file, with all counts 0.
/// libarchive does not recognise such a file.
bool is_zip_without_entries(const std::string& path) {
  constexpr std::string_view record{"PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22};
  const RegularFile file(path);
  if (file.size() != static_cast<int64_t>(record.size())) return false;
  std::array<char, record.size()> found{};
  file.read(0, found.data(), file.size());
  return std::string_view(found.data(), found.size()) == record;
}

/// A zip file, open for reading.
class Zip {
 public:
  explicit Zip(const std::string& path)
      : path_(path), packed_bytes_(RegularFile(path).size()), reader_(libarchive().archive_read_new()) {
    if (!reader_) throw std::bad_alloc();
    // libarchive's seekable reader needs the directory at the end of a zip file. A truncated file therefore fails here,
    // before anything is unpacked.
    libarchive().archive_read_support_format_zip_seekable(reader_.get());
    if (libarchive().archive_read_open_filename(reader_.get(), path.c_str(), 1 << 16) != ARCHIVE_OK)
      fail("", reason_of(reader_.get()));
  }

  int64_t packed_bytes() const { return packed_bytes_; }
  [[noreturn]] void fail(const std::string& entry, const std::string& what) const { fail_at(path_, entry, what); }

  /// Calls f(name, entry) for every file of the zip file. Entries for folders are checked and skipped.
  template <class F>
  void each_file(const F& f) const {
    // Names of files stay UTF-8, because libarchive converts them to the locale's encoding.
    const ThreadLocale of_names(LC_CTYPE_MASK, "C.UTF-8");
    for (int64_t entries = 0;; ++entries) {
      archive_entry* entry = nullptr;
      const int status = libarchive().archive_read_next_header(reader_.get(), &entry);
      if (status == ARCHIVE_EOF) return;
      if (status != ARCHIVE_OK) fail("", "is not a complete zip file (" + reason_of(reader_.get()) + ")");
      if (entries == most_entries) fail("", "has more than " + std::to_string(most_entries) + " entries");
      const char* const raw = libarchive().archive_entry_pathname(entry);
      const std::string name = raw != nullptr ? raw : "";
      const auto type = libarchive().archive_entry_filetype(entry);
      check_path(name);
      if (type != AE_IFDIR && type != AE_IFREG) fail(name, "it is neither a file nor a folder");
      if (type == AE_IFREG) f(name, entry);
    }
  }

  /// Reads at most `most` bytes of the zip file's current entry. Returns the number of bytes, 0 at the entry's end.
  int64_t read(const std::string& name, void* target, int64_t most) const {
    cpu::check_interrupt();
    const la_ssize_t count = libarchive().archive_read_data(reader_.get(), target, static_cast<size_t>(most));
    if (count < 0) fail(name, "damaged (" + reason_of(reader_.get()) + ")");
    return count;
  }

 private:
  void check_path(const std::string& path) const {
    const std::filesystem::path relative(path);
    if (path.empty() || relative.is_absolute() || path.find('\\') != std::string::npos)
      fail(path, "its path is not relative");
    for (const auto& part : relative) {
      if (part == "..") fail(path, "its path leads out of the folder");
    }
  }

  std::string path_;
  int64_t packed_bytes_;
  Reader reader_;
};

/// Writes the current entry of a zip file to a new file on the disk.
class Unpacking {
 public:
  Unpacking(const Zip& zip, int64_t max_bytes) : zip_(zip), limit_(zip.packed_bytes(), max_bytes) {}

  void write(const std::string& name, const std::filesystem::path& target) {
    std::filesystem::create_directories(target.parent_path());
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(target.c_str(), "wbx"));
    if (!file) zip_.fail(name, std::strerror(errno));
    while (const int64_t count = zip_.read(name, buffer_.data(), static_cast<int64_t>(buffer_.size()))) {
      bytes_ += count;
      if (bytes_ > limit_.bytes()) zip_.fail(name, limit_.text());
      const auto wanted = static_cast<size_t>(count);
      if (std::fwrite(buffer_.data(), 1, wanted, file.get()) != wanted) zip_.fail(name, std::strerror(errno));
    }
    if (std::fflush(file.get()) != 0 || fsync(fileno(file.get())) != 0) zip_.fail(name, std::strerror(errno));
  }

 private:
  const Zip& zip_;
  UnpackLimit limit_;
  int64_t bytes_ = 0;
  std::vector<char> buffer_ = std::vector<char>(1 << 16);
};

}  // namespace

void unpack_zip(const std::filesystem::path& archive, const std::filesystem::path& folder,
                const std::set<std::string>& wanted, int64_t max_bytes) {
  const Zip zip(archive.string());
  Unpacking unpacking(zip, max_bytes);
  zip.each_file([&](const std::string& name, archive_entry*) {
    if (wanted.count(name) != 0) unpacking.write(name, folder / name);
  });
}

void read_zip(const std::string& path,
              const std::function<void(const std::string& name, int64_t bytes, const ReadEntry& read)>& visit) {
  if (is_zip_without_entries(path)) return;
  const Zip zip(path);
  const UnpackLimit limit(zip.packed_bytes(), std::numeric_limits<int64_t>::max());
  int64_t total = 0;
  zip.each_file([&](const std::string& name, archive_entry* entry) {
    const int64_t bytes = libarchive().archive_entry_size(entry);
    if (bytes < 0 || __builtin_add_overflow(total, bytes, &total) || total > limit.bytes())
      zip.fail(name, limit.text() + ". Write it without compression: numpy.savez");
    const ReadEntry read = [&](void* target, int64_t wanted) {
      char* to = static_cast<char*>(target);
      while (wanted > 0) {
        const int64_t count = zip.read(name, to, wanted);
        if (count == 0) throw std::runtime_error("ends early");
        to += count;
        wanted -= count;
      }
    };
    try {
      visit(name, bytes, read);
      // libarchive compares the checksum only when it reaches the end of the entry. Asking for one byte after the last
      // one makes it do so.
      char none = 0;
      if (zip.read(name, &none, 1) != 0)
        throw std::runtime_error("has more bytes than the size that the archive states");
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const cpu::Interrupted&) {
      throw;
    } catch (const ZipError&) {
      throw;
    } catch (const std::exception& error) {
      zip.fail(name, error.what());
    }
  });
}

void write_zip(const std::string& path, const std::vector<ZipEntry>& entries, const Objection& objection) {
  NewFile file(path, objection);
  const ThreadLocale of_names(LC_CTYPE_MASK, "C.UTF-8");
  const std::unique_ptr<::archive, FinishArchive> writer(libarchive().archive_write_new());
  const std::unique_ptr<::archive_entry, FreeEntry> header(libarchive().archive_entry_new());
  if (!writer || !header) throw std::bad_alloc();
  const auto check = [&](bool good) {
    if (!good) fail_at(path, "", "cannot write: " + reason_of(writer.get()));
  };
  check(libarchive().archive_write_set_format_zip(writer.get()) == ARCHIVE_OK);
  check(libarchive().archive_write_zip_set_compression_store(writer.get()) == ARCHIVE_OK);
  check(libarchive().archive_write_open_filename(writer.get(), file.temporary().c_str()) == ARCHIVE_OK);
  // 1980-01-02 in UTC: time of all entries; zip cannot store years before 1980
  constexpr time_t january_1980 = 315'619'200;
  for (const ZipEntry& entry : entries) {
    size_t bytes = 0;
    for (const std::string_view part : entry.parts) bytes += part.size();
    libarchive().archive_entry_set_pathname(header.get(), entry.name.c_str());
    libarchive().archive_entry_set_size(header.get(), static_cast<int64_t>(bytes));
    libarchive().archive_entry_set_filetype(header.get(), AE_IFREG);
    libarchive().archive_entry_set_perm(header.get(), 0644);
    libarchive().archive_entry_set_mtime(header.get(), january_1980, 0);
    check(libarchive().archive_write_header(writer.get(), header.get()) == ARCHIVE_OK);
    for (const std::string_view part : entry.parts) {
      cpu::check_interrupt();
      check(libarchive().archive_write_data(writer.get(), part.data(), part.size()) ==
            static_cast<la_ssize_t>(part.size()));
    }
  }
  check(libarchive().archive_write_close(writer.get()) == ARCHIVE_OK);
  file.keep();
}

}  // namespace mr::io
