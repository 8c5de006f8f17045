/* Moonrank as a library: its metrics, bounds and losses on the caller's arrays, and its Lua scripts.
 *
 * A state is one Lua interpreter with the library. A process may have several states and use them from any thread;
 * calls run one after another, and each uses all threads of Moonrank. A thread that calls needs a stack of 1 MiB or
 * more. Opening a state changes no signal handler and no locale. After a fork, the child may use a state if no call was
 * running.
 *
 * Every function that can fail returns MOONRANK_OK, or another status; moonrank_error then has the reason. */
#ifndef MOONRANK_H
#define MOONRANK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MOONRANK_API __attribute__((visibility("default")))

/* Version of this interface. It is raised when a function or a struct changes, but not for additions. */
#define MOONRANK_API_VERSION 1

typedef struct moonrank_state moonrank_state;

enum moonrank_status { MOONRANK_OK = 0, MOONRANK_FAILED = 1, MOONRANK_INTERRUPTED = 2 };
enum moonrank_dtype { MOONRANK_FLOAT32 = 0, MOONRANK_FLOAT64 = 1, MOONRANK_INT64 = 2 };

#define MOONRANK_MOST_DIMS 4

/* An array in the memory of the CPU. `data` has shape[0] * ... * shape[dims - 1] entries, row by row.
 *
 * An argument is read in place. Tensors of scripts may use its memory after the call. If `release` is not NULL, the
 * library calls release(owner) once when the last tensor on the memory is gone: at the end of this call or of a later
 * one, on any thread, also after an error. It may call functions of this interface. If it is NULL, the memory must stay
 * valid until the state is closed. Functions that keep no tensor use the memory only during the call; their comments
 * say so.
 *
 * A result belongs to the caller, who must call release(owner) once. */
typedef struct moonrank_array {
  void* data;
  int32_t dtype; /* enum moonrank_dtype */
  int32_t dims;  /* 0 to MOONRANK_MOST_DIMS */
  int64_t shape[MOONRANK_MOST_DIMS];
  void (*release)(void* owner);
  void* owner;
} moonrank_array;

/* The interface's version in the loaded library; compare it with MOONRANK_API_VERSION. */
MOONRANK_API int moonrank_api_version(void);
/* The program's version, such as "0.2.0". */
MOONRANK_API const char* moonrank_version(void);

/* Sets the number of threads that computations of this process use (default: a thread per CPU, at most 4096), unless n
 * is 0 or less. Returns the number. Waits for a running computation. A forked child starts threads of its own; if
 * another thread was in a call at the time of the fork, every later call in the child fails. */
MOONRANK_API int moonrank_threads(int n);

/* Opens a state. NULL if memory is short or the standard library cannot be loaded; `moonrank_error(NULL)` then has the
 * reason, for the calling thread. */
MOONRANK_API moonrank_state* moonrank_open(void);
MOONRANK_API void moonrank_close(moonrank_state* state);
/* Text of the last failure of the state (UTF-8; "" if none). Valid until the next call with this state. */
MOONRANK_API const char* moonrank_error(const moonrank_state* state);

/* While on, Ctrl-C stops a running call, which returns MOONRANK_INTERRUPTED, and the third Ctrl-C ends the process. The
 * signal handler is installed for the duration of a call only, and not if the program ignores SIGINT. Off at the start.
 */
MOONRANK_API void moonrank_watch_interrupts(moonrank_state* state, int on);

/* Runs a script. `name` is its name in error messages. Global variables of the script last until the state is closed.
 */
MOONRANK_API int moonrank_run(moonrank_state* state, const char* code, const char* name);

/* Judged lists (queries or users): `grades` has an entry for every row (relevant: 1 or more), `sizes` has the number of
 * rows of every list. The sum of the sizes is the number of rows. */
typedef struct moonrank_lists {
  const float* grades;
  const int64_t* sizes;
  int64_t rows;
  int64_t count;
} moonrank_lists;

