// Libraries that few runs need are loaded on first use, so that the program starts quickly and also runs where they are
// not installed. A class declares the functions that are called, with the types of the library's own headers:
//
//   struct Libfoo : SharedLibrary {
//     Libfoo() : SharedLibrary("libfoo.so.1", "foos are counted by") {}
//     MR_FUNCTION(foo_count);
//   };
//   const Libfoo& libfoo() { static const Libfoo library; return library; }
//   ... libfoo().foo_count(text)
#pragma once

namespace mr {

class SharedLibrary {
 public:
  /// Loads the library from the system's search path and keeps it until the program ends. Throws std::runtime_error if
  /// it cannot be loaded; the message is `purpose`, the library's name, and the Debian package if it is known. Both
  /// strings must stay valid.
  SharedLibrary(const char* file, const char* purpose);

  /// Returns the address of a function or an object. Throws std::runtime_error if the library has no such symbol.
  void* symbol(const char* name) const;

 private:
  const char* file_;
  void* handle_;
};

}  // namespace mr

/// Declares a member that points to the library's function `name`. Two macro steps are needed, because some headers
/// define function names as macros for other names.
#define MR_FUNCTION(name) MR_FUNCTION_EXPANDED(name)
#define MR_FUNCTION_EXPANDED(name) decltype(&::name) name = reinterpret_cast<decltype(&::name)>(symbol(#name))
