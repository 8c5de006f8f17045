// Lua functions for judged lists, and reductions over the rows of each list.
#include "runtime/ops/lists.h"

#include <cmath>
#include <limits>

#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/geometry.h"
#include "runtime/ops/list_columns.h"

namespace mr {
namespace {

Lists lists_of(const std::vector<int64_t>& sizes, const Tensor& relevance, const std::vector<std::string>& ids,
               const std::vector<std::string>& documents) {
  if (!ids.empty() && ids.size() != sizes.size()) {
    throw ArgumentError("ids", std::to_string(ids.size()) + " ids, expected one for each of " +
                                   std::to_string(sizes.size()) + " lists");
  }
  if (!documents.empty() && static_cast<int64_t>(documents.size()) != relevance.entries()) {
    throw ArgumentError("documents", std::to_string(documents.size()) + " documents for " +
                                         std::to_string(relevance.entries()) + " rows, expected one for each");
  }
  return {sizes, relevance.to(Dtype::float32).to_vector<float>(), ids, documents};
}

/// Checks a tensor of list numbers, which count from 1, and returns the numbers counted from 0.
std::vector<int64_t> list_numbers(const Lists& lists, const Tensor& index) {
  check::index("index", index, lists.count());
  std::vector<int64_t> numbers = index.to_vector<int64_t>();
  for (int64_t& n : numbers) --n;
  return numbers;
}

Lists select_of(const Lists& lists, const Tensor& index) { return lists.select(list_numbers(lists, index)); }
Tensor numbers_of_rows(const Lists& lists, const Tensor& index) {
  return Tensor::from(lists.rows_of(list_numbers(lists, index)), index.device());
}

void per_row_of(const Tensor& x, const Lists& lists) {
  if (x.dims() != 0 && x.size(0) == lists.rows()) return;
  throw ArgumentError("x", "it has shape " + x.shape().text() + ", expected one row for each of the " +
                               std::to_string(lists.rows()) + " rows of the lists");
}

Tensor take_rows_of(const Lists& lists, const Tensor& x, const Tensor& index) {
  per_row_of(x, lists);
  return lists.take_rows(x, list_numbers(lists, index));
}

/// Returns a minibatch on `device`: the lists with the numbers order[first] to order[first + count - 1], the rows of
/// `features` and `items` that belong to them, and their entries of `users`. Optional tensors that are not given stay
/// absent.
std::tuple<Lists, std::optional<Tensor>, std::optional<Tensor>, std::optional<Tensor>> batch_of(
    const Lists& lists, const Tensor& order, int64_t first, int64_t count, const std::optional<Tensor>& features,
    const std::optional<Tensor>& items, const std::optional<Tensor>& users, const std::string& device) {
  if (order.dims() != 1 || first < 1 || count < 0 || count > order.entries() - (first - 1)) {
    throw ArgumentError("first", std::to_string(count) + " lists from list " + std::to_string(first) +
                                     " exceed the order of shape " + order.shape().text() +
                                     ". Pass a smaller first or count");
  }
  const Tensor index = order.slice(first - 1, count);
  const std::vector<int64_t> numbers = list_numbers(lists, index);
  const Device there = to_device(device);
  const auto taken = [&](const std::optional<Tensor>& x) -> std::optional<Tensor> {
    if (!x) return std::nullopt;
    per_row_of(*x, lists);
    return lists.take_rows(*x, numbers).to(there);
  };
  std::optional<Tensor> owners;
  if (users) owners = rows_of(*users, index.to(users->device())).to(there);
  return {lists.select(numbers), taken(features), taken(items), std::move(owners)};
}

Tensor head_of(const Lists& lists, int64_t k) {
  if (k < 0) throw ArgumentError("k", std::to_string(k) + ", expected 0 or more");
  std::vector<int64_t> rows;
  for (int64_t l = 0; l < lists.count(); ++l) {
    for (int64_t i = 0; i < std::min(k, lists.sizes()[l]); ++i) rows.push_back(lists.offsets()[l] + i + 1);
  }
  return Tensor::from(rows, default_device());
}

struct SingleRows {
  auto operator<=>(const SingleRows&) const = default;
};

/// Makes each row a list of its own, which keeps the row's grade. Weights of rows and of lists are left out.
Lists single_rows_of(const Lists& lists) {
  return lists.cached<Lists>(
      SingleRows{}, [&] { return Lists(std::vector<int64_t>(lists.relevance().size(), 1), lists.relevance()); });
}

Lists with_relevance_of(const Lists& lists, const Tensor& relevance) {
  if (relevance.entries() != lists.rows()) {
    throw ArgumentError("relevance", std::to_string(relevance.entries()) + " entries for " +
                                         std::to_string(lists.rows()) + " rows, expected one for each");
  }
  return lists.with_relevance(relevance.to(Dtype::float32).to_vector<float>());
}

/// Returns a copy of `lists` with the given weights of rows and of lists. If one of the two is not given, the copy has
/// no such weights.
Lists with_weights_of(const Lists& lists, const std::optional<Tensor>& weights,
                      const std::optional<Tensor>& list_weights) {
  const auto numbers = [](const char* name, const std::optional<Tensor>& x, int64_t expected,
                          const std::string& each) -> std::vector<double> {
    if (!x) return {};
    if (x->dims() != 1 || x->entries() != expected)
      throw ArgumentError(name, "shape " + x->shape().text() + ", expected {" + std::to_string(expected) +
                                    "}, one number for each " + each);
    std::vector<double> found = x->to(Dtype::float64).to_vector<double>();
    for (size_t i = 0; i < found.size(); ++i) {
      if (!(found[i] >= 0) || std::isinf(found[i]))
        throw ArgumentError(name, "entry " + std::to_string(i + 1) + " is " + number_text(found[i]) +
                                      ", expected a finite number, 0 or more");
    }
    return found;
  };
  return lists.with_weights(numbers("weights", weights, lists.rows(), "row"),
                            numbers("list_weights", list_weights, lists.count(), "list"));
}

bool has_weights(const Lists& lists) { return !lists.row_weights().empty() || !lists.list_weights().empty(); }

/// Returns `weights` converted to the dtype of `like`, or nothing if there are no weights.
std::optional<Tensor> as_like(const Tensor& weights, const Tensor& like) {
  if (!weights.defined()) return std::nullopt;
  return weights.to(like.dtype());
}
std::optional<Tensor> row_weights_of(const Lists& lists, const Tensor& like) {
  return as_like(lists.row_weights_on(like.device()), like);
}
std::optional<Tensor> list_weights_of(const Lists& lists, const Tensor& like) {
  return as_like(lists.list_weights_on(like.device()), like);
}

/// Returns the total weight of each list, on the CPU, float64. With `of_rows` it is the weight of the list times the
/// sum of the weights of its rows, for means over rows; else it is the weight of the list, for means over lists. Lists
/// without rows, or whose rows all have weight 0, get 0.
Tensor mass_of(const Lists& lists, bool of_rows) {
  const std::vector<double>&rows = lists.row_weights(), &own = lists.list_weights();
  std::vector<double> mass;
  for (int64_t l = 0; l < lists.count(); ++l) {
    const int64_t begin = lists.offsets()[l], end = lists.offsets()[l + 1];
    double sum = rows.empty() ? static_cast<double>(end - begin) : 0;
    for (int64_t i = begin; !rows.empty() && i < end; ++i) sum += rows[i];
    mass.push_back((own.empty() ? 1 : own[l]) * (of_rows ? sum : sum > 0 ? 1 : 0));
  }
  return Tensor::from(mass, Device::cpu);
}

/// Returns a copy of `lists` whose relevance scripts see as `dtype`, float32 or float64. The stored grades stay
/// float32.
Lists lists_to(const Lists& lists, const std::string& dtype) {
  if (dtype != "float32" && dtype != "float64")
    throw ArgumentError("dtype", "'" + dtype + "', expected 'float32' or 'float64'");
  return lists.shown_in(dtype == "float32" ? Dtype::float32 : Dtype::float64);
}

Tensor spread(const Tensor& v, const Lists& lists, bool mean) {
  Tensor out = Tensor::empty({lists.rows()}, v.dtype(), v.device());
  with_real(v.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(v.device())
        .spread(lists.count(),
                {.in = v.span<const Real>(), .lists = lists.view(v.device()), .mean = mean, .out = out.span<Real>()});
  });
  return out;
}

Tensor summed(const Tensor& x, const Lists& lists, bool mean) {
  Tensor out = Tensor::empty({lists.count()}, x.dtype(), x.device());
  with_real(x.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(x.device())
        .list_sum(lists.count(),
                  {.in = x.span<const Real>(), .lists = lists.view(x.device()), .mean = mean, .out = out.span<Real>()});
  });
  return out;
}

