#include "runtime/tensor/names.h"

#include <catch2/catch.hpp>

using mr::Names;
using mr::NameSpan;

TEST_CASE("Names hold the texts that were added, also empty ones and those with zero bytes") {
  const std::vector<std::string> texts = {"", "a", std::string("b\0c", 3), "", "document 12"};
  Names names;
  for (const std::string& text : texts) names.push_back(text);
  REQUIRE(names.size() == texts.size());
  for (size_t i = 0; i < texts.size(); ++i) CHECK(names[i] == texts[i]);
  CHECK(names.to_vector() == texts);
  CHECK(names == Names(texts));
  CHECK(names.bytes() == 15);
  CHECK(Names().empty());
  CHECK_FALSE(Names{"ab", "c"} == Names{"a", "bc"});
}

TEST_CASE("Names take parts of other names") {
  const Names from = {"one", "", "three", "4"};
  Names names = {"zero"};
  names.append(from, 1, 3);
  names.append(from, 0, 0);
  names.append(from, 4, 0);
  const Names none;
  names.append({&none, &from});
  CHECK(names == Names{"zero", "", "three", "4", "one", "", "three", "4"});
  const NameSpan some(names, 2, 2);
  CHECK(some.size() == 2);
  CHECK(some[0] == "three");
  CHECK(some[1] == "4");
}
