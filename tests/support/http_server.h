// A web server on loopback for tests of downloads: answers GET from a table of paths, one connection at a time.
#pragma once

#include <arpa/inet.h>
#include <map>
#include <netinet/in.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace mr::test {

class HttpServer {
 public:
  explicit HttpServer(std::map<std::string, std::string> bodies) : bodies_(std::move(bodies)) {
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    if (bind(socket_, plain, length) != 0 || listen(socket_, 8) != 0 || getsockname(socket_, plain, &length) != 0) {
      throw std::runtime_error("no loopback server");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~HttpServer() {
    shutdown(socket_, SHUT_RDWR);  // wakes accept
    thread_.join();
    close(socket_);
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string url(const std::string& path) const { return "http://127.0.0.1:" + std::to_string(port_) + path; }

 private:
  void serve() {
    for (int peer = accept(socket_, nullptr, nullptr); peer >= 0; peer = accept(socket_, nullptr, nullptr)) {
      answer(peer);
      close(peer);
    }
  }
  void answer(int peer) const {
    std::string request;
    char buffer[1024];
    while (request.find("\r\n\r\n") == std::string::npos) {
      const ssize_t count = recv(peer, buffer, sizeof buffer, 0);
      if (count <= 0) return;
      request.append(buffer, static_cast<size_t>(count));
    }
    const size_t start = request.find(' ') + 1;
    const auto found = bodies_.find(request.substr(start, request.find(' ', start) - start));
    const bool known = found != bodies_.end();
    const std::string body = known ? found->second : "no such thing";
    const std::string head = std::string("HTTP/1.1 ") + (known ? "200 OK" : "404 Not Found") +
                             "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n";
    const std::string all = head + body;
    for (size_t sent = 0; sent < all.size();) {
      const ssize_t count = send(peer, all.data() + sent, all.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return;
      sent += static_cast<size_t>(count);
    }
  }

  std::map<std::string, std::string> bodies_;
  int socket_ = -1;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace mr::test
