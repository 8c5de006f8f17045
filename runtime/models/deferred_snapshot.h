// A copy-on-write snapshot of a parameter while its optimizer continues. A row is copied when it is about to change;
// rows that never change are copied when the snapshot is read. Taking a snapshot takes no time proportional to the
// width.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "kernels/models/deferred.h"
#include "runtime/models/glides.h"
#include "runtime/tensor/tensor.h"

namespace mr {

/// Rows of a parameter, counted from 0, and for each the number of its Glide (closed form of its deferred updates); -1:
/// no deferred updates.
struct RowBatch {
  std::vector<int64_t> rows;
  std::vector<int32_t> glide;
  /// Makes room for at least `most` rows. It does not clear the content.
  void make_room(int64_t most) {
    if (static_cast<int64_t>(rows.size()) >= most) return;
    rows.resize(static_cast<size_t>(most));
    glide.resize(static_cast<size_t>(most));
  }
  void begin(int64_t most) {
    rows.clear();
    glide.clear();
    rows.reserve(static_cast<size_t>(most));
    glide.reserve(static_cast<size_t>(most));
  }
};

/// A parameter with deferred updates, as snapshots see it.
template <class Real>
class DeferredSource {
 public:
  virtual ~DeferredSource() = default;
  virtual const StepLog& log() const = 0;
  /// Returns the step after which a row was stored, or 0 if it has its initial values.
  virtual int32_t stored_in(int64_t row) const = 0;
  virtual const Real* shown() const = 0;
  virtual DeferredRows<Real> view(const RowBatch& batch, const Glides<Real>& glides) const = 0;
};

template <class Real>
class DeferredSnapshot final : public Deferral {
 public:
  explicit DeferredSnapshot(const Tensor& copy) : copy_(static_cast<Real*>(bytes_of(copy.storage()))) {}

  /// Starts a snapshot of the parameter as it is now, and discards the previous one.
  void begin(std::shared_ptr<const DeferredSource<Real>> source, const Tensor& parameter);
  /// Copies the given rows that the snapshot has not copied yet, before `source` changes them.
  void keep(const DeferredSource<Real>& source, const std::vector<int64_t>& rows);

  void settle() override;
  void settle_rows(const int64_t*, int64_t, int64_t) override { settle(); }
  void let_go() override { settle(); }

 private:
  void copy_rows(const std::vector<int64_t>& rows);

  Real* copy_;
  std::shared_ptr<const DeferredSource<Real>> source_;
  Tensor parameter_;  // the parameter of the snapshot, whose bytes this tensor shares
  int32_t now_ = 0;
  RecentLog recent_;
  std::vector<uint8_t> is_here_;
  Glides<Real> glides_;
  RowBatch batch_;
};

/// Returns a tensor like the parameter whose bytes a snapshot fills, `into` or a new one.
template <class Real>
std::pair<Tensor, std::shared_ptr<DeferredSnapshot<Real>>> snapshot_in(const Tensor& parameter, const Tensor& into);

}  // namespace mr
