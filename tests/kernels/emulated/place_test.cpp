// Tests of tie-aware placements (the ranks that a row and its ties occupy) on the GPU. Placements that a block sorts in
// shared memory, and those of all other algorithms for the GPU, are compared with placements found by counting rows.
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/ranking/rows.h"
#include "tests/support/on_device.h"
#include "tests/support/random_entries.h"

namespace mr {
namespace {

using test::OnDevice;

template <class T>
Span<const T> here(const std::vector<T>& v) {
  return {v.data(), static_cast<int64_t>(v.size())};
}

int64_t wrong(const std::vector<Placement>& found, const std::vector<Placement>& expected) {
  REQUIRE(found.size() == expected.size());
  int64_t wrong = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const Placement &a = found[i], &b = expected[i];
    wrong += a.above == b.above && a.tied == b.tied && a.relevant_above == b.relevant_above &&
                     a.relevant_tied == b.relevant_tied && a.before == b.before
                 ? 0
                 : 1;
  }
  return wrong;
}

TEMPLATE_TEST_CASE("place on the GPU gives the placements of counting, in every form", "[kernels][gpu]", float,
                   double) {
  using Real = TestType;
  const int64_t n = GENERATE(0, 1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1000, 2047);
  const int64_t levels = GENERATE(1, 7, 1000000), longest = GENERATE(0, 2048, 1000000);
  const Ties ties = GENERATE(Ties::mean, Ties::stable, Ties::worst, Ties::trec);
  CAPTURE(n, levels, longest, static_cast<int>(ties));
  const std::vector<int64_t> lists{0, n, n, n + 1, 2 * n + 2};
  const int64_t rows = lists.back();
  std::vector<Real> scores;
  std::vector<float> relevance;
  std::vector<int64_t> keys;
  for (const double x : test::random<double>(rows, "place")) {
    const auto level = static_cast<int64_t>((x + 1) / 2 * static_cast<double>(levels));
    const Real infinity = std::numeric_limits<Real>::infinity();
    const Real number = level == 0 && scores.size() % 2 == 0 ? static_cast<Real>(-0.0) : static_cast<Real>(level - 3);
    scores.push_back(level == 1 ? infinity : level == 2 ? -infinity : number);
    relevance.push_back(static_cast<float>(scores.size() * 7 % 3));
    keys.push_back(static_cast<int64_t>(scores.size() * 13 % 50));
  }
  std::vector<Placement> expected(static_cast<size_t>(rows));
  const Place<Real> counted{here(scores), here(relevance),        here(keys), {lists.data(), 4}, 1,
                            ties,         {expected.data(), rows}};
  for (int64_t list = 0; list < 4; ++list) counted(SerialGroup{}, list);

  const OnDevice<Real> there(scores);
  const OnDevice<float> grades(relevance);
  const OnDevice<int64_t> documents(keys), offsets(lists);
  OnDevice<Placement> out(rows);
  cuda_table<MetricKernels<Real>>()->place(
      4, {there.span(), grades.span(), documents.span(), {offsets.data(), 4}, 1, ties, out.span(), longest});
  CHECK(wrong(out.values(), expected) == 0);
}

}  // namespace
}  // namespace mr
