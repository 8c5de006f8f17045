#include "runtime/models/deferred_snapshot.h"

#include <cstring>
#include <numeric>

#include "kernels/models/rows.h"

namespace mr {

template <class Real>
void DeferredSnapshot<Real>::begin(std::shared_ptr<const DeferredSource<Real>> source, const Tensor& parameter) {
  const StepLog& log = source->log();
  source_ = nullptr;
  now_ = log.now();
  recent_ = {{}, log.products().recent()};
  for (int32_t step = now_ - log.rest() + 1; step <= now_ && !log.linear(); ++step)
    recent_.sums.push_back(step > 0 ? log.sums(step) : GlideSums());
  is_here_.assign(static_cast<size_t>(parameter.size(0)), 0);
  glides_.restart(now_, &recent_);
  parameter_ = parameter;
  source_ = std::move(source);
}

template <class Real>
void DeferredSnapshot<Real>::keep(const DeferredSource<Real>& source, const std::vector<int64_t>& rows) {
  if (source_.get() == &source) copy_rows(rows);
}

template <class Real>
void DeferredSnapshot<Real>::copy_rows(const std::vector<int64_t>& rows) {
  const int64_t width = parameter_.shape().stride(0);
  batch_.begin(static_cast<int64_t>(rows.size()));
  for (const int64_t row : rows) {
    if (is_here_[static_cast<size_t>(row)] != 0) continue;
    const int32_t stored = source_->stored_in(row);
    if (stored == 0 && !source_->log().method().moves_all()) {
      std::memcpy(copy_ + row * width, source_->shown() + row * width, static_cast<size_t>(width) * sizeof(Real));
    } else {
      batch_.glide.push_back(stored == now_ ? -1 : glides_.of(source_->log(), stored));
      batch_.rows.push_back(row);
    }
  }
  kernels<DeferredKernels<Real>>(Device::cpu)
      .settle_rows(static_cast<int64_t>(batch_.rows.size()) * width,
                   {.at = source_->view(batch_, glides_), .out = copy_});
  for (const int64_t row : rows) is_here_[static_cast<size_t>(row)] = 1;
}

template <class Real>
void DeferredSnapshot<Real>::settle() {
  if (source_ == nullptr) return;
  std::vector<int64_t> rows(is_here_.size());
  std::iota(rows.begin(), rows.end(), 0);
  copy_rows(rows);
  source_ = nullptr;
  parameter_ = Tensor();
  is_here_ = {};
}

template <class Real>
std::pair<Tensor, std::shared_ptr<DeferredSnapshot<Real>>> snapshot_in(const Tensor& parameter, const Tensor& into) {
  const bool reused = into.defined() && into.whole() && !into.same_bytes(parameter);
  const Tensor copy = reused ? into.data() : Tensor::empty(parameter.shape(), parameter.dtype());
  auto snapshot = std::dynamic_pointer_cast<DeferredSnapshot<Real>>(copy.storage().deferral());
  if (snapshot == nullptr) {
    snapshot = std::make_shared<DeferredSnapshot<Real>>(copy);
    copy.storage().put_off(snapshot);
  }
  return {copy, snapshot};
}

template class DeferredSnapshot<float>;
template class DeferredSnapshot<double>;
template std::pair<Tensor, std::shared_ptr<DeferredSnapshot<float>>> snapshot_in<float>(const Tensor&, const Tensor&);
template std::pair<Tensor, std::shared_ptr<DeferredSnapshot<double>>> snapshot_in<double>(const Tensor&, const Tensor&);

}  // namespace mr
