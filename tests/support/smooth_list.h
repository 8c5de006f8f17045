// Test input for smooth ranks: one list in the form that kernels read. Also computes the expected results as sums over
// all pairs in long double.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "kernels/smooth/smooth_rank.h"
#include "kernels/tensor/normal.h"

namespace mr::test {

inline const char* const score_shapes[] = {"equal", "normal", "wide", "cauchy", "spread", "clusters"};

inline double score(const std::string& shape, int64_t i, int64_t n) {
  const RandomKey key = random_key(static_cast<uint64_t>(n), shape.c_str());
  const auto at = static_cast<uint64_t>(i);
  const double u = uniform(key, at) - 0.5;
  if (shape == "equal") return 3 + 0.02 * u;
  if (shape == "normal") return normal(key, at);
  if (shape == "wide") return 10 * normal(key, at);
  if (shape == "cauchy") return std::clamp(std::tan(std::numbers::pi * u), -1e4, 1e4);
  if (shape == "spread") return 1e4 * u;
  return 20 * static_cast<double>(i % 8) + normal(key, at);
}

/// One list of rows. The rows in `marked` are relevant; if it is null, all rows are.
template <class Real>
struct List {
  std::vector<Real> scores, g, h;
  std::vector<int64_t> offsets, marked_offsets;
  std::vector<int32_t> marked;
  Real steepness = 1;

  explicit List(std::vector<Real> s, int64_t every = 3) : scores(std::move(s)) {
    offsets = {0, static_cast<int64_t>(scores.size())};
    for (int64_t i = every / 2; i < offsets[1]; i += every) marked.push_back(static_cast<int32_t>(i));
    marked_offsets = {0, static_cast<int64_t>(marked.size())};
    for (size_t i = 0; i < marked.size(); ++i) {
      g.push_back(static_cast<Real>(normal(random_key(1, "g"), i)));
      h.push_back(static_cast<Real>(normal(random_key(2, "h"), i)));
    }
  }
  List(const std::string& shape, int64_t n) : List(make(shape, n)) {}

  static std::vector<Real> make(const std::string& shape, int64_t n) {
    std::vector<Real> s;
    for (int64_t i = 0; i < n; ++i) s.push_back(static_cast<Real>(score(shape, i, n)));
    return s;
  }

  template <class T>
  static Span<T> span(const std::vector<Real>& v) {
    return {const_cast<T*>(v.data()), static_cast<int64_t>(v.size())};
  }
  Ragged lists() const { return {offsets.data(), 1}; }
  Chosen relevant() const { return {{marked_offsets.data(), 1}, marked.data()}; }
  Chosen all() const { return {{offsets.data(), 1}, nullptr}; }
  SmoothRank<Real> ranks(Chosen targets, Chosen sources, std::vector<Real>& to, std::vector<Real>* among = nullptr) {
    to.assign(static_cast<size_t>(targets.size(0)), Real(-1));
    if (among) among->assign(to.size(), Real(-1));
    const Span<Real> second = among ? span<Real>(*among) : Span<Real>{};
    return {span<const Real>(scores), lists(), targets, sources, steepness, span<Real>(to), second};
  }
  SmoothRankVjp<Real> vjp(std::vector<Real>& to, bool with_h = true) {
    to.assign(scores.size(), Real(-1));
    const auto of_h = with_h ? span<const Real>(h) : Span<const Real>{};
    return {span<const Real>(scores), lists(), relevant(), steepness, span<const Real>(g), of_h, span<Real>(to)};
  }
};

/// Expected smooth ranks and derivatives: plain sums over all pairs in long double.
template <class Real>
struct Oracle {
  const List<Real>& list;

  long double apart(int64_t j, int64_t i) const {
    const long double a = list.scores[j], b = list.scores[i];
    return a == b ? 0 : list.steepness * (a - b);
  }
  static long double kernel(long double t) {
    const long double e = std::exp(-std::fabs(t));
    return e / ((1 + e) * (1 + e));
  }
  long double rank(int64_t i, const Chosen& sources) const {
    long double total = 1;
    for (int64_t k = 0; k < sources.size(0); ++k) {
      const int64_t j = sources(0, k);
      if (j != i) total += 1 / (1 + std::exp(-apart(j, i)));
    }
    return total;
  }
  long double derivative(int64_t k, bool with_h) const {
    const auto p = static_cast<int64_t>(list.marked.size());
    long double total = 0;
    for (int64_t i = 0; i < p; ++i) total += list.g[i] * kernel(apart(k, list.marked[i]));
    const auto own = std::lower_bound(list.marked.begin(), list.marked.end(), k) - list.marked.begin();
    if (own < p && list.marked[own] == k) {
      for (int64_t j = 0; j < list.offsets[1]; ++j) total -= list.g[own] * kernel(apart(j, k));
      for (int64_t i = 0; with_h && i < p; ++i) {
        total += (static_cast<long double>(list.h[i]) - list.h[own]) * kernel(apart(list.marked[i], k));
      }
    }
    return list.steepness * total;
  }
};

template <class Real>
constexpr double tolerance = sizeof(Real) == 4 ? 1e-6 : 1e-12;

/// Returns about 60 of the indices 0 .. n - 1, the first and the last among them.
inline std::vector<int64_t> sample(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < n; i += std::max<int64_t>(1, n / 60)) out.push_back(i);
  if (n > 0) out.push_back(n - 1);
  return out;
}

template <class Real>
void check_ranks(const Oracle<Real>& oracle, const Chosen& targets, const Chosen& sources,
                 const std::vector<Real>& found) {
  for (const int64_t slot : sample(targets.size(0))) {
    const auto expected = static_cast<double>(oracle.rank(targets(0, slot), sources));
    CAPTURE(slot);
    REQUIRE(std::fabs(found[slot] - expected) <= tolerance<Real> * expected);
  }
}

template <class Real>
void check_derivatives(const Oracle<Real>& oracle, bool with_h, const std::vector<Real>& found) {
  double scale = 1;  // the tolerance is relative to the largest entry, because terms may cancel within an entry
  for (const Real x : found) scale = std::max(scale, std::fabs(static_cast<double>(x)));
  REQUIRE(std::isfinite(scale));
  for (const int64_t row : sample(static_cast<int64_t>(found.size()))) {
    CAPTURE(row, scale);
    const auto expected = static_cast<double>(oracle.derivative(row, with_h));
    REQUIRE(std::fabs(found[row] - expected) <= tolerance<Real> * scale);
  }
}

}  // namespace mr::test
