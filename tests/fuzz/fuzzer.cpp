// Runs one parser under libFuzzer. The environment variable MOONRANK_FUZZ names the parser. Before the run, the
// parser's seeds are written into the folder MOONRANK_FUZZ_SEEDS and its corpus into the folder MOONRANK_FUZZ_CORPUS,
// where these variables are set.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kernels/core/threads.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/targets.h"

namespace {

mr::fuzz::Target target;

[[noreturn]] void fail(const char* text) {
  std::fprintf(stderr, "%s", text);
  for (const auto& [name, parse] : mr::fuzz::targets()) std::fprintf(stderr, " %s", name.c_str());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

/// Writes each text to a file of its own in the folder that the environment variable `variable` names; does nothing if
/// it is not set.
void write(const char* variable, const std::string& prefix, const std::vector<std::string>& texts) {
  const char* const folder = std::getenv(variable);
  for (size_t i = 0; folder != nullptr && i < texts.size(); ++i)
    std::ofstream(folder + prefix + std::to_string(i), std::ios::binary) << texts[i];
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const name = std::getenv("MOONRANK_FUZZ");
  const auto found = mr::fuzz::targets().find(name == nullptr ? "" : name);
  if (found == mr::fuzz::targets().end()) fail("MOONRANK_FUZZ is none of:");
  target = found->second;
  // temporary files go to memory (/dev/shm): parsers need not wait for a disk
  if (std::filesystem::is_directory("/dev/shm")) setenv("TMPDIR", "/dev/shm", 0);
  write("MOONRANK_FUZZ_SEEDS", "/seed_", mr::fuzz::seeds().at(found->first));
  write("MOONRANK_FUZZ_CORPUS", "/kept_", mr::fuzz::corpus(found->first));
  mr::cpu::set_threads(1);  // one thread, so that the same input always runs the same code
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  target({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
