// A pool of freed device memory for later requests of about the same size. All work runs in the order of one stream, so
// a block can be reused at once: its old use is queued before its new one. A graph of recorded launches runs repeatedly
// with the memory of its recording. So blocks that the recording released stay reserved while the graph exists.
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
  /// A `Take` function allocates device memory, or returns null if no memory is left. A `GiveBack` function frees
  /// memory that `Take` returned.
  using Take = std::function<void*(int64_t bytes)>;
  using GiveBack = std::function<void(void* data)>;
  Pool(Take take, GiveBack give_back) : take_(std::move(take)), give_back_(std::move(give_back)) {}
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Returns a block of memory. Throws std::bad_alloc if there is not enough memory, even after all unused blocks were
  /// freed (during a recording none is freed).
  void* allocate(int64_t bytes);
  void release(void* data) noexcept;
  /// Frees all blocks that neither a tensor nor a graph uses.
  void give_back() noexcept;

  /// `held` returns the bytes that are in use. `kept` returns the bytes of freed blocks that wait for a request.
  int64_t held() const;
  int64_t kept() const;

  /// Starts a recording of GPU work. Until it ends, a request gets a block that was freed during this recording, or
  /// newly allocated memory. Other free blocks are not used.
  void begin_capture();
  /// Ends the recording. Returns a number for it, to be passed to `forget` when the recorded graph will not run again.
  uint64_t end_capture();
  void forget(uint64_t graph) noexcept;

 private:
  struct Block {
    void* data;
    int64_t size;
    uint64_t number;  // number of the allocation request that this block serves
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
  // free_: first free memory block of each size; recorded_: first block of each size that was released during the open
  // recording
  BySize free_, recorded_;
  // list of memory blocks that were released but may still be used by recorded CUDA graphs
  Block* in_graphs_ = nullptr;
  // for each recorded graph, the request number at its end; the graph may use blocks of earlier requests
  std::set<uint64_t> graphs_;
  uint64_t requests_ = 0, recording_since_ = 0;
  bool recording_ = false;
  int64_t held_ = 0, all_ = 0;
};

}  // namespace mr::cuda
