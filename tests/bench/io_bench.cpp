// Benchmark of reading LETOR text files and their binary cache. Each file has about 100 MB: real data of the folder
// MOONRANK_DATA (default ../shared/data), repeated with new query ids each time. The argument is the number of threads,
// and CPU time is the sum over all threads. bytes_per_second counts bytes of the text, also when the cache is read
// (`cached`); `loaded` counts the bytes of the features in memory.
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kernels/core/threads.h"
#include "runtime/data/letor/letor_cache.h"
#include "runtime/io/files/text_file.h"
#include "tests/support/temporary_folder.h"

using namespace mr;

namespace {

constexpr size_t wanted_bytes = 100'000'000;

/// Appends `part` (lines of a LETOR file) to `text`, with the number `copy` put in front of each query id. Repeated
/// copies of a file thus have different query ids.
void append_renumbered(const std::string& part, int copy, std::string& text) {
  const std::string before = " qid:", after = before + std::to_string(copy);
  size_t at = 0;
  for (size_t found = part.find(before); found != std::string::npos; found = part.find(before, at)) {
    text.append(part, at, found - at).append(after);
    at = found + before.size();
  }
  text.append(part, at);
}

/// Large benchmark files: each is made when first asked for, and all are removed at the end of the program.
class Files {
 public:
  /// Returns the path of a file that repeats the data file `name`, or an empty path if that data file is missing.
  std::string repeated(const std::string& name) {
    const std::string path = (folder_.path() / std::filesystem::path(name).filename()).string();
    if (std::filesystem::exists(path)) return path;
    const char* const chosen = std::getenv("MOONRANK_DATA");
    const std::string part_path = std::string(chosen != nullptr ? chosen : "../shared/data") + "/" + name;
    if (!std::filesystem::exists(part_path)) return {};
    const std::string part = read_text_file(part_path);
    std::string text;
    for (int copy = 100; text.size() < wanted_bytes; ++copy) append_renumbered(part, copy, text);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string folder() const { return folder_.path().string(); }

 private:
  test::TemporaryFolder folder_;
};

Files& files() {
  static Files the_files;
  return the_files;
}

template <class Read>
void read_repeatedly(benchmark::State& state, const char* name, const Read& read) {
  const std::string path = files().repeated(name);
  if (path.empty()) return state.SkipWithError("no real data at MOONRANK_DATA or ../shared/data");
  const int threads = cpu::threads();
  cpu::set_threads(static_cast<int>(state.range(0)));
  int64_t loaded = 0;
  read(path);
  for (auto _ : state) loaded = read(path).features.bytes();
  cpu::set_threads(threads);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(std::filesystem::file_size(path)));
  state.counters["loaded"] = benchmark::Counter(static_cast<double>(loaded * state.iterations()),
                                                benchmark::Counter::kIsRate, benchmark::Counter::kIs1024);
}

void text(benchmark::State& state, const char* name) {
  read_repeatedly(state, name, [](const std::string& path) { return read_letor(path, {}); });
}

void cached(benchmark::State& state, const char* name) {
  read_repeatedly(state, name, [](const std::string& path) {
    std::string problem;
    return read_letor_cached(path, {}, files().folder() + "/cache", problem);
  });
}

void one_and_two(benchmark::internal::Benchmark* b) {
  b->Arg(1)->Arg(2)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);
}

}  // namespace

BENCHMARK_CAPTURE(text, mslr, "mslr-web-slice/train.txt.gz")->Apply(one_and_two);
BENCHMARK_CAPTURE(cached, mslr, "mslr-web-slice/train.txt.gz")->Apply(one_and_two);
BENCHMARK_CAPTURE(text, mq2008, "mq2008/S1.txt.gz")->Apply(one_and_two);
BENCHMARK_CAPTURE(cached, mq2008, "mq2008/S1.txt.gz")->Apply(one_and_two);
