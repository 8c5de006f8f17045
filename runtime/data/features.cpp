// Scales the features of documents, within each list or by column. NaN marks a missing value: statistics ignore it, and
// it stays NaN.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/core/threads.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/lists.h"

namespace mr {
namespace {

template <class Real>
struct Column {
  Real* first;
  int64_t rows, stride;

  Real& operator[](int64_t i) const { return first[i * stride]; }
};

/// Scales the numbers of a column to the range 0 to 1. If all are equal, they become 0.
template <class Real>
void to_range(const Column<Real>& x) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (int64_t i = 0; i < x.rows; ++i) {
    if (std::isnan(x[i])) continue;
    low = std::min<double>(low, x[i]);
    high = std::max<double>(high, x[i]);
  }
  for (int64_t i = 0; i < x.rows; ++i) {
    if (!std::isnan(x[i])) x[i] = high > low ? static_cast<Real>((x[i] - low) / (high - low)) : 0;
  }
}

/// Scales the numbers of a column to mean 0 and standard deviation 1. If all are equal, they become 0.
template <class Real>
void to_standard(const Column<Real>& x) {
  double sum = 0, squares = 0;
  Real low = std::numeric_limits<Real>::infinity(), high = -low;
  int64_t count = 0;
  for (int64_t i = 0; i < x.rows; ++i) {
    if (std::isnan(x[i])) continue;
    sum += x[i];
    ++count;
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
  }
  const double mean = sum / static_cast<double>(count);
  for (int64_t i = 0; i < x.rows; ++i) {
    if (!std::isnan(x[i])) squares += (x[i] - mean) * (x[i] - mean);
  }
  const double deviation = std::sqrt(squares / static_cast<double>(count));
  for (int64_t i = 0; i < x.rows; ++i) {
    // Compares lowest and highest value instead of testing the deviation. Rounding may give a constant column a small
    // deviation that is not 0.
    if (!std::isnan(x[i])) x[i] = high > low ? static_cast<Real>((x[i] - mean) / deviation) : 0;
  }
}

void check_features(const Tensor& x) {
  check::floating("x", x);
  if (x.dims() != 2) throw ArgumentError("x", "it has shape " + x.shape().text() + ", expected [rows, columns]");
}

std::vector<int64_t> column_numbers(const Tensor& x, const Tensor& columns) {
  check_features(x);
  check::index("columns", columns, x.size(1));
  std::vector<int64_t> numbers = columns.to_vector<int64_t>();
  for (int64_t& n : numbers) --n;
  return numbers;
}

/// Scales the given columns within each list; `how` is "min_max" or "standardize".
Tensor scale_lists(const Tensor& x, const Lists& lists, const Tensor& columns, const std::string& how) {
  const std::vector<int64_t> numbers = column_numbers(x, columns);
  if (x.size(0) != lists.rows()) {
    throw ArgumentError("x",
                        "it has " + std::to_string(x.size(0)) + " rows but lists have " + std::to_string(lists.rows()));
  }
  if (how != "min_max" && how != "standardize")
    throw ArgumentError("how", "'" + how + "', expected min_max or standardize");
  return with_real(x.dtype(), [&]<class Real>() {
    const auto scale = how == "min_max" ? &to_range<Real> : &to_standard<Real>;
    std::vector<Real> values = x.to_vector<Real>();
    const int64_t width = x.size(1);
    constexpr int64_t grain = 64;
    cpu::parallel_each(lists.count(), grain, [&](int64_t l) {
      for (const int64_t c : numbers) scale({values.data() + lists.offsets()[l] * width + c, lists.sizes()[l], width});
    });
    return Tensor::from(values, x.device()).viewed(x.shape());
  });
}

/// Returns the mean or median of each of the given columns, without missing values. It is 0 if all values are missing.
Tensor typical_values(const Tensor& x, const Tensor& columns, const std::string& what) {
  const std::vector<int64_t> numbers = column_numbers(x, columns);
  if (what != "mean" && what != "median") throw ArgumentError("what", "'" + what + "', expected mean or median");
  const std::vector<double> values = x.to(Dtype::float64).to_vector<double>();
  std::vector<double> typical;
  for (const int64_t c : numbers) {
    cpu::check_interrupt();
    std::vector<double> column;
    for (int64_t r = 0; r < x.size(0); ++r) {
      const double value = values[r * x.size(1) + c];
      if (!std::isnan(value)) column.push_back(value);
    }
    double found = 0;
    if (!column.empty() && what == "mean") {
      for (const double value : column) found += value;
      found /= static_cast<double>(column.size());
    } else if (!column.empty()) {
      std::sort(column.begin(), column.end());
      const size_t middle = column.size() / 2;
      found = column.size() % 2 == 1 ? column[middle] : 0.5 * (column[middle - 1] + column[middle]);
    }
    typical.push_back(found);
  }
  return Tensor::from(typical);
}

/// Replaces the missing values (NaN) of the given columns. `with` has one number for each column.
Tensor fill_missing(const Tensor& x, const Tensor& columns, const Tensor& with) {
  const std::vector<int64_t> numbers = column_numbers(x, columns);
  const std::vector<double> fill = with.to(Dtype::float64).to_vector<double>();
  if (fill.size() != numbers.size()) {
    throw ArgumentError("with", "it has " + std::to_string(fill.size()) + " entries, expected one for each of " +
                                    std::to_string(numbers.size()) + " columns");
  }
  return with_real(x.dtype(), [&]<class Real>() {
    std::vector<Real> values = x.to_vector<Real>();
    for (int64_t r = 0; r < x.size(0); ++r) {
      for (size_t i = 0; i < numbers.size(); ++i) {
        Real& value = values[r * x.size(1) + numbers[i]];
        if (std::isnan(value)) value = static_cast<Real>(fill[i]);
      }
    }
    return Tensor::from(values, x.device()).viewed(x.shape());
  });
}

/// Finds the first entry of x that is infinite, or that is NaN unless `may_miss` is true. Returns its row and column,
/// counted from 1, and its value.
std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::optional<double>> first_not_finite(const Tensor& x,
                                                                                                   bool may_miss) {
  if (x.dims() == 0 || x.entries() == 0 || x.dtype() == Dtype::int64) return {};
  const int64_t width = x.entries() / x.size(0);
  std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::optional<double>> place;
  with_real(x.dtype(), [&]<class Real>() {
    const std::vector<Real> values = x.to_vector<Real>();
    const auto found =
        std::find_if(values.begin(), values.end(), [&](Real v) { return std::isnan(v) ? !may_miss : std::isinf(v); });
    if (found == values.end()) return;
    const int64_t at = found - values.begin();
    place = {at / width + 1, at % width + 1, *found};
  });
  return place;
}

Tensor take_columns(const Tensor& x, const Tensor& columns) {
  const std::vector<int64_t> numbers = column_numbers(x, columns);
  return with_real(x.dtype(), [&]<class Real>() {
    const std::vector<Real> values = x.to_vector<Real>();
    std::vector<Real> taken;
    taken.reserve(numbers.size() * static_cast<size_t>(x.size(0)));
    for (int64_t r = 0; r < x.size(0); ++r) {
      for (const int64_t c : numbers) taken.push_back(values[r * x.size(1) + c]);
    }
    return Tensor::from(taken, x.device()).viewed({x.size(0), static_cast<int64_t>(numbers.size())});
  });
}

/// Returns the distinct values (levels) of a column in ascending order, without NaN.
Tensor levels_of(const Tensor& x, int64_t column) {
  const Tensor taken = take_columns(x, Tensor::from(std::vector<int64_t>{column}));
  return with_real(x.dtype(), [&]<class Real>() {
    std::vector<Real> values = taken.to_vector<Real>();
    std::erase_if(values, [](Real v) { return std::isnan(v); });
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return Tensor::from(values);
  });
}

/// Returns for each value of the given columns its number among the known values of its column (`levels`), counted from
/// 1. An unknown value gets the number of levels plus 1.
Tensor level_numbers(const Tensor& x, const Tensor& columns, const std::vector<Tensor>& levels) {
  const Tensor taken = take_columns(x, columns);
  if (static_cast<int64_t>(levels.size()) != taken.size(1))
    throw ArgumentError("levels", "expected one tensor per column");
  const std::vector<double> values = taken.to(Dtype::float64).to_vector<double>();
  std::vector<int64_t> numbers(values.size());
  for (int64_t c = 0; c < taken.size(1); ++c) {
    const std::vector<double> known = levels[c].to(Dtype::float64).to_vector<double>();
    for (int64_t r = 0; r < taken.size(0); ++r) {
      const int64_t i = r * taken.size(1) + c;
      const auto found = std::lower_bound(known.begin(), known.end(), values[i]);
      const bool is_known = found != known.end() && *found == values[i];
      numbers[i] = is_known ? found - known.begin() + 1 : static_cast<int64_t>(known.size()) + 1;
    }
  }
  return Tensor::from(numbers, x.device()).viewed(taken.shape());
}

}  // namespace

using lua::op;
extern const lua::OpTable feature_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&scale_lists>("scale_lists", "x, lists, columns, how", "Scales columns within each list."),
        op<&typical_values>("typical_values", "x, columns, what", "Mean or median of columns, without NaN; float64."),
        op<&fill_missing>("fill_missing", "x, columns, with",
                          "Replaces NaN in columns, each column by its own number."),
        op<&first_not_finite>(
            "first_not_finite", "x, may_miss",
            "Row, column and value of the first infinite entry, or of the first NaN unless `may_miss`."),
        op<&take_columns>("take_columns", "x, columns", "Selects columns in the given order."),
        op<&levels_of>("levels_of", "x, column", "The distinct values of a column, ascending."),
        op<&level_numbers>("level_numbers", "x, columns, levels",
                           "Indices of the columns' values among their levels; int64."),
    }};

}  // namespace mr
