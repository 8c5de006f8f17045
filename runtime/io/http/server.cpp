#include "runtime/io/http/server.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <string_view>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "kernels/core/threads.h"

namespace mr::io {
namespace {

constexpr const char* was_closed = "this HTTP server was closed. Start a new one";

constexpr int bad_request = 400, too_slow = 408, too_large = 413, header_too_large = 431;
constexpr int poll_milliseconds = 200;  // time between two checks for Ctrl-C and for late connections

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

const char* reason_of(int64_t status) {
  switch (status) {
    case 200:
      return "OK";
    case 303:
      return "See Other";
    case bad_request:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case too_slow:
      return "Request Timeout";
    case too_large:
      return "Content Too Large";
    case 421:
      return "Misdirected Request";
    case header_too_large:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return status < 500 ? "Error" : "Internal Server Error";
  }
}

bool is_name(std::string_view text) {
  const auto token = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::strchr("!#$%&'*+-.^_`|~", c) != nullptr;
  };
  return !text.empty() && text.find('\0') == std::string_view::npos && std::all_of(text.begin(), text.end(), token);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool same_name(std::string_view a, const char* b) {
  return a.size() == std::strlen(b) && strncasecmp(a.data(), b, a.size()) == 0;
}

/// Removes the first line from `text` and returns it without its end.
std::string_view take_line(std::string_view* text) {
  const size_t end = text->find("\r\n");
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 2);
  return line;
}

/// Reads a request's first line, "METHOD TARGET HTTP/1.x". Returns false if it has another form.
bool read_request_line(std::string_view line, HttpRequest* out) {
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return false;
  const std::string_view method = line.substr(0, first), target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  const auto plain = [](unsigned char c) { return c > 32 && c < 127; };
  if (!is_name(method) || target.empty() || target.front() != '/' || !std::all_of(target.begin(), target.end(), plain))
    return false;
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return false;
  out->method = method;
  out->target = target;
  return true;
}

/// Parses a request up to its empty line. Returns 0, or the HTTP status of the error.
int read_request(std::string_view text, HttpRequest* out) {
  if (!read_request_line(take_line(&text), out)) return bad_request;
  bool has_host = false;
  while (!text.empty()) {
    const std::string_view line = take_line(&text);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_name(line.substr(0, colon))) return bad_request;
    const std::string_view name = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
    const auto control = [](unsigned char c) { return (c < 32 && c != '\t') || c == 127; };
    if (std::any_of(value.begin(), value.end(), control)) return bad_request;
    if (same_name(name, "host")) {
      if (has_host) return bad_request;
      has_host = true;
      out->host = value;
    } else if (same_name(name, "cookie")) {
      if (!out->cookie.empty()) out->cookie += "; ";
      out->cookie += value;
    } else if (same_name(name, "transfer-encoding") || (same_name(name, "content-length") && value != "0")) {
      // Requests by other methods than GET and HEAD may have bodies: their error is the method, not the body.
      if (out->method == "GET" || out->method == "HEAD") return too_large;
    }
  }
  return has_host ? 0 : bad_request;
}

/// Returns the position after a request's header in what was received, or npos if the header is incomplete.
size_t end_of_header(const std::string& in) {
  const size_t end = in.find("\r\n\r\n");
  return end == std::string::npos ? end : end + 2;
}

}  // namespace

struct HttpServer::Open {
  struct Connection {
    enum State { reading, answering, writing, draining };
    int descriptor = -1;
    int64_t id = 0;
    State state = reading;
    double deadline = 0;
    bool head_only = false;
    std::string in, out;
    size_t sent = 0;
  };

  int listener = -1;
  int64_t last_id = 0;
  std::list<Connection> connections;

  Open() = default;
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  ~Open() {
    if (listener >= 0) ::close(listener);
    for (const Connection& each : connections) ::close(each.descriptor);
  }

  void listen_on(const std::string& address, int64_t port);
  void accept_one();
  void receive(Connection* c);
  void send_some(Connection* c);
  void respond(Connection* c, int64_t status, const std::string& headers, std::string body) const;
  void refuse(Connection* c, int status) const;
  bool late(Connection* c) const;
  void move_bytes(int milliseconds);
  std::optional<HttpRequest> next();
  void remove(std::list<Connection>::iterator which) {
    ::close(which->descriptor);
    connections.erase(which);
  }
};

void HttpServer::Open::listen_on(const std::string& address, int64_t port) {
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  const bool is_v4 = inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1;
  if (!is_v4 && inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) != 1)
    throw std::runtime_error("the address '" + address + "' is not a numeric IPv4 or IPv6 address");
  if (port < 0 || port > 65535)
    throw std::runtime_error("the port is " + std::to_string(port) + ", expected 1 to 65535, or 0 for a free port");
  v4.sin_family = AF_INET;
  v6.sin6_family = AF_INET6;
  v4.sin_port = v6.sin6_port = htons(static_cast<uint16_t>(port));
  listener = socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  const auto* const where = is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);
  if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(listener, where, is_v4 ? sizeof v4 : sizeof v6) != 0 || ::listen(listener, 64) != 0) {
    throw std::runtime_error("cannot listen on " + address + ", port " + std::to_string(port) + ": " +
                             std::strerror(errno));
  }
}

