#include "kernels/smooth/front_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/core/launch_cpu.h"
#include "kernels/core/scratch.h"
#include "kernels/smooth/pair_pieces.h"

namespace mr::cpu {
namespace {

template <class Real>
constexpr double share = sizeof(Real) == 4 ? 0x1p-32 : 0x1p-60;
/// If a (s_i - s_j) is at least this, row i counts as infinitely far above row j.
constexpr double reach = 350;

/// Arrays that a thread reuses.
struct FrontArrays {
  // exponentials of the scores of the rows near the highest score (near), and of those among them whose term is not 0
  // (front); padded to whole SIMD vectors
  std::vector<double> near, front;
  // row weights for sums: of the rows near the highest score (weights), and of those among them with a nonzero term
  // (front_weights)
  std::vector<double> weights, front_weights;
  // slots: index of each near row among the relevant rows; order: indices of near rows in the order in which loops
  // visit them
  std::vector<int32_t> slots, order;
  std::vector<double> targets, target_weights, sums, logs;

  auto in_use() { return Kept(near, front, weights, front_weights, slots, order, targets, target_weights, sums, logs); }
};
FrontArrays& front_arrays() {
  static constinit thread_local OfThread<FrontArrays> the_arrays;
  return the_arrays.get();
}

void fill_up(std::vector<double>& v) { v.resize(static_cast<size_t>(filled_up(static_cast<int64_t>(v.size()))), 0.0); }

/// A subset of the near rows (relevant rows with scores near the highest score of a relevant row), by their indices.
struct Part {
  const int32_t* rows;
  int64_t size;
};

/// Finds the relevant rows whose scores are near the highest score of a relevant row, and computes the exponential of
/// the difference between each of these scores and the highest.
class NearTop {
 public:
  template <class Work>
  NearTop(const Work& w, int64_t list) {
    const auto* const s = w.scores.data + w.lists.begin(list);
    const int64_t p = w.targets.size(list);
    if (p == 0) return;
    auto top = s[w.targets(list, 0)];
    for (int64_t slot = 0; slot < p; ++slot) {
      const auto x = s[w.targets(list, slot)];
      numbers_ = numbers_ && !std::isnan(x);
      if (w.steepness < 0 ? x < top : x > top) top = x;
    }
    if (numbers_)
      find(
          p, w.steepness, [&](int64_t slot) { return s[w.targets(list, slot)]; }, top);
  }

  bool numbers() const { return numbers_; }
  int64_t size() const { return n_; }

  /// Calls visit(rows) for parts of the near rows (relevant rows with scores near the highest one), from high scores
  /// to low ones, until `visit` returns false. The first part has 64 rows, and each part has twice as many as the one
  /// before. Rows within a part are in any order.
  void from_the_top(const auto& visit) const {
    const auto& e = my_.near;
    const auto before = [&](int32_t a, int32_t b) { return e[a] > e[b] || (e[a] == e[b] && a < b); };
    my_.order.resize(static_cast<size_t>(n_));
    int32_t* const order = my_.order.data();
    for (int32_t i = 0; i < n_; ++i) order[i] = i;
    for (int64_t first = 0, part = 64; first < n_; first += part, part *= 2) {
      check_interrupt();
      const int64_t last = std::min(n_, first + part);
      if (last < n_) std::nth_element(order + first, order + last, order + n_, before);
      my_.targets.resize(static_cast<size_t>(last - first));
      for (int64_t i = first; i < last; ++i) my_.targets[i - first] = e[order[i]];
      if (!visit(Part{order + first, last - first})) return;
    }
  }

  /// Returns, for each row i visited last, the product over the near rows j from index `first` on, `count` of them, of
  /// sigma(a (s_i - s_j)). If row i is one of them, the product includes its own factor sigma(0) = 1/2.
  const std::vector<double>& products(int64_t first, int64_t count) const {
    my_.sums.resize(my_.targets.size());
    pair_loops<double>().products(my_.near.data() + first, filled_up(count), my_.targets.data(),
                                  static_cast<int64_t>(my_.targets.size()), my_.sums.data());
    return my_.sums;
  }
  int64_t slot(int32_t row) const { return my_.slots[row]; }

