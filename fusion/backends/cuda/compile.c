/* fusion/backends/cuda/compile.c -- programs, the cache on disk, threads. */
#include "fusion/backends/cuda/compile.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/pool.h"

enum {
	/* NVRTC takes as long to begin a program (15 ms here) as for so many bytes of kernels. */
	PROGRAM_BYTES = 2048,
	/* Functions of ops are instances of templates, most of which nobody calls. */
	CALLS_WEIGHT = 4,
};

struct compiled {
	struct buf text;
	size_t load; /* bytes of functions */
	char key[HASH_HEX_BYTES];
	char *cubin; /* NULL: not yet */
	size_t bytes;
	struct err err;
};

struct compile {
	struct executable *exe;
	struct cuda_texts *t;
	struct compiled program[CUDA_MOST_MODULES];
	int n;
	int missing[CUDA_MOST_MODULES], n_missing; /* programs that the cache has not */
};

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "The system has no memory left to prepare kernels.");
}

/* ---- which program a function is in */

static bool is_own(const struct compile *c, int kernel)
{
	return c->t->kernels[kernel].text.len > 0 && c->t->kernels[kernel].first == kernel;
}

static bool same_text(const struct cuda_text *a, const struct cuda_text *b)
{
	return a->block == b->block && a->text.len == b->text.len &&
	       memcmp(a->text.data, b->text.data, a->text.len) == 0;
}

static void find_equal(struct compile *c)
{
	for (int i = 0; i < c->t->n; i++) {
		struct cuda_text *k = &c->t->kernels[i];

		k->first = i;
		k->module = -1;
		for (int j = 0; k->text.len > 0 && j < i && k->first == i; j++)
			if (is_own(c, j) && same_text(&c->t->kernels[j], k))
				k->first = j;
	}
}

/* That this process may run on. */
static int cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

static int count_programs(const struct compile *c)
{
	size_t bytes = c->t->calls.len / CALLS_WEIGHT;
	int most = bytes > 0, here = cores();

	for (int i = 0; i < c->t->n; i++)
		if (is_own(c, i)) {
			bytes += c->t->kernels[i].text.len;
			most++;
		}
	most = most < here ? most : here;
	most = most < CUDA_MOST_MODULES ? most : CUDA_MOST_MODULES;
	if (bytes / PROGRAM_BYTES < (size_t)most)
		most = (int)(bytes / PROGRAM_BYTES);
	return most > 1 ? most : 1;
}

/* The longest function that is in no program yet; -1. */
static int find_longest(const struct compile *c)
{
	int longest = -1;

	for (int i = 0; i < c->t->n; i++)
		if (is_own(c, i) && c->t->kernels[i].module < 0 &&
		    (longest < 0 || c->t->kernels[i].text.len > c->t->kernels[longest].text.len))
			longest = i;
	return longest;
}

/* The longest ones first, each to the program that has least. */
static void share_out(struct compile *c)
{
	c->program[0].load = c->t->calls.len / CALLS_WEIGHT;
	for (int i = find_longest(c); i >= 0; i = find_longest(c)) {
		int least = 0;

		for (int p = 1; p < c->n; p++)
			if (c->program[p].load < c->program[least].load)
				least = p;
		c->t->kernels[i].module = least;
		c->program[least].load += c->t->kernels[i].text.len;
	}
	for (int i = 0; i < c->t->n; i++)
		c->t->kernels[i].module = c->t->kernels[c->t->kernels[i].first].module;
}

/* ---- their texts */

/* "// fused_add; also k3 fused_add_1", and the function. */
static void put_function(struct buf *out, const struct compile *c, int kernel)
{
	const struct cuda_text *k = &c->t->kernels[kernel];
	const char *also = "; also";

	buf_printf(out, "// %s", k->name);
	for (int i = kernel + 1; i < c->t->n; i++)
		if (c->t->kernels[i].first == kernel) {
			buf_printf(out, "%s k%d %s", also, i, c->t->kernels[i].name);
			also = ",";
		}
	buf_printf(out, "\nextern \"C\" __global__ void __launch_bounds__(%d) k%d", k->block,
		   kernel);
	buf_add(out, k->text.data, k->text.len);
}

/* All functions, or those of one program. */
static void put_program(struct buf *out, const struct compile *c, int program)
{
	buf_add(out, c->t->head.data, c->t->head.len);
	if (program <= 0)
		buf_add(out, c->t->calls.data, c->t->calls.len);
	for (int i = 0; i < c->t->n; i++)
		if (is_own(c, i) && (program < 0 || c->t->kernels[i].module == program))
			put_function(out, c, i);
	out->failed |= c->t->head.failed | c->t->calls.failed;
}

