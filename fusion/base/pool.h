/* fusion/base/pool.h -- threads that share one loop.
 *
 * pool_run() cuts [0, count) into parts and runs them on the caller and the
 * helpers; it returns when all are done.  With one thread, or with one part,
 * it is a plain call.
 *
 * A process has one pool of each size: whoever asks for as many threads has the same helpers.  So
 * functions that are timed in turn run on the same threads, and where the system has put them is
 * the same for all.  Any thread may call; a loop waits until another caller's is over, and may
 * not run a loop itself.
 */
#ifndef FUSION_BASE_POOL_H
#define FUSION_BASE_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct pool;

/* Iterations [begin, end); several ranges for a thread, one after the other. */
typedef void pool_fn(void *context, int64_t begin, int64_t end, int thread);

/* `threads` counts the caller: 1 starts none.  NULL when out of resources.  To be destroyed as
 * often as created; the last one ends the helpers. */
struct pool *pool_create(int threads);
void pool_destroy(struct pool *pool);      /* NULL is fine */
int pool_threads(const struct pool *pool); /* NULL: 1 */

/* There is a part for each `grain` iterations, and for each thread at most: thread i
 * begins with part i, so loops of one count meet the same memory in the same thread,
 * and goes on with what others have left.  `thread` is below the number of parts.
 * `backward`: a thread meets the ranges of its part last to first. */
void pool_run_towards(struct pool *pool, int64_t count, int64_t grain, bool backward, pool_fn *fn,
		      void *context);

static inline void pool_run(struct pool *pool, int64_t count, int64_t grain, pool_fn *fn,
			    void *context)
{
	pool_run_towards(pool, count, grain, false, fn, context);
}

#endif
