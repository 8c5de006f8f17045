#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "kernels/core/scratch.h"
#include "kernels/core/threads.h"
#include "kernels/models/candidates.h"
#include "kernels/models/top_products.h"
#include "kernels/models/training_cpu.h"
#include "kernels/ranking/order.h"

namespace mr::cpu {
namespace {

/// `panel_rows`: number of rows that are multiplied with all vectors before each vector selects its candidates again.
/// `vector_entries`: spare entries of the arrays of candidates, because whole SIMD vectors are stored.
constexpr int64_t panel_rows = 8 * strip_rows, vector_entries = 16;

double norm_of(const float* x, int64_t n) {
  double sum = 0;
  for (int64_t c = 0; c < n; ++c) sum += static_cast<double>(x[c]) * static_cast<double>(x[c]);
  return std::sqrt(sum);
}

/// Collects the candidates of one vector (rows whose product with it may be among the k largest), and finds its first
/// k rows.
class Selection {
 public:
  /// Returns how many entries the caller must allocate for `products` and for `rows`.
  static int64_t room(const TopProducts& of) { return most_of(of) + panel_rows + vector_entries; }
  Selection(const TopProducts& of, const TopQuery& query, double row_norm, float* products, int32_t* rows)
      : of_(of), query_(query), most_(most_of(of)), products_(products), rows_(rows) {
    // `error_` bounds the difference between two sums, in different orders, of the `width` products of an inner
    // product. Each sum differs from the exact one by at most about width * 2^-24 * |x| |y|. The factor 1.1 covers the
    // roundings of comparisons, and the last term those of numbers below the least normal one.
    const double terms = static_cast<double>(of.width) + 4;
    error_ = static_cast<float>(1.1 * terms * FLT_EPSILON * norm_of(query.vector, of.width) * row_norm +
                                terms * static_cast<double>(FLT_MIN));
  }

  Basket basket() const { return {least_ - 2 * error_, products_, rows_, count_}; }

  /// Accepts the candidates that were appended to `basket` since the last call, except rows that are left out for this
  /// vector. If there are many candidates, removes the worst ones and raises the bound that new ones must reach.
  void take(Basket& basket) {
    if (basket.count == count_) return;
    add_up_to(basket.count);
    if (count_ > most_) {
      raise();
      // still too many candidates: their products differ by less than the rounding error, so exact scores decide
      if (count_ > of_.k + (most_ - of_.k) / 2) rank();
    }
    basket = this->basket();
  }

  void finish() {
    raise();
    rank();
    for (int64_t i = 0; i < count_; ++i) {
      query_.top_rows[i] = rows_[i];
      query_.top_scores[i] = products_[i];
    }
  }

 private:
  static int64_t most_of(const TopProducts& of) { return std::max<int64_t>(160, of.k + of.k / 2); }

  int64_t next_left_out(int32_t row) {
    while (next_ < query_.left_out_count && query_.left_out[next_] < row) ++next_;
    return next_ < query_.left_out_count ? query_.left_out[next_] : std::numeric_limits<int64_t>::max();
  }

  /// Accepts the new candidates up to position `end` of the arrays, except rows that are left out for this vector. New
  /// candidates are in ascending order of row number.
  void add_up_to(int64_t end) {
    if (next_left_out(rows_[count_]) > rows_[end - 1]) {
      count_ = end;
      return;
    }
    for (int64_t i = count_; i < end; ++i) {
      if (next_left_out(rows_[i]) == rows_[i]) continue;
      products_[count_] = products_[i];
      rows_[count_++] = rows_[i];
    }
  }

  /// Raises `least_`, a lower bound of the k-th largest product so far, close to that product by bisection, and
  /// removes the candidates that cannot be among the first k.
  void raise() {
    if (count_ <= of_.k) return;
    float low = 0, high = 0;
    candidate_loops().range(products_, count_, &low, &high);
    low = std::max(low, least_);
    for (int64_t step = 0, reached = count_; step < 24 && reached > of_.k + of_.k / 8; ++step) {
      const float middle = low + (high - low) / 2;
      if (!(middle > low)) break;
      const int64_t found = candidate_loops().count(products_, count_, middle);
      if (found >= of_.k) {
        low = middle;
        reached = found;
      } else {
        high = middle;
      }
    }
    // At least k candidates reach `low`. So a row whose product is below it by more than twice the error has a lower
    // score than these k.
    least_ = low;
    Basket kept = basket();
    candidate_loops().keep(kept);
    count_ = kept.count;
  }

