// A small HTTP/1.1 server for one thread: `wait` moves bytes of all connections until a request is complete, and
// `answer` sends a response to it. A slow client holds up nobody, because no read or write blocks.
//
// It takes requests without a body only, and closes a connection after its response. It reads no files and accepts
// every method: the caller decides about each request. The limits below bound memory and time that clients can take.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace mr::io {

struct HttpRequest {
  int64_t id = 0;  // for `answer`
  std::string method, target, host, cookie;
};

class HttpServer {
 public:
  static constexpr size_t most_header = 16 << 10;  // maximum bytes of a request's header
  static constexpr size_t most_connections = 64;   // when one more client connects, the oldest connection is closed
  static constexpr double read_seconds = 10;       // seconds in which a client must send its request
  static constexpr double write_seconds = 30;      // seconds that a response may stall before the connection is closed
  static constexpr double drain_seconds = 1;       // seconds to read what a client still sends after the response

  /// Listens on a numeric IPv4 or IPv6 address; port 0 takes a free port. Throws std::runtime_error.
  HttpServer(const std::string& address, int64_t port);
  ~HttpServer();
  HttpServer(HttpServer&& other) noexcept;
  HttpServer& operator=(HttpServer&&) = delete;

  int64_t port() const;
  /// Returns the next request, or nothing after `seconds`. Throws cpu::Interrupted after Ctrl-C.
  std::optional<HttpRequest> wait(double seconds);
  /// Sends a response. `headers` are lines that end with CR LF; Content-Length and Connection are added. If the client
  /// is gone by then, that is not an error.
  void answer(int64_t id, int64_t status, const std::string& headers, std::string body);
  void close();

 private:
  struct Open;
  std::unique_ptr<Open> open_;
};

}  // namespace mr::io
