#include "runtime/io/nearest_name.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace mr::io {

size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table of edit distances between prefixes of a and b: the current row and the two rows above it.
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

namespace {

/// Returns the name in the form in which names are compared: lower case letters and digits, without a "loss" at its
/// end.
std::string folded(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c - 'A' + 'a');
    } else if (c != '_' && c != '-' && c != ' ') {
      out += c;
    }
  }
  constexpr std::string_view ending = "loss";
  const bool ends = out.size() > ending.size() && out.compare(out.size() - ending.size(), ending.size(), ending) == 0;
  if (ends) out.resize(out.size() - ending.size());
  return out;
}

std::string digits(const std::string& name) {
  std::string out;
  std::copy_if(name.begin(), name.end(), std::back_inserter(out), [](char c) { return c >= '0' && c <= '9'; });
  return out;
}

/// Returns true if `name` may be `candidate` mistyped, at the given edit distance. Two names of three letters that
/// differ in one letter may both be words (map, max), so there only an extra, missing or swapped letter counts.
bool is_mistyped(const std::string& name, const std::string& candidate, size_t distance) {
  const size_t shorter = std::min(name.size(), candidate.size());
  // true if `name` is `candidate` without some letters, such as bnd for bound
  const bool letters_left_out = name.size() + distance == candidate.size();
  if (shorter >= 3 && distance <= 2 && letters_left_out && name.front() == candidate.front()) return true;
  if (candidate.size() < 3 || distance > std::max<size_t>(1, shorter / 3)) return false;
  if (distance > 1 && name.front() != candidate.front()) return false;
  if (shorter > 3 || name.size() != candidate.size()) return true;
  return std::is_permutation(name.begin(), name.end(), candidate.begin());
}

}  // namespace

std::optional<std::string> nearest_name(const std::string& name, const std::vector<std::string>& known) {
  // maximum length of names that are compared, because a comparison takes quadratic time; a longer text is not a
  // mistyped name
  constexpr size_t longest = 1000;
  if (name.size() > longest) return std::nullopt;
  const std::string typed = folded(name), number = digits(name);
  if (typed.empty()) return std::nullopt;
  std::optional<std::string> nearest;
  size_t least = longest;
  for (const std::string& candidate : known) {
    if (candidate.size() > longest) continue;
    const std::string other = folded(candidate);
    if (other == typed) return candidate;
    if (other.empty() || (!number.empty() && number != digits(candidate))) continue;
    const size_t distance = edit_distance(typed, other);
    if (distance >= least || !is_mistyped(typed, other, distance)) continue;
    nearest = candidate;
    least = distance;
  }
  return nearest;
}

}  // namespace mr::io
