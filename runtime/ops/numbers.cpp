// Portable functions of single numbers for Lua. Lua's own functions come from the C library and may differ between
// systems.
#include "kernels/core/powers.h"
#include "runtime/lua/bind.h"

namespace mr {
namespace {

double exp_of_number(double x) { return portable::exp(x); }
double log_of_number(double x) { return portable::log(x); }
double power_of_numbers(double x, double y) { return portable::pow(x, y); }

}  // namespace

using lua::op;
extern const lua::OpTable number_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&exp_of_number>("number_exp", "x", "e^x, with the same bits on every system."),
        op<&log_of_number>("number_log", "x", "The natural logarithm, with the same bits on every system."),
        op<&power_of_numbers>("number_power", "x, y", "x^y, with the same bits on every system."),
    }};

}  // namespace mr
