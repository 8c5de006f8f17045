// Freed device memory, kept for the next request of about its size. Everything runs in the order of one stream, so a
// block can be handed on at once: what used it before is queued before what uses it next. A graph of recorded launches
// runs again and again with the memory of its recording: what was there by its end stays with it as long as it lives.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

namespace mr::cuda {

class Pool {
 public:
  /// Memory of so many bytes, or null where there is none left; and giving it back, when nothing uses it any more.
  using Take = std::function<void*(int64_t bytes)>;
  using GiveBack = std::function<void(void* data)>;
  Pool(Take take, GiveBack give_back) : take_(std::move(take)), give_back_(std::move(give_back)) {}
  /// Gives back all that it took.
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Throws std::bad_alloc where not even the kept blocks, given back, make room.
  void* allocate(int64_t bytes);
  void release(void* data) noexcept;
  /// Gives all blocks back that neither a tensor nor a graph holds.
  void give_back() noexcept;

  /// Bytes handed out, and bytes that wait for a request.
  int64_t held() const;
  int64_t kept() const;

  /// A recording begins: only its own freed blocks are reused until it ends.
  void begin_capture();
  /// Ends it; the number by which its graph is forgotten, when it will not run again.
  uint64_t end_capture();
  void forget(uint64_t graph) noexcept;

 private:
  struct Block {
    void* data;
    int64_t size;
    uint64_t number;  // of the request that it serves; requests are counted
    Block* next;
  };
  using BySize = std::map<int64_t, Block*>;

  void give_back_free() noexcept;
  Block* reusable(int64_t size) noexcept;
  Block* fresh(int64_t size);
  void put(BySize& free, Block* block) noexcept;
  bool in_a_graph(const Block* block) const { return !graphs_.empty() && block->number <= *graphs_.rbegin(); }

  Take take_;
  GiveBack give_back_;
  mutable std::mutex mutex_;
  std::unordered_map<void*, std::unique_ptr<Block>> blocks_;
  BySize free_, recorded_;      // heads of chains; an entry for every size that there is
  Block* in_graphs_ = nullptr;  // released, but graphs may use them
  std::set<uint64_t> graphs_;   // the last request of each recording
  uint64_t requests_ = 0, recording_since_ = 0;
  bool recording_ = false;
  int64_t held_ = 0, all_ = 0;
};

}  // namespace mr::cuda