  /// Returns the fraction of the largest product below which another row's product is negligible. Computed from the
  /// two highest of the visited scores.
  template <class Real>
  double negligible() const {
    double first = 0, second = 0;
    for (const double e : my_.targets) {
      second = std::max(second, std::min(first, e));
      first = std::max(first, e);
    }
    return share<Real> * (second / (1 + second)) / static_cast<double>(n_);
  }

 private:
  void find(int64_t p, double steepness, const auto& score, double top) {
    my_.near.resize(static_cast<size_t>(p));
    my_.slots.resize(static_cast<size_t>(p));
    for (int64_t slot = 0; slot < p; ++slot) {
      const double x = score(slot), above = x == top ? 0 : steepness * (x - top);
      my_.near[n_] = above;
      my_.slots[n_] = static_cast<int32_t>(slot);
      n_ += above >= -reach ? 1 : 0;
    }
    my_.near.resize(static_cast<size_t>(n_));
    fill_up(my_.near);
    pair_loops<double>().exponentials(my_.near.data(), filled_up(n_), 1, 0);
    std::fill(my_.near.begin() + n_, my_.near.end(), 0.0);
  }

  FrontArrays& my_ = front_arrays();
  int64_t n_ = 0;
  bool numbers_ = true;
};

template <class Real>
struct FrontTerms : SmoothRrTerms<Real> {
  void operator()(const auto& group, int64_t list) const {
    const auto kept = front_arrays().in_use();
    const NearTop near(*this, list);
    if (!near.numbers()) return SmoothRrTerms<Real>::operator()(group, list);
    const int64_t at = this->targets.begin(list);
    std::fill_n(this->terms.data + at, this->targets.size(list), Real(0));
    // products below half of the least positive number round to 0
    constexpr double least = static_cast<double>(std::numeric_limits<Real>::denorm_min()) / 2;
    double cut = -1;
    near.from_the_top([&](const Part& part) {
      const std::vector<double>& products = near.products(0, near.size());
      if (cut < 0) {
        const double largest = 2 * *std::max_element(products.begin(), products.end());
        cut = std::max(least, largest * near.template negligible<Real>());
      }
      bool all = true;
      for (int64_t i = 0; i < part.size; ++i) {
        const int64_t slot = at + near.slot(part.rows[i]);
        const double product = 2 * products[i];
        all = all && product > cut;
        if (product > cut) this->terms[slot] = static_cast<Real>(product / this->rank_of(slot));
      }
      return all;
    });
  }
};

template <class Real>
struct FrontLogs : SmoothLogRr<Real> {
  void operator()(const auto& group, int64_t list) const {
    const auto kept = front_arrays().in_use();
    const NearTop near(*this, list);
    if (!this->matters(list) || !near.numbers()) return SmoothLogRr<Real>::operator()(group, list);
    const int64_t at = this->targets.begin(list);
    std::fill_n(this->logs.data + at, this->targets.size(list), -HUGE_VAL);
    double cut = HUGE_VAL;
    near.from_the_top([&](const Part& part) {
      log_products(near, part.size);
      const std::vector<double>& products = front_arrays().logs;
      if (cut == HUGE_VAL) {
        cut = *std::max_element(products.begin(), products.end()) + portable::log(near.template negligible<Real>());
      }
      bool all = true;
      for (int64_t i = 0; i < part.size; ++i) {
        const int64_t slot = at + near.slot(part.rows[i]);
        all = all && products[i] > cut;
        if (products[i] > cut) this->logs[slot] = products[i] - portable::log(static_cast<double>(this->rank[slot]));
      }
      return all;
    });
    this->shares(group, list);
  }

