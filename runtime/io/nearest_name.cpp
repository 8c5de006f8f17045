#include "runtime/io/nearest_name.h"

#include <algorithm>
#include <numeric>

namespace mr::io {

size_t edit_distance(std::string_view a, std::string_view b) {
  // rows of the table of distances between beginnings of a and b: this one, the one above it, the one above that
  std::vector<size_t> row(b.size() + 1), above(b.size() + 1), second(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    second.swap(above);
    above.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], second[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::optional<std::string> nearest_name(const std::string& name, const std::vector<std::string>& known) {
  constexpr size_t longest = 1000;  // what is longer was not mistyped, and the table grows with both lengths
  std::optional<std::string> nearest;
  if (name.size() > longest) return nearest;
  size_t least = name.size();
  for (const std::string& candidate : known) {
    const size_t most = std::max<size_t>(2, candidate.size() / 2);
    const size_t a = name.size(), b = candidate.size();
    if (std::max(a, b) - std::min(a, b) > most) continue;  // one may be as long as a file
    const size_t distance = edit_distance(name, candidate);
    if (distance > most || distance >= least) continue;
    nearest = candidate;
    least = distance;
  }
  return nearest;
}

}  // namespace mr::io
