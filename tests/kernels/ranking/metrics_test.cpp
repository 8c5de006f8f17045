// Tests of exact metrics with ties: they are compared with the mean of the metric's definition over every order of the
// tied rows. Results on emulated GPU lanes are compared with those on one lane, for lists of all sizes.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "kernels/ranking/rows.h"
#include "tests/support/emulated_group.h"

using namespace mr;

namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t whole = std::numeric_limits<int32_t>::max();

template <class T>
Span<const T> view(const std::vector<T>& v) {
  return {v.data(), static_cast<int64_t>(v.size())};
}

std::vector<double> sums(int64_t n, double (*term)(double)) {
  std::vector<double> out{0};
  for (int64_t r = 1; r <= n; ++r) out.push_back(out.back() + term(static_cast<double>(r)));
  return out;
}

/// Test input: lists, the placements of their rows under the tie option `mean`, and all tables that the metric kernels
/// read.
template <class Real>
struct Case {
  std::vector<Real> scores, out;
  std::vector<float> relevance;
  std::vector<int64_t> offsets, order, relevant_offsets{0};
  std::vector<int32_t> relevant_rows;
  std::vector<Placement> places;
  std::vector<double> discounts, harmonic, ideal, scratch;

  Case(std::vector<Real> s, std::vector<float> y, std::vector<int64_t> at)
      : scores(std::move(s)), relevance(std::move(y)), offsets(std::move(at)) {
    const auto rows = static_cast<int64_t>(scores.size());
    places.resize(scores.size());
    order.resize(scores.size());
    scratch.resize(4 * scores.size());
    discounts = sums(rows, [](double r) { return 1 / std::log2(r + 1); });
    harmonic = sums(rows, [](double r) { return 1 / r; });
    const auto& table = cpu_table<MetricKernels<Real>>();
    table.place(count(), {view(scores), view(relevance), {}, lists(), 1, Ties::mean, {places.data(), rows}});
    table.order_of(count(), {view(places), lists(), {order.data(), rows}});
    for (int64_t l = 0; l < count(); ++l) {
      ideal.push_back(2.5);
      for (int64_t i = offsets[l]; i < offsets[l + 1]; ++i) {
        if (relevance[i] >= 1) relevant_rows.push_back(static_cast<int32_t>(i - offsets[l]));
      }
      relevant_offsets.push_back(static_cast<int64_t>(relevant_rows.size()));
    }
    out.resize(static_cast<size_t>(count()));
  }
  int64_t count() const { return static_cast<int64_t>(offsets.size()) - 1; }
  Ragged lists() const { return {offsets.data(), count()}; }
  MetricViews<Real> views(int64_t k) {
    const Chosen relevant{{relevant_offsets.data(), count()}, relevant_rows.data()};
    return {view(places), lists(), view(relevance), relevant, k, undefined, {out.data(), count()}};
  }

  Dcg<Real> dcg(int64_t k, Gain gain = Gain::exp2) {
    MetricViews<Real> all = views(k);
    all.counted = {lists(), nullptr};
    return {all, gain, view(discounts), view(ideal), false};
  }
  AveragePrecision<Real> ap(int64_t k, bool by_cutoff) { return {views(k), view(harmonic), by_cutoff}; }
  ExpectedReciprocalRank<Real> err(int64_t k) {
    return {views(k), view(order), 2, {scratch.data(), static_cast<int64_t>(scratch.size())}};
  }
};

/// The grades of a list's rows by rank, for one order of the rows.
using Ranked = std::vector<float>;
bool hit(float grade) { return grade >= 1; }
double hits(const Ranked& y, int64_t k) {
  return static_cast<double>(std::count_if(y.begin(), y.begin() + std::min<int64_t>(k, y.size()), hit));
}
double relevant(const Ranked& y) { return hits(y, whole); }
double sum_of_hits(const Ranked& y, int64_t k, const std::function<double(int64_t)>& f) {
  double total = 0;
  for (int64_t r = 1; r <= std::min<int64_t>(k, y.size()); ++r) total += hit(y[r - 1]) ? f(r) : 0;
  return total;
}

