// Tests of deferred updates of a tensor: every function that gives access to the tensor's bytes applies them first.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/tensor/tensor.h"

namespace mr {
namespace {

/// A deferred update that adds 1 to every number of a tensor, once.
class OwesOne final : public Deferral {
 public:
  explicit OwesOne(const Tensor& x) : numbers_(static_cast<float*>(bytes_of(x.storage()))), count_(x.entries()) {}

  void settle() override {
    for (int64_t i = 0; i < count_ && !settled_; ++i) numbers_[i] += 1;
    settled_ = true;
  }
  void settle_rows(const int64_t* rows, int64_t count, int64_t row_bytes) override {
    asked.emplace_back(rows, rows + count);
    width = row_bytes;
  }
  void let_go() override {
    settle();
    ++gone;
  }

  std::vector<std::vector<int64_t>> asked;
  int64_t width = 0;
  int gone = 0;

 private:
  float* numbers_;
  int64_t count_;
  bool settled_ = false;
};

/// Returns a tensor of 0 to 5 in three rows, with a deferred update that adds 1 to each number.
std::pair<Tensor, std::shared_ptr<OwesOne>> behind() {
  const Tensor x = Tensor::from<float>({0, 1, 2, 3, 4, 5}).viewed({3, 2});
  auto owes = std::make_shared<OwesOne>(x);
  x.storage().put_off(owes);
  return {x, owes};
}

TEST_CASE("every way to read a tensor applies its deferred updates first", "[tensor]") {
  const std::vector<float> now{1, 2, 3, 4, 5, 6};
  const auto values = [](const void* from) {
    const auto* const numbers = static_cast<const float*>(from);
    return std::vector<float>(numbers, numbers + 6);
  };
  const std::vector<std::pair<std::string, std::function<std::vector<float>(const Tensor&)>>> ways{
      {"span", [&](const Tensor& x) { return values(x.span<const float>().data); }},
      {"raw", [&](const Tensor& x) { return values(x.raw()); }},
      {"host_bytes", [&](const Tensor& x) { return values(x.host_bytes()); }},
      {"storage", [&](const Tensor& x) { return values(x.storage().data()); }},
      {"to_vector", [](const Tensor& x) { return x.to_vector<float>(); }},
      {"clone", [](const Tensor& x) { return x.clone().to_vector<float>(); }},
      {"data", [](const Tensor& x) { return x.data().to_vector<float>(); }},
      {"viewed", [](const Tensor& x) { return x.viewed({6}).to_vector<float>(); }},
      {"slice", [](const Tensor& x) { return x.slice(0, 3).to_vector<float>(); }},
      {"to", [](const Tensor& x) { return x.to(Dtype::float64).to(Dtype::float32).to_vector<float>(); }},
      {"device", [](const Tensor& x) { return x.to(Device::cpu).to_vector<float>(); }},
      {"assign",
       [](const Tensor& x) {
         const Tensor y = Tensor::empty(x.shape(), x.dtype());
         y.assign(x);
         return y.to_vector<float>();
       }},
      {"span_to_write", [&](const Tensor& x) { return values(x.span_to_write<float>().data); }},
      {"a part by rows",
       [](const Tensor& x) {
         const Tensor part = x.slice(1, 2), rows = Tensor::from<int64_t>({1});
         std::vector<float> found{1, 2};
         for (int64_t i = 0; i < 4; ++i) found.push_back(part.span_of_rows<const float>(rows)[i]);
         return found;
       }},
  };
  for (const auto& [name, read] : ways) {
    CAPTURE(name);
    CHECK(read(behind().first) == now);
  }
  CHECK(behind().first.slice(2, 1).viewed({2}).slice(1, 1).item() == 6);
  CHECK(behind().first.text().find("6") != std::string::npos);
}

TEST_CASE("span_of_rows settles the deferred updates of only the rows that are read", "[tensor]") {
  const auto [x, owes] = behind();
  const Tensor rows = Tensor::from<int64_t>({3, 1, 3});
  CHECK(x.span_of_rows<const float>(rows)[0] == 0);
  CHECK(owes->asked == std::vector<std::vector<int64_t>>{{3, 1, 3}});
  CHECK(owes->width == 8);
}

TEST_CASE("writing a tensor, or deferring again, settles and releases the previous deferral", "[tensor]") {
  const auto [x, owes] = behind();
  x.assign(Tensor::full(x.shape(), 7, Dtype::float32));
  CHECK(owes->gone == 1);
  CHECK(x.to_vector<float>() == std::vector<float>(6, 7));
  CHECK(x.storage().deferral() == nullptr);

  const auto [y, first] = behind();
  const auto second = std::make_shared<OwesOne>(y);
  y.storage().put_off(second);
  CHECK(first->gone == 1);
  CHECK(y.to_vector<float>()[5] == 7);
}

}  // namespace
}  // namespace mr
