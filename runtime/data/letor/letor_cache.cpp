#include "runtime/data/letor/letor_cache.h"

#include <chrono>
#include <filesystem>
#include <optional>

#include "kernels/core/threads.h"
#include "runtime/data/letor/letor_cache_file.h"
#include "runtime/data/text_pieces.h"
#include "runtime/io/files/sha256.h"
#include "runtime/io/files/text_file.h"

namespace mr {
namespace {

namespace fs = std::filesystem;

/// Resolution of file times, at worst, in nanoseconds. If a file was modified less than this before it was read, it may
/// have been changed again without a new time.
constexpr int64_t coarsest_clock = 2'000'000'000;

int64_t now() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

std::string key_of(const std::string& path, const LetorOptions& o) {
  std::error_code unknown;
  const fs::path real = fs::canonical(path, unknown);
  return (unknown ? path : real.string()) + "\nfeatures " + std::to_string(o.features) + (o.any_order ? " any" : "") +
         (o.null == Null::zero      ? " null"
          : o.null == Null::missing ? " missing"
                                    : "") +
         (o.qid_optional ? " optional" : "");
}

class Reader {
 public:
  Reader(const std::string& path, const LetorOptions& options, const std::string& folder, std::string& problem)
      : path_(path),
        options_(options),
        key_(key_of(path, options)),
        cache_(letor_cache_path(path, options, folder)),
        problem_(problem) {}

  LetorFile read() const {
    try {
      std::optional<LetorFile> kept = from_cache();
      if (kept) return std::move(*kept);
    } catch (const BadCache& bad) {
      problem_ = bad.what() + std::string("; it is written again");
    }
    const int64_t read_at = now();
    const TextPieces text(path_, letor_piece);
    LetorFile file = parse_letor(text, options_);
    const LetorSource source{key_, text.file().stamp(), text.file().checksum(), read_at};
    if (text.file().unchanged()) write(source, file);
    return file;
  }

 private:
  /// Reads the cache of a LETOR file. Returns nothing if there is none or the text file has changed since. If the file
  /// times are equal and old enough, the file is unchanged; otherwise its checksum is computed.
  std::optional<LetorFile> from_cache() const {
    const std::optional<LetorCacheFile> cache = LetorCacheFile::open(cache_, key_);
    if (!cache) return std::nullopt;
    const LetorSource& made_from = cache->source();
    const int64_t read_at = now();
    const io::RegularFile text(path_, largest_text);
    if (text.stamp() == made_from.stamp && text.stamp().changed < made_from.read_at - coarsest_clock) {
      return cache->load();
    }
    if (text.stamp().size != made_from.stamp.size || text.checksum() != made_from.checksum) {
      return std::nullopt;
    }
    LetorFile file = cache->load();
    // The text file has new times but the same content. The new times are written to the cache, so that next time no
    // checksum is needed.
    if (text.unchanged()) write({key_, text.stamp(), made_from.checksum, read_at}, file);
    return file;
  }

  void write(const LetorSource& source, const LetorFile& file) const {
    try {
      write_letor_cache(cache_, source, file);
    } catch (const cpu::Interrupted&) {
      throw;
    } catch (const std::runtime_error& error) {
      problem_ = error.what();
    }
  }

  const std::string& path_;
  const LetorOptions& options_;
  const std::string key_, cache_;
  std::string& problem_;
};

}  // namespace

std::string letor_cache_path(const std::string& path, const LetorOptions& options, const std::string& folder) {
  return (fs::path(folder) / ("letor-" + io::sha256(key_of(path, options)).substr(0, 32))).string();
}

LetorFile read_letor_cached(const std::string& path, const LetorOptions& options, const std::string& folder,
                            std::string& problem) {
  problem.clear();
  return Reader(path, options, folder, problem).read();
}

}  // namespace mr
