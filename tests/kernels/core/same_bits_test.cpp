// The inner loops of the kernels give the same bits with AVX2 and with AVX-512, for sizes around the widths of vectors
// and blocks.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/bounds/characteristic_cpu.h"
#include "kernels/losses/pairs/pair_form_sums.h"
#include "kernels/models/training_cpu.h"
#include "kernels/smooth/boxes/box.h"
#include "kernels/smooth/exponential_pairs.h"
#include "kernels/tensor/matmul.h"
#include "tests/support/random_entries.h"

using namespace mr;
using test::random;

namespace {

bool both_here() {
  if (cpu::best_simd() == cpu::Simd::avx512) return true;
  WARN("SKIPPED: this processor has no AVX-512");
  return false;
}

template <class T>
void append(std::string& bits, const std::vector<T>& values) {
  bits.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

/// Checks that `bits_of(loops)` is equal for the loops compiled for AVX2 and for AVX-512.
template <class Loops, class F>
void check_same_bits(F bits_of) {
  const std::string avx2 = bits_of(cpu::loops_of<Loops>(cpu::Simd::avx2)),
                    avx512 = bits_of(cpu::loops_of<Loops>(cpu::Simd::avx512));
  REQUIRE(!avx2.empty());
  CHECK(avx2 == avx512);
}

constexpr int64_t sizes[] = {1, 15, 16, 17, 31, 32, 33, 127, 128, 129, 1000, 2048, 2049, 4100};

}  // namespace

TEMPLATE_TEST_CASE("PairLoops have the same bits with AVX2 and AVX-512", "", float, double) {
  if (!both_here()) return;
  using Real = TestType;
  for (const int64_t n : sizes) {
    CAPTURE(n);
    const int64_t size = (n + cpu::pair_padding - 1) / cpu::pair_padding * cpu::pair_padding, m = n % 7 + 1;
    check_same_bits<cpu::PairLoops<Real>>([&](const cpu::PairLoops<Real>& loops) {
      auto e = random<Real>(size, "sources", -3, 3), t = random<Real>(16, "targets", -3, 3);
      auto w = random<Real>(size, "w"), v = random<Real>(16, "v");
      loops.exponentials(e.data(), size, 1.3, 0.1);
      loops.exponentials(t.data(), 16, 1.3, 0.1);
      for (int64_t j = n; j < size; ++j) e[j] = w[j] = 0;
      std::vector<double> rank(m), kernel(m), difference(m), product(m), ratio(m);
      std::vector<double> totals(size, 1.0);
      std::vector<Real> ends(2);
      loops.range(w.data(), n, &ends[0], &ends[1]);
      loops.rank_sums(e.data(), size, t.data(), m, rank.data());
      loops.kernel_sums(e.data(), size, t.data(), v.data(), m, totals.data(), kernel.data());
      loops.kernel_differences(e.data(), w.data(), size, t.data(), v.data(), m, difference.data());
      loops.products(e.data(), size, t.data(), m, product.data());
      loops.ratio_differences(e.data(), w.data(), size, t.data(), v.data(), m, ratio.data());
      std::string bits;
      append(bits, e);
      append(bits, totals);
      append(bits, ends);
      for (const auto* of : {&rank, &kernel, &difference, &product, &ratio}) append(bits, *of);
      return bits;
    });
  }
}

TEST_CASE("PairFormLoops have the same bits with AVX2 and AVX-512") {
  if (!both_here()) return;
  for (const int64_t n : sizes) {
    CAPTURE(n);
    const int64_t size = (n + cpu::pair_padding - 1) / cpu::pair_padding * cpu::pair_padding;
    check_same_bits<cpu::PairFormLoops>([&](const cpu::PairFormLoops& loops) {
      const auto s = random<double>(size, "s", -400, 400);
      auto weights = random<double>(size, "weights", 0, 1);
      for (int64_t j = n; j < size; ++j) weights[j] = 0;
      std::vector<double> slopes(size), curvatures(size), sums;
      const auto add = [&](const auto& form, auto loop) {
        for (const double steepness : {1.1, 0.02}) {
          for (double* second : {static_cast<double*>(nullptr), curvatures.data()}) {
            const auto of = loop(form, s.data(), weights.data(), size, 0.3, steepness, slopes.data(), second);
            sums.insert(sums.end(), {of.value, of.slope, of.curvature});
          }
        }
      };
#define MR_ADD(name, Form, ...) add(Form{}, loops.name);
      MR_PAIR_FORMS(MR_ADD, MR_ADD)
#undef MR_ADD
      std::string bits;
      for (const auto* of : {&slopes, &curvatures, &sums}) append(bits, *of);
      return bits;
    });
  }
}

TEMPLATE_TEST_CASE("BoxLoops have the same bits with AVX2 and AVX-512", "", float, double) {
  if (!both_here()) return;
  using Real = TestType;
  constexpr int padded = BoxShape<Real>::padded;
  for (const int64_t n : sizes) {
    CAPTURE(n);
    check_same_bits<cpu::BoxLoops<Real>>([&](const cpu::BoxLoops<Real>& loops) {
      const auto scores = random<Real>(n, "scores", -9, 9), w = random<Real>(n, "w");
      std::vector<Real> u(n + 16), centred(n), out(n), also(n);
      std::vector<int32_t> keys(n);
      loops.assign(scores.data(), n, {1.7, 0.2, -12, 24}, 0, keys.data(), u.data());
      loops.centre(scores.data(), n, {0.1, 0.2, 0, 0}, centred.data());
      std::vector<double> plain(padded), weighted(padded);
      loops.moments(u.data(), nullptr, n, plain.data());
      loops.moments(u.data(), w.data(), n, weighted.data());
      const std::vector<Real> first(plain.begin(), plain.end()), second(weighted.begin(), weighted.end());
      const Real* const expansions[] = {first.data(), second.data()};
      Real* const to[] = {out.data(), also.data()};
      loops.evaluate(u.data(), n, expansions, 2, to);
      u.resize(n);
      std::string bits;
      append(bits, keys);
      for (const auto* of : {&u, &centred, &out, &also}) append(bits, *of);
      for (const auto* of : {&plain, &weighted}) append(bits, *of);
      return bits;
    });
  }
}

TEMPLATE_TEST_CASE("BoxLoops translations of expansions have the same bits with AVX2 and AVX-512", "", float, double) {
  if (!both_here()) return;
  using Real = TestType;
  constexpr int padded = BoxShape<Real>::padded;
  const std::vector<int64_t> index{0, 1, 2, 3, 7, 8, 12, 13, 14, 15, 30};
  const auto boxes = static_cast<int64_t>(index.size());
  std::vector<int32_t> first, last;
  constexpr int64_t reach = 6;
  for (const int64_t own : index) {
    first.push_back(0);
    last.push_back(0);
    for (const int64_t other : index) {
      first.back() += other < own - reach;
      last.back() += other <= own + reach;
    }
  }
  for (const int weights : {1, 2, 4}) {
    check_same_bits<cpu::BoxLoops<Real>>([&](const cpu::BoxLoops<Real>& loops) {
      auto q = random<Real>(boxes * weights * padded, "q");
      std::vector<Real> expansion(q.size());
      loops.translate({BoxTable<Real>::of(BoxTable<Real>::sigma), index.data(), first.data(), last.data(), q.data(),
                       expansion.data(), reach},
                      weights, 0, boxes);
      std::string bits;
      append(bits, expansion);
      return bits;
    });
  }
}

TEMPLATE_TEST_CASE("ProductLoops and TrainingLoops have the same bits with AVX2 and AVX-512", "", float, double) {
  if (!both_here()) return;
  using Real = TestType;
  const auto a = random<Real>(300 * 300, "a"), b = random<Real>(300 * 300, "b");
  for (const int64_t n : {1, 2, 4, 5, 16, 17, 33, 64, 100}) {
    for (const int64_t k : {0, 1, 15, 46, 128, 129, 300}) {
      for (const int form : {0, 1, 2, 3}) {
        CAPTURE(n, k, form);
        check_same_bits<cpu::ProductLoops<Real>>([&](const cpu::ProductLoops<Real>& loops) {
          auto c = random<Real>(21 * n, "c");
          loops.multiply({{a.data(), 300, (form & 1) != 0},
                          {b.data(), 300, (form & 2) != 0},
                          21,
                          n,
                          k,
                          c.data(),
                          n,
                          Real(0.7),
                          form == 3});
          std::string bits;
          append(bits, c);
          return bits;
        });
      }
    }
  }
  const std::vector<int64_t> rows{3, 1, 2, 200};
  for (const int64_t width : sizes) {
    CAPTURE(width);
    if (width > 300) break;
    check_same_bits<cpu::TrainingLoops<Real>>([&](const cpu::TrainingLoops<Real>& loops) {
      std::vector<Real> products(rows.size()), sums(static_cast<size_t>(width));
      const cpu::WeighedRows<Real> weighed{b.data(), rows.data(), a.data(), nullptr, 4, width};
      loops.inner_products(a.data(), weighed, products.data());
      loops.sum_rows(weighed, sums.data());
      std::string bits;
      append(bits, products);
      append(bits, sums);
      return bits;
    });
  }
}

TEST_CASE("FrequencyLoops have the same bits with AVX2 and AVX-512") {
  if (!both_here()) return;
  const int64_t n = 60, p = 9;
  const auto weights = random<double>(1, "weights", 0.5, 2), start = random<double>(2 * n, "start"),
             powers = random<double>(2 * n * cpu::frequency_lanes, "powers");
  std::vector<int32_t> low(n), high(n);
  for (int32_t r = 0; r < n; ++r) {
    low[r] = std::max<int32_t>(0, r + 1 - static_cast<int32_t>(n - p));
    high[r] = std::min<int32_t>(r + 1, static_cast<int32_t>(p));
  }
  for (const int form : {0, 1, 2, 3}) {
    const cpu::RankingTransform t{n,
                                  1,
                                  &p,
                                  (form & 1) != 0 ? weights.data() : nullptr,
                                  (form & 2) != 0,
                                  low.data(),
                                  high.data(),
                                  start.data(),
                                  powers.data()};
    check_same_bits<cpu::FrequencyLoops>([&](const cpu::FrequencyLoops& loops) {
      std::vector<double> scratch(static_cast<size_t>(cpu::characteristic_scratch(t))), re(cpu::frequency_lanes),
          im(re);
      loops.characteristic(t, scratch.data(), re.data(), im.data());
      std::vector<double> first(re), second(re);
      loops.fourier_sums(start.data(), n / 2, powers.data(), powers.data() + cpu::frequency_lanes, first.data(),
                         second.data());
      std::string bits;
      for (const auto* of : {&re, &im, &first, &second}) append(bits, *of);
      return bits;
    });
  }
}
