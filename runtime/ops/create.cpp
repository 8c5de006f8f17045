// Lua functions that create tensors from numbers, tables and random numbers, and read tensors back.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"

namespace mr {
namespace {

Dtype to_dtype(const std::string& name,
               const char* expected = "is not a dtype, expected 'float32', 'float64' or 'int64'") {
  if (name == "float32") return Dtype::float32;
  if (name == "float64") return Dtype::float64;
  if (name == "int64") return Dtype::int64;
  throw ArgumentError("dtype", "'" + name + "' " + expected);
}

Dtype floating_dtype(const std::string& name) {
  const Dtype type = to_dtype(name);
  if (type == Dtype::int64) throw ArgumentError("dtype", "is int64, expected float32 or float64");
  return type;
}

Device device_or_default(const std::optional<std::string>& name) { return name ? to_device(*name) : default_device(); }

[[noreturn]] void refuse_number(const char* name, const std::string& number) {
  throw ArgumentError(name, number + " for dtype int64, expected a whole number with an absolute value below 2^53, " +
                                "because larger ones may have been rounded");
}

/// Throws if a number does not fit into the tensor's type. int64 accepts integers below 2^53 in size, because larger
/// ones may have been rounded: 2^53 + 1 becomes 2^53 in float64.
void fits(const char* name, double x, Dtype type) {
  if (type == Dtype::int64 && !(x == std::floor(x) && std::abs(x) < 0x1p53)) {
    refuse_number(name, number_text(x));
  }
}

Shape to_shape(const std::vector<int64_t>& sizes) {
  Shape shape;
  for (const int64_t n : sizes) shape.append(n);
  return shape;
}

/// Reads a nested table of numbers. All tables of a level must have the same length.
class NestedReader {
 public:
  explicit NestedReader(const lua::Table& table) : L_(table.L) {
    if (lua_checkstack(L_, 16) == 0) throw std::bad_alloc();
    measure(table.index);
    numbers_.reserve(static_cast<size_t>(shape_.entries()));
    read(table.index, 0);
  }

  const Shape& shape() const { return shape_; }
  const std::vector<double>& numbers() const { return numbers_; }
  /// Returns the text of the first number that is not exactly an integer in float64, or nothing.
  const std::optional<std::string>& not_an_integer() const { return not_an_integer_; }

 private:
  /// Returns the text of the number on top of the stack if it is not exactly an integer in float64; else nothing. 2^53
  /// is accepted as a Lua integer, but not as a Lua float, which may have been rounded from 2^53 + 1.
  std::optional<std::string> refused() const {
    if (lua_isinteger(L_, -1) != 0) {
      constexpr int64_t limit = int64_t{1} << 53;
      const int64_t x = lua_tointegerx(L_, -1, nullptr);
      return x >= -limit && x <= limit ? std::nullopt : std::optional(std::to_string(x));
    }
    const double x = numbers_.back();
    return x == std::floor(x) && std::abs(x) < 0x1p53 ? std::nullopt : std::optional(number_text(x));
  }

  void measure(int index) {
    const auto n = static_cast<int64_t>(lua_rawlen(L_, index));
    shape_.append(n);
    if (n == 0) return;
    lua_rawgeti(L_, index, 1);
    if (lua_type(L_, -1) == LUA_TTABLE) measure(lua_gettop(L_));
    lua_pop(L_, 1);
  }

  void read(int index, int depth) {
    const auto n = static_cast<int64_t>(lua_rawlen(L_, index));
    if (const auto key = lua::key_beside(L_, index, n)) {
      throw ArgumentError("values",
                          "a table with the field '" + *key +
                              "' beside its entries, expected only entries; put options into a table of their "
                              "own: mr.tensor(values, {dtype = ...})");
    }
    if (n != shape_[depth]) {
      throw ArgumentError("values", "a row has " + std::to_string(n) + " entries where the first has " +
                                        std::to_string(shape_[depth]) + ", expected rows of one length");
    }
    const bool innermost = depth + 1 == shape_.dims();
    for (int64_t i = 1; i <= n; ++i) {
      const int type = lua_rawgeti(L_, index, i);
      if (type != (innermost ? LUA_TNUMBER : LUA_TTABLE)) {
        throw ArgumentError("values", std::string("entry ") + std::to_string(i) + " is a " + lua_typename(L_, type) +
                                          ", expected a " + (innermost ? "number" : "table"));
      }
      if (innermost) {
        numbers_.push_back(lua_tonumberx(L_, -1, nullptr));
        if (!not_an_integer_) not_an_integer_ = refused();
      } else {
        read(lua_gettop(L_), depth + 1);
      }
      lua_pop(L_, 1);
    }
  }

