/* fusion/base/pool.c -- helpers that spin a little, then sleep in the kernel.
 *
 * A loop is cut into parts, one for each thread, and these into chunks.  A thread
 * takes the chunks of its own part first, so that it meets the same memory from loop
 * to loop, then what is left of others': who comes late, or shares its core, is
 * helped out.  The caller waits for helpers that came, never for one that sleeps.
 *
 * `word` opens and closes a loop.  A helper says which one it is in, then looks
 * whether that is still open; the caller closes it, then looks who is in it.  Both
 * are seq_cst, so that one of them sees the other: after the wait nobody reads the
 * loop any more.
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
enum {
	LONG_SPIN = 1000 * 1000,
	SHORT_SPIN = 25 * 1000,
	MAX_THREADS = 256,
	MOST_CHUNKS = 16, /* of a part */
	CHUNKS_A_GRAIN = 2,
	CHUNK_BITS = 8,  /* of `taken` */
	PARTS_SHIFT = 1, /* of `word`: parts - 1, after the bit that says open */
	NUMBER_SHIFT = 9,
};

/* A thread's place; seat 0 is the caller's.  What it writes is in lines of its own. */
struct seat {
	_Alignas(64) _Atomic uint64_t taken; /* the loop's number, and chunks taken of its part */
	_Atomic uint32_t in;                 /* low bits of the word of its loop; 0: none */
	_Atomic uint32_t asleep;             /* 1: on this word */
	pthread_t thread;
	struct pool *pool;
	int index;
};

struct pool {
	int threads;
	int owners;           /* under `shared` */
	struct pool *next;    /* ... */
	pthread_mutex_t lock; /* of who has a loop in it */
	uint64_t spin;        /* ticks */
	bool stop;
	/* The loop; written before `word` opens it, read by who is in it. */
	pool_fn *fn;
	void *context;
	int64_t count, chunk;
	int parts;
	bool backward;
	uint64_t number;
	_Alignas(64) _Atomic uint64_t word;
	_Alignas(64) _Atomic uint32_t waiting; /* the caller sleeps on a seat's `in` */
	struct seat *seats;
};

static void futex_wait(_Atomic uint32_t *word, uint32_t seen)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- a loop */

static int64_t part_begin(const struct pool *pool, int part)
{
	/* 128 bits: count * parts may pass 2^63. */
	return (int64_t)((__int128)pool->count * part / pool->parts);
}

/* The next chunk of a part: its number; -1: all are taken. */
static int64_t take_chunk(struct pool *pool, int part, int64_t chunks)
{
	_Atomic uint64_t *taken = &pool->seats[part].taken;
	uint64_t seen = atomic_load_explicit(taken, memory_order_relaxed), k;

	do {
		k = seen >> CHUNK_BITS == pool->number ? seen & ((1 << CHUNK_BITS) - 1) : 0;
		if ((int64_t)k >= chunks)
			return -1;
	} while (!atomic_compare_exchange_weak_explicit(
	    taken, &seen, pool->number << CHUNK_BITS | (k + 1), memory_order_relaxed,
	    memory_order_relaxed));
	return (int64_t)k;
}

static void run_part(struct pool *pool, int part, int thread)
{
	int64_t begin = part_begin(pool, part), end = part_begin(pool, part + 1), k;
	int64_t chunks = (end - begin + pool->chunk - 1) / pool->chunk;

	while ((k = take_chunk(pool, part, chunks)) >= 0) {
		int64_t from = begin + (pool->backward ? chunks - 1 - k : k) * pool->chunk;
		int64_t to = end - from < pool->chunk ? end : from + pool->chunk;

		pool->fn(pool->context, from, to, thread);
	}
}

/* Its own part, then the others'.  A loop of one chunk a part is over so soon that
 * only the caller looks for what is left of it. */
static void work(struct pool *pool, int thread)
{
	run_part(pool, thread, thread);
	if (thread > 0 && pool->count / pool->parts < pool->chunk)
		return;
	for (int i = 1; i < pool->parts; i++)
		run_part(pool, (thread + i) % pool->parts, thread);
}

/* ---- helpers */

static bool is_open(uint64_t word)
{
	return word & 1;
}

static int parts_of(uint64_t word)
{
	return (int)(word >> PARTS_SHIFT & (MAX_THREADS - 1)) + 1;
}

/* Whether there is a loop for this helper that it was not in yet. */
static bool has_work(const struct seat *s, uint64_t seen, uint64_t *word)
{
	*word = atomic_load(&s->pool->word);
	return *word != seen && is_open(*word) && s->index < parts_of(*word);
}

static void wake(struct seat *s)
{
	if (atomic_load(&s->asleep) && atomic_exchange(&s->asleep, 0))
		futex_wake(&s->asleep);
}

/* The helpers that a thread wakes are its children in a tree: calls of the system
 * are slow, and so the caller makes two of them at most. */
static void wake_children(struct pool *pool, int thread, int parts)
{
	for (int child = 2 * thread + 1; child <= 2 * thread + 2 && child < parts; child++)
		wake(&pool->seats[child]);
}

static uint64_t wait_for_work(struct seat *s, uint64_t seen)
{
	uint64_t begin = __builtin_ia32_rdtsc(), word;

	do {
		if (has_work(s, seen, &word))
			return word;
		__builtin_ia32_pause();
	} while (__builtin_ia32_rdtsc() - begin < s->pool->spin);
	for (;;) {
		atomic_store(&s->asleep, 1);
		if (has_work(s, seen, &word))
			break;
		futex_wait(&s->asleep, 1);
	}
	atomic_store(&s->asleep, 0);
	return word;
}

