// Lua functions for the object that ends the program with a status.
#include "runtime/lua/exit.h"

#include "runtime/lua/bind.h"

namespace mr {
namespace {

lua::Exit exit_of(int64_t status, const std::string& message) {
  if (status < 0 || status > 255) throw ArgumentError("status", std::to_string(status) + ", expected 0 to 255");
  return {status, message};
}
int64_t status_of(const lua::Exit& exit) { return exit.status; }
std::string message_of(const lua::Exit& exit) { return exit.message; }

}  // namespace

using lua::op;
extern const lua::OpTable exit_functions{
    lua::OpTable::functions,
    nullptr,
    {op<&exit_of>("exit", "status, message", "An error object that ends the program with a status and a message.")}};
extern const lua::OpTable exit_getters{lua::OpTable::getters,
                                       &lua::push_metatable<lua::Exit>,
                                       {
                                           op<&status_of>("exit_status", "self", "The exit status of the program."),
                                           op<&message_of>("message", "self", "The message that is printed."),
                                       }};
extern const lua::OpTable exit_operators{lua::OpTable::metamethods,
                                         &lua::push_metatable<lua::Exit>,
                                         {op<&message_of>("__tostring", "self", "The message that is printed.")}};

}  // namespace mr
