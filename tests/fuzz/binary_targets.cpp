#include "tests/fuzz/binary_targets.h"

#include <cstring>
#include <sys/socket.h>
#include <vector>

#include "runtime/cli/options.h"
#include "runtime/io/formats/picture.h"
#include "runtime/io/processes/channel.h"
#include "runtime/models/xgboost.h"
#include "tests/fuzz/checksums.h"
#include "tests/fuzz/reading.h"

namespace mr::fuzz {
namespace {

// larger pictures are not decoded: they take seconds and reach no further code
constexpr int64_t most_pixels = int64_t{1} << 18;

void read_picture(std::string_view bytes) {
  read_file(bytes, [](const std::string& path) {
    const auto picture = io::open_picture(path);
    need(picture->width() > 0 && picture->height() > 0, "picture: sides");
    if (picture->width() * picture->height() > most_pixels) return;
    std::vector<float> row(static_cast<size_t>(3 * picture->width()));
    for (int64_t y = 0; y < picture->height(); ++y) {
      picture->next_row(row.data());
      for (const float value : row) need(value >= 0 && value <= 1, "picture: a value outside of 0 to 1");
    }
  });
}

void png(std::string_view bytes) { read_picture(with_png_checksums(std::string(bytes))); }
void jpeg(std::string_view bytes) { read_picture(bytes); }

/// Splits bytes into the messages of a channel between processes, by a plain loop. The first frame that is malformed or
/// incomplete ends the messages.
std::vector<std::string> messages_in(std::string_view bytes) {
  constexpr std::string_view mark = "mr frame";
  constexpr uint64_t largest = uint64_t{1} << 31;
  std::vector<std::string> found;
  uint64_t size = 0;
  while (bytes.size() >= mark.size() + sizeof size && bytes.substr(0, mark.size()) == mark) {
    std::memcpy(&size, bytes.data() + mark.size(), sizeof size);
    bytes.remove_prefix(mark.size() + sizeof size);
    if (size > largest || size > bytes.size()) break;
    found.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return found;
}

void frames(std::string_view bytes) {
  bytes = bytes.substr(0, 1 << 15);  // a socket's buffer has room for 32 KiB
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::logic_error("no pair of sockets");
  io::Channel receiver(ends[0]);
  std::vector<std::string> received;
  const auto receive_all = [&] {
    while (const auto message = receiver.receive()) received.push_back(*message);
  };
  {
    const io::Channel sender(ends[1]);
    // send in pieces of growing length, so that messages are cut at any byte
    for (size_t sent = 0, length = 1; sent < bytes.size(); length = 3 * length + 1) {
      const ssize_t count = ::send(ends[1], bytes.data() + sent, std::min(length, bytes.size() - sent), MSG_NOSIGNAL);
      need(count > 0, "frames: a socket without room");
      sent += static_cast<size_t>(count);
      receive_all();
    }
  }
  receive_all();
  need(receiver.ended() && received == messages_in(bytes), "frames: other messages than were sent");
}

void trees(std::string_view bytes) {
  const auto [bits, text] = split(bytes);
  static const char* const objectives[] = {"reg:squarederror", "binary:logistic", "rank:ndcg", "multi:softprob"};
  const TreeShape shape{.features = 3, .classes = bits % 4 == 3 ? 2 : 0, .objective = objectives[bits % 4]};
  try {
    const std::string checked = checked_trees(std::string(text), shape);
    need(checked_trees(checked, shape) == checked, "trees: what was checked is checked otherwise");
  } catch (const std::runtime_error&) {
  }
}

void command_line(std::string_view bytes) {
  std::vector<std::string> words{"moonrank"};
  for (std::string_view rest = bytes; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  try {
    const cli::Command command = cli::parse(words);
    need(command.script_at >= 0 && command.script_at < static_cast<int>(words.size()), "command line: the script");
    need(command.threads >= 0, "command line: threads");
  } catch (const cli::UsageError&) {
  }
}

}  // namespace

std::map<std::string, Target> binary_targets() {
  return {
      {"png", &png}, {"jpeg", &jpeg}, {"frames", &frames}, {"trees", &trees}, {"command_line", &command_line},
  };
}

}  // namespace mr::fuzz
