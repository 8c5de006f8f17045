// CLiMF and TFMAP by the CPU's vector loops (row_sums.h). Each lane is a relevant row and adds up in the same order as
// own_scores.h.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/core/threads.h"
#include "kernels/losses/own_scores.h"
#include "kernels/losses/vector_losses.h"

namespace mr::cpu {

/// Computes CLiMF or TFMAP in vector registers. Its results have the same bits as those of the plain form,
/// OwnScoreLoss.
template <class Real, class Form>
struct VectorOwnScores : OwnScoreLoss<Real, Form> {
  void operator()(const SerialGroup& group, int64_t list) const {
    const auto& w = *this;
    const int64_t at = w.lists.begin(list), n = w.lists.size(list);
    const int64_t p = grades_differ(group, w.relevance.data + at, n) ? w.relevant.size(list) : 0;
    const double over = p > 0 ? Form::over(static_cast<double>(p)) : 1;
    static constinit thread_local OfThread<Scratch> the_my;
    Scratch& my = the_my.get();
    const auto kept = my.in_use();
    add_up(my, list, at, p);
    w.value[list] = static_cast<Real>(group.sum(p, [&](int64_t slot) { return my.sums[slot]; }) / over);
    if (w.derivative.data == nullptr) return;
    std::fill_n(w.derivative.data + at, n, Real(0));
    for (int64_t slot = 0; slot < p; ++slot)
      w.derivative[at + w.relevant(list, slot)] = static_cast<Real>(my.slopes[slot] / over);
  }

 private:
  struct Scratch {
    std::vector<double> f, sigma, curve, sums, slopes;
    auto in_use() { return Kept(f, sigma, curve, sums, slopes); }
  };

  void add_up(Scratch& my, int64_t list, int64_t at, int64_t p) const {
    for (auto* const each : {&my.f, &my.sigma, &my.curve, &my.sums, &my.slopes}) each->resize(static_cast<size_t>(p));
    for (int64_t slot = 0; slot < p; ++slot) {
      const double f = my.f[slot] = this->scores[at + this->relevant(list, slot)];
      my.sums[slot] = Form::term(f);
      my.slopes[slot] = Form::term_slope(f);
      if constexpr (std::is_same_v<Form, Tfmap>) {
        my.sigma[slot] = sigmoid(f);
        my.curve[slot] = -sigmoid(f) * sigmoid(-f);
      }
    }
    for (int64_t other = 0; other < p; ++other) {
      check_interrupt();
      // Saves this row's sums before the loop below, which adds the pair of the row with itself, too. Restoring them
      // removes that pair.
      const double sum = my.sums[other], slope = my.slopes[other];
      if constexpr (std::is_same_v<Form, Tfmap>)
        row_loops().tfmap(my.f.data(), my.sigma.data(), my.curve.data(), my.f[other], my.sigma[other], p,
                          my.sums.data(), my.slopes.data());
      else
        row_loops().climf(my.f.data(), my.f[other], p, my.sums.data(), my.slopes.data());
      my.sums[other] = sum;
      my.slopes[other] = slope;
    }
  }
};

}  // namespace mr::cpu
