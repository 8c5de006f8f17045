// Runs one of six hot kernels on a fixed input, so that its instructions can be counted. tests/bench/instructions.lua
// runs this program under callgrind, which counts only inside of the function counted(). Usage: moonrank_instructions
// NAME | --build
#include <cstdio>
#include <functional>
#include <map>
#include <string>

#include "kernels/bounds/characteristic_cpu.h"
#include "kernels/core/simd/simd.h"
#include "kernels/core/threads.h"
#include "kernels/models/rows.h"
#include "kernels/ranking/rows.h"
#include "kernels/smooth/boxes/box_ranks.h"
#include "kernels/smooth/smooth_pairs.h"
#include "tests/bench/one_list.h"
#include "tests/support/spans.h"

using namespace mr;
using bench::OneList;
using mr::test::slots;
using mr::test::view;

/// Runs one round of a kernel: callgrind counts the instructions inside of this function only. It is not inlined and
/// has a C name, because callgrind would miss clones of it, whose names have suffixes. The asm statement prevents a
/// tail call, so that the function is left only after the round.
extern "C" __attribute__((noinline)) void counted(const std::function<void()>& round) {
  round();
  asm volatile("" ::: "memory");
}

namespace {

constexpr int64_t normal_scores = 1;

void smooth_rank_direct() {
  OneList<float> list(500, normal_scores);
  const auto round = [&] { cpu::ranks_by_pairs(1, list.rank(false)); };
  round();
  counted(round);
}

void smooth_ap_step_direct() {
  OneList<float> list(500, normal_scores);
  const auto round = [&] {
    cpu::ranks_by_pairs(1, list.rank(true));
    cpu::vjp_by_pairs(1, list.vjp(true));
  };
  round();
  counted(round);
}

void smooth_ap_step_boxes() {
  OneList<float> list(20000, normal_scores);
  const auto round = [&] {
    cpu::box_ranks(list.rank(true), 0);
    cpu::box_vjp(list.vjp(true), 0);
  };
  round();
  counted(round);
}

/// Benchmark of exact metrics: tie-aware placements, AP and RBP of 100 lists of 120 rows. Every tenth row is relevant.
void exact_metrics() {
  constexpr int64_t lists = 100, rows = 120, relevant = 12;
  std::vector<float> scores, grades, out(lists);
  std::vector<int64_t> offsets{0}, target_offsets{0};
  std::vector<int32_t> targets;
  std::vector<double> harmonic{0};
  for (int64_t i = 0; i < lists * rows; ++i) {
    scores.push_back(static_cast<float>(bench::score(normal_scores, static_cast<uint64_t>(i))));
    grades.push_back(i % 10 == 0 ? 1.0F : 0.0F);
    if (i % 10 == 0) targets.push_back(static_cast<int32_t>(i % rows));
  }
  for (int64_t l = 1; l <= lists; ++l) {
    offsets.push_back(l * rows);
    target_offsets.push_back(l * relevant);
  }
  for (int64_t r = 1; r <= rows; ++r) harmonic.push_back(harmonic.back() + 1 / static_cast<double>(r));
  std::vector<Placement> places(scores.size());
  const Ragged of{offsets.data(), lists};
  const auto& table = cpu_table<MetricKernels<float>>();
  const auto round = [&] {
    table.place(lists, {view(scores), view(grades), {}, of, 1, Ties::mean, slots(places)});
    const MetricViews<float> v{view(places), of, view(grades), {{target_offsets.data(), lists}, targets.data()},
                               rows,         0,  slots(out)};
    table.average_precision(lists, {v, view(harmonic), false});
    table.rank_biased_precision(lists, {v, 0.95, false});
  };
  round();
  counted(round);
}

/// Benchmark of an exact metric distribution: one block of frequencies of the characteristic function of a metric, for
/// a list of 200 rows, 60 of them relevant.
void characteristic() {
  constexpr int64_t n = 200, p = 60, lanes = cpu::frequency_lanes;
  std::vector<int32_t> low, high;
  std::vector<double> start, powers, re(lanes), im(lanes);
  for (int64_t r = 0; r < n; ++r) {
    low.push_back(static_cast<int32_t>(std::max<int64_t>(0, p - (n - r - 1))));
    high.push_back(static_cast<int32_t>(std::min(p, r + 1)));
    start.insert(start.end(), {1, 0});
    const auto angle = [&](int64_t j) { return static_cast<double>(j) / static_cast<double>(r + 1); };
    for (int64_t j = 0; j < lanes; ++j) powers.push_back(std::cos(angle(j)));
    for (int64_t j = 0; j < lanes; ++j) powers.push_back(std::sin(angle(j)));
  }
  const cpu::RankingTransform transform{n, 1, &p, nullptr, false, low.data(), high.data(), start.data(), powers.data()};
  std::vector<double> scratch(static_cast<size_t>(cpu::characteristic_scratch(transform)));
  const auto round = [&] { cpu::characteristic(transform, scratch.data(), re.data(), im.data()); };
  round();
  counted(round);
}

/// Benchmark of one Adam step on a table of 1,000 rows of 32 factors. Every third row has a gradient.
void adam_step() {
  constexpr int64_t rows = 1000, width = 32;
  std::vector<float> parameter(rows * width, 1.0F), mean(rows * width), square(rows * width);
  std::vector<int64_t> slot;
  for (int64_t row = 0; row < rows; ++row) slot.push_back(row % 3 == 0 ? row / 3 : -1);
  const std::vector<float> gradient((rows + 2) / 3 * width, 0.5F);
  const AdamStep<float> step{parameter.data(), mean.data(), square.data(), {gradient.data(), slot.data(), width},
                             {nullptr, width}, 0.01F,       1.0F,          0.9F,
                             0.999F,           1e-8F,       0.0F};
  const auto round = [&] { cpu_table<TrainingKernels<float>>().adam_step(rows * width, step); };
  round();
  counted(round);
}

}  // namespace

int main(int count, char** arguments) {
  const std::map<std::string, void (*)()> kernels{
      {"smooth_rank_direct", &smooth_rank_direct},
      {"smooth_ap_step_direct", &smooth_ap_step_direct},
      {"smooth_ap_step_boxes", &smooth_ap_step_boxes},
      {"exact_metrics", &exact_metrics},
      {"characteristic", &characteristic},
      {"adam_step", &adam_step},
  };
  const std::string name = count == 2 ? arguments[1] : "";
  if (name == "--build") {
    std::printf("%s, %s\n", MR_BUILD, cpu::simd_name(cpu::simd()));
    return 0;
  }
  const auto kernel = kernels.find(name);
  if (kernel == kernels.end()) {
    std::fprintf(stderr, "moonrank_instructions: no kernel '%s', expected one of:", name.c_str());
    for (const auto& [known, run] : kernels) std::fprintf(stderr, " %s", known.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  cpu::set_threads(1);
  kernel->second();
  return 0;
}