  lua_State* L_;
  Shape shape_;
  std::vector<double> numbers_;
  std::optional<std::string> not_an_integer_;
};

Tensor tensor_of(const lua::Table& values, const std::string& dtype, std::optional<std::string> device) {
  const NestedReader nested(values);
  const Dtype type = to_dtype(dtype);
  if (const auto& wrong = nested.not_an_integer(); type == Dtype::int64 && wrong) refuse_number("values", *wrong);
  return Tensor::from(nested.numbers()).viewed(nested.shape()).to(type).to(device_or_default(device));
}

Tensor full_of(const std::vector<int64_t>& shape, double value, const std::string& dtype,
               std::optional<std::string> device) {
  fits("value", value, to_dtype(dtype));
  return Tensor::full(to_shape(shape), value, to_dtype(dtype), device_or_default(device));
}

Tensor arange_of(double first, double last, double step, const std::string& dtype, std::optional<std::string> device) {
  if (step == 0 || !std::isfinite(first) || !std::isfinite(last) || !std::isfinite(step)) {
    throw ArgumentError("step", "must not be 0, and first, last and step must be finite");
  }
  fits("first", first, to_dtype(dtype));
  fits("step", step, to_dtype(dtype));
  const double steps = std::floor((last - first) / step + 1e-9);
  if (steps > 1e15)
    throw ArgumentError(
        "last",
        "is too far from first for this step: the tensor would have more than 1e15 entries. Pass a larger step");
  if (steps > 0) fits("last", first + steps * step, to_dtype(dtype));
  Tensor out =
      Tensor::empty({steps < 0 ? 0 : static_cast<int64_t>(steps) + 1}, to_dtype(dtype), device_or_default(device));
  with_any(out.dtype(), [&]<class T>() {
    kernels<MoveKernels<T>>(out.device()).arange(out.entries(), {.out = out.span<T>(), .first = first, .step = step});
  });
  return out;
}

Tensor uniform_of(const std::vector<int64_t>& shape, double low, double high, int64_t seed, const std::string& stream,
                  const std::string& dtype, std::optional<std::string> device) {
  if (!(low <= high) || !std::isfinite(high - low)) {
    throw ArgumentError("low", "low is " + number_text(low) + " and high is " + number_text(high) +
                                   ", expected low <= high and a finite difference");
  }
  Tensor out = Tensor::empty(to_shape(shape), floating_dtype(dtype), device_or_default(device));
  const RandomKey key = random_key(static_cast<uint64_t>(seed), stream.c_str());
  with_real(out.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(out.device())
        .random_uniform(out.entries(), {.out = out.span<Real>(), .key = key, .low = low, .high = high});
  });
  return out;
}

Tensor normal_of(const std::vector<int64_t>& shape, double mean, double sd, int64_t seed, const std::string& stream,
                 const std::string& dtype, std::optional<std::string> device) {
  Tensor out = Tensor::empty(to_shape(shape), floating_dtype(dtype), device_or_default(device));
  const RandomKey key = random_key(static_cast<uint64_t>(seed), stream.c_str());
  with_real(out.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(out.device())
        .random_normal(out.entries(), {.out = out.span<Real>(), .key = key, .mean = mean, .sd = sd});
  });
  return out;
}

