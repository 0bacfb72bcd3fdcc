/* fusion/base/pool.h -- threads that share one loop.
 *
 * pool_run() cuts [0, count) into parts and runs them on the caller and the
 * helpers; it returns when all are done.  With one thread, or with one part,
 * it is a plain call.  One pool serves one caller at a time.
 */
#ifndef FUSION_BASE_POOL_H
#define FUSION_BASE_POOL_H

#include <stdint.h>

struct pool;

typedef void pool_fn(void *context, int64_t begin, int64_t end, int thread);

/* `threads` counts the caller: 1 starts none.  NULL when out of resources. */
struct pool *pool_create(int threads);
void pool_destroy(struct pool *pool);      /* NULL is fine */
int pool_threads(const struct pool *pool); /* NULL: 1 */

/* Parts have at least `grain` iterations each (but the last).  Part i goes to
 * thread i; `thread` is below pool_threads(). */
void pool_run(struct pool *pool, int64_t count, int64_t grain, pool_fn *fn, void *context);

#endif