static void *helper_main(void *argument)
{
	struct seat *s = argument;
	struct pool *pool = s->pool;
	bool stop = false;

	for (uint64_t word = 0; !stop;) {
		word = wait_for_work(s, word);
		atomic_store(&s->in, (uint32_t)word);
		if (atomic_load(&pool->word) == word) {
			wake_children(pool, s->index, parts_of(word));
			stop = pool->stop;
			if (!stop)
				work(pool, s->index);
		}
		atomic_store(&s->in, 0);
		if (atomic_load(&pool->waiting))
			futex_wake(&s->in);
	}
	return NULL;
}

/* ---- the caller */

static void open_loop(struct pool *pool, int parts)
{
	pool->parts = parts;
	pool->number++;
	atomic_store(&pool->word,
		     pool->number << NUMBER_SHIFT | (uint64_t)(parts - 1) << PARTS_SHIFT | 1);
	wake_children(pool, 0, parts);
}

/* Until a helper is no longer in the loop. */
static void wait_for(struct pool *pool, struct seat *s, uint32_t word)
{
	uint64_t begin = __builtin_ia32_rdtsc();

	while (atomic_load(&s->in) == word) {
		__builtin_ia32_pause();
		if (__builtin_ia32_rdtsc() - begin < pool->spin)
			continue;
		atomic_store(&pool->waiting, 1);
		futex_wait(&s->in, word);
		atomic_store(&pool->waiting, 0);
	}
}

static void close_loop(struct pool *pool)
{
	uint64_t word = atomic_load(&pool->word);

	atomic_store(&pool->word, word & ~(uint64_t)1);
	for (int i = 1; i < pool->parts; i++)
		wait_for(pool, &pool->seats[i], (uint32_t)word);
}

/* Helpers take no signals: those are for the thread that made the pool. */
static bool start_helper(struct seat *s)
{
	sigset_t all, old;
	bool ok;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ok = pthread_create(&s->thread, NULL, helper_main, s) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ok;
}

/* That this process may run on. */
static int cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Waits until its helpers have ended. */
static void stop_pool(struct pool *pool)
{
	/* A loop that every helper must enter, and leaves for good. */
	pool->stop = true;
	if (pool->threads > 1)
		open_loop(pool, pool->threads);
	for (int i = 1; i < pool->threads; i++) {
		wake(&pool->seats[i]);
		pthread_join(pool->seats[i].thread, NULL);
	}
	pthread_mutex_destroy(&pool->lock);
	free(pool->seats);
	free(pool);
}

static struct pool *start_pool(int threads)
{
	struct pool *pool = aligned_alloc(64, sizeof(*pool));

	if (!pool)
		return NULL;
	*pool = (struct pool){ .threads = 1,
			       .owners = 1,
			       .lock = PTHREAD_MUTEX_INITIALIZER,
			       .spin = threads <= cores() ? LONG_SPIN : SHORT_SPIN };
	pool->seats = aligned_alloc(64, sizeof(struct seat) * (size_t)threads);
	if (!pool->seats) {
		free(pool);
		return NULL;
	}
	for (int i = 0; i < threads; i++)
		pool->seats[i] = (struct seat){ .pool = pool, .index = i };
	for (; pool->threads < threads; pool->threads++)
		if (!start_helper(&pool->seats[pool->threads])) {
			stop_pool(pool);
			return NULL;
		}
	return pool;
}

/* ---- Those that the process has: one of each size. */

static struct {
	pthread_mutex_t lock;
	struct pool *first;
} shared = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct pool *pool_create(int threads)
{
	struct pool *pool;

	threads = threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads;
	pthread_mutex_lock(&shared.lock);
	for (pool = shared.first; pool && pool->threads != threads; pool = pool->next)
		;
	if (pool) {
		pool->owners++;
	} else {
		pool = start_pool(threads);
		if (pool) {
			pool->next = shared.first;
			shared.first = pool;
		}
	}
	pthread_mutex_unlock(&shared.lock);
	return pool;
}

void pool_destroy(struct pool *pool)
{
	struct pool **at = &shared.first;
	bool last;

	if (!pool)
		return;
	pthread_mutex_lock(&shared.lock);
	last = --pool->owners == 0;
	while (last && *at != pool)
		at = &(*at)->next;
	if (last)
		*at = pool->next;
	pthread_mutex_unlock(&shared.lock);
	if (last)
		stop_pool(pool);
}

int pool_threads(const struct pool *pool)
{
	return pool ? pool->threads : 1;
}

void pool_run_towards(struct pool *pool, int64_t count, int64_t grain, bool backward, pool_fn *fn,
		      void *context)
{
	int64_t parts = grain > 1 ? count / grain : count;

	if (parts > pool_threads(pool))
		parts = pool_threads(pool);
	if (parts <= 1) {
		if (count > 0)
			fn(context, 0, count, 0);
		return;
	}
	pthread_mutex_lock(&pool->lock);
	pool->fn = fn;
	pool->context = context;
	pool->count = count;
	pool->backward = backward;
	pool->chunk = count / (parts * MOST_CHUNKS) + 1;
	if (pool->chunk < grain / CHUNKS_A_GRAIN)
		pool->chunk = grain / CHUNKS_A_GRAIN;
	open_loop(pool, (int)parts);
	work(pool, 0);
	close_loop(pool);
	pthread_mutex_unlock(&pool->lock);
}