  /// Computes the logarithms of smooth RR's products in blocks of 256 factors. The product of a block does not
  /// underflow for any visited row, so its logarithm is exact to rounding.
  static void log_products(const NearTop& near, int64_t count) {
    constexpr int64_t block = 256;
    std::vector<double>& logs = front_arrays().logs;
    logs.assign(static_cast<size_t>(count), portable::log(2.0));
    for (int64_t first = 0; first < near.size(); first += block) {
      check_interrupt();
      const std::vector<double>& products = near.products(first, std::min(block, near.size() - first));
      for (int64_t i = 0; i < count; ++i) logs[i] += portable::log(products[i]);
    }
  }
};

/// Calls f(first, count) for ranges of at most `target_piece` of n rows.
void in_pieces(int64_t n, const auto& f) {
  for (int64_t first = 0; first < n; first += target_piece) {
    check_interrupt();
    f(first, std::min(target_piece, n - first));
  }
}

template <class Real>
struct FrontVjp : SmoothRrProductVjp<Real> {
  void operator()(const auto& group, int64_t list) const {
    FrontArrays& my = front_arrays();
    const auto kept = my.in_use();
    const NearTop near(*this, list);
    if (!near.numbers()) return SmoothRrProductVjp<Real>::operator()(group, list);
    const int64_t front = divide(my, near.size(), this->terms.data + this->targets.begin(list));
    if (front == 0) return;
    const auto sums = [&](const std::vector<double>& sources, const std::vector<double>& weights, int64_t from,
                          int64_t count) {
      in_pieces(count, [&](int64_t first, int64_t n) {
        first += from;
        pair_loops<double>().ratio_differences(sources.data(), weights.data(), static_cast<int64_t>(sources.size()),
                                               my.targets.data() + first, my.target_weights.data() + first, n,
                                               my.sums.data() + first);
      });
    };
    // computes the sums of the front rows (near rows with a nonzero term), over all near rows
    sums(my.near, my.weights, 0, front);
    // computes the sums of the near rows that are not in the front, over the front rows only
    sums(my.front, my.front_weights, front, near.size() - front);
    for (int64_t i = 0; i < near.size(); ++i) {
      const int64_t row = this->targets(list, my.slots[my.order[i]]);
      this->out[this->lists.begin(list) + row] += static_cast<Real>(this->factor(list) * my.sums[i]);
    }
  }

  /// Reorders the near rows so that those with a nonzero term (the front) come first, and copies the arrays that loops
  /// read in this order. Returns the number of front rows.
  static int64_t divide(FrontArrays& my, int64_t n, const Real* terms) {
    my.weights.assign(my.near.size(), 0.0);
    int64_t front = 0;
    for (int64_t i = 0; i < n; ++i) {
      my.weights[i] = terms[my.slots[i]];
      front += my.weights[i] != 0 ? 1 : 0;
    }
    my.order.resize(static_cast<size_t>(n));
    my.targets.resize(my.order.size());
    my.target_weights.resize(my.order.size());
    my.sums.resize(my.order.size());
    for (int64_t i = 0, first = 0, other = front; i < n; ++i) {
      const int64_t to = my.weights[i] != 0 ? first++ : other++;
      my.order[to] = static_cast<int32_t>(i);
      my.targets[to] = my.near[i];
      my.target_weights[to] = my.weights[i];
    }
    my.front.assign(my.targets.begin(), my.targets.begin() + front);
    my.front_weights.assign(my.target_weights.begin(), my.target_weights.begin() + front);
    fill_up(my.front);
    fill_up(my.front_weights);
    return front;
  }
};

}  // namespace

template <class Real>
void smooth_rr_terms(int64_t count, const SmoothRrTerms<Real>& work) {
  Backend::lists(count, FrontTerms<Real>{work});
}

template <class Real>
void smooth_log_rr(int64_t count, const SmoothLogRr<Real>& work) {
  Backend::lists(count, FrontLogs<Real>{work});
}

template <class Real>
void smooth_rr_product_vjp(int64_t count, const SmoothRrProductVjp<Real>& work) {
  Backend::lists(count, FrontVjp<Real>{work});
}

#define MR_FRONT(Real)                                                      \
  template void smooth_rr_terms<Real>(int64_t, const SmoothRrTerms<Real>&); \
  template void smooth_log_rr<Real>(int64_t, const SmoothLogRr<Real>&);     \
  template void smooth_rr_product_vjp<Real>(int64_t, const SmoothRrProductVjp<Real>&);
MR_FRONT(float)
MR_FRONT(double)

}  // namespace mr::cpu
