// Products of an optimizer's steps without a gradient. Such a step is a linear map of a row, and the product of all
// steps from any step to the present is needed. Products over whole blocks of steps are stored separately from products
// inside a block, so a new step changes few numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace mr {

/// The linear map of one or several optimizer steps without a gradient. An entry p with mean gradient m becomes pp p +
/// pm m, and m becomes mp p + mm m.
struct LinearStep {
  double pp = 1, pm = 0, mp = 0, mm = 1;
  /// Returns the product of two maps: first the steps `before`, then this step.
  LinearStep after(const LinearStep& before) const {
    return {pp * before.pp + pm * before.mp, pp * before.pm + pm * before.mm, mp * before.pp + mm * before.mp,
            mp * before.pm + mm * before.mm};
  }
};

/// Keeps products of consecutive optimizer steps. All steps that a row has missed can then be applied as one linear
/// map.
class StepProducts {
 public:
  /// An optimizer step without a gradient is a linear map of a row. The product of the maps after step t, up to the
  /// newest step, is stored if t is one of the last `kept` - 1 steps. For an earlier t it has been overwritten.
  static constexpr int32_t kept = 16384;
  static constexpr int32_t block = 128;

  /// The products that change with every step. From a copy of them, `of` computes products up to the step after which
  /// the copy was made.
  struct Recent {
    int32_t until;
    std::vector<LinearStep> later;   // for each block of steps: the product of all steps after the block
    std::vector<LinearStep> inside;  // for each step of the current block: the product of all steps after it
  };

  /// Starts to record steps after step `now`. If `used` is false, nothing is allocated, and `append` must not be
  /// called.
  StepProducts(int32_t now, bool used)
      : first_(now), inside_(used ? kept : 0), recent_{now, std::vector<LinearStep>(used ? blocks : 0), {}} {
    recent_.inside.resize(used ? block : 0);
  }

  void append(const LinearStep& step) {
    const int32_t last = recent_.until++, current = last / block;
    if (last % block == 0) recent_.later[slot(current)] = {};
    for (int32_t t0 = std::max(first_, current * block); t0 < last; ++t0) advance(recent_.inside[t0 % block], step);
    recent_.inside[static_cast<size_t>(last % block)] = step;
    for (int32_t b = std::max(first_ / block, current - blocks + 1); b < current; ++b)
      advance(recent_.later[slot(b)], step);
    if (recent_.until % block != 0) return;
    for (int32_t t0 = current * block; t0 < recent_.until; ++t0)
      inside_[static_cast<size_t>(t0 % kept)] = recent_.inside[static_cast<size_t>(t0 % block)];
  }

  const Recent& recent() const { return recent_; }
  /// Returns the product of the steps from t0 + 1 to the last step in `at`. `at` is `recent()` or an earlier copy of
  /// it.
  LinearStep of(const Recent& at, int32_t t0) const {
    if (t0 >= at.until) return {};
    const int32_t b = t0 / block;
    if (b == (at.until - 1) / block) return at.inside[static_cast<size_t>(t0 % block)];
    return at.later[slot(b)].after(inside_[static_cast<size_t>(t0 % kept)]);
  }

 private:
  static constexpr int32_t blocks = kept / block + 2;
  static size_t slot(int32_t b) { return static_cast<size_t>(b % blocks); }
  static void advance(LinearStep& product, const LinearStep& step) { product = step.after(product); }

  int32_t first_;
  std::vector<LinearStep> inside_;  // for each step of earlier blocks: the product of the later steps of its block
  Recent recent_;
};

}  // namespace mr