// Metrics written directly from their definitions. They are called only for lists with a relevant row.
double dcg(const Ranked& y, int64_t k) {
  double total = 0;
  for (int64_t r = 1; r <= std::min<int64_t>(k, y.size()); ++r)
    total += (std::pow(2.0, y[r - 1]) - 1) / std::log2(r + 1);
  return total;
}
double ap(const Ranked& y, int64_t k, bool by_cutoff) {
  const double most = by_cutoff ? std::min(relevant(y), static_cast<double>(k)) : relevant(y);
  return sum_of_hits(y, k, [&](int64_t r) { return hits(y, r) / static_cast<double>(r); }) / most;
}
double rbp(const Ranked& y, int64_t k, double p, bool normalized) {
  const double total = (1 - p) * sum_of_hits(y, k, [&](int64_t r) { return std::pow(p, r - 1); });
  return normalized ? total / (1 - std::pow(p, relevant(y))) : total;
}
double rr(const Ranked& y, int64_t k) {
  for (int64_t r = 1; r <= std::min<int64_t>(k, y.size()); ++r) {
    if (hit(y[r - 1])) return 1 / static_cast<double>(r);
  }
  return 0;
}
double err(const Ranked& y, int64_t k) {
  double total = 0, left = 1;
  for (int64_t r = 1; r <= std::min<int64_t>(k, y.size()); ++r) {
    const double satisfied = (std::pow(2.0, y[r - 1]) - 1) / 4;
    total += left * satisfied / static_cast<double>(r);
    left *= 1 - satisfied;
  }
  return total;
}
double wrong_pairs(const Ranked& y) {
  return sum_of_hits(y, whole, [&](int64_t r) { return static_cast<double>(r - 1) - (hits(y, r) - 1); });
}
/// Counts wrongly ordered pairs of rows: a row of a lower grade above a row of a higher grade.
double wrong_pairs_of_grades(const Ranked& y) {
  double wrong = 0;
  for (size_t r = 0; r < y.size(); ++r) {
    wrong += static_cast<double>(std::count_if(y.begin(), y.begin() + r, [&](float above) { return above < y[r]; }));
  }
  return wrong;
}
double bpref(const Ranked& y) {
  const double p = relevant(y), others = static_cast<double>(y.size()) - p;
  return sum_of_hits(y, whole,
                     [&](int64_t r) {
                       const double above = static_cast<double>(r) - hits(y, r);
                       return above == 0 ? 1 : 1 - std::min(above, p) / std::min(p, others);
                     }) /
         p;
}

/// Returns the mean of a metric's definition over all orders of the rows that are sorted by descending score: orders
/// differ in the ranks of tied rows.
template <class Real>
double mean_over_orders(const Case<Real>& c, const std::function<double(const Ranked&)>& definition) {
  std::vector<int> rows(c.scores.size());
  std::iota(rows.begin(), rows.end(), 0);
  long double total = 0, orders = 0;
  do {
    bool sorted = true;
    for (size_t r = 1; r < rows.size(); ++r) sorted = sorted && c.scores[rows[r - 1]] >= c.scores[rows[r]];
    if (!sorted) continue;
    Ranked y;
    for (const int row : rows) y.push_back(c.relevance[row]);
    total += definition(y);
    ++orders;
  } while (std::next_permutation(rows.begin(), rows.end()));
  return static_cast<double>(total / orders);
}