/// Throws unless x has one number, or one matrix row, for each row of the lists.
void check_rows(const Tensor& x, const Lists& lists) {
  check::floating("x", x);
  if (x.dims() < 2 || x.size(0) != lists.rows()) check::per_row("x", x, lists);
}

Tensor list_sum(const Lists& lists, const Tensor& x) {
  check_rows(x, lists);
  if (has_columns(x, lists)) return column_sum(x, lists);
  return record("lists:sum", summed(x, lists, false), {x},
                [lists](const Tensor& g) -> Gradients { return {spread(g, lists, false)}; });
}

Tensor list_mean(const Lists& lists, const Tensor& x) {
  check_rows(x, lists);
  if (has_columns(x, lists)) return column_mean(x, lists);
  return record("lists:mean", summed(x, lists, true), {x},
                [lists](const Tensor& g) -> Gradients { return {spread(g, lists, true)}; });
}

Tensor spread_of(const Lists& lists, const Tensor& v) {
  const bool of_rows = v.dtype() == Dtype::int64 || (v.dims() > 1 && v.shape().stride(0) != 1);
  if (of_rows && v.shape().front() == lists.count() && v.dims() > 0) return spread_rows(v, lists);
  if (of_rows) {
    throw ArgumentError("v", "v has shape " + v.shape().text() + ", expected one row for each of " +
                                 std::to_string(lists.count()) + " lists");
  }
  check::per_list("v", v, lists);
  return record("lists:spread", spread(v, lists, false), {v},
                [lists](const Tensor& g) -> Gradients { return {summed(g, lists, false)}; });
}

