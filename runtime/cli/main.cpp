// The command `moonrank`. It parses the command line and runs scripts and commands in protected calls of Lua.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>

#include "kernels/core/threads.h"
#include "runtime/cli/help_text.h"
#include "runtime/cli/options.h"
#include "runtime/cli/repl.h"
#include "runtime/cli/run.h"
#include "runtime/cli/spec_folder.h"
#include "runtime/cli/surroundings.h"
#include "runtime/cluster/cluster.h"
#include "runtime/io/downloads/catalogue.h"
#include "runtime/io/files/user_folder.h"
#include "runtime/lua/interrupt.h"
#include "runtime/lua/state.h"

namespace mr::cli {
namespace {

constexpr int second_press = 2;

struct Invocation {
  Command command;
  std::vector<std::string> words;
};

/// If this process is one of several that mpirun or srun started together and MPI is available, only the first one may
/// print: discards the standard output of all others.
void quiet_others() {
  const std::optional<cluster::Launched> launched = cluster::launched();
  if (!launched || launched->rank == 0 || !cluster::library()) return;
  if (std::freopen("/dev/null", "w", stdout) == nullptr) throw std::runtime_error("/dev/null cannot be written");
}

/// Sets what Ctrl-C does while no Lua code runs, as in downloads. The first Ctrl-C makes the work raise an error, so
/// that no file is left incomplete. The second one ends the program.
void interruptible() {
  struct sigaction action {};
  action.sa_handler = [](int) {
    static std::atomic<bool> pressed{false};
    if (!lua::is_new_press()) return;
    if (pressed.exchange(true)) lua::stop_at_once();
    cpu::interrupt();
  };
  sigaction(SIGINT, &action, nullptr);
}

/// Runs the code of all -e options, then the script, then the interactive prompt if it is requested.
int run_code(lua_State* L, const Invocation& invocation) {
  const Command& command = invocation.command;
  set_arguments(L, invocation.words, command.script_at);
  if (!command.code.empty()) {
    if (const int status = call_module(L, "moonrank.prompt.repl", "preset", nullptr, 0); status != 0) return status;
  }
  for (const std::string& code : command.code) {
    if (const int status = call_loaded(L, luaL_loadbufferx(L, code.data(), code.size(), "=(command line)", "t"), 0);
        status != 0) {
      return status;
    }
  }
  int status = 0;
  if (command.script_at > 0) {
    const std::string& script = invocation.words[static_cast<size_t>(command.script_at)];
    status = set_strict(L, true);
    if (status == 0) status = call_loaded(L, luaL_loadfilex(L, script == "-" ? nullptr : script.c_str(), "t"), 0);
  }
  if (command.mode == Command::repl || command.stay) return run_repl(L);
  return status == 0 && lua::interrupted() ? 130 : status;
}

int run_spec(lua_State* L, const std::string& spec) {
  set_arguments(L, {spec}, 0);
  if (const int status = call_module(L, "moonrank.test", "use_folder", std::getenv("TMPDIR"), 0); status != 0) {
    return status;
  }
  if (const int status = set_strict(L, true); status != 0) return status;
  if (const int status = call_loaded(L, luaL_loadfilex(L, spec.c_str(), "t"), 0); status != 0) return status;
  if (const int status = call_module(L, "moonrank.test", "finish", nullptr, 1); status != 0) return status;
  const bool good = lua_toboolean(L, -1) != 0;
  return lua::interrupted() ? 130 : (good ? 0 : 1);
}

int run_module_text(lua_State* L, const char* module, const char* function, const char* argument) {
  if (const int status = call_module(L, module, function, argument, 1); status != 0) return status;
  const char* const text = lua_tostring(L, -1);
  std::printf("%s\n", text != nullptr ? text : "");
  return 0;
}

/// Runs a command that the standard library implements (module moonrank.command). The command's name and words are
/// passed in the global table `arg`.
int run_library(lua_State* L, const Invocation& invocation) {
  set_arguments(L, invocation.command.names, 0);
  if (const int status = call_module(L, "moonrank.command", "run", nullptr, 0); status != 0) return status;
  return lua::interrupted() ? 130 : 0;
}

int run_in(lua_State* L, const Invocation& invocation, const std::string& name) {
  lua::watch_interrupts(L, second_press);
  switch (invocation.command.mode) {
    case Command::test:
      return run_spec(L, name);
    case Command::doc:
      return run_module_text(L, "moonrank.help", "about", name.c_str());
    case Command::manual:
      return run_module_text(L, "moonrank.manual", "write", name.c_str());
    case Command::results:
      return run_module_text(L, "moonrank.results", "text", name.c_str());
    case Command::library:
      return run_library(L, invocation);
    case Command::dump_api:
      return run_module_text(L, "moonrank.help.dump_api", "text", nullptr);
    case Command::version:
      return run_module_text(L, "moonrank.system.about", "text", nullptr);
    default:
      return run_code(L, invocation);
  }
}

struct Work {
  const Invocation* invocation;
  const std::string* name;
};

int protected_work(lua_State* L) {
  const Work work = *static_cast<const Work*>(lua_touserdata(L, 1));
  lua_settop(L, 0);
  lua::open(L);
  lua_pushinteger(L, run_in(L, *work.invocation, *work.name));
  return 1;
}

/// Runs one job (a script, a test file, a command or the prompt) in a new Lua state, and returns its exit status.
int run_fresh(const Invocation& invocation, const std::string& name) {
  lua_State* const L = luaL_newstate();
  if (L == nullptr) throw std::bad_alloc();
  Work work{&invocation, &name};
  lua_pushcfunction(L, &protected_work);
  lua_pushlightuserdata(L, &work);
  int status = 0;
  if (lua_pcall(L, 1, 1, 0) == LUA_OK) {
    status = static_cast<int>(lua_tointeger(L, -1));
    if (!check_default_output(L) && status == 0) status = 1;
  } else {
    status = lua::interrupted() ? 130 : 1;
    print_error(error_at_top(L));
  }
  lua::ignore_interrupts();
  lua_close(L);
  return status;
}

int run_command(const Invocation& invocation) {
  const Command& command = invocation.command;
  if (command.mode == Command::help) {
    std::fputs(help(command.names.empty() ? "" : command.names.front()).c_str(), stdout);
    return 0;
  }
  check_variables(command.mode == Command::repl || command.mode == Command::script || command.mode == Command::test ||
                  command.mode == Command::library);
  if (command.threads > 0) cpu::set_threads(command.threads);
  quiet_others();
  if (command.mode == Command::data_list) {
    io::data_list(io::catalogue(), io::data_folders(), std::cout);
  } else if (command.mode == Command::data_get) {
    interruptible();
    io::data_get(io::catalogue_entry(command.names.front()), io::user_data_folder(), std::cout);
  } else if (command.mode == Command::test) {
    int worst = 0;
    for (const std::string& spec : command.names) {
      if (command.names.size() > 1) std::printf("%s: ", spec.c_str());
      std::fflush(stdout);
      const SpecFolder folder;
      const int status = run_fresh(invocation, spec);
      if (status == 130) return status;
      worst = status != 0 ? status : worst;
    }
    return worst;
  } else {
    return run_fresh(invocation, command.names.empty() ? "mr" : command.names.front());
  }
  return 0;
}

}  // namespace
}  // namespace mr::cli

int main(int argc, char** argv) {
  // Ignores the signal SIGXFSZ. Without this, a write beyond the system's limit of file sizes would end the program
  // instead of returning an error.
  std::signal(SIGXFSZ, SIG_IGN);
  mr::cli::watch_standard_streams();
  try {
    mr::cli::Invocation invocation{{}, {argv, argv + argc}};
    invocation.command = mr::cli::parse(invocation.words);
    return mr::cli::run_command(invocation);
  } catch (const mr::cli::UsageError& error) {
    mr::cli::print_error(error.what());
    return 2;
  } catch (const mr::cpu::Interrupted& error) {
    mr::cli::print_error(error.what());
    return 130;
  } catch (const std::bad_alloc&) {
    mr::cli::print_error("out of memory");
    return 1;
  } catch (const std::filesystem::filesystem_error& error) {
    mr::cli::print_error(error.path1().string() + ": " + error.code().message());
    return 1;
  } catch (const std::exception& error) {
    std::cout.flush();
    mr::cli::print_error(error.what());
    return 1;
  }
}
