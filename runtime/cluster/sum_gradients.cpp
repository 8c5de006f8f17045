// Data-parallel training on several processes. Gradients are summed in the order of ranks, so that every process gets
// the same bits. Gradients on a GPU are copied to the host and back.
#include <algorithm>
#include <cstring>

#include "runtime/autograd/node.h"
#include "runtime/cluster/cluster.h"
#include "runtime/io/files/sha256.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"

namespace mr {
namespace {

template <class T>
std::string_view bytes_of(const std::vector<T>& values, size_t first, size_t last) {
  return {reinterpret_cast<const char*>(values.data() + first), (last - first) * sizeof(T)};
}
template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return bytes_of(values, 0, values.size());
}

template <class T>
std::vector<T> values_of(std::string_view bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

/// Returns the values of all ranks, joined in the order of ranks.
template <class T>
std::vector<T> gathered(const std::vector<T>& mine) {
  std::string all;
  for (const std::string& each : cluster::gather(bytes_of(mine))) all += each;
  return values_of<T>(all);
}

/// Returns the sum of a tensor over all ranks, times `factor`. Each rank adds up one part of the tensor in double
/// precision, and the parts are then gathered.
template <class Real>
std::vector<Real> summed(const std::vector<Real>& mine, double factor, size_t ranks) {
  std::vector<std::string> pieces;
  for (size_t r = 0; r < ranks; ++r) {
    pieces.emplace_back(bytes_of(mine, mine.size() * r / ranks, mine.size() * (r + 1) / ranks));
  }
  std::vector<double> sum;
  for (const std::string& piece : cluster::exchange(pieces)) {
    const std::vector<Real> values = values_of<Real>(piece);
    sum.resize(values.size(), 0);
    for (size_t i = 0; i < values.size(); ++i) sum[i] += static_cast<double>(values[i]);
  }
  std::vector<Real> share;
  for (const double each : sum) share.push_back(static_cast<Real>(each * factor));
  return gathered(share);
}

/// The form of a parameter's gradient: none, sparse (some rows only), or dense. If forms differ between ranks, the sum
/// has the largest of these values.
enum Form : int64_t { none, rows, dense };
Form form_of(const Gradient& gradient) { return !gradient.defined() ? none : gradient.sparse() ? rows : dense; }

/// Replaces a parameter's gradient by the sum of this gradient over all ranks, times `factor`.
template <class Real>
void add_up(const Tensor& parameter, Form form, double factor, size_t ranks) {
  Gradient& gradient = parameter.node()->grad;
  const Device device = parameter.device();
  if (form == dense) {
    const Tensor mine = gradient.defined() ? to_dense(gradient, parameter.shape())
                                           : Tensor::zeros(parameter.shape(), parameter.dtype(), device);
    const std::vector<Real> sum = summed(mine.to_vector<Real>(), factor, ranks);
    gradient = Tensor::from_bytes(sum.data(), parameter.shape(), parameter.dtype(), device);
  } else if (form == rows) {
    const Gradient mine = gradient.defined() ? merged(gradient) : Gradient();
    const auto all_rows = gathered(mine.defined() ? mine.rows.to_vector<int64_t>() : std::vector<int64_t>());
    auto values = gathered(mine.defined() ? mine.values.to_vector<Real>() : std::vector<Real>());
    for (Real& each : values) each = static_cast<Real>(static_cast<double>(each) * factor);
    Shape shape = parameter.shape();
    shape.set(0, static_cast<int64_t>(all_rows.size()));
    gradient =
        merged({Tensor::from(all_rows, device), Tensor::from_bytes(values.data(), shape, parameter.dtype(), device)});
  }
}

void check_parameters(const std::vector<Tensor>& parameters) {
  for (const Tensor& each : parameters) {
    check::floating("parameters", each);
    if (each.node() == nullptr || !each.node()->leaf)
      throw ArgumentError("parameters", "has a tensor without gradients: call :requires_grad() on it first");
  }
}

/// Runs `work`, in which all ranks take part. An out-of-memory error becomes a std::runtime_error, which is not
/// retried: the other ranks would not retry either.
template <class Work>
auto with_all(const std::vector<Tensor>& parameters, Work work) {
  check_parameters(parameters);
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("out of memory while the processes exchange gradients");
  }
}

/// Sums over all ranks the loss, the number of counted lists, the requests to stop, and then the gradients. With
/// `mean`, gradients are divided by the number of counted lists.
std::tuple<double, double, bool> sum_gradients_once(const std::vector<Tensor>& parameters, double loss, double counted,
                                                    bool stop, bool mean) {
  std::vector<double> mine{loss, counted, stop ? 1.0 : 0.0};
  for (const Tensor& each : parameters) mine.push_back(static_cast<double>(form_of(each.node()->grad)));
  const std::vector<double> all = gathered(mine);
  std::vector<double> total(mine.size(), 0);
  for (size_t i = 0; i < all.size(); ++i) {
    double& entry = total[i % mine.size()];
    entry = i % mine.size() < 3 ? entry + all[i] : std::max(entry, all[i]);
  }
  const double factor = mean && total[1] > 0 ? 1 / total[1] : 1;
  for (size_t i = 0; i < parameters.size(); ++i) {
    with_real(parameters[i].dtype(), [&]<class Real>() {
      add_up<Real>(parameters[i], static_cast<Form>(total[i + 3]), factor, all.size() / mine.size());
    });
  }
  if (total[2] > 0) cluster::agree_to_end();
  return {total[0], total[1], total[2] > 0};
}

std::tuple<double, double, bool> sum_gradients(const std::vector<Tensor>& parameters, double loss, double counted,
                                               bool stop, bool mean) {
  return with_all(parameters, [&] { return sum_gradients_once(parameters, loss, counted, stop, mean); });
}

std::vector<double> of_first(const std::vector<double>& values) {
  return values_of<double>(cluster::gather(bytes_of(values)).front());
}

void share_parameters(const std::vector<Tensor>& parameters) {
  with_all(parameters, [&] {
    for (const Tensor& each : parameters) {
      with_real(each.dtype(), [&]<class Real>() {
        const auto first = values_of<Real>(cluster::gather(bytes_of(each.to_vector<Real>())).front());
        if (static_cast<int64_t>(first.size()) != each.entries()) {
          throw std::runtime_error(
              "the processes train models with different numbers of parameters, expected the same model on every "
              "process");
        }
        each.assign(Tensor::from_bytes(first.data(), each.shape(), each.dtype(), each.device()));
      });
    }
  });
}

bool same_parameters(const std::vector<Tensor>& parameters) {
  return with_all(parameters, [&] {
    std::string sums;
    for (const Tensor& each : parameters) {
      with_real(each.dtype(), [&]<class Real>() { sums += io::sha256(bytes_of(each.to_vector<Real>())); });
    }
    const std::vector<std::string> all = cluster::gather(sums);
    return std::all_of(all.begin(), all.end(), [&](const std::string& each) { return each == all.front(); });
  });
}

}  // namespace

using lua::once;
using lua::op;
extern const lua::OpTable gradient_sum_functions{
    lua::OpTable::functions,
    nullptr,
    {
        once<&sum_gradients>("sum_gradients", "parameters, loss, counted, stop, mean",
                             "Sums gradients over all ranks. Returns the summed loss and number of lists, and true if "
                             "a rank wants to stop."),
        op<&of_first>("of_first", "values", "Returns the numbers that rank 0 passes."),
        op<&share_parameters>("share_parameters", "parameters", "Copies the parameters of rank 0 to every rank."),
        op<&same_parameters>("same_parameters", "parameters", "True if all ranks have bitwise equal parameters."),
    }};

}  // namespace mr