Tensor list_max(const Lists& lists, const Tensor& x) {
  check_rows(x, lists);
  if (has_columns(x, lists)) return column_max(x, lists);
  Tensor out = Tensor::empty({lists.count()}, x.dtype(), x.device());
  Tensor at = Tensor::empty({lists.count()}, Dtype::int64, x.device());
  with_real(x.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(x.device())
        .list_max(lists.count(), {.in = x.span<const Real>(),
                                  .lists = lists.view(x.device()),
                                  .out = out.span<Real>(),
                                  .at = at.span<int64_t>()});
  });
  return record("lists:max", out, {x}, [at, rows = lists.rows()](const Tensor& g) -> Gradients {
    Tensor gx = Tensor::zeros({rows}, g.dtype(), g.device());
    with_real(g.dtype(), [&]<class Real>() {
      kernels<ArithmeticKernels<Real>>(g.device())
          .list_max_vjp(g.entries(),
                        {.upstream = g.span<const Real>(), .at = at.span<const int64_t>(), .out = gx.span<Real>()});
    });
    return {gx};
  });
}

Tensor list_softmax(const Lists& lists, const Tensor& x) {
  check_rows(x, lists);
  if (has_columns(x, lists)) return column_softmax(x, lists);
  Tensor out = Tensor::empty({lists.rows()}, x.dtype(), x.device());
  with_real(x.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(x.device())
        .list_softmax(lists.count(),
                      {.in = x.span<const Real>(), .lists = lists.view(x.device()), .out = out.span<Real>()});
  });
  return record("lists:softmax", out, {x}, [y = out, lists](const Tensor& g) -> Gradients {
    Tensor gx = Tensor::empty({lists.rows()}, g.dtype(), g.device());
    with_real(g.dtype(), [&]<class Real>() {
      kernels<ArithmeticKernels<Real>>(g.device())
          .list_softmax_vjp(lists.count(), {.y = y.span<const Real>(),
                                            .upstream = g.span<const Real>(),
                                            .lists = lists.view(g.device()),
                                            .out = gx.span<Real>()});
    });
    return {gx};
  });
}

