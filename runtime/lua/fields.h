// Results as tables: a plain struct that lists its fields becomes a Lua table.
//
//   struct Interval {
//     double low = 0, high = 0;
//     static constexpr auto fields = lua::fields("low", &Interval::low, "high", &Interval::high);
//   };
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

namespace mr::lua {

template <class Struct, class T>
struct Field {
  using type = T;
  const char* name;
  T Struct::*member;

  constexpr Field(const char* name, T Struct::*member) : name(name), member(member) {}
};

/// Makes the tuple of fields from alternating arguments: name, member, name, member, ...
template <class... NamesAndMembers>
constexpr auto fields(NamesAndMembers... each) {
  const auto all = std::make_tuple(each...);
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return std::make_tuple(Field(std::get<2 * I>(all), std::get<2 * I + 1>(all))...);
  }
  (std::make_index_sequence<sizeof...(each) / 2>{});
}

template <class T>
concept WithFields = requires {
  T::fields;
};

template <WithFields T, class F>
void each_field(const F& f) {
  std::apply([&](const auto&... field) { (f(field), ...); }, T::fields);
}

}  // namespace mr::lua