/// Calls f for every metric with the metric's name in this test, the kernel object that computes it, and its
/// definition.
template <class Real, class F>
void for_every_metric(Case<Real>& c, F f) {
  for (const int64_t k : {int64_t{1}, int64_t{2}, int64_t{4}, int64_t{9}, whole}) {
    CAPTURE(k);
    const auto cut = static_cast<double>(k);
    f("dcg", c.dcg(k), [&](const Ranked& y) { return dcg(y, k); });
    f("ap", c.ap(k, false), [&](const Ranked& y) { return ap(y, k, false); });
    f("ap over cutoff", c.ap(k, true), [&](const Ranked& y) { return ap(y, k, true); });
    f("rbp", RankBiasedPrecision<Real>{c.views(k), 0.7, false}, [&](const Ranked& y) { return rbp(y, k, 0.7, false); });
    f("nrbp", RankBiasedPrecision<Real>{c.views(k), 0.95, true},
      [&](const Ranked& y) { return rbp(y, k, 0.95, true); });
    f("precision", HitsAt<Real>{c.views(k), HitsAt<Real>::cutoff}, [&](const Ranked& y) { return hits(y, k) / cut; });
    f("recall", HitsAt<Real>{c.views(k), HitsAt<Real>::relevant_rows},
      [&](const Ranked& y) { return hits(y, k) / relevant(y); });
    f("f1", HitsAt<Real>{c.views(k), HitsAt<Real>::both}, [&](const Ranked& y) {
      const double precision = hits(y, k) / cut, recall = hits(y, k) / relevant(y);
      return precision == 0 ? 0 : 2 * precision * recall / (precision + recall);
    });
    f("rr", FirstRelevant<Real>{c.views(k), true}, [&](const Ranked& y) { return rr(y, k); });
    f("hit", FirstRelevant<Real>{c.views(k), false}, [&](const Ranked& y) { return hits(y, k) > 0 ? 1 : 0; });
    f("err", c.err(k), [&](const Ranked& y) { return err(y, k); });
  }
  f("r_precision", HitsAt<Real>{c.views(0), HitsAt<Real>::relevant_rows},
    [](const Ranked& y) { return hits(y, static_cast<int64_t>(relevant(y))) / relevant(y); });
  f("nrbp_loss", NrbpLoss<Real>{c.views(whole)}, wrong_pairs);
  f("wrong_pairs", WrongPairs<Real>{c.views(whole)}, wrong_pairs_of_grades);
  f("auc", Auc<Real>{c.views(whole)},
    [](const Ranked& y) { return 1 - wrong_pairs(y) / (relevant(y) * (static_cast<double>(y.size()) - relevant(y))); });
  f("bpref", Bpref<Real>{c.views(whole)}, bpref);
}

}  // namespace

TEST_CASE("the gain of a grade y is 2^y - 1, exactly for whole grades") {
  for (int grade = 0; grade <= 64; ++grade) {
    CHECK(gain_of(grade) == std::ldexp(1.0, grade) - 1);
    CHECK(portable::exp2(static_cast<double>(grade)) == std::ldexp(1.0, grade));
    CHECK(gain_of(grade, Gain::exp2_plus_one) == std::ldexp(1.0, grade + 1) - 1);
    CHECK(gain_of(grade, Gain::linear) == grade);
  }
  for (const double grade : {0.25, 1.5, 62.5, 1e-9}) {
    CHECK(gain_of(grade) == Approx(std::exp2(grade) - 1).epsilon(1e-14));
  }
  CHECK(gain_of(3e38) == HUGE_VAL);
}

TEMPLATE_TEST_CASE("metric kernels under ties return the mean over all orders of tied rows", "", float, double) {
  const double tolerance = sizeof(TestType) == 4 ? 3e-7 : 1e-13;
  const int64_t n = GENERATE(1, 2, 3, 5, 7), levels = GENERATE(1, 2, 4), draw = GENERATE(range(0, 6));
  std::vector<TestType> scores;
  std::vector<float> relevance;
  for (int64_t i = 0; i < n; ++i) {
    const Random128 bits = philox(random_key(static_cast<uint64_t>(levels), "tied"), static_cast<uint64_t>(i),
                                  static_cast<uint64_t>(100 * n + draw));
    scores.push_back(static_cast<TestType>(bits.low() % static_cast<uint64_t>(levels)));
    relevance.push_back(draw == 0 ? 1.0F : draw == 1 ? 0.0F : static_cast<float>(bits.high() % 3));
  }
  Case<TestType> c(scores, relevance, {0, n});
  const bool any = relevant(relevance) > 0;
  for_every_metric(c, [&](const char* name, const auto& work, const std::function<double(const Ranked&)>& definition) {
    CAPTURE(name, relevance, scores);
    work(SerialGroup{}, 0);
    const double expected = any ? mean_over_orders(c, definition) : name == std::string("dcg") ? 0 : undefined;
    const bool same = std::isnan(expected) ? std::isnan(c.out[0])
                                           : std::fabs(c.out[0] - expected) <= tolerance * std::max(1.0, expected);
    CAPTURE(c.out[0], expected);
    REQUIRE(same);
  });
}

