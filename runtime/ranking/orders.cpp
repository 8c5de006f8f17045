// Random or all orders of a list's rows, as the ranks of many copies of the list laid end to end. Scripts use them to
// estimate statistics of their own metrics.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>

#include "kernels/core/rng.h"
#include "kernels/core/threads.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/lists.h"
#include "runtime/ranking/random_order.h"

namespace mr {
namespace {

constexpr int64_t most_entries = 1'000'000'000;

int64_t checked_entries(int64_t rows, int64_t count) {
  if (rows < 0) throw ArgumentError("rows", std::to_string(rows) + ", expected 0 or more");
  if (count < 0 || count > most_entries / std::max<int64_t>(rows, 1))
    throw ArgumentError("count", std::to_string(count) + " orders of " + std::to_string(rows) +
                                     " rows, expected at least 0 orders and at most " + std::to_string(most_entries) +
                                     " ranks in all");
  return rows * count;
}

void check_first(int64_t first) {
  constexpr int64_t most = int64_t{1} << 53;
  if (first < 0 || first > most)
    throw ArgumentError("first", std::to_string(first) + ", expected 0 to " + std::to_string(most));
}

/// Throws if a value is NaN, which cannot be sorted.
void check_numbers(const char* name, const std::vector<double>& values) {
  for (const double v : values) {
    if (std::isnan(v)) throw ArgumentError(name, "has a NaN, expected numbers");
  }
}

/// Returns the ranks, float64, of `count` random orders from number `first` on, counted from 1. Order s depends on
/// (seed, rows, s) only.
Tensor random_ranks(int64_t rows, int64_t first, int64_t count, int64_t seed) {
  check_first(first);
  Tensor out = Tensor::empty({checked_entries(rows, count)}, Dtype::float64);
  double* const ranks = out.span<double>().data;
  const RandomKey key = random_key(static_cast<uint64_t>(seed), ("orders " + std::to_string(rows)).c_str());
  cpu::parallel_each(count, 64, [&](int64_t s) {
    cpu::check_interrupt();
    double* const own = ranks + s * rows;
    std::iota(own, own + rows, 1.0);
    for (int64_t r = 0; r + 1 < rows; ++r) {  // shuffles the ranks of the rows (Fisher-Yates)
      const uint64_t bits = philox(key, static_cast<uint64_t>(first + s), static_cast<uint64_t>(r)).low();
      std::swap(own[r], own[r + static_cast<int64_t>(bounded(bits, static_cast<uint64_t>(rows - r)))]);
    }
  });
  return out;
}

/// Returns the ranks of rows in `count` random orders. In each, rows are drawn without replacement with weights e^pull.
Tensor drawn_ranks(const std::vector<double>& pulls, int64_t first, int64_t count, int64_t seed) {
  const auto rows = static_cast<int64_t>(pulls.size());
  check_first(first);
  check_numbers("pulls", pulls);
  Tensor out = Tensor::empty({checked_entries(rows, count)}, Dtype::float64);
  double* const ranks = out.span<double>().data;
  const RandomKey key = random_key(static_cast<uint64_t>(seed), ("orders " + std::to_string(rows)).c_str());
  cpu::parallel(count, 64, [&](int64_t from, int64_t to) {
    RandomOrder order(pulls, key);
    for (int64_t s = from; s < to; ++s) {
      cpu::check_interrupt();
      const std::vector<int64_t>& row_at = order.next(static_cast<uint64_t>(first + s));
      for (int64_t r = 0; r < rows; ++r) ranks[s * rows + row_at[r]] = static_cast<double>(r + 1);
    }
  });
  return out;
}

/// Returns true if rows with these grades, sorted, have more than `most` distinct orders of grades. Their number is a
/// multinomial coefficient, computed factor by factor so that every partial product is an integer.
bool more_arrangements(const std::vector<double>& sorted, int64_t most) {
  double ways = 1;
  for (size_t at = 0, run = 0; at < sorted.size(); ++at) {
    run = at > 0 && sorted[at] == sorted[at - 1] ? run + 1 : 1;
    // The number of arrangements of the first at + 1 rows, computed from that of the first `at` rows.
    ways = ways * static_cast<double>(at + 1) / static_cast<double>(run);
    if (ways > static_cast<double>(most)) return true;
  }
  return false;
}

/// Returns the ranks, float64, of all distinct arrangements of these grades. Returns nothing if there are more than
/// `most`, or if the result would be too large.
std::optional<Tensor> arrangement_ranks(const std::vector<double>& grades, int64_t most) {
  const auto rows = static_cast<int64_t>(grades.size());
  check_numbers("grades", grades);
  std::vector<int64_t> order(grades.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return grades[a] < grades[b]; });
  std::vector<double> placed(grades.size());
  for (int64_t r = 0; r < rows; ++r) placed[r] = grades[order[r]];
  most = std::min(most, most_entries / std::max<int64_t>(rows, 1));
  if (more_arrangements(placed, most)) return std::nullopt;
  std::vector<double> ranks;
  do {
    cpu::check_interrupt();
    // `placed` has the grade at each rank. The rows of a grade get the ranks of that grade, in ascending order.
    std::vector<std::pair<double, int64_t>> at;
    for (int64_t r = 0; r < rows; ++r) at.emplace_back(placed[r], r + 1);
    std::stable_sort(at.begin(), at.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const size_t start = ranks.size();
    ranks.resize(start + grades.size());
    for (int64_t r = 0; r < rows; ++r) ranks[start + order[r]] = static_cast<double>(at[r].second);
  } while (std::next_permutation(placed.begin(), placed.end()));
  return Tensor::from(ranks);
}

Lists copies(const std::vector<double>& grades, int64_t count) {
  checked_entries(static_cast<int64_t>(grades.size()), count);
  std::vector<float> relevance;
  relevance.reserve(grades.size() * static_cast<size_t>(count));
  for (int64_t s = 0; s < count; ++s) {
    cpu::check_interrupt();
    relevance.insert(relevance.end(), grades.begin(), grades.end());
  }
  return {std::vector<int64_t>(static_cast<size_t>(count), static_cast<int64_t>(grades.size())), std::move(relevance)};
}

/// Assigns numbers to multisets of grades. Two lists whose grades are permutations of each other have the same number,
/// and then every metric has the same possible values for both.
class GradeClasses {
 public:
  int64_t number(std::vector<float> grades) {
    std::sort(grades.begin(), grades.end(), std::greater<>());
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = numbers_.try_emplace(std::move(grades), static_cast<int64_t>(of_.size()) + 1);
    if (is_new) of_.push_back(&at->first);
    return at->second;
  }

