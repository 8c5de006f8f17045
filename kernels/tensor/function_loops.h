// Loops of functions_cpu.h (exp, log, sigmoid, tanh, softplus over arrays), inside namespace MR_SIMD; included by
// function_*.cpp only. Each entry goes through the operations of kernels/tensor/elementwise.h in the same order, so the
// bits are equal, and the compiler vectorizes the loops. The functions of elementwise.h are repeated here because the
// linker keeps one copy of a template: it could keep one that was compiled for instructions that the processor lacks.
#include "kernels/core/logarithms.h"
#include "kernels/tensor/functions_cpu.h"

namespace mr::cpu::MR_SIMD {
namespace {

inline float size_of(float x) { return __builtin_fabsf(x); }
inline double size_of(double x) { return __builtin_fabs(x); }

struct Exp {
  template <class Real>
  static Real value(Real x) {
    return portable::exp(x);
  }
  template <class Real>
  static Real derivative(Real x) {
    return portable::exp(x);
  }
};

struct Log {
  template <class Real>
  static Real value(Real x) {
    return portable::log(x);
  }
  template <class Real>
  static Real derivative(Real x) {
    return 1 / x;
  }
};

struct Logistic {
  template <class Real>
  static Real value(Real x) {
    const Real e = portable::exp(-size_of(x)), above = 1 / (1 + e), below = e / (1 + e);
    return x >= 0 ? above : below;
  }
  template <class Real>
  static Real derivative(Real x) {
    // value(x) * value(-x)
    const Real e = portable::exp(-size_of(x));
    return 1 / (1 + e) * (e / (1 + e));
  }
};

struct HyperbolicTangent {
  template <class Real>
  static Real value(Real x) {
    return portable::tanh(x);
  }
  template <class Real>
  static Real derivative(Real x) {
    const Real y = portable::tanh(x);
    return 1 - y * y;
  }
};

struct LogOfOnePlusExp {
  template <class Real>
  static Real value(Real x) {
    return (x > 0 ? x : Real(0)) + portable::log1p(portable::exp(-size_of(x)));
  }
  template <class Real>
  static Real derivative(Real x) {
    return Logistic::value(x);
  }
};

template <class Function, class Real>
void values(const Real* __restrict in, Real* __restrict out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = Function::value(in[i]);
}

template <class Function, class Real>
void products(const Real* __restrict in, const Real* __restrict upstream, Real* __restrict out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = upstream[i] * Function::derivative(in[i]);
}

template <class Function, class Real>
FunctionLoop<Real> loop() {
  return {&values<Function, Real>, &products<Function, Real>};
}

template <class Real>
FunctionLoops<Real> all_loops() {
  return {loop<Exp, Real>(), loop<Log, Real>(), loop<Logistic, Real>(), loop<HyperbolicTangent, Real>(),
          loop<LogOfOnePlusExp, Real>()};
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
FunctionLoops<float> loops_of<FunctionLoops<float>, Simd::MR_SIMD>() {
  return MR_SIMD::all_loops<float>();
}
template <>
FunctionLoops<double> loops_of<FunctionLoops<double>, Simd::MR_SIMD>() {
  return MR_SIMD::all_loops<double>();
}

}  // namespace mr::cpu
