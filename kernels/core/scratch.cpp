#include "kernels/core/scratch.h"

#include <new>
#include <pthread.h>

namespace mr::cpu {
namespace {

void free_all(void* first) {
  for (auto* each = static_cast<Owned*>(first); each != nullptr;) {
    const std::unique_ptr<Owned> owned(each);
    each = each->next;
  }
}

/// pthread key whose destructor runs when a thread ends and frees all objects that were given to that thread
struct Key {
  Key() {
    if (pthread_key_create(&number, &free_all) != 0) throw std::bad_alloc();
  }
  pthread_key_t number{};
};

}  // namespace

void give_to_thread(std::unique_ptr<Owned> what) {
  static const Key key;
  what->next = static_cast<Owned*>(pthread_getspecific(key.number));
  if (pthread_setspecific(key.number, what.get()) != 0) throw std::bad_alloc();
  static_cast<void>(what.release());
}

}  // namespace mr::cpu