  struct Ranked {
    uint64_t key;
    float score;
    bool operator<(const Ranked& other) const { return key < other.key; }
  };

  /// Replaces the products of the candidates by scores, and keeps the first k, sorted.
  void rank() {
    std::vector<int64_t> index(static_cast<size_t>(count_));
    for (int64_t i = 0; i < count_; ++i) index[i] = rows_[i] + int64_t{1};
    training_loops<float>().inner_products(query_.vector, {of_.rows, index.data(), nullptr, nullptr, count_, of_.width},
                                           products_);
    std::vector<Ranked> ranked(static_cast<size_t>(count_));
    for (int64_t i = 0; i < count_; ++i)
      ranked[i] = {uint64_t{falling_bits(products_[i])} << 32 | static_cast<uint32_t>(rows_[i]), products_[i]};
    if (count_ > of_.k) {
      std::nth_element(ranked.begin(), ranked.begin() + of_.k, ranked.end());
      ranked.resize(static_cast<size_t>(of_.k));
    }
    std::sort(ranked.begin(), ranked.end());
    if (count_ >= of_.k) least_ = ranked.back().score;
    count_ = static_cast<int64_t>(ranked.size());
    for (int64_t i = 0; i < count_; ++i) {
      products_[i] = ranked[i].score;
      rows_[i] = static_cast<int32_t>(ranked[i].key & 0xFFFFFFFFU);
    }
  }

  const TopProducts& of_;
  TopQuery query_;
  int64_t most_, count_ = 0, next_ = 0;
  float least_ = -std::numeric_limits<float>::infinity(), error_;
  float* products_;
  int32_t* rows_;
};

}  // namespace

PackedRows::PackedRows(const TopProducts& of)
    // Fills up the last strip with NaN, which never is a candidate.
    : packed_(static_cast<size_t>((of.count + strip_rows - 1) / strip_rows * strip_rows * of.width),
              std::numeric_limits<float>::quiet_NaN()),
      width_(of.width) {
  for (int64_t i = 0; i < of.count; ++i) {
    if (i % panel_rows == 0) check_interrupt();
    const float* const row = of.rows + i * width_;
    float* const to = packed_.data() + i / strip_rows * strip_rows * width_ + i % strip_rows;
    for (int64_t c = 0; c < width_; ++c) to[c * strip_rows] = row[c];
    const double norm = norm_of(row, width_);
    if (!(norm <= norm_)) norm_ = std::isfinite(norm) ? norm : std::numeric_limits<double>::infinity();
  }
}

bool has_finite_products(const PackedRows& packed, const float* vector, int64_t width) {
  return packed.norm() * norm_of(vector, width) < static_cast<double>(FLT_MAX) / 4;
}

void top_products(const TopProducts& of, const PackedRows& packed, const TopQuery* queries, int64_t n) {
  static constinit thread_local OfThread<std::vector<float>> the_products, the_vectors;
  static constinit thread_local OfThread<std::vector<int32_t>> the_rows;
  std::vector<float>&products = the_products.get(), &vectors = the_vectors.get();
  std::vector<int32_t>& rows = the_rows.get();
  const Kept kept(products, vectors, rows);
  const int64_t size = candidate_loops().group, groups = (n + size - 1) / size, room = Selection::room(of);
  vectors.assign(static_cast<size_t>(groups * size * of.width), 0);
  products.resize(static_cast<size_t>(n * room));
  rows.resize(products.size());
  std::vector<Selection> selections;
  std::vector<Basket> baskets;
  for (int64_t q = 0; q < n; ++q) {
    float* const to = vectors.data() + q / size * size * of.width + q % size;
    for (int64_t c = 0; c < of.width; ++c) to[c * size] = queries[q].vector[c];
    selections.emplace_back(of, queries[q], packed.norm(), products.data() + q * room, rows.data() + q * room);
    baskets.push_back(selections.back().basket());
  }
  baskets.resize(static_cast<size_t>(groups * size), {std::numeric_limits<float>::infinity(), nullptr, nullptr, 0});
  for (int64_t panel = 0; panel < of.count; panel += panel_rows) {
    check_interrupt();
    const int64_t end = std::min(panel + panel_rows, of.count);
    for (int64_t first = panel; first < end; first += strip_rows) {
      candidate_loops().collect(packed.strip(first), vectors.data(), groups, of.width, static_cast<int32_t>(first),
                                baskets.data());
    }
    for (int64_t q = 0; q < n; ++q) selections[q].take(baskets[q]);
  }
  for (Selection& each : selections) each.finish();
}

}  // namespace mr::cpu
