#include "runtime/ops/geometry.h"

#include <algorithm>

#include "kernels/tensor/rows.h"
#include "runtime/lua/failure.h"

namespace mr {

Shape broadcast_shape(const Shape& a, const Shape& b) {
  Shape out;
  const int dims = std::max(a.dims(), b.dims());
  for (int d = 0; d < dims; ++d) {
    const int da = d - (dims - a.dims()), db = d - (dims - b.dims());
    const int64_t na = da < 0 ? 1 : a[da], nb = db < 0 ? 1 : b[db];
    if (na != nb && na != 1 && nb != 1) {
      throw ArgumentError("b", "cannot broadcast " + a.text() + " with " + b.text() + ": size " + std::to_string(na) +
                                   " differs from size " + std::to_string(nb) + " in dimension " +
                                   std::to_string(d + 1) + " of " + std::to_string(dims) + ", and neither is 1");
    }
    out.append(na == 1 ? nb : na);
  }
  return out;
}

Broadcast broadcast_of(const Shape& from, const Shape& to) {
  Broadcast map;
  if (from == to) return map;
  if (from.entries() == 1) {
    map.step = 0;
    return map;
  }
  map.dims = to.dims();
  for (int d = 0; d < to.dims(); ++d) {
    const int of = d - (to.dims() - from.dims());
    map.shape[d] = to[d];
    map.stride[d] = of < 0 || from[of] == 1 ? 0 : from.stride(of);
  }
  return map;
}

Broadcast strided(const Shape& shape, const std::vector<int64_t>& strides) {
  Broadcast map;
  map.dims = shape.dims();
  for (int d = 0; d < shape.dims(); ++d) {
    map.shape[d] = shape[d];
    map.stride[d] = strides[d];
  }
  if (map.dims == 0) map.step = 0;
  return map;
}

Runs runs_along(const Shape& shape, int d) {
  Runs runs;
  std::vector<int64_t> strides;
  for (int e = 0; e < shape.dims(); ++e) {
    if (e != d) strides.push_back(shape.stride(e));
  }
  runs.kept = strided(shape.without(d), strides);
  runs.reduced = Broadcast{.dims = 0, .step = shape.stride(d)};
  runs.length = shape[d];
  return runs;
}

Runs one_run(int64_t entries) { return {Broadcast{.dims = 0, .step = 0}, Broadcast{}, entries}; }

Tensor sum_to(const Tensor& gradient, const Shape& shape) {
  const Shape& full = gradient.shape();
  if (full == shape) return gradient;
  Shape kept_shape, reduced_shape;
  std::vector<int64_t> kept, reduced;
  for (int d = 0; d < full.dims(); ++d) {
    const int of = d - (full.dims() - shape.dims());
    const bool stretched = of < 0 || shape[of] == 1;
    (stretched ? reduced_shape : kept_shape).append(full[d]);
    (stretched ? reduced : kept).push_back(full.stride(d));
  }
  Tensor out = Tensor::empty(shape, gradient.dtype(), gradient.device());
  with_real(out.dtype(), [&]<class Real>() {
    const Runs runs{strided(kept_shape, kept), strided(reduced_shape, reduced), reduced_shape.entries()};
    kernels<ArithmeticKernels<Real>>(out.device())
        .reduce_sum(out.entries(), {.in = gradient.span<Real>(), .out = out.span<Real>(), .runs = runs, .scale = 1});
  });
  return out;
}

}  // namespace mr