  std::vector<double> grades(int64_t number) {
    const std::lock_guard lock(mutex_);
    if (number < 1 || number > static_cast<int64_t>(of_.size()))
      throw ArgumentError("number", std::to_string(number) + ", expected a number that grade_classes returned");
    const std::vector<float>& found = *of_[static_cast<size_t>(number - 1)];
    return {found.begin(), found.end()};
  }

 private:
  std::mutex mutex_;
  std::map<std::vector<float>, int64_t> numbers_;
  std::vector<const std::vector<float>*> of_;
};

GradeClasses& classes() {
  static GradeClasses the_classes;
  return the_classes;
}

struct ClassKey {
  auto operator<=>(const ClassKey&) const = default;
};

std::vector<int64_t> grade_classes(const Lists& lists) {
  return lists.per_list<int64_t>(ClassKey{}, [](const float* grades, int64_t n) {
    return classes().number({grades, grades + n});
  });
}

int64_t grade_class(const std::vector<double>& grades) {
  for (const double y : grades) {
    if (!(y >= 0) || std::isinf(static_cast<float>(y)))
      throw ArgumentError("grades", number_text(y) + ", expected 0 or more, and finite as float32");
  }
  return classes().number({grades.begin(), grades.end()});
}
std::vector<double> grades_of_class(int64_t number) { return classes().grades(number); }

}  // namespace

using lua::op;
extern const lua::OpTable order_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&random_ranks>("random_ranks", "rows, first, count, seed", "Ranks of random orders, laid end to end."),
        op<&drawn_ranks>("drawn_ranks", "pulls, first, count, seed",
                         "Like `random_ranks`, for rows that are drawn with weights e^pull, without replacement."),
        op<&arrangement_ranks>("arrangement_ranks", "grades, most",
                               "Ranks of all distinct orders of the grades, or nil if there are more than `most`."),
        op<&grade_classes>("grade_classes", "lists",
                           "A number per list that is equal for lists whose grades are permutations of each other."),
        op<&grade_class>("grade_class", "grades", "The number of grade_classes for these grades."),
        op<&grades_of_class>("grades_of_class", "number", "The grades of a number of grade_classes, descending."),
        op<&copies>("list_copies", "grades, count", "`count` copies of a list with these grades."),
    }};

}  // namespace mr
