// Runs gnuplot as a child process, which reads a script and writes a picture.
#include "runtime/io/processes/process.h"
#include "runtime/lua/bind.h"

namespace mr {
namespace {

/// Returns the error message in gnuplot's output, which also repeats the script's line and marks a column.
std::string complaint(const std::string& said) {
  size_t at = said.rfind(" line ");
  if (at == std::string::npos) at = said.find_first_not_of(" \n\t^");
  if (at == std::string::npos) return "";
  const size_t begin = said.find_first_not_of(' ', at);
  return said.substr(begin, said.find('\n', begin) - begin);
}

std::string gnuplot_of(const std::string& script) {
  // The option -d ignores the user's ~/.gnuplot, so that pictures are the same for everyone.
  const io::Finished done = io::run_process({"gnuplot", "-d"}, script, io::Errors::captured, "gnuplot-nox");
  if (done.status == 0) return done.output;
  const std::string said = complaint(done.errors);
  throw std::runtime_error("gnuplot failed: " + (!said.empty()     ? said
                                                 : done.status < 0 ? "it was killed by a signal"
                                                                   : "exit status " + std::to_string(done.status)));
}

}  // namespace

using lua::op;
extern const lua::OpTable gnuplot_functions{
    lua::OpTable::functions,
    nullptr,
    {op<&gnuplot_of>("gnuplot", "script", "Runs gnuplot on a script and returns its standard output.")}};

}  // namespace mr
