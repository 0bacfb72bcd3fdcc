/* fusion/base/refused.c -- counts allocations that fail. */
#include "fusion/base/refused.h"

#include <stdlib.h>
#include <string.h>

/* What the linker makes of the C library's names (ld, --wrap). */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *at, size_t bytes);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t most);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *at, size_t bytes);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t most);

static __thread uint64_t here;
static uint64_t all;

void memory_note_refused(void)
{
	here++;
	__atomic_fetch_add(&all, 1, __ATOMIC_RELAXED);
}

uint64_t memory_refused_here(void)
{
	return here;
}

uint64_t memory_refused(void)
{
	return __atomic_load_n(&all, __ATOMIC_RELAXED);
}

void *memory_try(size_t bytes)
{
	return __real_malloc(bytes);
}

static inline void *counted(void *memory)
{
	if (__builtin_expect(!memory, 0))
		memory_note_refused();
	return memory;
}

void *__wrap_malloc(size_t bytes)
{
	return counted(__real_malloc(bytes));
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	return counted(__real_calloc(n, bytes));
}

void *__wrap_realloc(void *at, size_t bytes)
{
	return counted(__real_realloc(at, bytes));
}

char *__wrap_strdup(const char *text)
{
	return counted(__real_strdup(text));
}

char *__wrap_strndup(const char *text, size_t most)
{
	return counted(__real_strndup(text, most));
}
