#include "tests/support/emulated_gpu/blocks.h"

#include <array>
#include <csetjmp>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace mr::test {
namespace {

constexpr unsigned warp = 32;
constexpr size_t stack_bytes = size_t{256} << 10, shared_canary = 64;
constexpr unsigned char fresh = 0xFF;  // initial byte of shared memory: floating-point numbers read from it are NaN

/// The stack of a fiber, which can be left and entered again.
struct Stack {
  sigjmp_buf at;
  const void* bottom = nullptr;
  size_t bytes = 0;
  void* sanitizer = nullptr;
};

[[gnu::noinline]] void leave_for(Stack& from, Stack& to, ucontext_t* start) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&from.sanitizer, to.bottom, to.bytes);
#endif
  if (sigsetjmp(from.at, 0) == 0) {
    if (start != nullptr) setcontext(start);
    siglongjmp(to.at, 1);
  }
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(from.sanitizer, nullptr, nullptr);
#endif
}

/// A fiber: runs lanes of a block one after another on its own stack, until one of them has to wait.
class Fiber {
 public:
  Fiber();
  ~Fiber() { munmap(memory_, stack_bytes); }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Continues the fiber where it last waited.
  void enter();
  void wait();

 private:
  static void main();

  void* memory_;
  Stack stack_;
  ucontext_t start_{};
  bool started_ = false;
};

enum class State { fresh, ready, at_barrier, at_exchange, done };

struct Lane {
  State state = State::fresh;
  Fiber* fiber = nullptr;
  Exchange kind = Exchange::barrier;
  unsigned mask = 0, source = 0;
  uint64_t value = 0, result = 0;
};

struct Engine {
  Stack scheduler;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Fiber*> idle;
  Fiber* running = nullptr;

  const char* kernel = "";
  const std::function<void()>* work = nullptr;
  bool backward = false;
  std::vector<Lane> lanes;
  unsigned fresh_lanes = 0, current = 0;  // number of lanes that have not started; index of the running lane
  std::vector<unsigned char> shared;
  size_t shared_bytes = 0;
  std::exception_ptr thrown;

  unsigned count() const { return static_cast<unsigned>(lanes.size()); }
  [[noreturn]] void fail(const std::string& what) { throw std::logic_error(std::string(kernel) + ": " + what); }
  /// Makes `lane` the running lane, whose index the kernel sees as threadIdx.
  void take(unsigned lane) {
    current = lane;
    thread_index.x = lane;
  }
  void begin_block(unsigned block);
  void run_block(unsigned block);
  void begin_fresh();
  bool go_on();
  void release_barrier();
  void release_warp(unsigned lane);
};

Engine& engine() {
  static Engine the_engine;
  return the_engine;
}

Fiber::Fiber() : memory_(mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
  if (memory_ == MAP_FAILED) throw std::bad_alloc();
  stack_.bottom = memory_;
  stack_.bytes = stack_bytes;
  getcontext(&start_);
  start_.uc_stack.ss_sp = memory_;
  start_.uc_stack.ss_size = stack_bytes;
  makecontext(&start_, &Fiber::main, 0);
}

void Fiber::enter() {
  engine().running = this;
  leave_for(engine().scheduler, stack_, started_ ? nullptr : &start_);
}

void Fiber::wait() { leave_for(stack_, engine().scheduler, nullptr); }

void Fiber::main() {
  Engine& e = engine();
  Fiber& self = *e.running;
  self.started_ = true;
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(nullptr, &e.scheduler.bottom, &e.scheduler.bytes);
#endif
  for (;;) {
    while (e.fresh_lanes > 0 && !e.thrown) {
      --e.fresh_lanes;
      const unsigned lane = e.backward ? e.fresh_lanes : e.count() - 1 - e.fresh_lanes;
      e.take(lane);
      e.lanes[lane].fiber = &self;
      try {
        (*e.work)();
      } catch (...) {
        e.thrown = std::current_exception();
      }
      e.lanes[lane].state = State::done;
    }
    e.idle.push_back(&self);
    self.wait();
  }
}

void Engine::begin_fresh() {
  while (fresh_lanes > 0 && !thrown) {
    if (idle.empty()) {
      fibers.push_back(std::make_unique<Fiber>());
      idle.push_back(fibers.back().get());
    }
    Fiber* const next = idle.back();
    idle.pop_back();
    next->enter();
  }
}

