// Compares the contents of two LETOR files that were read, byte for byte.
#pragma once

#include <cstring>

#include <catch2/catch.hpp>

#include "runtime/data/letor/letor.h"

namespace mr::test {

/// -0 and 0 differ.
inline void check_same(const LetorFile& a, const LetorFile& b) {
  CHECK(a.labels == b.labels);
  CHECK(a.sizes == b.sizes);
  CHECK(a.qids == b.qids);
  CHECK(a.documents == b.documents);
  CHECK(a.width == b.width);
  REQUIRE(a.features.shape().text() == b.features.shape().text());
  const auto x = a.features.to_vector<float>(), y = b.features.to_vector<float>();
  CHECK((x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0));
}

}  // namespace mr::test
