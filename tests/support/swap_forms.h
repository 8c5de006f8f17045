// Pairwise losses weight a pair of rows by the metric's change if the two rows are swapped. For tests, this file makes
// one such weight function ("swap form") of each kind, and the tables that it reads.
#pragma once

#include <cmath>
#include <variant>
#include <vector>

#include "kernels/losses/rows.h"

namespace mr::test {

/// Tables for swap forms: discounts of ranks 1 .. n, and a normalizing constant for each list.
struct SwapTables {
  std::vector<double> discounts, powers, norms;
  SwapTables(int64_t n, int64_t lists) : norms(static_cast<size_t>(lists), 3.0) {
    for (int64_t r = 1; r <= n; ++r) {
      discounts.push_back(discount(static_cast<double>(r)));
      powers.push_back(std::pow(0.9, static_cast<double>(r - 1)));
    }
  }
};

using SwapForm = std::variant<PairSwaps, MetricSwaps>;

inline std::vector<SwapForm> swap_forms(const SwapTables& t) {
  const Span<const double> norms{t.norms.data(), static_cast<int64_t>(t.norms.size())};
  const auto table = [](const std::vector<double>& d) {
    return Span<const double>{d.data(), static_cast<int64_t>(d.size())};
  };
  return {PairSwaps{},
          SumSwaps{.discounts = table(t.discounts), .norms = norms, .gain = Gain::exp2, .graded = true},
          SumSwaps{.discounts = table(t.powers), .norms = norms},
          SumSwaps{.discounts = table(t.powers), .norms = norms, .first_relevant_only = true},
          ApSwaps{.k = 1000000, .by_cutoff = false},
          ApSwaps{.k = 5, .by_cutoff = true},
          FirstSwaps{.k = 1000000, .reciprocal = true},
          FirstSwaps{.k = 3, .reciprocal = false},
          CascadeSwaps{.k = 1000000, .top = 2},
          CascadeSwaps{.k = 4, .top = 3},
          TimeBiasSwaps{.bias = {.relevant = portable::base_of(0.93), .other = portable::base_of(0.96), .gain = 0.5}}};
}

/// Calls f with the swap form that the variant holds.
template <class F>
void with_swaps(const SwapForm& form, const F& f) {
  if (std::holds_alternative<PairSwaps>(form)) return f(std::get<PairSwaps>(form));
  std::visit(f, std::get<MetricSwaps>(form));
}

}  // namespace mr::test
