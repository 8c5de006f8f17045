// Measures limits of the machine, in turns with Moonrank (tests/bench/turns.lua): the time of `multiply_adds`
// multiply-adds in single precision in registers, or of std::sort of `rows` normally distributed numbers. A turn sorts
// `repeats` copies of the numbers, and prints the times of one. Usage: limits arithmetic multiply_adds=N | limits sort
// rows=N repeats=N
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <vector>

namespace {

typedef float Vector __attribute__((vector_size(64)));

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void multiply_add(double count) {
  Vector sum[12] = {}, a = Vector{} + 0.999F, b = Vector{} + 0.5F;
  for (auto left = static_cast<long>(count / (16 * 12)); left > 0; --left) {
    for (Vector& each : sum) {
      each = each * a + b;
      asm volatile("" : "+v"(each));  // prevents the compiler from merging the sums
    }
  }
}

}  // namespace

int main(int count, char** words) {
  const bool sorts = std::strcmp(words[1], "sort") == 0;
  double n = 0;
  int repeats = 1;
  for (int i = 2; i < count; ++i) {
    std::sscanf(words[i], sorts ? "rows=%lf" : "multiply_adds=%lf", &n);
    std::sscanf(words[i], "repeats=%d", &repeats);
  }
  std::vector<float> scores(sorts ? static_cast<size_t>(n) : 0);
  std::mt19937 random(1);
  for (float& each : scores) each = std::normal_distribution<float>()(random);
  std::puts("ready");
  std::fflush(stdout);
  char order[8], peak[256], text[64] = "";
  while (std::scanf("%7s", order) == 1 && std::strcmp(order, "go") == 0) {
    std::vector<std::vector<float>> copies(static_cast<size_t>(repeats), scores);
    const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (auto& each : copies) {
      if (sorts) std::sort(each.begin(), each.end());
      if (!sorts) multiply_add(n);
    }
    const double wall_end = seconds(CLOCK_MONOTONIC), cpu_end = seconds(CLOCK_PROCESS_CPUTIME_ID);
    std::FILE* const status = std::fopen("/proc/self/status", "r");
    while (std::fgets(peak, sizeof peak, status)) std::sscanf(peak, "VmHWM: %63s", text);
    std::fclose(status);
    std::printf("%.9f %.9f %s\n", (wall_end - wall) / repeats, (cpu_end - cpu) / repeats, text);
    std::fflush(stdout);
  }
}
