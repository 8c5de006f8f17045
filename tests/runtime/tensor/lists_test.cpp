// Tests of Lists: graded lists, and values that are computed from them once and cached.
#include "runtime/tensor/lists.h"

#include <numeric>
#include <vector>

#include "tests/support/devices.h"

namespace mr {
namespace {

const Lists lists({3, 0, 2, 1}, {1, 0, 2, 0, 0.5F, 3});

TEST_CASE("Lists stores lists of any size end to end", "[tensor]") {
  CHECK(lists.count() == 4);
  CHECK(lists.rows() == 6);
  CHECK(lists.offsets() == std::vector<int64_t>{0, 3, 3, 5, 6});
  const Ragged view = lists.view(Device::cpu);
  CHECK(view.count == 4);
  CHECK(view.size(1) == 0);
  CHECK(view.begin(3) == 5);
  CHECK(Lists({}, {}).view(Device::cpu).count == 0);
}

TEST_CASE("Lists caches one value of each type per key", "[tensor]") {
  const Lists own({2, 1}, {1, 0, 3});
  CHECK(own.cached<int64_t>(std::string("key"), [] { return int64_t{7}; }) == 7);
  CHECK(own.cached<double>(std::string("key"), [] { return 2.5; }) == 2.5);
  CHECK(own.cached<int64_t>(std::string("key"), [] { return int64_t{8}; }) == 7);
  const auto size = [](const float*, int64_t n) { return n; };
  const auto top = [](const float* grades, int64_t) { return static_cast<double>(grades[0]); };
  CHECK(own.per_list<int64_t>(std::string("key"), size) == std::vector<int64_t>{2, 1});
  CHECK(own.per_list<double>(std::string("key"), top) == std::vector<double>{1, 3});
  CHECK(own.select({1}).per_list<double>(std::string("key"), size) == std::vector<double>{3});
}

TEST_CASE("Lists selects relevant rows by a threshold on every device", "[tensor]") {
  const Device device = GENERATE(from_range(test::devices()));
  CHECK(lists.relevant() == std::vector<int64_t>{2, 0, 0, 1});
  CHECK(lists.relevant(2) == std::vector<int64_t>{1, 0, 0, 1});
  const ChosenRows& chosen = lists.relevant_rows(0.5F, device);
  CHECK(chosen.total == 4);
  CHECK(chosen.offsets.to_vector<int64_t>() == std::vector<int64_t>{0, 2, 2, 3, 4});
  CHECK(&lists.relevant_rows(0.5F, device) == &chosen);  // made once
  if (device == Device::cpu) {
    const Chosen view = chosen.view();
    CHECK(view(0, 1) == 2);  // the second relevant row of the first list is its third row, counted from 0
    CHECK(view(2, 0) == 1);
    CHECK(view(3, 0) == 0);
  }
  CHECK(lists.relevant_rows(9, device).total == 0);
  CHECK(lists.relevance(device).to_vector<float>() == lists.relevance());
}

TEST_CASE("Lists shares cached values with copies but not with selections, and caches no failures", "[tensor]") {
  int made = 0;
  const auto make = [&] { return ++made; };
  const Lists copy = lists;
  CHECK(lists.cached<int>(std::string("test"), make) == copy.cached<int>(std::string("test"), make));
  CHECK(made == 1);
  CHECK(lists.select({0, 1, 2, 3}).cached<int>(std::string("test"), make) == 2);
  CHECK_THROWS(lists.cached<int>(std::string("fails"), []() -> int { throw std::runtime_error("no"); }));
  // a function that failed is called again: errors are not cached
  CHECK(lists.cached<int>(std::string("fails"), [] { return 5; }) == 5);
}

TEST_CASE("Lists computes per-list values once per list and shares them with selections", "[tensor]") {
  const Lists all({2, 1, 0, 3}, {1, 0, 2, 5, 4, 3});
  int made = 0;
  const auto sum = [&](const Lists& of) {
    return of.per_list<double>(std::string("sum"), [&](const float* grades, int64_t n) {
      ++made;
      return std::accumulate(grades, grades + n, 0.0);
    });
  };
  const Lists chosen = all.select({3, 1, 3});
  CHECK(sum(chosen) == std::vector<double>{12, 2, 12});
  CHECK(made == 2);
  CHECK(sum(chosen.select({1, 2})) == std::vector<double>{2, 12});
  CHECK(made == 2);
  CHECK(sum(all) == std::vector<double>{1, 2, 0, 12});
  CHECK(made == 4);
  CHECK(sum(all.with_relevance({1, 1, 1, 1, 1, 1})) == std::vector<double>{2, 1, 0, 3});
  CHECK(sum(all.select({0}).with_relevance({7, 1})) == std::vector<double>{8});
}

TEST_CASE("Lists::take_rows takes rows of the chosen lists on every device", "[tensor]") {
  const Device device = GENERATE(from_range(test::devices()));
  const Lists all({2, 1, 0, 3}, {1, 0, 2, 5, 4, 3});
  const Tensor x =
      Tensor::from(std::vector<double>{0, 1, 10, 11, 20, 21, 30, 31, 40, 41, 50, 51}, device).viewed({6, 2});
  const Tensor taken = all.take_rows(x, {1, 2, 0, 1});
  CHECK(taken.shape() == Shape{4, 2});
  CHECK(taken.to_vector<double>() == std::vector<double>{20, 21, 0, 1, 10, 11, 20, 21});
  const Tensor numbers = Tensor::from(std::vector<int64_t>{1, 2, 3, 4, 5, 6}, device);
  CHECK(all.take_rows(numbers, {3}).to_vector<int64_t>() == std::vector<int64_t>{4, 5, 6});
  CHECK(all.take_rows(numbers, {}).entries() == 0);
}

TEST_CASE("Lists::select keeps relevance, ids and documents of the chosen lists", "[tensor]") {
  const Lists named({2, 1}, {1, 0, 2}, {"a", "b"}, {"p", "q", "r"});
  const Lists chosen = named.select({1, 0, 1});
  CHECK(chosen.sizes() == std::vector<int64_t>{1, 2, 1});
  CHECK(chosen.relevance() == std::vector<float>{2, 1, 0, 2});
  CHECK(chosen.ids() == std::vector<std::string>{"b", "a", "b"});
  CHECK(chosen.documents() == std::vector<std::string>{"r", "p", "q", "r"});
  const Lists again = chosen.select({1, 2});
  CHECK(again.ids() == std::vector<std::string>{"a", "b"});
  CHECK(again.documents() == std::vector<std::string>{"p", "q", "r"});
  CHECK(named.select({}).ids().empty());
  CHECK(named.select({}).documents().empty());
  CHECK(again.with_relevance({0, 0, 1}).ids() == again.ids());
  CHECK(named.rows_of({1, 0}) == std::vector<int64_t>{3, 1, 2});
  CHECK(named.with_relevance({0, 0, 1}).relevant() == std::vector<int64_t>{0, 1});
}

}  // namespace
}  // namespace mr