/// Runs every lane that is ready until it waits or ends. Returns false if no lane was ready.
bool Engine::go_on() {
  bool any = false;
  for (unsigned i = 0; i < count() && !thrown; ++i) {
    const unsigned lane = backward ? count() - 1 - i : i;
    if (lanes[lane].state != State::ready) continue;
    any = true;
    take(lane);
    lanes[lane].fiber->enter();
  }
  return any;
}

void Engine::release_barrier() {
  for (const Lane& lane : lanes) {
    if (lane.state == State::at_exchange) fail("lanes of a warp wait for others that do not come");
  }
  for (Lane& lane : lanes) {
    if (lane.state != State::at_barrier) fail("some lanes are at a barrier that others never reach");
  }
  for (Lane& lane : lanes) lane.state = State::ready;
}

/// If all lanes of the exchange that `lane` waits in have arrived, gives each lane its result and makes it ready.
void Engine::release_warp(unsigned lane) {
  const Lane& mine = lanes[lane];
  const unsigned first = lane / warp * warp;
  unsigned voted = 0;
  for (unsigned i = 0; i < warp; ++i) {
    if ((mine.mask >> i & 1U) == 0) continue;
    if (first + i >= count()) fail("a mask names lanes that the block does not have");
    const Lane& other = lanes[first + i];
    if (other.state != State::at_exchange) return;
    if (other.kind != mine.kind || other.mask != mine.mask) fail("lanes of a warp wait for different things");
    voted |= (other.value != 0 ? 1U : 0U) << i;
  }
  const Exchange kind = mine.kind;
  const unsigned mask = mine.mask;
  for (unsigned i = 0; i < warp; ++i) {
    if ((mask >> i & 1U) == 0) continue;
    Lane& other = lanes[first + i];
    if (kind == Exchange::any) other.result = voted;
    if (kind == Exchange::lane) {
      if ((mask >> other.source & 1U) == 0) fail("a lane asks for the value of one outside of its mask");
      other.result = lanes[first + other.source].value;
    }
  }
  for (unsigned i = 0; i < warp; ++i) {
    if ((mask >> i & 1U) != 0) lanes[first + i].state = State::ready;
  }
}

void Engine::begin_block(unsigned block) {
  block_index.x = block;
  lanes.assign(block_size.x, Lane{});
  fresh_lanes = count();
  shared.assign(shared_bytes + shared_canary, fresh);
}

void Engine::run_block(unsigned block) {
  begin_block(block);
  begin_fresh();
  for (;;) {
    while (go_on()) {
    }
    if (thrown) std::rethrow_exception(thrown);
    bool all_done = true;
    for (const Lane& lane : lanes) all_done = all_done && lane.state == State::done;
    if (all_done) break;
    release_barrier();
  }
  for (size_t i = 0; i < shared_canary; ++i) {
    if (shared[shared_bytes + i] != fresh) fail("writes past the end of its shared memory");
  }
}

/// Pauses the running lane with the given state and runs other lanes, until this lane is ready again.
void give_way(State state) {
  Engine& e = engine();
  const unsigned lane = e.current;
  e.lanes[lane].state = state;
  if (state == State::at_exchange) e.release_warp(lane);
  e.lanes[lane].fiber->wait();
}

}  // namespace

void run_blocks(const char* kernel, unsigned blocks, unsigned lanes, size_t shared_bytes, bool backward,
                const std::function<void()>& lane) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  Engine& e = engine();
  e.kernel = kernel;
  e.work = &lane;
  e.backward = backward;
  e.shared_bytes = shared_bytes;
  e.thrown = nullptr;
  grid_size = {blocks, 1, 1};
  block_size = {lanes, 1, 1};
  try {
    for (unsigned i = 0; i < blocks; ++i) e.run_block(backward ? blocks - 1 - i : i);
  } catch (...) {
    e.idle.clear();  // deletes the fibers that still wait
    e.fibers.clear();
    throw;
  }
}

void* shared_memory() { return engine().shared.data(); }

void block_barrier() { give_way(State::at_barrier); }

uint64_t exchange(Exchange kind, unsigned mask, uint64_t value, unsigned source) {
  Engine& e = engine();
  const unsigned lane = e.current;
  Lane& mine = e.lanes[lane];
  if ((mask >> (lane % warp) & 1U) == 0) e.fail("a lane is not in its own mask");
  mine.kind = kind;
  mine.mask = mask;
  mine.value = value;
  mine.source = source % warp;
  give_way(State::at_exchange);
  return e.lanes[lane].result;
}

}  // namespace mr::test