/* Computes an exact metric, such as "ndcg@10", or "ap:minmax" under a bound. `scores` has an entry for every row, and
 * `dtype` is MOONRANK_FLOAT32 or MOONRANK_FLOAT64. `mean` receives the mean over the lists for which the metric is
 * defined. `values` (may be NULL) receives the value of each list, NaN where it is undefined. Keeps no tensor. */
MOONRANK_API int moonrank_evaluate(moonrank_state* state, const char* metric, const void* scores, int dtype,
                                   const moonrank_lists* lists, double* mean, double* values);

/* Computes the mean of a loss over the lists that count, and its gradient. `loss` is a name, with a bound after a
 * colon: "ndcg:expectation"; or a Lua expression: "mr.losses.nrbp{bound = 'minmax', steepness = 2}". `gradient` (may be
 * NULL) has the type of the scores and an entry for every row. Keeps no tensor. */
MOONRANK_API int moonrank_loss(moonrank_state* state, const char* loss, const void* scores, int dtype,
                               const moonrank_lists* lists, double* mean, void* gradient);

/* For bindings of other languages: calls a function of stdlib/moonrank/system/bridge.lua with a value and arrays.
 * `values` has the value's bytes in the format of stdlib/moonrank/sweep/frame.lua, and so has the reply. In a value, a
 * table with the key "\0array" (six bytes) and the value i stands for array i, counted from 1. The reply belongs to the
 * caller, who releases each of its arrays, and the reply itself by moonrank_release. */
typedef struct moonrank_reply {
  const void* values;
  size_t bytes;
  const moonrank_array* arrays;
  int32_t count;
  void* owner;
} moonrank_reply;
MOONRANK_API int moonrank_call(moonrank_state* state, const char* function, const void* values, size_t bytes,
                               const moonrank_array* arrays, int count, moonrank_reply* reply);
/* Frees the memory of a reply, but not its arrays. */
MOONRANK_API void moonrank_release(moonrank_reply* reply);

/* For bindings of other languages: one call of a loss in a training loop, on the caller's arrays, without the bytes of
 * moonrank_call. Every member has 8 bytes. Members without a comment on their state may not be NULL. */
typedef struct moonrank_step {
  int64_t loss;         /* number that the function "loss" of moonrank_call returned */
  int64_t lists;        /* number that the function "lists" returned, or 0 for lists of `grades` and `sizes` */
  int64_t rows, count;  /* number of rows and of lists, also of kept lists */
  const float* grades;  /* [rows]; NULL for kept lists, as are the sizes */
  const int64_t* sizes; /* [count] */
  void* scores;         /* [rows], read in place and released like the data of a moonrank_array */
  int64_t dtype;        /* of scores, values, upstream and gradient: MOONRANK_FLOAT32 or MOONRANK_FLOAT64 */
  void (*release)(void* owner);
  void* owner;
  const double* row_weights;  /* [rows], or NULL: those of kept lists, or none */
  const double* list_weights; /* [count], or NULL */
  int64_t reduction;          /* 0: mean over the lists that count, 1: sum, 2: a value per list */
  void* values;               /* receives the value, or [count] values */
  void* gradient;             /* receives [rows] derivatives by the scores; NULL: they are not computed */
  const void* upstream;       /* [count], what the values are multiplied by in the gradient of reduction 2; else NULL */
  double* parameters;         /* [parameter_count], the loss's own; receives what they were moved to; NULL if none */
  double* parameter_gradient; /* receives [parameter_count] derivatives if `gradient` is given */
  int64_t parameter_count;
  int64_t draw_again; /* `drawn` of an earlier call, whose random numbers the loss uses again; -1: new ones */
  int64_t drawn;      /* receives what names the random numbers of this call */
} moonrank_step;
MOONRANK_API int moonrank_loss_step(moonrank_state* state, moonrank_step* step);

#ifdef __cplusplus
}
#endif

#endif
