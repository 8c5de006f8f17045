// Lua functions for gradients.
#include "runtime/autograd/anomaly.h"
#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"

namespace mr {
namespace {

/// Makes this handle of a tensor a leaf. Other handles that share its bytes do not change.
void track_of(Tensor& x) { x = requires_grad(x); }

void backward_of(const Tensor& loss, std::optional<Tensor> seed, std::optional<bool> keep) {
  backward(loss, seed.value_or(Tensor()), keep.value_or(false));
}

/// Throws unless x is a leaf, because only leaves collect gradients.
void check_leaf(const char* name, const Tensor& x) {
  if (x.node() == nullptr || x.node()->leaf) return;
  throw ArgumentError(name,
                      "the tensor is a result of an operation and keeps no gradient. Read the gradient of the tensor x "
                      "that it was computed from, after x:requires_grad() and backward()");
}

std::optional<Tensor> grad_of(const Tensor& x) {
  if (x.node() == nullptr) return std::nullopt;
  check_leaf("self", x);
  if (!x.node()->grad.defined()) return std::nullopt;
  return to_dense(x.node()->grad, x.shape());
}

/// Replaces or clears the gradient of a leaf.
void set_grad_of(const Tensor& x, std::optional<Tensor> grad) {
  if (x.node() == nullptr || !x.node()->leaf)
    throw ArgumentError("x", "it collects no gradients: call requires_grad() on it first");
  if (grad) {
    check::same_kind("grad", *grad, "the tensor", x);
    check::same_shape("grad", *grad, "the tensor", x);
  }
  x.node()->grad = grad ? Gradient(grad->data()) : Gradient();
}

void zero_grad_of(const Tensor& x) {
  check_leaf("self", x);
  if (x.node() != nullptr) x.node()->grad = Gradient();
}

bool has_gradient_of(const Tensor& x) { return x.node() != nullptr && x.node()->leaf && x.node()->grad.defined(); }
bool tracked_of(const Tensor& x) { return x.node() != nullptr; }
Tensor detach_of(const Tensor& x) { return x.data(); }
bool recording_of(bool on) { return set_recording(on); }

constexpr const char* anomaly_names[] = {"none", "nan", "infinite"};
std::string detect_anomalies_of(const std::string& wanted) {
  for (int i = 0; i < 3; ++i) {
    if (wanted == anomaly_names[i]) return anomaly_names[static_cast<int>(detect_anomalies(static_cast<Anomaly>(i)))];
  }
  throw ArgumentError("wanted", "'" + wanted + "', expected 'none', 'nan' or 'infinite'");
}

}  // namespace

using lua::once;
using lua::op;
extern const lua::OpTable gradient_functions{
    lua::OpTable::functions,
    nullptr,
    {
        once<&backward_of>("backward", "loss, seed?, keep?",
                           "Adds the derivatives of loss to the gradients of its leaves."),
        op<&set_grad_of>("set_grad", "x, grad?", "Replaces or clears the gradient of a leaf."),
        op<&track_of>("track", "x", "Makes the tensor a leaf that collects gradients."),
        op<&detect_anomalies_of>("detect_anomalies", "wanted",
                                 "Makes operations and derivatives raise an error on NaN ('nan'), also on infinity "
                                 "('infinite'), or not at all ('none'). Returns the previous setting."),
        op<&has_gradient_of>("has_gradient", "x", "True if a leaf has a gradient."),
        op<&recording_of>("recording", "on",
                          "Turns the recording of operations on or off; returns the previous setting."),
    }};
extern const lua::OpTable gradient_methods{lua::OpTable::methods,
                                           &lua::push_metatable<Tensor>,
                                           {
                                               op<&detach_of>("detach", "self", "This tensor without its graph."),
                                               op<&zero_grad_of>("zero_grad", "self", "Clears the gradient."),
                                           }};
extern const lua::OpTable gradient_getters{
    lua::OpTable::getters,
    &lua::push_metatable<Tensor>,
    {
        op<&grad_of>("grad", "self", "The collected gradient, or nil."),
        op<&tracked_of>("tracked", "self", "True if operations on the tensor are recorded."),
    }};

}  // namespace mr
