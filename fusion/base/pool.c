/* fusion/base/pool.c -- helpers that spin a little, then sleep in the kernel.
 *
 * Each helper has a word of its own, `go`, that changes when there is work:
 * only the helpers that a loop needs are woken.  All hand-overs are seq_cst
 * atomics, since "set go, then look whether it sleeps" here and "say asleep,
 * then look at go" there must not both miss the other.
 */
#include "fusion/base/pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How long to look before sleeping, in ticks of the processor's clock.  LONG, a
 * few tenths of a millisecond, outlasts what the program does between two
 * kernels: to wake a sleeper costs tens of microseconds on a virtual machine, and
 * those who come late make the others sleep in turn.  SHORT, about 10 us, is for
 * threads that share cores. */
enum { LONG_SPIN = 1000 * 1000, SHORT_SPIN = 25 * 1000, MAX_THREADS = 256 };

struct helper {
	_Alignas(64) _Atomic uint32_t go; /* the number of the latest job */
	_Atomic uint32_t asleep;
	pthread_t thread;
	struct pool *pool;
	int index;
};

struct pool {
	int threads;
	uint64_t spin; /* ticks */
	bool stop;
	/* The job; written before `go` changes, read after. */
	pool_fn *fn;
	void *context;
	int64_t count;
	int parts;
	_Alignas(64) _Atomic uint32_t pending; /* parts of helpers not done yet */
	_Atomic uint32_t waiting;              /* the caller sleeps on `pending` */
	struct helper *helpers;                /* threads - 1 of them */
};

static void futex_wait(_Atomic uint32_t *word, uint32_t seen)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void run_part(struct pool *pool, int part)
{
	/* 128 bits: count * parts may pass 2^63. */
	int64_t begin = (int64_t)((__int128)pool->count * part / pool->parts);
	int64_t end = (int64_t)((__int128)pool->count * (part + 1) / pool->parts);

	pool->fn(pool->context, begin, end, part);
}

/* Whether the word changed from `seen` (`until`: to `seen`) while we looked. */
static bool spin(const struct pool *pool, const _Atomic uint32_t *word, uint32_t seen, bool until)
{
	uint64_t begin = __builtin_ia32_rdtsc();

	do {
		if ((atomic_load_explicit(word, memory_order_acquire) == seen) == until)
			return true;
		__builtin_ia32_pause();
	} while (__builtin_ia32_rdtsc() - begin < pool->spin);
	return false;
}

/* Returns when *go is no longer `seen`. */
static void wait_for_work(struct helper *h, uint32_t seen)
{
	if (spin(h->pool, &h->go, seen, false))
		return;
	atomic_store(&h->asleep, 1);
	while (atomic_load(&h->go) == seen)
		futex_wait(&h->go, seen);
	atomic_store(&h->asleep, 0);
}

static void *helper_main(void *argument)
{
	struct helper *h = argument;
	struct pool *pool = h->pool;

	for (uint32_t seen = 0;; seen++) {
		wait_for_work(h, seen);
		if (pool->stop)
			return NULL;
		run_part(pool, h->index);
		if (atomic_fetch_sub(&pool->pending, 1) == 1 && atomic_load(&pool->waiting))
			futex_wake(&pool->pending);
	}
}

static void start(struct helper *h)
{
	atomic_fetch_add(&h->go, 1);
	if (atomic_load(&h->asleep))
		futex_wake(&h->go);
}

static void wait_for_helpers(struct pool *pool)
{
	uint32_t left;

	if (spin(pool, &pool->pending, 0, true))
		return;
	atomic_store(&pool->waiting, 1);
	while ((left = atomic_load(&pool->pending)) != 0)
		futex_wait(&pool->pending, left);
	atomic_store(&pool->waiting, 0);
}

/* Helpers take no signals: those are for the thread that made the pool. */
static bool start_helper(struct helper *h)
{
	sigset_t all, old;
	bool ok;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ok = pthread_create(&h->thread, NULL, helper_main, h) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ok;
}

/* That this process may run on. */
static int cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

struct pool *pool_create(int threads)
{
	struct pool *pool = aligned_alloc(64, sizeof(*pool));

	if (!pool)
		return NULL;
	threads = threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads;
	*pool = (struct pool){ .threads = 1, .spin = threads <= cores() ? LONG_SPIN : SHORT_SPIN };
	pool->helpers = aligned_alloc(64, sizeof(struct helper) * (size_t)threads);
	if (!pool->helpers) {
		free(pool);
		return NULL;
	}
	for (int i = 1; i < threads; i++) {
		struct helper *h = &pool->helpers[i - 1];

		*h = (struct helper){ .pool = pool, .index = i };
		if (!start_helper(h)) {
			pool_destroy(pool);
			return NULL;
		}
		pool->threads++;
	}
	return pool;
}

void pool_destroy(struct pool *pool)
{
	if (!pool)
		return;
	pool->stop = true;
	for (int i = 0; i < pool->threads - 1; i++) {
		start(&pool->helpers[i]);
		pthread_join(pool->helpers[i].thread, NULL);
	}
	free(pool->helpers);
	free(pool);
}

int pool_threads(const struct pool *pool)
{
	return pool ? pool->threads : 1;
}

void pool_run(struct pool *pool, int64_t count, int64_t grain, pool_fn *fn, void *context)
{
	int64_t parts = grain > 1 ? count / grain : count;

	if (parts > pool_threads(pool))
		parts = pool_threads(pool);
	if (parts <= 1) {
		if (count > 0)
			fn(context, 0, count, 0);
		return;
	}
	pool->fn = fn;
	pool->context = context;
	pool->count = count;
	pool->parts = (int)parts;
	atomic_store(&pool->pending, (uint32_t)parts - 1);
	for (int i = 0; i < parts - 1; i++)
		start(&pool->helpers[i]);
	run_part(pool, 0);
	wait_for_helpers(pool);
}
