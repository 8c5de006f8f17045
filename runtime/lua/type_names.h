// Names of Lua types for the arguments and results of C++ functions that scripts can call, for documentation. They are
// derived from the C++ signature.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "runtime/lua/box.h"
#include "runtime/lua/fields.h"

namespace mr::lua {

struct Table;

template <class T>
struct TypeName {
  static std::string get() { return class_name<T>; }
};
template <>
struct TypeName<double> {
  static std::string get() { return "number"; }
};
template <>
struct TypeName<int64_t> {
  static std::string get() { return "integer"; }
};
template <>
struct TypeName<bool> {
  static std::string get() { return "boolean"; }
};
template <>
struct TypeName<std::string> {
  static std::string get() { return "string"; }
};
template <>
struct TypeName<Table> {
  static std::string get() { return "table"; }
};
template <class T>
struct TypeName<std::optional<T>> {
  static std::string get() { return TypeName<T>::get() + "?"; }
};
template <class T>
struct TypeName<std::variant<T, double>> {
  static std::string get() { return TypeName<T>::get() + "|number"; }
};
template <class T>
struct TypeName<std::vector<T>> {
  static std::string get() { return TypeName<T>::get() + "[]"; }
};

/// A struct with fields as LuaCATS writes it: { low: number, high: number }.
template <WithFields T>
struct TypeName<T> {
  static std::string get() {
    std::string text;
    each_field<T>([&]<class F>(const F& field) {
      text += (text.empty() ? "{ " : ", ") + std::string(field.name) + ": " + TypeName<typename F::type>::get();
    });
    return text + " }";
  }
};

/// Writes the types of the arguments, "->", and the types of the results.
template <class F>
struct SignatureNames;
template <class R, class... A>
struct SignatureNames<R (*)(A...)> {
  static std::vector<std::string> get() {
    std::vector<std::string> names = {TypeName<std::remove_cvref_t<A>>::get()...};
    names.emplace_back("->");
    if constexpr (!std::is_void_v<R>) add(static_cast<R*>(nullptr), &names);
    return names;
  }

 private:
  template <class T>
  static void add(T*, std::vector<std::string>* names) {
    names->push_back(TypeName<T>::get());
  }
  template <class... T>
  static void add(std::tuple<T...>*, std::vector<std::string>* names) {
    (names->push_back(TypeName<T>::get()), ...);
  }
};

}  // namespace mr::lua
