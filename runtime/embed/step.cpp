// One evaluation of a loss for a training loop in another language. Its arguments go to Lua one by one, because packing
// them into bytes would take longer than the loss of a small batch.
#include <cmath>
#include <cstring>
#include <optional>

#include "runtime/embed/call.h"
#include "runtime/ops/lists.h"

namespace mr::embed {
namespace {

constexpr const char* reductions[] = {"mean", "sum", "none"};
constexpr int results = 5;

/// The arguments of a loss evaluation as lists and tensors. Those that the caller did not pass are empty.
struct Arguments {
  std::optional<Lists> lists;
  Tensor scores, row_weights, list_weights, upstream, parameters;
};

struct Request {
  const moonrank_step* step;
  const Arguments* arguments;
};

template <class T>
void push_copy(lua_State* L, const T& value) {
  lua::reserve_box<T>(L);
  lua::box_at<T>(L, -1)->fill(T(value));
}

void push_tensor(lua_State* L, const Tensor& tensor) {
  if (tensor.defined()) {
    push_copy(L, tensor);
  } else {
    lua_pushnil(L);
  }
}

/// A C function for Lua that returns the five results of require("moonrank.system.bridge").step(...): the values, their
/// gradient, an integer that names the random numbers of a sampled loss, the parameters, and the parameters' gradient.
int call_step(lua_State* L) {
  const Request& request = *static_cast<const Request*>(lua_touserdata(L, 1));
  const moonrank_step& step = *request.step;
  const Arguments& arguments = *request.arguments;
  push_bridge_function(L, "step");
  lua_pushinteger(L, step.loss);
  if (arguments.lists) {
    push_copy(L, *arguments.lists);
  } else {
    lua_pushinteger(L, step.lists);
  }
  push_copy(L, arguments.scores);
  lua_pushstring(L, reductions[step.reduction]);
  lua_pushboolean(L, step.gradient != nullptr ? 1 : 0);
  push_tensor(L, arguments.upstream);
  if (step.draw_again >= 0) {
    lua_pushinteger(L, step.draw_again);
  } else {
    lua_pushnil(L);
  }
  push_tensor(L, arguments.row_weights);
  push_tensor(L, arguments.list_weights);
  push_tensor(L, arguments.parameters);
  lua_call(L, 10, results);
  return results;
}

Tensor copied(const void* data, int64_t entries, Dtype dtype) {
  return data != nullptr ? Tensor::from_bytes(data, {entries}, dtype, Device::cpu) : Tensor();
}

template <class Real>
void refuse_nan(const Tensor& scores) {
  const Span<Real> x = scores.span<Real>();
  for (int64_t i = 0; i < scores.entries(); ++i) {
    if (std::isnan(x.data[i])) {
      throw std::invalid_argument("scores has NaN at row " + std::to_string(i) +
                                  ", expected numbers (rows count from 0)");
    }
  }
}

void check_pointers(const moonrank_step& step) {
  if (step.reduction < 0 || step.reduction > 2)
    throw std::invalid_argument("reduction is " + std::to_string(step.reduction) + ", expected 0, 1 or 2");
  if (step.dtype != MOONRANK_FLOAT32 && step.dtype != MOONRANK_FLOAT64) {
    throw std::invalid_argument("dtype is " + std::to_string(step.dtype) + ", expected 0 (float32) or 1 (float64)");
  }
  const bool lacks_lists =
      step.lists == 0 && ((step.grades == nullptr && step.rows > 0) || (step.sizes == nullptr && step.count > 0));
  if (step.rows < 0 || step.count < 0 || step.parameter_count < 0 || lacks_lists)
    throw std::invalid_argument(
        "rows, count, grades and sizes do not describe lists: expected count sizes, rows grades, and numbers of 0 or "
        "more");
  const bool lacks_gradient =
      step.gradient != nullptr && step.parameters != nullptr && step.parameter_gradient == nullptr;
  const bool lacks_upstream =
      step.gradient != nullptr && step.reduction == 2 && step.count > 0 && step.upstream == nullptr;
  const bool lacks_values = step.values == nullptr && !(step.reduction == 2 && step.count == 0);
  if (lacks_values || lacks_gradient || lacks_upstream)
    throw std::invalid_argument("values, upstream or parameter_gradient is NULL, expected the address of an array");
}

Arguments arguments_of(const moonrank_step& step, const Tensor& scores) {
  check_pointers(step);
  Arguments found;
  found.scores = scores;
  if (step.dtype == MOONRANK_FLOAT32) {
    refuse_nan<float>(scores);
  } else {
    refuse_nan<double>(scores);
  }
  if (step.lists == 0)
    found.lists.emplace(std::vector<int64_t>(step.sizes, step.sizes + step.count),
                        std::vector<float>(step.grades, step.grades + step.rows));
  found.row_weights = copied(step.row_weights, step.rows, Dtype::float64);
  found.list_weights = copied(step.list_weights, step.count, Dtype::float64);
  if (step.gradient != nullptr && step.reduction == 2)
    found.upstream = copied(step.upstream, step.count, scores.dtype());
  found.parameters = copied(step.parameters, step.parameter_count, Dtype::float64);
  return found;
}

/// Copies a result, a tensor on the Lua stack, to the caller's array and frees the tensor. If there is no tensor, the
/// array is filled with 0.
void copy_result(lua_State* L, int index, void* to, int64_t entries, Dtype dtype) {
  lua::Box<Tensor>* const box = lua::box_at<Tensor>(L, index);
  const auto bytes = static_cast<size_t>(entries * size_of(dtype));
  if (bytes == 0) return;
  if (box == nullptr || !box->alive) {
    std::memset(to, 0, bytes);
    return;
  }
  if (box->get()->entries() != entries) {
    throw std::invalid_argument("the lists have " + std::to_string(box->get()->entries()) +
                                " rows or lists, but the call says " + std::to_string(entries) +
                                ". Pass the numbers of the lists");
  }
  std::memcpy(to, box->get()->to(Device::cpu).to(dtype).raw(), bytes);
  box->drop();
}

void read_results(lua_State* L, moonrank_step& step, Dtype dtype) {
  copy_result(L, -results, step.values, step.reduction == 2 ? step.count : 1, dtype);
  if (step.gradient != nullptr) copy_result(L, -results + 1, step.gradient, step.rows, dtype);
  step.drawn = lua_tointegerx(L, -results + 2, nullptr);
  if (step.parameters == nullptr) return;
  copy_result(L, -results + 3, step.parameters, step.parameter_count, Dtype::float64);
  if (step.gradient != nullptr)
    copy_result(L, -results + 4, step.parameter_gradient, step.parameter_count, Dtype::float64);
}

}  // namespace
}  // namespace mr::embed

using namespace mr::embed;  // NOLINT: this file implements the C interface

int moonrank_loss_step(moonrank_state* state, moonrank_step* step) {
  if (step == nullptr) return guarded(state, [&] { return fail(state, "step is NULL, expected its address"); });
  const moonrank_array array{.data = step->scores,
                             .dtype = static_cast<int32_t>(step->dtype),
                             .dims = 1,
                             .shape = {step->rows},
                             .release = step->release,
                             .owner = step->owner};
  if (state == nullptr && step->release != nullptr) step->release(step->owner);
  return guarded(state, [&] {
    // must come first: the tensor releases the caller's array, also after an error below
    const mr::Tensor scores = tensor_on(array);
    const Arguments arguments = arguments_of(*step, scores);
    const Request request{step, &arguments};
    lua_State* const L = state->L;
    lua_settop(L, 0);
    lua_pushcfunction(L, &call_step);
    lua_pushlightuserdata(L, const_cast<Request*>(&request));  // NOLINT: it is only read
    const int status = protected_call(state, 1, results);
    if (status == MOONRANK_OK) read_results(L, *step, scores.dtype());
    lua_settop(L, 0);
    return status;
  });
}
