// Pictures as tensors: reads picture files, scaled to one size by averaging areas, and writes tensors as PNG files.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>

#include "kernels/core/threads.h"
#include "runtime/io/formats/picture.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"

namespace mr {
namespace {

constexpr int64_t largest_side = 4096;

/// Scaling of a picture along one axis. A box is a pixel of the scaled picture. The axis is divided into pixels * boxes
/// units, so that a pixel has `boxes` units, a box has `pixels` units, and overlaps are integers.
struct Boxes {
  int64_t pixels, boxes;

  int64_t first(int64_t box) const { return box * pixels / boxes; }
  int64_t last(int64_t box) const { return ((box + 1) * pixels - 1) / boxes; }
  double share(int64_t box, int64_t pixel) const {
    const int64_t from = std::max(box * pixels, pixel * boxes), to = std::min((box + 1) * pixels, (pixel + 1) * boxes);
    return static_cast<double>(to - from) / static_cast<double>(pixels);
  }
};

/// Scales a picture to [height, width, 3] by averaging the pixels that each new pixel covers.
std::vector<double> area_means(io::Picture& picture, int64_t height, int64_t width) {
  const Boxes across{picture.width(), width}, down{picture.height(), height}, up{height, picture.height()};
  std::vector<float> row(static_cast<size_t>(3 * picture.width()));
  std::vector<double> narrow(static_cast<size_t>(3 * width)), means(static_cast<size_t>(3 * width * height));
  for (int64_t y = 0; y < picture.height(); ++y) {
    cpu::check_interrupt();
    picture.next_row(row.data());
    for (int64_t x = 0; x < width; ++x) {
      double sums[3] = {};
      for (int64_t i = across.first(x); i <= across.last(x); ++i) {
        const double share = across.share(x, i);
        for (int64_t c = 0; c < 3; ++c) sums[c] += share * row[3 * i + c];
      }
      std::copy(sums, sums + 3, narrow.begin() + 3 * x);
    }
    for (int64_t box = up.first(y); box <= up.last(y); ++box) {
      const double share = down.share(box, y);
      for (size_t i = 0; i < narrow.size(); ++i)
        means[static_cast<size_t>(box) * narrow.size() + i] += share * narrow[i];
    }
  }
  return means;
}

/// Stores the red, green and blue of a picture as three planes. If `grey` is true, stores one plane with their
/// brightness (luma of Rec. 601).
void store(const std::vector<double>& means, int64_t area, bool grey, float* out) {
  for (int64_t i = 0; i < area; ++i) {
    const double* const rgb = means.data() + 3 * i;
    if (grey) {
      out[i] = static_cast<float>(0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]);
    } else {
      for (int64_t c = 0; c < 3; ++c) out[c * area + i] = static_cast<float>(rgb[c]);
    }
  }
}

/// Keeps the error of the first file that cannot be read, in the order of files, whichever thread fails first.
class FirstError {
 public:
  /// Returns true if a file before number `task` has already failed, so that file `task` need not be read.
  bool behind(int64_t task) const { return task > first_; }
  void keep(int64_t task, std::exception_ptr error) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (task >= first_) return;
    first_ = task;
    error_ = std::move(error);
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::atomic<int64_t> first_ = std::numeric_limits<int64_t>::max();
  std::exception_ptr error_;
};

Tensor read_images(const std::vector<std::string>& paths, int64_t height, int64_t width, bool grey) {
  for (const auto& [name, side] : {std::pair("height", height), std::pair("width", width)}) {
    if (side < 1 || side > largest_side)
      throw ArgumentError(name, std::to_string(side) + ", expected 1 to " + std::to_string(largest_side));
  }
  const auto count = static_cast<int64_t>(paths.size());
  const int64_t channels = grey ? 1 : 3, area = height * width;
  const Tensor out = Tensor::empty({count, channels, height, width}, Dtype::float32);
  float* const pixels = out.span<float>().data;
  FirstError failed;
  cpu::parallel_each(count, 1, [&](int64_t i) {
    if (failed.behind(i)) return;
    try {
      store(area_means(*io::open_picture(paths[i]), height, width), area, grey, pixels + i * channels * area);
    } catch (const cpu::Interrupted&) {
      throw;
    } catch (...) {
      failed.keep(i, std::current_exception());
    }
  });
  failed.rethrow();
  return out;
}

std::string encode_png(const Tensor& x) {
  const Shape& shape = x.shape();
  const int64_t channels = shape.dims() == 3 ? shape[0] : 1;
  if (shape.dims() < 2 || shape.dims() > 3 || (channels != 1 && channels != 3)) {
    throw ArgumentError(
        "x", "it has shape " + shape.text() + ", expected [height, width], [1, height, width] or [3, height, width]");
  }
  const int64_t height = shape[shape.dims() - 2], width = shape[shape.dims() - 1], area = height * width;
  if (height < 1 || width < 1 || height > io::longest_side || width > io::longest_side || area > io::most_pixels)
    throw ArgumentError(
        "x", "it has shape " + shape.text() + ", expected a side of 1 to " + std::to_string(io::longest_side));
  check::floating("x", x);
  const std::vector<double> values = x.to(Dtype::float64).to_vector<double>();
  std::vector<unsigned char> samples(values.size());
  for (int64_t i = 0; i < area * channels; ++i) {
    const double value = values[i % channels * area + i / channels];
    if (std::isnan(value)) throw ArgumentError("x", "it has NaN, expected numbers");
    samples[i] = static_cast<unsigned char>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
  }
  return io::encode_png(width, height, static_cast<int>(channels), samples);
}

}  // namespace

using lua::op;
extern const lua::OpTable image_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&read_images>("read_images", "paths, height, width, grey",
                         "Reads PNG and JPEG files as [images, 1 or 3, height, width] with values 0 to 1, scaled by "
                         "area averaging."),
        op<&encode_png>("encode_png", "x",
                        "The bytes of a PNG file from [height, width] or [1 or 3, height, width] with values 0 to 1."),
    }};

}  // namespace mr
