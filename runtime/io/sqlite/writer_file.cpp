#include "runtime/io/sqlite/writer_file.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "kernels/core/threads.h"
#include "runtime/io/formats/json.h"
#include "runtime/io/safe_text.h"
#include "runtime/io/tidily.h"

namespace mr::io {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds heartbeat{15};
constexpr int64_t stale_after = 120;  // seconds without a heartbeat after which the file NAME.writer is stale
constexpr std::chrono::seconds claim_lasts{10};
constexpr size_t most_bytes = 4096;
constexpr size_t most_shown = 60;

[[noreturn]] void fail(const std::string& path) {
  throw std::runtime_error(path + " cannot be written: " + std::strerror(errno));
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// Returns a text that identifies this boot of the machine and its PID namespace; "" if the system does not tell.
std::string machine() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id") >> std::ws, boot);
  std::array<char, 64> space{};
  const ssize_t length = readlink("/proc/self/ns/pid", space.data(), space.size() - 1);
  return boot.empty() || length <= 0 ? "" : boot + " " + space.data();
}

/// Returns the start time of a process on this machine, in kernel ticks, because process numbers are reused. 0:
/// unknown.
int64_t began(int64_t process) {
  std::string text;
  std::getline(std::ifstream("/proc/" + std::to_string(process) + "/stat"), text);
  // In /proc/PID/stat the program's name is in parentheses and may contain blanks. The numbered fields follow it.
  const size_t name_ends = text.rfind(')');
  if (name_ends == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_ends + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  return std::strtoll(field.c_str(), nullptr, 10);
}

std::string random_id() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    throw std::runtime_error("the system gives no random numbers, which identify the process that writes");
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
  return text.data();
}

/// The content of the file NAME.writer. It is untrusted, so every field has a default.
struct Writer {
  bool readable = false;  // true if the file could be read and has the expected content
  std::string host, machine, id, start;
  int64_t process = 0, ticks = 0;
  struct stat there {};
};

std::string text_of(const Json& fields, const char* name) {
  const auto found = fields.find(name);
  return found != fields.end() && found->is_string() ? found->get<std::string>() : "";
}
int64_t number_of(const Json& fields, const char* name) {
  const auto found = fields.find(name);
  return found != fields.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

void parse(const std::string& text, Writer& writer) try {
  const Json fields = parse_json(text);
  if (!fields.is_object()) return;
  writer.host = text_of(fields, "host");
  writer.machine = text_of(fields, "machine");
  writer.id = text_of(fields, "id");
  writer.start = text_of(fields, "start");
  writer.process = number_of(fields, "process");
  writer.ticks = number_of(fields, "ticks");
  writer.readable = writer.process > 0 && !writer.host.empty();
} catch (const std::runtime_error&) {
  writer.readable = false;
}

/// Reads the file NAME.writer; returns nothing if it does not exist.
std::optional<Writer> read_writer(const std::string& path) {
  Writer writer;
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);  // NOLINT: open is variadic
  if (file < 0) {
    if (errno == ENOENT || lstat(path.c_str(), &writer.there) != 0) return std::nullopt;
    return writer;
  }
  std::string text(most_bytes, '\0');
  const bool regular = fstat(file, &writer.there) == 0 && S_ISREG(writer.there.st_mode);
  const ssize_t length = regular ? pread(file, text.data(), text.size(), 0) : 0;
  close(file);
  if (length > 0) parse(text.substr(0, static_cast<size_t>(length)), writer);
  return writer;
}

std::string shown(const std::string& text) { return safe_text(text.substr(0, most_shown), Breaks::escaped); }

bool is_gone(const Writer& writer) {
  if (kill(static_cast<pid_t>(writer.process), 0) != 0 && errno == ESRCH) return true;
  const int64_t ticks = began(writer.process);
  return writer.ticks != 0 && ticks != 0 && writer.ticks != ticks;
}

/// Returns the seconds from the last heartbeat in the file NAME.writer to the creation of a claim file beside it. Both
/// times are the file server's clock.
int64_t age_of(const Writer& writer, const struct stat& claim) { return claim.st_mtime - writer.there.st_mtime; }

bool is_here(const Writer& writer) { return writer.readable && !writer.machine.empty() && writer.machine == machine(); }

std::string description(const Writer& writer) {
  if (!writer.readable) return "another process is writing it";
  const std::string name = "process " + std::to_string(writer.process) + " on host '" + shown(writer.host) + "' ";
  if (is_here(writer) && is_gone(writer)) return name + "was writing it and was killed";
  return name + "has been writing it since " + shown(writer.start);
}

bool is_stale(const Writer& writer, const struct stat& claim) {
  return is_here(writer) ? is_gone(writer) : age_of(writer, claim) >= stale_after;
}

/// The right to change a file NAME.writer, held until the end of the scope.
class Claim {
 public:
  explicit Claim(std::string path) : path_(std::move(path)) {
    auto seen_since = steady_clock::now();
    struct stat seen {};
    while (true) {
      constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
      const int file = open(path_.c_str(), flags, 0666);  // NOLINT: open is variadic
      if (file >= 0) {
        fstat(file, &made_);
        close(file);
        return;
      }
      if (errno != EEXIST) fail(path_);
      struct stat now {};
      if (lstat(path_.c_str(), &now) != 0) continue;
      if (!same(now, seen)) seen_since = steady_clock::now();
      seen = now;
      if (steady_clock::now() - seen_since > claim_lasts) std::remove(path_.c_str());
      cpu::check_interrupt();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  ~Claim() {
    if (holds()) std::remove(path_.c_str());
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  bool holds() const {
    struct stat now {};
    return lstat(path_.c_str(), &now) == 0 && same(now, made_);
  }
  const struct stat& made() const { return made_; }

 private:
  static bool same(const struct stat& a, const struct stat& b) {
    return a.st_ino == b.st_ino && a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
  }
  std::string path_;
  struct stat made_ {};
};

}  // namespace

std::string utc_text(std::time_t time) {
  std::tm parts{};
  std::array<char, 40> text{};
  if (gmtime_r(&time, &parts) == nullptr) return "unknown time";
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

bool is_shared_file_system(uint64_t type) {
  constexpr std::array<uint32_t, 14> shared = {
      0x6969,      // NFS
      0x517B,      // SMB
      0xFF534D42,  // CIFS
      0xFE534D42,  // SMB 2
      0x0BD00BD0,  // Lustre
      0x47504653,  // GPFS
      0x65735546,  // FUSE
      0x00C36400,  // Ceph
      0x5346414F,  // AFS
      0x01021997,  // 9P
      0x19830326,  // BeeGFS
      0xAAD7AAEA,  // PanFS
      0x01161970,  // GFS2
      0x7461636F,  // OCFS2
  };
  for (const uint32_t each : shared) {
    if (static_cast<uint32_t>(type) == each) return true;
  }
  return false;
}

bool on_shared_file_system(const std::string& path) {
  struct statfs system {};
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  if (statfs(path.c_str(), &system) != 0 && statfs(folder.c_str(), &system) != 0) return false;
  return is_shared_file_system(static_cast<uint64_t>(system.f_type));
}

std::optional<std::string> writer_of(const std::string& database) {
  const std::optional<Writer> writer = read_writer(database + ".writer");
  if (!writer) return std::nullopt;
  return description(*writer);
}

WriterFile::WriterFile(const std::string& database)
    : path_(database + ".writer"), database_(database), id_(random_id()) {
  const Claim claim(path_ + ".claim");
  if (const std::optional<Writer> other = read_writer(path_)) {
    if (!is_stale(*other, claim.made())) {
      std::string message = database_ + " cannot be written: " + description(*other) + ".";
      message += is_here(*other) ? " Wait until that process has ended"
                                 : " It last updated its lock " + std::to_string(age_of(*other, claim.made())) +
                                       " s ago. Wait until that process has ended, or, if it was killed, until " +
                                       std::to_string(stale_after) + " s have passed";
      throw std::runtime_error(message);
    }
    if (!claim.holds())
      throw std::runtime_error(database_ +
                               " cannot be written: another process is taking over its lock now. Try again");
    if (std::remove(path_.c_str()) != 0 && errno != ENOENT) fail(path_);
  }
  create();
}

void WriterFile::create() {
  descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);  // NOLINT: variadic
  if (descriptor_ < 0) fail(path_);
  try {
    write_text();
    beats_ = std::thread([this] { beat(); });
  } catch (...) {
    close(descriptor_);
    std::remove(path_.c_str());
    throw;
  }
}

void WriterFile::write_text() {
  const std::string now = utc_text(std::time(nullptr));
  // json_object sorts its members by name, so the heartbeat comes first in the file, and each new heartbeat overwrites
  // the previous one in place.
  const std::string text = json_object({{"heartbeat", json_text(now)},
                                        {"host", json_text(safe_text(host_name(), Breaks::escaped))},
                                        {"id", json_text(id_)},
                                        {"machine", json_text(machine())},
                                        {"process", std::to_string(getpid())},
                                        {"start", json_text(now)},
                                        {"ticks", std::to_string(began(getpid()))}}) +
                           "\n";
  if (write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size()) || fsync(descriptor_) != 0)
    fail(path_);
}

void WriterFile::beat() {
  constexpr off_t at = sizeof R"({"heartbeat":")" - 1;
  std::unique_lock lock(guard_);
  while (!ends_.wait_for(lock, heartbeat, [this] { return ended_; })) {
    const std::string now = utc_text(std::time(nullptr));
    // If writing the heartbeat fails, for example on a full disk, the next heartbeat may succeed.
    if (pwrite(descriptor_, now.data(), now.size(), at) > 0) fsync(descriptor_);
  }
}

bool WriterFile::lost() const {
  const std::optional<Writer> now = read_writer(path_);
  return !now || now->id != id_;
}

WriterFile::~WriterFile() {
  {
    const std::lock_guard lock(guard_);
    ended_ = true;
  }
  ends_.notify_all();
  if (beats_.joinable()) beats_.join();
  if (descriptor_ >= 0) close(descriptor_);
  // If the file NAME.writer cannot be removed, it becomes stale, and the next writer replaces it.
  tidily([this] {
    const Claim claim(path_ + ".claim");
    if (!lost()) std::remove(path_.c_str());
  });
}

}  // namespace mr::io
