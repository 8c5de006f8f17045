// Saves the state of an optimizer as named tensors, for files, and restores it. Files are untrusted, so everything is
// checked before anything changes.
#include <algorithm>
#include <map>
#include <utility>

#include "runtime/io/files/text_file.h"
#include "runtime/models/prepared.h"
#include "runtime/ops/argument_checks.h"

namespace mr {
namespace {

using Named = std::map<std::string, Tensor>;

/// Returns the optimizer's state for one parameter as named tensors. `steps`: the number of steps that the parameter
/// has had.
Named numbers_of(const ParameterState& state, int64_t steps) {
  Named named{{"counts", Tensor::from(std::vector<int64_t>{steps, state.all_touched ? 1 : 0})}};
  if (state.replay != nullptr) state.replay->settle();
  Tensor mean = state.mean, square = state.square;
  if (state.deferred != nullptr && !state.deferred->gone()) {
    const PutOff off = state.deferred->put_off();
    named["rows"] = off.rows;
    named["stored"] = off.stored;
    named["rates"] = off.rates;
    named["settings"] = off.settings;
  } else if (state.deferred != nullptr) {
    // Updates are no longer deferred, because other code wrote to the parameter: saves the means with which the next
    // step starts.
    if (state.deferred->method().has_mean()) mean = state.deferred->moments().mean;
    if (state.deferred->method().has_square()) square = state.deferred->moments().square;
    named["counts"] = Tensor::from(std::vector<int64_t>{steps, 1});
  }
  if (mean.defined()) named["mean"] = mean.clone();
  if (square.defined()) named["square"] = square.clone();
  if (state.touched_count > 0) named["touched"] = Tensor::from(touched_rows(state));
  return named;
}

std::tuple<std::vector<std::string>, std::vector<Tensor>> optimizer_numbers(const OptimizerState& all) {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
  const std::vector<int64_t> counted = all.steps.defined() ? all.steps.to_vector<int64_t>() : std::vector<int64_t>();
  for (size_t i = 0; i < all.parameters.size(); ++i) {
    const bool there = all.parameters[i].parameter.device() == Device::cuda;
    // Parameters on the GPU are counted there, because the host does not see replays of recorded kernel launches. The
    // count is 0 if no step has run on the GPU.
    const int64_t count_there = counted.empty() ? 0 : counted[i];
    const int64_t steps = there ? count_there : all.parameters[i].steps;
    for (auto& [name, tensor] : numbers_of(all.parameters[i], steps)) {
      names.push_back(std::to_string(i + 1) + "." + name);
      tensors.push_back(tensor);
    }
  }
  return {std::move(names), std::move(tensors)};
}

/// Holds the named tensors of a file. Taking a tensor removes it, so that tensors that belong to nothing are noticed.
class Source {
 public:
  Source(const std::vector<std::string>& names, const std::vector<Tensor>& tensors) {
    check::as_many("names", names.size(), "tensor", tensors.size());
    for (size_t i = 0; i < names.size(); ++i) named_[names[i]] = tensors[i];
  }
  /// Takes the tensor `name`. Returns an undefined tensor if the file has no such tensor.
  Tensor take(const std::string& name) {
    const auto found = named_.extract(name);
    return found.empty() ? Tensor() : found.mapped();
  }
  /// Takes a vector of integers, each from 0 to `most`. Returns an empty vector if the file has no such tensor.
  std::vector<int64_t> integers(const std::string& name, int64_t most) {
    const Tensor x = take(name);
    if (!x.defined()) return {};
    if (x.dtype() != Dtype::int64 || x.dims() != 1)
      throw std::runtime_error("tensor '" + name + "' of the file is not an int64 vector");
    std::vector<int64_t> values = x.to_vector<int64_t>();
    for (const int64_t value : values) {
      if (value < 0 || value > most)
        throw std::runtime_error("tensor '" + name + "' of the file has " + std::to_string(value) + ", expected 0 to " +
                                 std::to_string(most));
    }
    return values;
  }
  /// Takes the tensor `name` from the file, copied to the parameter's device. Throws if its shape or dtype differs from
  /// the parameter's. Returns an undefined tensor if the file has no such tensor.
  Tensor like(const std::string& name, const Tensor& parameter) {
    const Tensor x = take(name);
    if (!x.defined()) return x;
    if (!(x.shape() == parameter.shape()) || x.dtype() != parameter.dtype())
      throw std::runtime_error("tensor '" + name + "' of the file has shape " + x.shape().text() + " and dtype " +
                               std::string(name_of(x.dtype())) + ", expected the parameter's shape, " +
                               parameter.shape().text() + ", and its dtype, " +
                               std::string(name_of(parameter.dtype())));
    return x.device() == parameter.device() ? x.clone() : x.to(parameter.device());
  }
  void expect_empty() const {
    if (!named_.empty())
      throw std::runtime_error("tensor " + mr::quoted(named_.begin()->first) +
                               " of the file does not belong to a parameter of the optimizer");
  }

