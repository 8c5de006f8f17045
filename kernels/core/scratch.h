// Arrays that a thread reuses, so that short lists need no allocation. An array that grew for a long list is freed
// after use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace mr::cpu {

struct Owned {
  Owned* next = nullptr;
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  virtual ~Owned() = default;
};
/// Makes the calling thread the owner of `what`: the object is freed when the thread ends. Throws std::bad_alloc.
void give_to_thread(std::unique_ptr<Owned> what);

/// Holds a T per thread, like a static thread_local T, created on first use in each thread; throws std::bad_alloc. A
/// plain thread_local with a destructor is registered by the C library, which ends the program if memory runs out.
template <class T>
class OfThread {
 public:
  T& get() {
    if (made_ == nullptr) make();
    return *made_;
  }

 private:
  struct Made : Owned {
    T value;
  };

  [[gnu::noinline]] void make() {
    auto made = std::make_unique<Made>();
    T* const value = &made->value;
    give_to_thread(std::move(made));
    made_ = value;
  }

  T* made_ = nullptr;
};

/// largest number of bytes that a thread keeps after use; the sizes of all arrays that are used together count as one
/// sum
constexpr int64_t most_kept = int64_t{4} << 20;

template <class... T>
int64_t bytes_of(const std::vector<T>&... arrays) {
  return static_cast<int64_t>((size_t{0} + ... + (arrays.capacity() * sizeof(T))));
}

/// Holds a thread's scratch arrays while they are in use. Its destructor frees them if they have more than `most_kept`
/// bytes together.
template <class... T>
class Kept {
 public:
  explicit Kept(std::vector<T>&... arrays) : arrays_(arrays...) {}
  ~Kept() {
    std::apply(
        [](auto&... each) {
          if (bytes_of(each...) > most_kept) (std::remove_reference_t<decltype(each)>().swap(each), ...);
        },
        arrays_);
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

 private:
  std::tuple<std::vector<T>&...> arrays_;
};

}  // namespace mr::cpu