bool cuda_text_write(struct cuda_text *to, struct cuda_kernel *k)
{
	buf_finish(&to->text);
	buf_init(&to->text, 0);
	cuda_kernel_emit(&to->text, k);
	to->block = cuda_kernel_block(k);
	to->name = k->kernel->name;
	return !to->text.failed;
}

/* ---- compiled */

bool cuda_text_key(const struct executable *exe, const struct buf *text, char key[HASH_HEX_BYTES])
{
	struct device *d = exe->device;
	char identity[128];
	struct buf all;
	bool ok;

	buf_init(&all, 0);
	cuda_compiler_identity(&d->api, identity, sizeof(identity));
	buf_printf(&all, "%s sm_%d\n", identity, d->architecture);
	buf_add(&all, text->data, text->len);
	ok = !all.failed;
	if (ok)
		hash_hex(all.data, all.len, key);
	buf_finish(&all);
	return ok;
}

static void compile_some(void *context, int64_t begin, int64_t end, int thread)
{
	struct compile *c = context;
	const struct device *d = c->exe->device;

	(void)thread;
	for (int64_t i = begin; i < end; i++) {
		struct compiled *p = &c->program[c->missing[i]];

		p->cubin = cuda_compile(&d->api, d->architecture, p->text.data, &p->bytes, &p->err);
	}
}

static void compile_missing(struct compile *c)
{
	/* Without helpers the caller does it all. */
	struct pool *pool = c->n_missing > 1 ? pool_create(c->n_missing) : NULL;

	pool_run(pool, c->n_missing, 1, compile_some, c);
	pool_destroy(pool);
}

/* Apart from objects that are loaded into this process: who may write here may not write
 * those. */
void cuda_cache_open(const struct executable *exe, const char *name, struct cache *cache)
{
	char folder[PATH_MAX];

	if (exe->cache_dir)
		snprintf(folder, sizeof(folder), "%s/%s", exe->cache_dir, name);
	cache_open(cache, exe->cache_dir ? folder : NULL, exe->cache_bytes);
	cache->rebuild = exe->cache_rebuild;
}

/* Each program's machine code. */
static bool take_cubins(struct compile *c, struct err *err)
{
	struct cache cache;
	bool ok = true;

	cuda_cache_open(c->exe, "cubin", &cache);
	for (int i = 0; i < c->n; i++) {
		struct compiled *p = &c->program[i];

		p->cubin = cache_read(&cache, p->key, p->text.data, p->text.len, &p->bytes);
		if (!p->cubin)
			c->missing[c->n_missing++] = i;
	}
	compile_missing(c);
	for (int i = 0; i < c->n_missing; i++) {
		const struct compiled *p = &c->program[c->missing[i]];

		if (p->cubin)
			cache_write(&cache, p->key, p->text.data, p->text.len, p->cubin, p->bytes);
		else if (ok)
			*err = p->err;
		ok &= p->cubin != NULL;
	}
	if (cache.note[0] && !c->exe->note)
		c->exe->note = strdup(cache.note);
	cache_close(&cache);
	return ok;
}

static bool load_modules(const struct compile *c, struct cuda_modules *out, struct err *err)
{
	struct device *d = c->exe->device;

	for (; out->n < c->n; out->n++)
		if (!cuda_check(d,
				d->api.cuModuleLoadData(&out->at[out->n], c->program[out->n].cubin),
				"cuModuleLoadData"))
			return cuda_device_fault(d, err);
	return true;
}

static bool write_programs(struct compile *c, struct cuda_modules *out)
{
	struct buf all;
	bool ok = true;

	find_equal(c);
	c->n = count_programs(c);
	share_out(c);
	for (int i = 0; i < c->n; i++) {
		struct compiled *p = &c->program[i];

		buf_init(&p->text, 0);
		put_program(&p->text, c, i);
		ok &= !p->text.failed && cuda_text_key(c->exe, &p->text, p->key);
	}
	buf_init(&all, 0);
	put_program(&all, c, -1);
	out->source = all.failed ? NULL : buf_steal(&all);
	if (!out->source)
		buf_finish(&all);
	return ok && out->source;
}

bool cuda_compile_texts(struct executable *exe, struct cuda_texts *t, struct cuda_modules *out,
			struct err *err)
{
	struct compile c = { .exe = exe, .t = t };
	bool ok = write_programs(&c, out);

	if (!ok)
		no_memory(err);
	ok = ok && take_cubins(&c, err) && load_modules(&c, out, err);
	out->cached = ok && c.n_missing == 0;
	for (int i = 0; i < c.n; i++) {
		buf_finish(&c.program[i].text);
		free(c.program[i].cubin);
	}
	return ok;
}
