/* profiler/fields/json.c -- memory that Jansson gets where there is none.
 *
 * Its reader goes beyond its buffers where an allocation fails (2.14, lex_scan_string), and the
 * process with it.  So what malloc() refuses comes from blocks that were taken ahead, the
 * smallest that is large enough; later calls take others in their place.  They are malloc()'s
 * own: whoever has one frees it as any other.  All other allocations fail as ever, and make an
 * error of what is under way.
 */
#include "profiler/fields/json.h"

#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>

#include "fusion/base/refused.h"

enum { MOST_BLOCKS = 2048 };

static struct reserve {
	size_t bytes; /* of each block */
	int most, n;
	void *at[MOST_BLOCKS];
} reserves[] = {
	{ .bytes = 256, .most = MOST_BLOCKS },
	{ .bytes = 8 << 10, .most = 64 },
	{ .bytes = 256 << 10, .most = 8 },
	{ .bytes = 4 << 20, .most = 2 },
};

enum { N_RESERVES = sizeof(reserves) / sizeof(reserves[0]) };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_short; /* some block was given away; read without the lock */

/* Whether all is there; stops where there is no memory. */
static bool fill(void)
{
	for (int i = 0; i < N_RESERVES; i++)
		while (reserves[i].n < reserves[i].most) {
			void *block = memory_try(reserves[i].bytes);

			if (!block)
				return false;
			reserves[i].at[reserves[i].n++] = block;
		}
	return true;
}

static void *from_reserve(size_t bytes)
{
	void *block = NULL;

	pthread_mutex_lock(&lock);
	for (int i = 0; !block && i < N_RESERVES; i++)
		if (bytes <= reserves[i].bytes && reserves[i].n > 0)
			block = reserves[i].at[--reserves[i].n];
	__atomic_store_n(&is_short, true, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	return block;
}

static void *take(size_t bytes)
{
	void *memory = memory_try(bytes);

	if (!memory) {
		memory = from_reserve(bytes);
		if (!memory)
			memory_note_refused();
		return memory;
	}
	if (__atomic_load_n(&is_short, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&lock);
		__atomic_store_n(&is_short, !fill(), __ATOMIC_RELAXED);
		pthread_mutex_unlock(&lock);
	}
	return memory;
}

bool json_reserve(void)
{
	bool ok;

	pthread_mutex_lock(&lock);
	ok = fill();
	pthread_mutex_unlock(&lock);
	json_set_alloc_funcs(take, free);
	return ok;
}
