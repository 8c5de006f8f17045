// Lua functions of the system: time, the terminal, the user's folders, memory, cores, locks.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include "runtime/io/files/user_folder.h"
#include "runtime/io/nearest_name.h"
#include "runtime/io/processes/channel.h"
#include "runtime/io/safe_text.h"
#include "runtime/lua/bind.h"
#include "runtime/lua/interrupt.h"

namespace mr::lua {
template <>
inline constexpr const char* class_name<io::FileLock> = "mr.FileLock";
}  // namespace mr::lua

namespace mr {
namespace {

double clock_of() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
bool is_terminal_of(int64_t descriptor) { return isatty(static_cast<int>(descriptor)) != 0; }
int64_t terminal_width_of() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}
std::string cache_folder_of() { return io::user_cache_folder().string(); }
std::vector<std::string> data_folders_of() {
  std::vector<std::string> folders;
  for (const std::filesystem::path& folder : io::data_folders()) folders.push_back(folder.string());
  return folders;
}
/// Returns the names in a folder, at most 10,000, with "/" after folders. Returns none if the folder cannot be read.
std::vector<std::string> list_folder(const std::string& path) {
  constexpr size_t most = 10'000;
  std::vector<std::string> names;
  std::error_code unknown;
  for (std::filesystem::directory_iterator at(path, unknown), end; !unknown && at != end; at.increment(unknown)) {
    if (names.size() == most) break;
    std::error_code no_folder;
    names.push_back(at->path().filename().string() + (at->is_directory(no_folder) ? "/" : ""));
  }
  return names;
}
std::string safe_text_of(const std::string& text, std::optional<bool> lines) {
  return io::safe_text(text, lines.value_or(false) ? io::Breaks::kept : io::Breaks::escaped);
}

std::optional<io::FileLock> lock_file(const std::string& path) {
  return io::FileLock::take(path, io::FileLock::End::remove);
}
/// Returns the absolute path of the file or folder to which a symbolic link leads, over further links if there are any.
/// Other paths and dangling links are returned unchanged.
std::string followed_of(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_symlink(path, unknown)) return path;
  const std::filesystem::path target = std::filesystem::canonical(path, unknown);
  return unknown ? path : target.string();
}
bool holds_of(const io::FileLock& lock) { return lock.holds(); }
int64_t interrupts_of() { return lua::interrupts(); }

/// Returns the peak memory in kilobytes from /proc; 0 if there is no /proc.
int64_t peak_in_status() {
  constexpr std::string_view name = "VmHWM:";
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 4096> bytes{};
  const ssize_t size = read(file, bytes.data(), bytes.size());
  close(file);
  const std::string_view status(bytes.data(), static_cast<size_t>(std::max<ssize_t>(size, 0)));
  const size_t at = status.find(name);
  return at == std::string_view::npos ? 0 : std::stoll(std::string(status.substr(at + name.size(), 32)));
}

/// Returns the peak memory in bytes. getrusage is faster than reading /proc, but its number is at least the memory of
/// the program that started this process. Only a number that is larger than that memory is this process's own peak.
int64_t peak_memory_of() {
  static std::atomic<int64_t> inherited{std::numeric_limits<int64_t>::max()};  // upper bound of that program's memory
  rusage usage{};
  const int64_t larger = getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0;
  if (larger > inherited) return larger * 1024;
  const int64_t own = peak_in_status();
  if (own == 0) return larger * 1024;
  inherited = own < larger ? larger : larger - 1;
  return own * 1024;
}

void reset_peak_memory_of() {
  static const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  // "5" resets the peak. Without it, the peak includes earlier memory.
  [[maybe_unused]] const ssize_t written = write(file, "5", 1);
}

int64_t cores_of() { return std::max<int64_t>(1, std::thread::hardware_concurrency()); }
int64_t machine_cores_of() { return std::max<int64_t>(1, sysconf(_SC_NPROCESSORS_ONLN)); }

}  // namespace

using lua::op;
extern const lua::OpTable system_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&clock_of>("clock", "", "Seconds of a monotonic clock."),
        op<&is_terminal_of>("is_terminal", "descriptor",
                            "True if a file descriptor (1 output, 2 errors) is a terminal."),
        op<&terminal_width_of>("terminal_width", "", "Columns of the terminal for errors; 80 if unknown."),
        op<&cache_folder_of>("cache_folder", "", "The default folder for caches; it need not exist."),
        op<&safe_text_of>("safe_text", "text, lines?",
                          "Escapes control characters and invalid UTF-8 in a text from a file, so that it can be "
                          "printed. `lines`: keeps line ends."),
        op<&io::nearest_name>(
            "nearest_name", "name, known",
            "The known name with the smallest edit distance, for \"did you mean\"; nil if none is similar."),
        op<&data_folders_of>("data_folders", "",
                             "The folders that are searched for data sets, in order; \"\" is the working folder."),
        op<&list_folder>("list_folder", "path",
                         "Names in a folder, unsorted, with / at the end of folders; at most 10,000."),
        op<&followed_of>("followed", "path", "The target of a link, or the path itself if it is not a link."),
        op<&lock_file>("lock_file", "path",
                       "Locks a file until the lock is collected; nil if another process holds the lock. At the end "
                       "the file is removed, and its folder and that folder's parent if they are empty."),
        op<&interrupts_of>("interrupts", "",
                           "Number of presses of Ctrl-C since the program, or the current line of the prompt, began."),
        op<&peak_memory_of>("peak_memory", "", "Peak resident memory in bytes since `reset_peak_memory`."),
        op<&reset_peak_memory_of>("reset_peak_memory", "", "Lets the measurement of peak memory begin anew."),
        op<&cores_of>("cores", "", "Number of cores that this process may use."),
        op<&machine_cores_of>("machine_cores", "", "Number of cores of the machine."),
    }};
extern const lua::OpTable lock_methods{
    lua::OpTable::methods,
    &lua::push_metatable<io::FileLock>,
    {op<&holds_of>("holds", "lock",
                   "True if the lock's file still exists. If it was removed, another process can lock a new one.")}};

}  // namespace mr
