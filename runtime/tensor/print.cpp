// Makes the text by which tensors are shown to people.
#include <cmath>
#include <cstdio>

#include "runtime/tensor/tensor.h"

namespace mr {
namespace {

// dimensions with at most this many entries are shown whole; longer ones show three entries at each end
constexpr int64_t shown_whole = 8;
constexpr int64_t shown_end = 3;

std::string number(const Tensor& values, int64_t at) {
  if (values.dtype() == Dtype::int64) return std::to_string(values.span<int64_t>()[at]);
  char text[40];
  with_real(values.dtype(), [&]<class Real>() {
    const auto value = static_cast<double>(values.span<Real>()[at]);
    // prints NaN without its sign bit, which printf would show as "-nan"
    std::snprintf(text, sizeof text, "%.5g", std::isnan(value) ? std::fabs(value) : value);
  });
  return text;
}

class Printer {
 public:
  explicit Printer(const Tensor& x) : shape_(x.shape()), values_(x.to(Device::cpu)) { measure(0, 0); }

  std::string text() { return part(0, 0, 1); }

 private:
  template <class F>
  void each_shown(int64_t n, F f) const {
    for (int64_t i = 0; i < n; ++i) {
      if (n > shown_whole && i == shown_end) {
        f(-1);
        i = n - shown_end;
      }
      f(i);
    }
  }

  void measure(int d, int64_t at) {
    if (d == shape_.dims()) {
      width_ = std::max(width_, number(values_, at).size());
      return;
    }
    each_shown(shape_[d], [&](int64_t i) {
      if (i >= 0) measure(d + 1, at + i * shape_.stride(d));
    });
  }

  std::string part(int d, int64_t at, int indent) const {
    if (d == shape_.dims()) {
      const std::string digits = number(values_, at);
      return std::string(shape_.dims() > 1 ? width_ - digits.size() : 0, ' ') + digits;
    }
    std::string out = "{";
    const bool innermost = d + 1 == shape_.dims();
    bool first = true;
    each_shown(shape_[d], [&](int64_t i) {
      if (!first) out += innermost ? ", " : ",\n" + std::string(static_cast<size_t>(indent), ' ');
      first = false;
      out += i < 0 ? "..." : part(d + 1, at + i * shape_.stride(d), indent + 1);
    });
    return out + "}";
  }

  Shape shape_;
  Tensor values_;
  size_t width_ = 0;
};

}  // namespace

std::string Tensor::text() const {
  std::string out = Printer(*this).text();
  if (shape().dims() > 0) out += shape().dims() > 1 ? "\n" : "  ";
  if (shape().dims() == 0) out += "  ";
  out += "mr.Tensor " + shape().text() + " " + std::string(name_of(dtype()));
  if (device() != Device::cpu) out += " " + std::string(name_of(device()));
  return out;
}

}  // namespace mr
