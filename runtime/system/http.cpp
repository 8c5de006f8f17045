#include "runtime/io/http/server.h"
#include "runtime/lua/bind.h"

namespace mr::lua {
template <>
inline constexpr const char* class_name<io::HttpServer> = "mr.HttpServer";
}

namespace mr {
namespace {

io::HttpServer http_server(const std::string& address, int64_t port) { return {address, port}; }
int64_t port_of(const io::HttpServer& server) { return server.port(); }

std::tuple<int64_t, std::string, std::string, std::string, std::string> wait_of(io::HttpServer& server,
                                                                                double seconds) {
  io::HttpRequest request = server.wait(seconds).value_or(io::HttpRequest{});
  return {request.id, std::move(request.method), std::move(request.target), std::move(request.host),
          std::move(request.cookie)};
}

void answer_of(io::HttpServer& server, int64_t id, int64_t status, const std::string& headers,
               const std::string& body) {
  server.answer(id, status, headers, body);
}
void close_of_server(io::HttpServer& server) { server.close(); }

}  // namespace

using lua::once;
using lua::op;
extern const lua::OpTable http_functions{
    lua::OpTable::functions,
    nullptr,
    {
        once<&http_server>("http_server", "address, port",
                           "Listens for HTTP on a numeric address and a port (0: a free one)."),
    }};
extern const lua::OpTable http_methods{
    lua::OpTable::methods,
    &lua::push_metatable<io::HttpServer>,
    {
        op<&port_of>("port", "server", "The port on which the server listens."),
        once<&wait_of>("wait", "server, seconds",
                       "The next request: id, method, target, Host and Cookie; id 0 if none came in time."),
        once<&answer_of>("answer", "server, id, status, headers, body",
                         "Sends a response to a request. `headers` are lines that end with CR LF."),
        once<&close_of_server>("close", "server", "Closes all connections; closing again does nothing."),
    }};

}  // namespace mr
