// Kernel tables with one row per kernel. A folder of kernels lists its rows once, in rows.h. The rows declare the
// fields of the table and fill it for each backend (CPU, GPU), so every backend has the same kernels. LISTS rows are
// functors called with (group, list); ELEMENTS rows are functors called with (index).
#pragma once

#include <cstdint>

namespace mr {

/// Return the kernels of a family (a folder of kernels) for the CPU and for the GPU. Those for the GPU are null if the
/// program was built without CUDA.
template <class Table>
const Table& cpu_table();
template <class Table>
const Table* cuda_table();

}  // namespace mr

#define MR_KERNEL_FIELD(name, Functor) void (*name)(int64_t count, const Functor<Real>& work) = nullptr;
#define MR_KERNEL_LISTS(name, Functor) table.name = &Backend::template lists<Functor<Real>>;
#define MR_KERNEL_ELEMENTS(name, Functor) table.name = &Backend::template elements<Functor<Real>>;

/// Declares `template <class Real> struct Table` from ROWS(LISTS, ELEMENTS), and its function to fill it for a backend.
#define MR_KERNEL_TABLE(Table, ROWS)            \
  template <class Real>                         \
  struct Table {                                \
    ROWS(MR_KERNEL_FIELD, MR_KERNEL_FIELD)      \
    template <class Backend>                    \
    static Table made_for() {                   \
      Table table;                              \
      ROWS(MR_KERNEL_LISTS, MR_KERNEL_ELEMENTS) \
      return table;                             \
    }                                           \
  };

namespace mr {
/// An empty OVERRIDES, for families of kernels that have no vectorized forms on the CPU.
inline void no_overrides(const auto&) {}
}  // namespace mr

/// Defines the CPU table of a family for one type, in its <family>_cpu.cpp. OVERRIDES(table) assigns vectorized forms.
#define MR_CPU_TABLE(Table, Real, OVERRIDES)                      \
  template <>                                                     \
  const Table<Real>& cpu_table<Table<Real>>() {                   \
    static const Table<Real> table = [] {                         \
      auto made = Table<Real>::template made_for<cpu::Backend>(); \
      OVERRIDES(made);                                            \
      return made;                                                \
    }();                                                          \
    return table;                                                 \
  }

/// Defines the GPU table of a family of kernels for one type, in its <family>.cu. In a program without CUDA,
/// kernels/device/none.cpp defines a function that returns null instead.
#define MR_CUDA_TABLE(Table, Real, OVERRIDES)                      \
  template <>                                                      \
  const Table<Real>* cuda_table<Table<Real>>() {                   \
    static const Table<Real> table = [] {                          \
      auto made = Table<Real>::template made_for<cuda::Backend>(); \
      OVERRIDES(made);                                             \
      return made;                                                 \
    }();                                                           \
    return &table;                                                 \
  }
#define MR_NO_CUDA_TABLE(Table, Real)            \
  template <>                                    \
  const Table<Real>* cuda_table<Table<Real>>() { \
    return nullptr;                              \
  }
