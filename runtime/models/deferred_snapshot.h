// A copy-on-write snapshot of a parameter while its optimizer continues. A row is copied when it is about to change.
// Rows that never change are copied when the snapshot is read. Taking a snapshot copies no rows.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "kernels/models/deferred/deferred.h"
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

/// The data of a parameter with deferred updates from which a snapshot computes rows.
template <class Real>
class DeferredSource {
 public:
  virtual ~DeferredSource() = default;
  virtual const StepLog& log() const = 0;
  /// Returns the last step that a stored row includes, or 0 if the row has its initial values.
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
  /// Copies the given rows into the snapshot, except rows that it already has. Called before `source` changes these
  /// rows.
  void keep(const DeferredSource<Real>& source, const std::vector<int64_t>& rows);

  void settle() override;
  void settle_rows(const int64_t*, int64_t, int64_t) override { settle(); }
  void let_go() override { settle(); }

 private:
  void copy_rows(const std::vector<int64_t>& rows);

  Real* copy_;
  std::shared_ptr<const DeferredSource<Real>> source_;
  Tensor parameter_;  // shares the bytes of the parameter from which the snapshot was taken
  int32_t now_ = 0;
  RecentLog recent_;
  std::vector<uint8_t> is_here_;
  Glides<Real> glides_;
  RowBatch batch_;
};

/// Returns a tensor with the shape and dtype of the parameter, and the object that fills it with a snapshot. The tensor
/// is `into` if that is usable, else a new one.
template <class Real>
std::pair<Tensor, std::shared_ptr<DeferredSnapshot<Real>>> snapshot_in(const Tensor& parameter, const Tensor& into);

}  // namespace mr