Tensor to_of(const Tensor& x, const std::string& where) {
  const bool is_device = where == "cpu" || where == "cuda";
  if (where == "int64") check::fits_int64("self", x);
  const char* const expected = "is not a dtype or a device, expected 'float32', 'float64', 'int64', 'cpu' or 'cuda'";
  const Tensor out = is_device ? x.to(to_device(where)) : x.to(to_dtype(where, expected));
  if (out.dtype() == Dtype::int64) return out;
  return record("to", out, {x}, [device = x.device(), dtype = x.dtype()](const Tensor& g) -> Gradients {
    return {g.to(device).to(dtype)};
  });
}

Tensor double_of(const Tensor& x) { return to_of(x, "float64"); }
Tensor float_of(const Tensor& x) { return to_of(x, "float32"); }
Tensor long_of(const Tensor& x) { return to_of(x, "int64"); }

std::vector<double> numbers_of(const Tensor& x) { return x.to(Dtype::float64).to_vector<double>(); }
std::vector<int64_t> integers_of(const Tensor& x) {
  check::fits_int64("x", x);
  return x.to(Dtype::int64).to_vector<int64_t>();
}
std::vector<int64_t> shape_of(const Tensor& x) {
  std::vector<int64_t> sizes;
  for (int d = 0; d < x.dims(); ++d) sizes.push_back(x.size(d));
  return sizes;
}

int64_t size_of_dim(const Tensor& x, int64_t dim) { return x.size(check::dimension("dim", x, dim)); }
int64_t length_of(const Tensor& x) { return x.shape().front(); }
double item_of(const Tensor& x) { return x.item(); }
std::string text_of(const Tensor& x) { return x.text(); }
std::string dtype_name(const Tensor& x) { return std::string(name_of(x.dtype())); }
std::string device_name(const Tensor& x) { return std::string(name_of(x.device())); }
std::string default_device_of(std::optional<std::string> name) {
  if (name) set_default_device(to_device(*name));
  return std::string(name_of(default_device()));
}

}  // namespace

using lua::op;
extern const lua::OpTable create_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&tensor_of>("tensor", "values, dtype, device?", "A tensor from a nested table of numbers."),
        op<&full_of>("full", "shape, value, dtype, device?", "A tensor of one value."),
        op<&arange_of>("arange", "first, last, step, dtype, device?",
                       "The numbers first, first + step, ... up to last."),
        op<&uniform_of>("uniform", "shape, low, high, seed, stream, dtype, device?",
                        "Uniform random numbers in [low, high)."),
        op<&normal_of>("normal", "shape, mean, sd, seed, stream, dtype, device?", "Normal random numbers."),
        op<&numbers_of>("numbers", "x", "All entries as a flat table of numbers."),
        op<&integers_of>("integers", "x", "All entries as a flat table of integers."),
        op<&shape_of>("shape", "x", "The sizes as a table."),
        op<&default_device_of>("device", "name?", "Sets the default device, if a name is given, and returns it."),
    }};

extern const lua::OpTable create_methods{
    lua::OpTable::methods,
    &lua::push_metatable<Tensor>,
    {
        op<&size_of_dim>("size", "self, dim", "Size of a dimension, counted from 1."),
        op<&item_of>("item", "self", "The single entry as a number."),
        op<&to_of>("to", "self, where",
                   "A copy on a device ('cpu', 'cuda') or of a type ('float32', 'float64', 'int64')."),
        op<&double_of>("double", "self", "A copy as float64."),
        op<&float_of>("float", "self", "A copy as float32."),
        op<&long_of>("long", "self", "A copy truncated to int64."),
    }};

extern const lua::OpTable create_getters{lua::OpTable::getters,
                                         &lua::push_metatable<Tensor>,
                                         {
                                             op<&dtype_name>("dtype", "self", "'float32', 'float64' or 'int64'."),
                                             op<&device_name>("device", "self", "'cpu' or 'cuda'."),
                                         }};

extern const lua::OpTable create_operators{
    lua::OpTable::metamethods,
    &lua::push_metatable<Tensor>,
    {
        op<&length_of>("__len", "self", "Size of the first dimension."),
        op<&text_of>("__tostring", "self", "Short text with values, shape and type."),
    }};

}  // namespace mr
