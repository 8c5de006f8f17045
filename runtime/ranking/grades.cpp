// Distinct grades of lists, for Lua functions of a grade, which are called once per grade.
#include <algorithm>

#include "runtime/ops/lists.h"

namespace mr {
namespace {

struct AllGrades {
  auto operator<=>(const AllGrades&) const = default;
};

/// Returns every grade that occurs in the lists, ascending.
const std::vector<float>& all_grades(const Lists& lists) {
  return lists.cached<std::vector<float>>(AllGrades{}, [&] {
    std::vector<float> grades = lists.relevance();
    std::sort(grades.begin(), grades.end());
    grades.erase(std::unique(grades.begin(), grades.end()), grades.end());
    return grades;
  });
}

std::vector<double> grades_of(const Lists& lists) {
  const std::vector<float>& grades = all_grades(lists);
  return {grades.begin(), grades.end()};
}

Tensor values_of_grades(const Lists& lists, const std::vector<double>& values) {
  const std::vector<float>& grades = all_grades(lists);
  if (values.size() != grades.size())
    throw ArgumentError("values", "has " + std::to_string(values.size()) + " entries, expected " +
                                      std::to_string(grades.size()) + ", one for each distinct grade");
  std::vector<double> of_rows;
  of_rows.reserve(lists.relevance().size());
  for (const float grade : lists.relevance())
    of_rows.push_back(values[std::lower_bound(grades.begin(), grades.end(), grade) - grades.begin()]);
  return Tensor::from(of_rows, Device::cpu);
}

}  // namespace

extern const lua::OpTable grade_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&grades_of>("grades", "lists", "Every grade that occurs, ascending."),
     lua::op<&values_of_grades>("values_of_grades", "lists, values",
                                "Maps each row's grade to a value; `values` has one per entry of `grades`. float64.")}};

}  // namespace mr