TEST_CASE("metric kernels return the same values on many lanes as on one") {
  const int64_t levels = GENERATE(1, 5, 1000000);
  std::vector<double> scores;
  std::vector<float> relevance;
  std::vector<int64_t> offsets{0};
  for (const int64_t n : {0, 1, 31, 32, 33, 127, 128, 129, 1000}) {
    for (int64_t i = 0; i < n; ++i) {
      const Random128 bits =
          philox(random_key(9, "lanes"), static_cast<uint64_t>(i), static_cast<uint64_t>(n + levels));
      scores.push_back(static_cast<double>(bounded(bits.low(), static_cast<uint64_t>(levels))));
      relevance.push_back(bits.high() % 4 == 0 ? static_cast<float>(bits.high() % 3) : 0.0F);
    }
    offsets.push_back(static_cast<int64_t>(scores.size()));
  }
  Case<double> c(scores, relevance, offsets);
  for_every_metric(c, [&](const char* name, const auto& work, const auto&) {
    for (int64_t list = 0; list < c.count(); ++list) {
      CAPTURE(name, list, levels);
      work(SerialGroup{}, list);
      const double serial = c.out[list];
      work(test::EmulatedGroup(), list);
      const double forward = c.out[list];
      work(test::EmulatedGroup(128, test::Order::backward), list);
      const bool same_bits = forward == c.out[list] || (std::isnan(forward) && std::isnan(c.out[list]));
      const bool close = std::fabs(forward - serial) <= 1e-12 * std::max(1.0, std::fabs(serial));
      REQUIRE(same_bits);
      REQUIRE((close || (std::isnan(serial) && std::isnan(forward))));
    }
  });
}

TEST_CASE("ExpectedReciprocalRank agrees with closed forms on 20,000 tied rows") {
  const int64_t n = 20000;
  std::vector<float> relevance(n, 0.0F);
  relevance[777] = 1;
  Case<double> one(std::vector<double>(n, 1.0), relevance, {0, n});
  one.err(whole)(SerialGroup{}, 0);
  // All scores tie, and one row of grade 1 satisfies the user with probability 1/4. The mean of 1/r over all ranks r is
  // H(n) / n.
  CHECK(one.out[0] == Approx(0.25 * one.harmonic.back() / static_cast<double>(n)).epsilon(1e-12));

  // all rows have grade 1, so their order does not matter: ERR is the sum over r of 1/4 (3/4)^(r - 1) / r
  Case<double> all(std::vector<double>(n, 1.0), std::vector<float>(n, 1.0F), {0, n});
  all.err(whole)(SerialGroup{}, 0);
  CHECK(all.out[0] == Approx(err(Ranked(n, 1.0F), whole)).epsilon(1e-12));

  // Every other row has grade 1 (probability 1/4). With all scores tied, a row at a rank satisfies with probability
  // about 1/8, as if rows were drawn with replacement.
  for (int64_t i = 0; i < n; ++i) relevance[i] = static_cast<float>(i % 2);
  Case<double> half(std::vector<double>(n, 1.0), relevance, {0, n});
  half.err(whole)(SerialGroup{}, 0);
  double expected = 0;
  for (int64_t r = 1; r <= 1000; ++r) expected += std::pow(0.875, r - 1) * 0.125 / static_cast<double>(r);
  CHECK(half.out[0] == Approx(expected).epsilon(1e-4));
}
