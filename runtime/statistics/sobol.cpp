// Sobol's sequence, from Boost: direction numbers of Joe and Kuo (2008, "Constructing Sobol sequences with better
// two-dimensional projections", SIAM J. Sci. Comput. 30; the set new-joe-kuo-6.21201), points in Gray code order
// (Antonov and Saleev 1979), 32 bits.
#include <cstdint>
#include <string>

#include <boost/random/sobol.hpp>

#include "runtime/lua/bind.h"

namespace mr {
namespace {

constexpr int64_t most_dimensions = 64;

/// Returns a coordinate of a point of Sobol's sequence as an integer of 32 bits. `index` is the number of the point,
/// counted from 0, and `dimension` the coordinate, counted from 1.
int64_t sobol_bits(int64_t index, int64_t dimension) {
  if (dimension < 1 || dimension > most_dimensions) {
    throw ArgumentError("dimension", std::to_string(dimension) + ", expected 1 to " + std::to_string(most_dimensions));
  }
  if (index < 0 || index > UINT32_MAX) {
    throw ArgumentError("index", std::to_string(index) + ", expected 0 to 2^32 - 1");
  }
  if (index == 0) return 0;  // point 0 is the origin, which Boost's sequence leaves out
  boost::random::sobol_engine<uint32_t, 32> engine(static_cast<size_t>(dimension));
  engine.seed(static_cast<uint32_t>(index - 1));
  engine.discard(static_cast<uint64_t>(dimension - 1));
  return engine();
}

}  // namespace

extern const lua::OpTable sobol_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&sobol_bits>("sobol_bits", "index, dimension",
                          "A coordinate of a point of Sobol's sequence, as 32 bits.")}};

}  // namespace mr
