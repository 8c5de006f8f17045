// XGBoost's library, loaded when a script first uses trees. Its C interface is declared here, so that a build needs no
// XGBoost headers. Handles are pointers, results are 0 or -1, and returned strings and arrays are valid until the
// thread's next call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/core/shared_library.h"
#include "runtime/lua/bind.h"
#include "runtime/models/long_call.h"
#include "runtime/tensor/storage.h"

namespace mr {

class Xgboost : SharedLibrary {
  using Handle = void*;
  template <class F>
  F* found(const char* name) const {
    return reinterpret_cast<F*>(symbol(name));
  }

 public:
  Xgboost();
  /// Returns the version of the XGBoost library, for example "1.7.4".
  std::string version() const;
  /// Throws the library's error message if `result`, which a call returned, says that the call failed.
  void check(int result) const;

  using Size = uint64_t;
  int (*matrix_create)(const float*, Size, Size, float, Handle*,
                       int) = found<int(const float*, Size, Size, float, Handle*, int)>("XGDMatrixCreateFromMat_omp");
  int (*matrix_free)(Handle) = found<int(Handle)>("XGDMatrixFree");
  int (*matrix_floats)(Handle, const char*, const float*,
                       Size) = found<int(Handle, const char*, const float*, Size)>("XGDMatrixSetFloatInfo");
  int (*matrix_counts)(Handle, const char*, const unsigned*,
                       Size) = found<int(Handle, const char*, const unsigned*, Size)>("XGDMatrixSetUIntInfo");
  int (*create)(const Handle*, Size, Handle*) = found<int(const Handle*, Size, Handle*)>("XGBoosterCreate");
  int (*free)(Handle) = found<int(Handle)>("XGBoosterFree");
  int (*slice)(Handle, int, int, int, Handle*) = found<int(Handle, int, int, int, Handle*)>("XGBoosterSlice");
  int (*rounds)(Handle, int*) = found<int(Handle, int*)>("XGBoosterBoostedRounds");
  int (*set)(Handle, const char*, const char*) = found<int(Handle, const char*, const char*)>("XGBoosterSetParam");
  int (*update)(Handle, int, Handle) = found<int(Handle, int, Handle)>("XGBoosterUpdateOneIter");
  int (*boost)(Handle, Handle, float*, float*,
               Size) = found<int(Handle, Handle, float*, float*, Size)>("XGBoosterBoostOneIter");
  int (*predict)(Handle, Handle, const char*, const Size**, Size*, const float**) =
      found<int(Handle, Handle, const char*, const Size**, Size*, const float**)>("XGBoosterPredictFromDMatrix");
  int (*load)(Handle, const void*, Size) = found<int(Handle, const void*, Size)>("XGBoosterLoadModelFromBuffer");
  int (*save)(Handle, const char*, Size*,
              const char**) = found<int(Handle, const char*, Size*, const char**)>("XGBoosterSaveModelToBuffer");
  int (*importance)(Handle, const char*, Size*, const char***, Size*, const Size**, const float**) =
      found<int(Handle, const char*, Size*, const char***, Size*, const Size**, const float**)>(
          "XGBoosterFeatureScore");

 private:
  const char* (*last_error_)() = found<const char*()>("XGBGetLastError");
  int (*global_)(const char*) = found<int(const char*)>("XGBSetGlobalConfig");
  void (*version_)(int*, int*, int*) = found<void(int*, int*, int*)>("XGBoostVersion");
};

/// Returns the loaded library. Throws std::runtime_error that names the Debian package if the library is missing or has
/// another version.
const Xgboost& xgboost();

/// Rows of features, with grades and list sizes if trees are grown on them.
struct TreeMatrix {
  void* handle = nullptr;
  int64_t rows, columns;
  TreeMatrix(int64_t of_rows, int64_t of_columns)
      : rows(of_rows), columns(of_columns), bytes_(bytes_per_entry * of_rows * of_columns) {}
  TreeMatrix(const TreeMatrix&) = delete;
  TreeMatrix& operator=(const TreeMatrix&) = delete;
  ~TreeMatrix();

 private:
  // about what XGBoost holds for a feature of a row: the value, its column, and its bins while trees are grown
  static constexpr int64_t bytes_per_entry = 16;
  ForeignBytes bytes_;
};

struct TreeBooster {
  void* handle = nullptr;
  /// the call that grows a boosting round, which may still run after Ctrl-C
  mutable LongCall growing;
  TreeBooster() = default;
  TreeBooster(const TreeBooster&) = delete;
  TreeBooster& operator=(const TreeBooster&) = delete;
  ~TreeBooster();
};

using TreeData = std::shared_ptr<const TreeMatrix>;
using Booster = std::shared_ptr<const TreeBooster>;
template <>
inline constexpr const char* lua::class_name<TreeData> = "mr.TreeData";
template <>
inline constexpr const char* lua::class_name<Booster> = "mr.Booster";

/// Requirements for the trees of a file: the number of features, the number of classes (0: one score per row), and the
/// name of the objective.
struct TreeShape {
  int64_t features, classes;
  std::string objective;
};

/// Checks an untrusted JSON text of XGBoost trees and returns it rewritten. In the result, every index is inside its
/// array, no tree has a cycle, and only trees are taken from the input. Throws std::runtime_error that says what is
/// wrong.
std::string checked_trees(const std::string& text, const TreeShape& shape);

}  // namespace mr
