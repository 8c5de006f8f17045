// Tests of messages between processes (Channel) and of file locks.
#include "runtime/io/processes/channel.h"

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/support/says.h"
#include "tests/support/temporary_folder.h"

namespace mr::io {
namespace {

using Catch::Contains;
using mr::test::says;

std::pair<Channel, Channel> both_ends() {
  std::array<int, 2> ends{};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  return {Channel(ends[0]), Channel(ends[1])};
}

TEST_CASE("Channel delivers messages of every size whole and in order") {
  auto [ours, theirs] = both_ends();
  CHECK_FALSE(theirs.receive());
  const std::string large(5'000'000, 'x');
  std::thread sender([&from = ours, &large] {
    for (const std::string& each : {std::string("one"), std::string(), std::string("a\0b", 3), large}) from.send(each);
  });
  std::vector<std::string> found;
  while (found.size() < 4) {
    wait_for({theirs.descriptor()}, 1);
    while (const std::optional<std::string> message = theirs.receive()) found.push_back(*message);
  }
  sender.join();
  CHECK(found == std::vector<std::string>{"one", "", std::string("a\0b", 3), large});
  CHECK_FALSE(theirs.ended());
}

TEST_CASE("Channel receives messages sent before the other end closed, and send then returns false") {
  auto [ours, theirs] = both_ends();
  CHECK(ours.send("last"));
  { const Channel gone = std::move(ours); }
  CHECK(theirs.receive() == "last");
  CHECK_FALSE(theirs.receive());
  CHECK(theirs.ended());
  CHECK_FALSE(theirs.send("to nobody"));
}

TEST_CASE("Channel waits for the rest of half a message and breaks at bytes that are not a message") {
  std::array<int, 2> ends{};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  Channel theirs(ends[1]);
  const auto write_bytes = [&](std::string_view bytes) {
    REQUIRE(write(ends[0], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  };
  std::string message = "mr frame" + std::string("\x0a\0\0\0\0\0\0\0", 8) + "0123456789";
  write_bytes(message.substr(0, 20));
  CHECK_FALSE(theirs.receive());
  CHECK_FALSE(theirs.broken());
  write_bytes(message.substr(20));
  CHECK(theirs.receive() == "0123456789");
  write_bytes("a library says that something is deprecated\n");
  CHECK_FALSE(theirs.receive());
  CHECK(theirs.broken());
  CHECK(theirs.ended());
  write_bytes(message);
  CHECK_FALSE(theirs.receive());
  close(ends[0]);
}

TEST_CASE("Channel breaks at a message that claims to be too long without allocating memory for it") {
  std::array<int, 2> ends{};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  Channel theirs(ends[1]);
  const std::string bytes = "mr frame" + std::string(8, '\x7f');
  REQUIRE(write(ends[0], bytes.data(), bytes.size()) == 16);
  CHECK_FALSE(theirs.receive());
  CHECK(theirs.broken());
  close(ends[0]);
}

TEST_CASE("Channel::send does not block if the other end does not read, and sends the rest later") {
  auto [ours, theirs] = both_ends();
  const std::string large(20'000'000, 'x');
  CHECK(ours.send(large));  // succeeds although nobody reads at the other end of the socket
  CHECK(ours.send("after"));
  std::vector<std::string> found;
  for (int i = 0; i < 100'000 && found.size() < 2; ++i) {
    while (const std::optional<std::string> message = theirs.receive()) found.push_back(*message);
    CHECK_FALSE(ours.receive());
  }
  CHECK(found == std::vector<std::string>{large, "after"});
}

TEST_CASE("wait_for returns when a channel has room for unsent bytes") {
  auto [ours, theirs] = both_ends();
  const std::string large(20'000'000, 'x');
  CHECK_FALSE(ours.unsent());
  CHECK(ours.send(large));
  CHECK(ours.unsent());
  // A worker that has messages to send but none to read: if wait_for did not also wait for room to send, each round
  // would take a whole minute.
  std::thread sender([&from = ours] {
    while (from.unsent()) {
      wait_for({from.descriptor()}, 60, {from.descriptor()});
      from.receive();
    }
  });
  std::optional<std::string> message;
  const auto start = std::chrono::steady_clock::now();
  while (!message) {
    wait_for({theirs.descriptor()}, 1);
    message = theirs.receive();
  }
  sender.join();
  CHECK(*message == large);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(50));
}

TEST_CASE("FileLock is held by one holder and released at its end") {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "lock").string();
  {
    const std::optional<FileLock> first = FileLock::take(path);
    REQUIRE(first);
    CHECK_FALSE(FileLock::take(path));
    CHECK(first->holds());
    std::filesystem::remove(path);
    CHECK_FALSE(first->holds());
  }
  CHECK(FileLock::take(path));
  CHECK_THROWS_WITH(FileLock::take((folder.path() / "no" / "lock").string()), Contains("written"));
}

TEST_CASE("FileLock refuses to replace other files and to write through links and pipes") {
  const test::TemporaryFolder folder;
  const std::string thesis = (folder.path() / "thesis").string(), link = (folder.path() / "link").string(),
                    pipe = (folder.path() / "pipe").string(), text = "what nobody wants to lose, and no lock";
  std::ofstream(thesis) << text;
  std::ofstream((folder.path() / "short").string()) << "12345\n";
  std::filesystem::create_symlink(folder.path() / "short", link);
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(FileLock::take(thesis), says("thesis", "lock file"));
  CHECK_THROWS_WITH(FileLock::take(link), says("link", "written"));
  CHECK_THROWS_WITH(FileLock::take(pipe), says("pipe:", "regular file"));
  CHECK(std::filesystem::file_size(thesis) == text.size());
  std::ofstream(thesis) << "1 x";
  CHECK_THROWS_WITH(FileLock::take(thesis), Contains("lock file"));
  CHECK(std::filesystem::file_size(thesis) == 3);
  CHECK(FileLock::take((folder.path() / "short").string()));
}

}  // namespace
}  // namespace mr::io