 private:
  Named named_;
};

constexpr int64_t most_steps = int64_t{1} << 52;

/// Reads the optimizer's state for parameter `bound` from the tensors whose names begin with `number` and a dot. Writes
/// the tensors of its deferred updates, which may be undefined, to `off`.
ParameterState read(const ParameterState& bound, const std::string& number, Source& from, PutOff& off) {
  ParameterState state;
  state.parameter = bound.parameter;
  state.alone = bound.alone;
  const std::string at = number + ".";
  const std::vector<int64_t> counts = from.integers(at + "counts", most_steps);
  if (counts.size() != 2)
    throw std::runtime_error("tensor '" + at + "counts' is missing in the file or does not have two integers");
  state.steps = counts[0];
  state.all_touched = counts[1] != 0;
  state.mean = from.like(at + "mean", state.parameter);
  state.square = from.like(at + "square", state.parameter);
  const int64_t rows = state.parameter.dims() == 0 ? 1 : state.parameter.size(0);
  const std::vector<int64_t> touched = from.integers(at + "touched", rows - 1);
  if (!touched.empty()) state.is_touched.resize(static_cast<size_t>(rows), 0);
  for (const int64_t row : touched) state.is_touched[static_cast<size_t>(row)] = 1;
  state.touched_count = std::ranges::count(state.is_touched, 1);
  off = {from.take(at + "rows"), from.take(at + "stored"), from.take(at + "rates"), from.take(at + "settings")};
  return state;
}

/// Returns true if `off`, read from a file, has deferred updates. Throws if they are incomplete or cannot belong to the
/// parameter of `state`.
bool check_put_off(const ParameterState& state, const PutOff& off) {
  const bool none = !off.rows.defined() && !off.stored.defined() && !off.rates.defined() && !off.settings.defined();
  if (none) return false;
  const bool all_there = off.rows.defined() && off.stored.defined() && off.rates.defined() && off.settings.defined();
  if (!all_there || !state.alone)
    throw std::runtime_error(
        "the deferred updates in the file cannot be applied: one of the tensors 'rows', 'stored', 'rates' and "
        "'settings' "
        "of a parameter is missing, or the parameter does not allow deferred updates");
  Deferred::check(state.parameter, off, state.steps);
  return true;
}

/// The optimizer state in a file, read and checked before anything changes. `put_off`: the deferred updates, each with
/// the index of its parameter.
struct Restored {
  OptimizerState state;
  std::vector<std::pair<size_t, PutOff>> put_off;
};

Restored read_all(const OptimizerState& bound, const std::vector<std::string>& names,
                  const std::vector<Tensor>& tensors) {
  Source from(names, tensors);
  Restored found;
  for (size_t i = 0; i < bound.parameters.size(); ++i) {
    PutOff off;
    found.state.parameters.push_back(read(bound.parameters[i], std::to_string(i + 1), from, off));
    if (check_put_off(found.state.parameters[i], off)) found.put_off.emplace_back(i, std::move(off));
  }
  from.expect_empty();
  return found;
}

void check_optimizer(const OptimizerState& all, const std::vector<std::string>& names,
                     const std::vector<Tensor>& tensors) {
  read_all(all, names, tensors);
}

/// Restores the saved state of an optimizer. The parameters must already have the values that they had when it was
/// saved.
void restore_optimizer(OptimizerState& all, const std::vector<std::string>& names, const std::vector<Tensor>& tensors) {
  auto [restored, put_off] = read_all(all, names, tensors);
  const bool any_there = std::ranges::any_of(
      restored.parameters, [](const ParameterState& state) { return state.parameter.device() == Device::cuda; });
  if (any_there) {
    std::vector<int64_t> steps;
    for (const ParameterState& state : restored.parameters) steps.push_back(state.steps);
    // Copies the step counts directly to the GPU. Tensor::from would also keep a copy on the host, which becomes stale
    // when the GPU counts, and from which the host would read.
    restored.steps = Tensor::empty({static_cast<int64_t>(steps.size())}, Dtype::int64, Device::cuda);
    copy_bytes(restored.steps.raw(), Device::cuda, steps.data(), Device::cpu, restored.steps.bytes());
    restored.rates = DeviceArray<AdamRate>(static_cast<int64_t>(steps.size()), Device::cuda);
  }
  for (const auto& [i, off] : put_off) {
    ParameterState& state = restored.parameters[i];
    state.deferred = Deferred::resume(state.parameter, off, state.steps);
  }
  all = std::move(restored);
}

}  // namespace

using lua::op;
extern const lua::OpTable optim_state_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&optimizer_numbers>("optimizer_numbers", "state",
                               "Names and tensors of an optimizer's state, including deferred updates."),
        op<&check_optimizer>("check_optimizer", "state, names, tensors",
                             "Raises the error that `restore_optimizer` would raise. Changes nothing."),
        op<&restore_optimizer>(
            "restore_optimizer", "state, names, tensors",
            "Restores the state of `optimizer_numbers`. The parameters must have their numbers of that time. Raises an "
            "error, without changes, if the state does not belong to these parameters."),
    }};

}  // namespace mr
