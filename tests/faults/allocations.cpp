// A library for LD_PRELOAD that makes chosen memory allocations fail. A script controls it by calls of os.getenv, which
// allocate no memory: os.getenv "faults:3,2" lets the 3rd allocation from now on and the one after it fail; os.getenv
// "faults:end" stops this and returns the number of allocations since then. Environment variables do the same from the
// start of `main`, which the library recognizes by the first call of signal() for SIGXFSZ: MOONRANK_FAULTS=3,2 for the
// main process, MOONRANK_WORKER_FAULTS=3,2 for all workers of a sweep. MOONRANK_WORKER_FAULTS=3,2,FILE applies only to
// the first worker that finds this file; the worker deletes the file.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

extern "C" {
void* __libc_malloc(size_t) noexcept;
void* __libc_calloc(size_t, size_t) noexcept;
void* __libc_realloc(void*, size_t) noexcept;
void* __libc_memalign(size_t, size_t) noexcept;
}

namespace {

std::atomic<bool> counts{false};
std::atomic<long> made{0};
long first_lost = 0, lost = 0;

/// Counts a memory allocation; returns true if this allocation has to fail.
bool fails() noexcept {
  if (!counts.load(std::memory_order_acquire)) return false;
  const long number = made.fetch_add(1, std::memory_order_relaxed) + 1;
  if (number < first_lost || number >= first_lost + lost) return false;
  errno = ENOMEM;
  return true;
}

void begin(const char* order) noexcept {
  char* comma = nullptr;
  first_lost = std::strtol(order, &comma, 10);
  lost = *comma == ',' ? std::strtol(comma + 1, nullptr, 10) : 1;
  made = 0;
  counts.store(true, std::memory_order_release);
}

const char* end() noexcept {
  static char text[24];
  counts.store(false, std::memory_order_release);
  std::snprintf(text, sizeof text, "%ld", made.load());
  return text;
}

const char* variable(const char* name) noexcept {
  const size_t length = std::strlen(name);
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    if (std::strncmp(*each, name, length) == 0 && (*each)[length] == '=') return *each + length + 1;
  }
  return nullptr;
}

/// Returns the text that says which allocations of this process fail, from its environment variables, or null.
const char* ordered() noexcept {
  if (variable("MOONRANK_WORKER") == nullptr) return variable("MOONRANK_FAULTS");
  const char* const order = variable("MOONRANK_WORKER_FAULTS");
  const char* const file = order != nullptr ? std::strchr(order, '/') : nullptr;
  return file == nullptr || unlink(file) == 0 ? order : nullptr;
}

}  // namespace

// NOLINTBEGIN: names and signatures of the C library
extern "C" {
[[gnu::visibility("default")]] void* malloc(size_t size) noexcept { return fails() ? nullptr : __libc_malloc(size); }
[[gnu::visibility("default")]] void* calloc(size_t count, size_t size) noexcept {
  return fails() ? nullptr : __libc_calloc(count, size);
}
[[gnu::visibility("default")]] void* realloc(void* old, size_t size) noexcept {
  return size != 0 && fails() ? nullptr : __libc_realloc(old, size);
}
[[gnu::visibility("default")]] void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return fails() ? nullptr : __libc_memalign(alignment, size);
}
[[gnu::visibility("default")]] void* memalign(size_t alignment, size_t size) noexcept {
  return fails() ? nullptr : __libc_memalign(alignment, size);
}
[[gnu::visibility("default")]] int posix_memalign(void** out, size_t alignment, size_t size) noexcept {
  if (fails()) return ENOMEM;
  void* const block = __libc_memalign(alignment, size);
  if (block == nullptr) return ENOMEM;
  *out = block;
  return 0;
}
[[gnu::visibility("default")]] sighandler_t signal(int number, sighandler_t handler) noexcept {
  using Signal = sighandler_t (*)(int, sighandler_t);
  static const auto original = reinterpret_cast<Signal>(dlsym(RTLD_NEXT, "signal"));
  const sighandler_t before = original(number, handler);
  if (const char* const order = number == SIGXFSZ && made == 0 ? ordered() : nullptr; order != nullptr) begin(order);
  return before;
}
[[gnu::visibility("default")]] char* getenv(const char* name) noexcept {
  constexpr char mark[] = "faults:";
  if (std::strncmp(name, mark, sizeof mark - 1) != 0) return const_cast<char*>(variable(name));
  const char* const order = name + sizeof mark - 1;
  if (std::strcmp(order, "end") == 0) return const_cast<char*>(end());
  begin(order);
  return nullptr;
}
}
// NOLINTEND
