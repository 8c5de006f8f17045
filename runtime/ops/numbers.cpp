// Portable functions of single numbers for Lua (Lua's own functions come from the C library and may differ between
// systems), and the largest number of a tensor of numbers of users, items or sizes.
#include <algorithm>

#include "kernels/core/powers.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"

namespace mr {
namespace {

double exp_of_number(double x) { return portable::exp(x); }
double log_of_number(double x) { return portable::log(x); }
double power_of_numbers(double x, double y) { return portable::pow(x, y); }

int64_t largest_of(const Tensor& x) {
  check::type("x", x, Dtype::int64);
  const Tensor here = x.to(Device::cpu);
  const Span<const int64_t> numbers = here.span<const int64_t>();
  int64_t most = 0;
  for (int64_t i = 0; i < numbers.size; ++i) most = std::max(most, numbers[i]);
  return most;
}

}  // namespace

using lua::op;
extern const lua::OpTable number_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&exp_of_number>("number_exp", "x", "e^x, with the same bits on every system."),
        op<&log_of_number>("number_log", "x", "The natural logarithm, with the same bits on every system."),
        op<&power_of_numbers>("number_power", "x, y", "x^y, with the same bits on every system."),
        op<&largest_of>("largest", "x", "The largest entry of an int64 tensor; 0 if no entry is above 0."),
    }};

}  // namespace mr
