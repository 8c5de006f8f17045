// Joins tensors along an existing or a new dimension.
#include <algorithm>

#include "kernels/core/threads.h"
#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/geometry.h"

namespace mr {
namespace {

/// One of the tensors that are joined. It is copied as `outer` rows of `width` entries each, where a row has the joined
/// dimension and the dimensions after it.
struct Part {
  Shape shape;
  int64_t outer, width, row, shift;
  bool needed;

  Broadcast place() const { return outer == 1 ? Broadcast{} : strided({outer, width}, {row, 1}); }
};

/// Rows in memory: each begins `step` entries after the previous one.
template <class T>
struct RowsAt {
  T* data;
  int64_t step;
};

template <class T>
void copy_rows(RowsAt<const T> from, RowsAt<T> to, int64_t rows, int64_t width) {
  const int64_t rows_of_piece = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, width));
  cpu::parallel(rows, rows_of_piece, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) std::copy_n(from.data + r * from.step, width, to.data + r * to.step);
  });
}

Tensor put_together(const std::vector<Tensor>& tensors, const std::vector<Part>& parts, const Shape& shape) {
  const Tensor& first = tensors[0];
  Tensor out = Tensor::empty(shape, first.dtype(), first.device());
  with_any(out.dtype(), [&]<class T>() {
    for (size_t i = 0; i < parts.size(); ++i) {
      const Part& part = parts[i];
      const auto in = tensors[i].span<const T>();
      if (out.device() == Device::cpu) {
        copy_rows<T>({in.data, part.width}, {out.span<T>().data + part.shift, part.row}, part.outer, part.width);
      } else {
        kernels<MoveKernels<T>>(out.device())
            .strided_put(in.size, {.in = in, .out = out.span<T>(), .to = part.place(), .shift = part.shift});
      }
    }
  });
  return out;
}

Tensor taken_out(const Tensor& g, const Part& part) {
  const Tensor out = Tensor::empty(part.shape, g.dtype(), g.device());
  with_real(g.dtype(), [&]<class Real>() {
    const auto in = g.span<const Real>();
    const auto to = out.span<Real>();
    if (g.device() == Device::cpu) {
      copy_rows<Real>({in.data + part.shift, part.row}, {to.data, part.width}, part.outer, part.width);
    } else {
      kernels<MoveKernels<Real>>(g.device())
          .strided_copy(to.size, {.in = in, .out = to, .from = part.place(), .shift = part.shift});
    }
  });
  return out;
}

Gradients taken_apart(const Tensor& g, const std::vector<Part>& parts) {
  Gradients gradients;
  for (const Part& part : parts) gradients.push_back(part.needed ? Gradient(taken_out(g, part)) : Gradient());
  return gradients;
}

/// Joins tensors, viewed with the given shapes, along dimension d counted from 0.
Tensor joined(const char* name, const std::vector<Tensor>& tensors, const std::vector<Shape>& shapes, int d) {
  Shape shape = shapes[0];
  shape.set(d, 0);
  for (const Shape& each : shapes) shape.set(d, shape[d] + each[d]);
  int64_t outer = 1, shift = 0;
  for (int e = 0; e < d; ++e) outer *= shape[e];
  const int64_t row = shape[d] * shape.stride(d);
  std::vector<Part> parts;
  bool indices_here = tensors[0].dtype() == Dtype::int64 && tensors[0].device() == Device::cuda;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const int64_t width = shapes[i][d] * shape.stride(d);
    parts.push_back({shapes[i], outer, width, row, shift, tensors[i].node() != nullptr});
    shift += width;
    indices_here = indices_here && tensors[i].host_bytes() != nullptr;
  }
  // Index tensors of which the host has copies are joined on the host, and the result is copied to the GPU. So the host
  // has a copy of the result, too.
  if (indices_here) {
    std::vector<Tensor> here;
    for (const Tensor& each : tensors) here.push_back(each.to(Device::cpu));
    return put_together(here, parts, shape).to(Device::cuda);
  }
  return record(name, put_together(tensors, parts, shape), tensors,
                [parts](const Tensor& g) -> Gradients { return taken_apart(g, parts); });
}

std::string named(size_t i) { return "tensor " + std::to_string(i + 1); }

/// Throws unless there is at least one tensor and all have the same type and device.
void check_kinds(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) throw ArgumentError("tensors", "the table is empty, expected at least one tensor");
  for (size_t i = 1; i < tensors.size(); ++i) check::same_kind("tensors", tensors[i], "the first", tensors[0]);
}

Tensor cat_of(const std::vector<Tensor>& tensors, int64_t dim) {
  check_kinds(tensors);
  const int d = check::dimension("dim", tensors[0], dim);
  const Shape& first = tensors[0].shape();
  std::vector<Shape> shapes;
  for (size_t i = 0; i < tensors.size(); ++i) {
    shapes.push_back(tensors[i].shape());
    if (shapes[i].dims() == first.dims() && shapes[i].without(d) == first.without(d)) continue;
    throw ArgumentError("tensors", named(i) + " has shape " + shapes[i].text() +
                                       ", expected the shape of the first tensor, " + first.text() +
                                       ", except in dimension " + std::to_string(dim));
  }
  return joined("cat", tensors, shapes, d);
}

Tensor stack_of(const std::vector<Tensor>& tensors, int64_t dim) {
  check_kinds(tensors);
  const Shape& first = tensors[0].shape();
  if (dim < 1 || dim > first.dims() + 1) {
    throw ArgumentError("dim", "new dimension " + std::to_string(dim) + " of tensors of shape " + first.text() +
                                   ", expected 1 to " + std::to_string(first.dims() + 1));
  }
  Shape shape;
  for (int d = 0; d <= first.dims(); ++d) {
    if (d + 1 == dim) shape.append(1);
    if (d < first.dims()) shape.append(first[d]);
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].shape() == first) continue;
    throw ArgumentError("tensors", named(i) + " has shape " + tensors[i].shape().text() +
                                       ", expected the shape of the first tensor, " + first.text());
  }
  return joined("stack", tensors, std::vector<Shape>(tensors.size(), shape), static_cast<int>(dim) - 1);
}

}  // namespace

using lua::op;
extern const lua::OpTable join_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&cat_of>("cat", "tensors, dim", "Joins tensors along a dimension. Their shapes may differ only in it."),
        op<&stack_of>("stack", "tensors, dim", "Joins tensors of equal shape along a new dimension."),
    }};

}  // namespace mr