Tensor running_sums(const Tensor& x, const Lists& lists, bool reverse) {
  Tensor out = Tensor::empty({lists.rows()}, x.dtype(), x.device());
  with_real(x.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(x.device())
        .list_cumsum(
            lists.count(),
            {.in = x.span<const Real>(), .lists = lists.view(x.device()), .reverse = reverse, .out = out.span<Real>()});
  });
  return out;
}

Tensor cumsum_of(const Lists& lists, const Tensor& x) {
  check::floating("x", x);
  check::per_row("x", x, lists);
  return record("lists:cumsum", running_sums(x, lists, false), {x},
                [lists](const Tensor& g) -> Gradients { return {running_sums(g, lists, true)}; });
}

int64_t count_of(const Lists& lists) { return lists.count(); }
int64_t all_rows_of(const Lists& lists) { return lists.rows(); }
Tensor sizes_of(const Lists& lists) { return Tensor::from(lists.sizes(), default_device()); }
/// Returns the grades of all rows as a new tensor. It is a copy, because lists are immutable, and a script could pass
/// the tensor to an optimizer that changes it.
Tensor relevance_of(const Lists& lists) { return lists.relevance(default_device(), lists.shown()).clone(); }
std::optional<Tensor> shown_weights(const std::vector<double>& weights) {
  if (weights.empty()) return std::nullopt;
  return Tensor::from(weights, default_device());
}
std::optional<Tensor> shown_row_weights(const Lists& lists) { return shown_weights(lists.row_weights()); }
std::optional<Tensor> shown_list_weights(const Lists& lists) { return shown_weights(lists.list_weights()); }
Tensor relevant_of(const Lists& lists) { return Tensor::from(lists.relevant(), default_device()); }
Tensor rows_at_least(const Lists& lists, double grade) {
  auto least = static_cast<float>(grade);
  if (least < grade) least = std::nextafter(least, std::numeric_limits<float>::infinity());
  const std::vector<int64_t>& counts = lists.relevant(least);
  return Tensor::from(std::vector<double>(counts.begin(), counts.end()), default_device());
}
std::vector<std::string> ids_of(const Lists& lists) { return lists.ids(); }
std::vector<std::string> documents_of(const Lists& lists) { return lists.documents().to_vector(); }
std::string lists_text(const Lists& lists) {
  return "mr.Lists: " + std::to_string(lists.count()) + " lists, " + std::to_string(lists.rows()) + " rows";
}

}  // namespace

std::tuple<Lists, Tensor> relevant_part(const Lists& lists, double relevant) {
  const auto threshold = static_cast<float>(relevant);
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < lists.relevance().size(); ++i) {
    if (lists.relevance()[i] >= threshold) numbers.push_back(static_cast<int64_t>(i) + 1);
  }
  std::vector<double> weights;
  for (const int64_t i : numbers) {
    if (!lists.row_weights().empty()) weights.push_back(lists.row_weights()[i - 1]);
  }
  const Lists part(lists.relevant(threshold), std::vector<float>(numbers.size(), 1.0F));
  return {part.with_weights(weights, lists.list_weights()), Tensor::from(numbers, Device::cpu)};
}

