// Unfolds the windows of pictures into the columns of a matrix (im2col). A convolution is then a matrix product, and
// pooling a maximum along a dimension.
#pragma once

#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"

namespace mr {

/// Geometry of sliding windows over pictures of one or more planes (channels). For each axis (0 down, 1 across): size
/// of a plane, size of a window, number of windows, stride, and padding at either end.
struct Windows {
  int64_t size[2], window[2], count[2], stride[2], padding[2];

  MR_HD int64_t area() const { return window[0] * window[1]; }
  MR_HD int64_t places() const { return count[0] * count[1]; }
  MR_HD int64_t plane() const { return size[0] * size[1]; }
};

/// Unfolds windows of pictures: out[plane, position within the window, window] is the entry of the plane at that
/// position, or `outside` where the window reaches into the padding.
template <class Real>
struct Unfold {
  Span<const Real> in;
  Windows windows;
  Real outside;
  Span<Real> out;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t row) const {
    const Windows& w = windows;
    const int64_t rest = row / w.count[0], inside = rest % w.area(), plane = rest / w.area();
    const int64_t down = row % w.count[0] * w.stride[0] + inside / w.window[1] - w.padding[0];
    const int64_t first = inside % w.window[1] - w.padding[1];
    const int64_t from = plane * w.plane() + down * w.size[1], to = row * w.count[1];
    const bool above = down < 0 || down >= w.size[0];
    group.each(w.count[1], [&](int64_t x) {
      const int64_t across = x * w.stride[1] + first;
      out[to + x] = above || across < 0 || across >= w.size[1] ? outside : in[from + across];
    });
  }
};

/// Computes the derivative of unfolding windows: every entry of a picture gets the sum of the upstream derivatives of
/// all windows that contain it, in a fixed order.
template <class Real>
struct Fold {
  Span<const Real> upstream;
  Windows windows;
  Span<Real> out;
  MR_HD void operator()(int64_t i) const {
    const Windows& w = windows;
    const int64_t plane = i / w.plane(), down = i % w.plane() / w.size[1] + w.padding[0];
    const int64_t across = i % w.size[1] + w.padding[1];
    double total = 0;
    for (int64_t a = 0; a < w.window[0]; ++a) {
      const int64_t y = (down - a) / w.stride[0];
      if (down < a || (down - a) % w.stride[0] != 0 || y >= w.count[0]) continue;
      for (int64_t b = 0; b < w.window[1]; ++b) {
        const int64_t x = (across - b) / w.stride[1];
        if (across < b || (across - b) % w.stride[1] != 0 || x >= w.count[1]) continue;
        total += upstream[(plane * w.area() + a * w.window[1] + b) * w.places() + y * w.count[1] + x];
      }
    }
    out[i] = static_cast<Real>(total);
  }
};

}  // namespace mr
