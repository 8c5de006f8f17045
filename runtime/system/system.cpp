// What the standard library asks of the machine: time, the terminal, the user's folders.
#include <chrono>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/io/nearest_name.h"
#include "runtime/io/safe_text.h"
#include "runtime/io/user_folder.h"
#include "runtime/lua/bind.h"

namespace mr {
namespace {

double clock_of() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
bool is_terminal_of(int64_t descriptor) { return isatty(static_cast<int>(descriptor)) != 0; }
int64_t terminal_width_of() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}
std::string cache_folder_of() { return io::user_cache_folder().string(); }
std::string data_folder_of() { return io::user_data_folder().string(); }
std::string safe_text_of(const std::string& text, std::optional<bool> lines) {
  return io::safe_text(text, lines.value_or(false) ? io::Breaks::kept : io::Breaks::escaped);
}

}  // namespace

using lua::op;
extern const lua::OpTable system_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&clock_of>("clock", "", "Seconds on a clock that never goes back."),
        op<&is_terminal_of>("is_terminal", "descriptor",
                            "Whether a file descriptor (1 output, 2 errors) is a terminal."),
        op<&terminal_width_of>("terminal_width", "",
                               "Columns of the terminal that errors go to; 80 where it does not say."),
        op<&cache_folder_of>("cache_folder", "", "Where caches are kept by default; it need not exist."),
        op<&safe_text_of>("safe_text", "text, lines?",
                          "Text from a file as it may be shown: control characters and bytes that are no UTF-8 written "
                          "out; with `lines` ends of lines stay."),
        op<&io::nearest_name>("nearest_name", "name, known",
                              "The name that is fewest edits away, for \"did you mean\"; nil where none is near."),
        op<&data_folder_of>("data_folder", "", "Where `moonrank data get` keeps data sets; it need not exist."),
    }};

}  // namespace mr