using lua::op;
extern const lua::OpTable lists_functions{
    lua::OpTable::functions,
    nullptr,
    {op<&lists_of>("lists", "sizes, relevance, ids, documents", "Judged lists from sizes and one relevance per row."),
     op<&rows_at_least>("rows_at_least", "lists, grade",
                        "Number of rows per list with at least this grade; float64.")}};
extern const lua::OpTable lists_methods{
    lua::OpTable::methods,
    &lua::push_metatable<Lists>,
    {
        op<&list_sum>("sum", "self, x", "Sum over the rows of each list; for a matrix, of each column."),
        op<&list_mean>("mean", "self, x",
                       "Mean over the rows of each list; for a matrix, of each column; 0 for an empty list."),
        op<&list_max>("max", "self, x",
                      "Largest row of each list; for a matrix, of each column; -inf for an empty list."),
        op<&list_softmax>("softmax", "self, x", "Softmax over the rows of each list; for a matrix, of each column."),
        op<&cumsum_of>("cumsum", "self, x", "Running sum over the rows of each list, from its first row."),
        op<&spread_of>(
            "spread", "self, v",
            "Copies each list's value, or matrix row, to all rows of the list. Any type, for example user numbers."),
        op<&head_of>("head", "self, k", "Numbers of the first k rows of each list."),
        op<&select_of>("select", "self, index", "The lists with these numbers, in this order."),
        op<&numbers_of_rows>("rows_of", "self, index", "Numbers of the rows of these lists, in the order of `select`."),
        op<&take_rows_of>("take_rows", "self, x, index",
                          "Rows of x that belong to these lists, in the order of `select`; not differentiable."),
        op<&batch_of>("batch", "self, order, first, count, features, items, users, device",
                      "The lists order[first] to order[first + count - 1], with their features, items and users."),
        op<&lists_to>("to", "self, dtype", "Lists whose relevance is read as 'float32' or 'float64'."),
        op<&with_relevance_of>("with_relevance", "self, relevance", "These lists with other relevance."),
        op<&with_weights_of>("with_weights", "self, weights?, list_weights?",
                             "These lists with other weights of rows and of lists, or without weights."),
        op<&relevant_part>("relevant_part", "self, relevant",
                           "Lists of the rows with at least this grade, and the numbers of these rows."),
        op<&single_rows_of>("single_rows", "self", "Each row as a list of its own, without weights."),
        op<&has_weights>("has_weights", "self", "True if the lists have weights of rows or of lists."),
        op<&mass_of>(
            "mass", "self, of_rows",
            "The weight of each list in a mean over lists, or of its rows in a mean over rows; float64, on the CPU."),
        op<&row_weights_of>("row_weights_like", "self, like", "Row weights as `like` (type, device); nil if none."),
        op<&list_weights_of>("list_weights_like", "self, like", "List weights as `like` (type, device); nil if none."),
    }};
extern const lua::OpTable lists_getters{
    lua::OpTable::getters,
    &lua::push_metatable<Lists>,
    {
        op<&count_of>("count", "self", "Number of lists."),
        op<&all_rows_of>("rows", "self", "Number of rows of all lists."),
        op<&sizes_of>("sizes", "self", "Number of rows per list; int64."),
        op<&relevance_of>("relevance", "self", "Relevance per row; float32 unless to() was called."),
        op<&relevant_of>("relevant", "self", "Number of rows per list with relevance of at least 1; int64."),
        op<&shown_row_weights>("weights", "self", "Weight per row; float64; nil without weights."),
        op<&shown_list_weights>("list_weights", "self", "Weight per list; float64; nil without weights."),
        op<&ids_of>("ids", "self", "Names of the lists; empty where they have none."),
        op<&documents_of>("documents", "self", "Names of the rows; empty where they have none."),
    }};
extern const lua::OpTable lists_operators{
    lua::OpTable::metamethods,
    &lua::push_metatable<Lists>,
    {
        op<&count_of>("__len", "self", "Number of lists."),
        op<&lists_text>("__tostring", "self", "Number of lists and rows, as text."),
    }};

}  // namespace mr
