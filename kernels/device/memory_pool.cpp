#include "kernels/device/memory_pool.h"

#include <new>
#include <utility>

#include "kernels/core/block_size.h"

namespace mr::cuda {

Pool::~Pool() {
  for (const auto& [data, block] : blocks_) give_back_(data);
}

void* Pool::allocate(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const int64_t size = block_size(bytes);
  Block* block = reusable(size);
  if (block == nullptr) block = fresh(size);
  block->number = ++requests_;
  held_ += size;
  return block->data;
}

Pool::Block* Pool::reusable(int64_t size) noexcept {
  BySize& free = recording_ ? recorded_ : free_;
  const auto at = free.find(size);
  if (at == free.end() || at->second == nullptr) return nullptr;
  return std::exchange(at->second, at->second->next);
}

Pool::Block* Pool::fresh(int64_t size) {
  // Creates the map entries for blocks of this size before it takes memory: if that failed afterwards, the memory would
  // leak.
  free_.try_emplace(size, nullptr);
  recorded_.try_emplace(size, nullptr);
  auto block = std::make_unique<Block>(Block{nullptr, size, 0, nullptr});
  block->data = take_(size);
  if (block->data == nullptr && !recording_) {
    give_back_free();
    block->data = take_(size);
  }
  if (block->data == nullptr) throw std::bad_alloc();
  all_ += size;
  Block* const made = block.get();
  try {
    blocks_.emplace(made->data, std::move(block));
  } catch (...) {
    all_ -= size;
    give_back_(made->data);
    throw;
  }
  return made;
}

void Pool::release(void* data) noexcept {
  if (data == nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto at = blocks_.find(data);
  if (at == blocks_.end()) return;
  Block* const block = at->second.get();
  held_ -= block->size;
  if (recording_ && block->number > recording_since_) {
    put(recorded_, block);
  } else if (recording_ || in_a_graph(block)) {
    block->next = std::exchange(in_graphs_, block);
  } else {
    put(free_, block);
  }
}

void Pool::put(BySize& free, Block* block) noexcept {
  Block*& head = free.find(block->size)->second;
  block->next = std::exchange(head, block);
}

void Pool::give_back() noexcept {
  const std::lock_guard lock(mutex_);
  give_back_free();
}

void Pool::give_back_free() noexcept {
  for (auto& [size, head] : free_) {
    while (head != nullptr) {
      Block* const block = std::exchange(head, head->next);
      all_ -= size;
      void* const data = block->data;
      give_back_(data);
      blocks_.erase(data);
    }
  }
}

int64_t Pool::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

int64_t Pool::kept() const {
  const std::lock_guard lock(mutex_);
  return all_ - held_;
}

void Pool::begin_capture() {
  const std::lock_guard lock(mutex_);
  recording_ = true;
  recording_since_ = requests_;
}

uint64_t Pool::end_capture() {
  const std::lock_guard lock(mutex_);
  graphs_.insert(++requests_);
  recording_ = false;
  for (auto& [size, head] : recorded_) {
    while (head != nullptr) {
      Block* const block = std::exchange(head, head->next);
      block->next = std::exchange(in_graphs_, block);
    }
  }
  return requests_;
}

void Pool::forget(uint64_t graph) noexcept {
  const std::lock_guard lock(mutex_);
  graphs_.erase(graph);
  Block* waiting = std::exchange(in_graphs_, nullptr);
  while (waiting != nullptr) {
    Block* const block = std::exchange(waiting, waiting->next);
    if (in_a_graph(block)) {
      block->next = std::exchange(in_graphs_, block);
    } else {
      put(free_, block);
    }
  }
}

}  // namespace mr::cuda
