// Imitates a group of GPU lanes (kernels/device/launch.cuh) on the CPU, one lane after another. Sums have the GPU's 128
// strided partial sums, added in the same order. Lanes run forward or backward: a kernel with a data race, whose lanes
// read what other lanes write in the same operation, gives different results, so tests demand equal bits of both
// orders. Nested operations throw.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>

namespace mr::test {

enum class Order { forward, backward };

/// An emulated warp (32 lanes) or block (128 lanes). The number of lanes is not a template argument, so that a test
/// compiles each kernel only once.
class EmulatedGroup {
 public:
  explicit EmulatedGroup(int lanes = 128, Order order = Order::forward) : lanes_(lanes), order_(order) {}

  template <class F>
  void each(int64_t n, F f) const {
    const Operation operation(*this);
    per_lane(lanes_, [&](int64_t lane) {
      for (int64_t i = lane; i < n; i += lanes_) f(i);
    });
  }

  template <class F>
  double sum(int64_t n, F f) const {
    const Operation operation(*this);
    std::array<double, strands * warp> part{};
    per_lane(strands * warp, [&](int64_t lane) {
      for (int64_t i = lane; i < n; i += strands * warp) part[lane] += static_cast<double>(f(i));
    });
    double total = 0;
    for (int strand = 0; strand < strands; ++strand) {
      std::array<double, warp> lanes{};
      for (int lane = 0; lane < warp; ++lane) lanes[lane] = part[strand * warp + lane];
      for (int step = warp / 2; step > 0; step /= 2) {
        const auto before = lanes;
        for (int lane = 0; lane < warp; ++lane) lanes[lane] = before[lane] + before[lane ^ step];
      }
      total += lanes[0];
    }
    return total;
  }

  template <class T, class F>
  T max(int64_t n, T lowest, F f) const {
    const Operation operation(*this);
    T best = lowest;
    per_lane(lanes_, [&](int64_t lane) {
      for (int64_t i = lane; i < n; i += lanes_) {
        const T value = f(i);
        if (value > best) best = value;
      }
    });
    return best;
  }

 private:
  static constexpr int warp = 32, strands = 4;

  struct Operation {
    explicit Operation(const EmulatedGroup& group) : of(group) {
      if (of.busy_) throw std::logic_error("a group's operation inside another one's function");
      of.busy_ = true;
    }
    ~Operation() { of.busy_ = false; }
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    const EmulatedGroup& of;
  };

  template <class F>
  void per_lane(int64_t lanes, F f) const {
    for (int64_t lane = 0; lane < lanes; ++lane) f(order_ == Order::forward ? lane : lanes - 1 - lane);
  }

  int lanes_;
  Order order_;
  mutable bool busy_ = false;
};

}  // namespace mr::test
