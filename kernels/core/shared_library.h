// Libraries that few runs need are loaded when they are first asked for: the program starts quickly, and also where
// they are not installed. A class lists what is called, typed by the library's own headers:
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
  /// Found where the system finds what a program is linked with, and kept until the program ends; std::runtime_error
  /// where it cannot be loaded. `purpose` begins that sentence, the name of the library follows. Both texts are kept.
  SharedLibrary(const char* file, const char* purpose);

  /// Address of a function or an object; std::runtime_error where the library has none of that name.
  void* symbol(const char* name) const;

 private:
  const char* file_;
  void* handle_;
};

}  // namespace mr

/// A member that is the library's function of this name. Headers rename functions by macros, hence two steps.
#define MR_FUNCTION(name) MR_FUNCTION_EXPANDED(name)
#define MR_FUNCTION_EXPANDED(name) decltype(&::name) name = reinterpret_cast<decltype(&::name)>(symbol(#name))
