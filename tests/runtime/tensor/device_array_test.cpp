// Tests of DeviceArray: arrays of structs in the memory of a device.
#include "runtime/tensor/device_array.h"

#include <cstdint>
#include <vector>

#include "tests/support/devices.h"

namespace mr {
namespace {

struct Triple {
  int32_t number;
  double value;
  bool flag;
};

TEST_CASE("DeviceArray stores structs on every device and copies share bytes", "[tensor]") {
  const Device device = GENERATE(from_range(test::devices()));
  const int64_t held = Storage::held(device);
  {
    const DeviceArray<Triple> array({{7, 0.5, true}, {-1, 2.5, false}}, device);
    CHECK(array.device() == device);
    CHECK(array.size() == 2);
    CHECK(Storage::held(device) - held == 2 * sizeof(Triple));
    const DeviceArray<Triple> same = array;  // NOLINT: copies share the bytes
    CHECK(same.span().data == array.span().data);
    const std::vector<Triple> back = same.to_vector();
    CHECK((back[0].number == 7 && back[0].value == 0.5 && back[0].flag));
    CHECK((back[1].number == -1 && back[1].value == 2.5 && !back[1].flag));
    array.clear();
    CHECK((same.to_vector()[1].number == 0 && same.to_vector()[1].value == 0));
  }
  CHECK(Storage::held(device) == held);
}

TEST_CASE("DeviceArray may be empty or undefined", "[tensor]") {
  const DeviceArray<int32_t> none, empty(0, Device::cpu), of_nothing(std::vector<int32_t>(), Device::cpu);
  CHECK_FALSE(none.defined());
  CHECK(empty.defined());
  for (const auto& array : {none, empty, of_nothing}) {
    CHECK(array.size() == 0);
    CHECK(array.span().size == 0);
    CHECK(array.to_vector().empty());
  }
  empty.clear();
}

}  // namespace
}  // namespace mr
