// The binder turns a C++ function into a lua_CFunction by its signature. It has three phases, so that no Lua error
// jumps over a live C++ object and no C++ exception crosses a Lua frame (runtime/README.md): reserve the results (may
// raise); convert the arguments, call, and store the results (must not raise); finish or raise an error, when no C++
// object is alive.
#pragma once

#include <cstdlib>
#include <exception>
#include <tuple>
#include <utility>

#include "runtime/autograd/timed.h"
#include "runtime/lua/arg.h"
#include "runtime/lua/gc.h"
#include "runtime/lua/result.h"
#include "runtime/lua/type_names.h"

namespace mr::lua {

/// A table of C++ functions (`rows`) that become Lua functions: functions of the core module, or methods, getters or
/// metamethods of a class.
struct OpTable {
  enum Kind { functions, methods, getters, metamethods };
  Kind kind;
  /// Pushes the metatable of the class to which the functions are added; null if they are functions of the core module.
  void (*metatable)(lua_State*);
  std::vector<OpRow> rows;
};

/// Returns the tables of all C++ functions that Lua can call. They are listed in runtime/lua/op_tables.cpp.
const std::vector<const OpTable*>& op_tables();

template <class F>
struct Signature;
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using result = R;
  static constexpr int arity = sizeof...(A);

  template <auto F>
  static void invoke(lua_State* L) {
    invoke<F>(L, std::index_sequence_for<A...>{});
  }

 private:
  template <auto F, size_t... I>
  static void invoke(lua_State* L, std::index_sequence<I...>) {
    if constexpr (std::is_void_v<R>) {
      F(Arg<std::remove_cvref_t<A>>::get(L, static_cast<int>(I) + 1)...);
    } else {
      R value = F(Arg<std::remove_cvref_t<A>>::get(L, static_cast<int>(I) + 1)...);
      Results<R>::put(L, arity + 1, std::move(value));
    }
  }
};

/// Writes "... expected, got ..." for a type error, using only API functions that never raise.
void describe_type_error(lua_State* L, const TypeError& error, Failure* out) noexcept;
void describe_closed_error(const ClosedError& error, Failure* out) noexcept;
void describe_key_beside(const KeyBesideError& error, Failure* out) noexcept;
void describe_argument_error(const ArgumentError& error, Failure* out) noexcept;
[[gnu::cold]] void unknown_exception(Failure* out) noexcept;

template <auto F>
bool guarded(lua_State* L, const char* name, Failure* out) noexcept {
  const int top = lua_gettop(L);
  try {
    const Timed timed(name, Timed::forward);
    Signature<decltype(F)>::template invoke<F>(L);
    return true;
  } catch (const TypeError& e) {
    describe_type_error(L, e, out);
  } catch (const ClosedError& e) {
    describe_closed_error(e, out);
  } catch (const KeyBesideError& e) {
    describe_key_beside(e, out);
  } catch (const ArgumentError& e) {
    describe_argument_error(e, out);
  } catch (const std::bad_alloc& e) {
    out->set(Failure::memory, 0, dynamic_cast<const OutOfMemory*>(&e) != nullptr ? e.what() : "out of memory");
  } catch (const std::exception& e) {
    out->set(Failure::other, 0, e.what());
  } catch (...) {
    unknown_exception(out);
  }
  lua_settop(L, top);
  return false;
}

/// The lua_CFunction that calls the C++ function F. Its upvalue 1 is the OpRow that describes F. If memory runs out,
/// garbage is collected, and F is called again if it has no side effects (`again`).
template <auto F, bool again>
int call(lua_State* L) {
  using Sig = Signature<decltype(F)>;
  using Out = Results<typename Sig::result>;
  const OpRow& row = *static_cast<const OpRow*>(lua_touserdata(L, lua_upvalueindex(1)));
  if (const int n = lua_gettop(L); n > Sig::arity) {
    // Lua passes the operand of a unary operator such as -x twice, which does not count as an extra argument.
    if (!(row.name[0] == '_' && Sig::arity == 1 && n == 2 && lua_rawequal(L, 1, 2) != 0))
      return raise_extra_arguments(L, row, Sig::arity, n);
  }
  lua_settop(L, Sig::arity);
  luaL_checkstack(L, Out::count + 8, nullptr);
  collect_if_due(L);
  Out::reserve(L);
  Failure failure;
  bool done = guarded<F>(L, row.name, &failure);
  if (!done && failure.kind == Failure::memory) {
    lua_gc(L, LUA_GCCOLLECT);
    if constexpr (again) done = guarded<F>(L, row.name, &failure);
  }
  if (!done) return raise(L, row, failure);
  Out::finish(L, Sig::arity + 1);
  return Out::count;
}

/// Returns an OpRow, which describes a C++ function for Lua. The function must have no side effects, because it is
/// called again after an out-of-memory error.
template <auto F>
constexpr OpRow op(const char* name, const char* arguments, const char* doc) {
  return {name, &call<F, true>, arguments, doc, &SignatureNames<decltype(F)>::get};
}

/// Like `op`, for functions with side effects: an optimizer step, an SQL statement, one more tree. They are not retried
/// after an out-of-memory error, because a part would run twice.
template <auto F>
constexpr OpRow once(const char* name, const char* arguments, const char* doc) {
  return {name, &call<F, false>, arguments, doc, &SignatureNames<decltype(F)>::get};
}

}  // namespace mr::lua

namespace mr::lua {
template <>
inline constexpr const char* class_name<Tensor> = "mr.Tensor";
}