void HttpServer::Open::accept_one() {
  const int descriptor = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor < 0) {
    // Closes a connection if no file descriptor is free: otherwise the new connection would stay, and be
    // reported again at once.
    if ((errno == EMFILE || errno == ENFILE) && !connections.empty()) remove(connections.begin());
    return;
  }
  if (connections.size() >= most_connections) remove(connections.begin());
  Connection& added = connections.emplace_back();
  added.descriptor = descriptor;
  added.id = ++last_id;
  added.deadline = now() + read_seconds;
}

void HttpServer::Open::respond(Connection* c, int64_t status, const std::string& headers, std::string body) const {
  c->out = "HTTP/1.1 " + std::to_string(status) + " " + reason_of(status) + "\r\n" + headers +
           "Content-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n";
  if (!c->head_only) c->out += body;
  c->state = Connection::writing;
  c->deadline = now() + write_seconds;
}

void HttpServer::Open::refuse(Connection* c, int status) const {
  respond(c, status, "Content-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n",
          std::string(reason_of(status)) + "\n");
}

void HttpServer::Open::receive(Connection* c) {
  char buffer[4096];
  for (;;) {
    const ssize_t count = recv(c->descriptor, buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (count <= 0) {
      c->deadline = 0;  // gone
      return;
    }
    if (c->state != Connection::reading) return;  // bytes that a client sends after its request are ignored
    c->in.append(buffer, static_cast<size_t>(count));
    const size_t end = end_of_header(c->in);
    if (end == std::string::npos ? c->in.size() > most_header : end > most_header) return refuse(c, header_too_large);
    if (end != std::string::npos) return;
  }
}

void HttpServer::Open::send_some(Connection* c) {
  while (c->sent < c->out.size()) {
    const ssize_t count = send(c->descriptor, c->out.data() + c->sent, c->out.size() - c->sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (count <= 0) {
      c->deadline = 0;
      return;
    }
    c->sent += static_cast<size_t>(count);
    c->deadline = now() + write_seconds;
  }
  // Closes only the sending side: closing at once would discard the response if the client still sends.
  shutdown(c->descriptor, SHUT_WR);
  c->out.clear();
  c->state = Connection::draining;
  c->deadline = now() + drain_seconds;
}

/// Returns true if the connection is to be closed. If its request is late, an error response is sent first.
bool HttpServer::Open::late(Connection* c) const {
  if (c->state == Connection::answering) return false;
  if (c->deadline > now()) return false;
  if (c->state != Connection::reading || c->deadline == 0 || c->in.empty()) return true;
  refuse(c, too_slow);
  return false;
}

void HttpServer::Open::move_bytes(int milliseconds) {
  std::vector<pollfd> watched{{listener, POLLIN, 0}};
  for (const Connection& each : connections) {
    const bool writes = each.state == Connection::writing, waits = each.state == Connection::answering;
    watched.push_back({each.descriptor, static_cast<short>(writes ? POLLOUT : waits ? 0 : POLLIN), 0});
  }
  const int ready = poll(watched.data(), watched.size(), milliseconds);
  cpu::check_interrupt();
  size_t at = 1;
  for (auto each = connections.begin(); each != connections.end(); ++at) {
    const auto here = each++;
    if (ready > 0 && watched[at].revents != 0 && here->state != Connection::answering) {
      here->state == Connection::writing ? send_some(&*here) : receive(&*here);
    }
    if (late(&*here)) remove(here);
  }
  if (ready > 0 && watched[0].revents != 0) accept_one();
}

/// Returns a complete request that was received, or nothing. An invalid request is answered here.
std::optional<HttpRequest> HttpServer::Open::next() {
  for (Connection& each : connections) {
    if (each.state != Connection::reading) continue;
    const size_t end = end_of_header(each.in);
    if (end == std::string::npos) continue;
    HttpRequest request;
    request.id = each.id;
    const int status = read_request(std::string_view(each.in).substr(0, end), &request);
    each.head_only = request.method == "HEAD";
    each.in.clear();
    if (status != 0) {
      refuse(&each, status);
      continue;
    }
    each.state = Connection::answering;
    return request;
  }
  return std::nullopt;
}

HttpServer::HttpServer(const std::string& address, int64_t port) : open_(std::make_unique<Open>()) {
  open_->listen_on(address, port);
}
HttpServer::~HttpServer() = default;
HttpServer::HttpServer(HttpServer&& other) noexcept = default;

int64_t HttpServer::port() const {
  sockaddr_storage where{};
  socklen_t length = sizeof where;
  if (!open_ || getsockname(open_->listener, reinterpret_cast<sockaddr*>(&where), &length) != 0)
    throw std::runtime_error(was_closed);
  return ntohs(where.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&where)->sin6_port
                                           : reinterpret_cast<const sockaddr_in*>(&where)->sin_port);
}

std::optional<HttpRequest> HttpServer::wait(double seconds) {
  if (!open_) throw std::runtime_error(was_closed);
  const double end = now() + std::clamp(seconds, 0.0, 1e9);
  for (;;) {
    if (std::optional<HttpRequest> request = open_->next()) return request;
    const double left = end - now();
    open_->move_bytes(std::clamp(static_cast<int>(std::min(left, 1.0) * 1000), 0, poll_milliseconds));
    if (left <= 0) return open_->next();
  }
}

void HttpServer::answer(int64_t id, int64_t status, const std::string& headers, std::string body) {
  if (!open_) throw std::runtime_error(was_closed);
  for (auto& each : open_->connections) {
    if (each.id != id || each.state != Open::Connection::answering) continue;
    open_->respond(&each, status, headers, std::move(body));
    return open_->send_some(&each);
  }
}

void HttpServer::close() { open_.reset(); }

}  // namespace mr::io
