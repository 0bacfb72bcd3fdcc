/* fusion/backends/cuda/tune.c -- candidates, their times, what is kept of them. */
#include "fusion/backends/cuda/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"

_Static_assert((int)CUDA_CHOICES <= (int)KERNEL_MOST_TRIED, "all choices fit");

enum {
	LEAST_BYTES = 4 << 20, /* that a kernel moves, with `fast` */
	FAST_NS = 100 * 1000 * 1000,
	MAX_NS = 2000 * 1000 * 1000,
	BATCH_NS = 400 * 1000, /* of launches, at least */
	MOST_LAUNCHES = 64,
	BATCHES = 3,
	CLEARLY = 97, /* percent of the planned one's time */
	RECORD_BYTES = 1024,
	SHARE_OF_FREE = 4, /* of the device's memory, at most */
	FILL = 0x3f8ccccd, /* 1.1 */
};

/* A kernel that is tried, and its candidates. */
struct tuning {
	int kernel;
	struct cuda_kernel plan[CUDA_CHOICES];
	enum cuda_choice choice[CUDA_CHOICES];
	int first; /* its first candidate's text */
	struct kernel_tried tried;
	char key[HASH_HEX_BYTES];
};

struct tune {
	struct executable *exe;
	struct version *v;
	struct cuda_texts *t;
	int lanes;
	struct tuning *trials;
	int n;
	int64_t *vars; /* the symbols' hints */
	struct cuda_texts texts;
	struct cuda_modules modules;
	int64_t until; /* clock_ns() */
};

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "The system has no memory left to try schedules.");
}

/* ---- what is tried */

static bool is_plain(const struct inst *insts, int n)
{
	for (int i = 0; i < n; i++)
		if (insts[i].join || insts[i].lookup)
			return false;
	return true;
}

static bool can_try(const struct tune *u, int kernel)
{
	const struct kernel *k = &u->exe->lowered->kernels[kernel];
	bool plain = is_plain(k->setup, k->n_setup) && is_plain(k->prologue, k->n_prologue);

	for (int s = 0; s < k->n_stages; s++)
		plain &= is_plain(k->stages[s].body, k->stages[s].n_body) &&
			 is_plain(k->stages[s].post, k->stages[s].n_post);
	return plain && u->t->kernels[kernel].text.len > 0 && !k->library &&
	       (u->exe->autotune == AUTOTUNE_MAX ||
		k->read_bytes + k->written_bytes >= LEAST_BYTES);
}

static bool same_size(const struct tune *u, int a, int b)
{
	const struct kernel *x = &u->exe->lowered->kernels[a], *y = &u->exe->lowered->kernels[b];
	bool same = x->n_dims == y->n_dims;

	for (int d = 0; d < x->n_dims && same; d++)
		same = x->extent[d] == y->extent[d];
	return same;
}

/* The trial of a kernel with this text and size; -1. */
static int find_trial(const struct tune *u, int kernel)
{
	const struct cuda_text *text = &u->t->kernels[kernel];

	for (int i = 0; i < u->n; i++) {
		const struct cuda_text *own = &u->t->kernels[u->trials[i].kernel];

		if (same_size(u, kernel, u->trials[i].kernel) && own->block == text->block &&
		    own->text.len == text->text.len &&
		    memcmp(own->text.data, text->text.data, text->text.len) == 0)
			return i;
	}
	return -1;
}

static void describe(const struct cuda_kernel *c, enum cuda_choice choice, char what[64])
{
	static const char *const names[] = { "as planned", "half the threads", "twice the threads",
					     "rows the other way", "half the lanes" };

	snprintf(what, 64, "%s: %d threads, %d lanes%s", names[choice], cuda_kernel_block(c),
		 c->lanes, c->n_staged ? ", staged" : "");
}

/* By the text, the symbols, the device and its driver. */
static bool make_key(const struct tune *u, struct tuning *r)
{
	struct device *d = u->exe->device;
	const struct cuda_text *text = &u->t->kernels[r->kernel];
	const struct kernel *k = &u->exe->lowered->kernels[r->kernel];
	int version = 0;
	struct buf all;
	bool ok;

	d->api.cuDriverGetVersion(&version);
	buf_init(&all, 0);
	buf_printf(&all, "%s, driver %d, autotune %d, block %d,", d->name, version,
		   u->exe->autotune, text->block);
	for (int i = 0; i < sym_var_count(u->exe->lowered->graph->syms); i++)
		buf_printf(&all, " %lld", (long long)u->vars[i]);
	for (int i = 0; i < k->n_dims; i++)
		buf_printf(&all, " of %lld", (long long)sym_eval(k->extent[i], u->vars));
	buf_add(&all, text->text.data, text->text.len);
	ok = !all.failed && cuda_text_key(u->exe, &all, r->key);
	buf_finish(&all);
	return ok;
}

/* ---- what an earlier process found: "3\n0 12.250\n2 10.000\n": chosen, choices and times */

static bool recall(struct tune *u, struct tuning *r, struct cache *cache)
{
	const struct lowered *l = u->exe->lowered;
	int chosen = -1, choice, used;
	size_t bytes;
	char *text = cache_read(cache, r->key, r->key, strlen(r->key), &bytes);
	char record[RECORD_BYTES] = "", *at = record;
	double us;

	if (text && bytes < sizeof(record))
		memcpy(record, text, bytes);
	free(text);
	if (sscanf(at, "%d\n%n", &chosen, &used) < 1)
		return false;
	at += used;
	while (r->tried.n < CUDA_CHOICES && sscanf(at, "%d %lf\n%n", &choice, &us, &used) >= 2 &&
	       choice >= 0 && choice < CUDA_CHOICES) {
		int i = r->tried.n++;

		at += used;
		r->choice[i] = (enum cuda_choice)choice;
		if (!cuda_kernel_plan(&r->plan[i], l, r->kernel, u->lanes, r->choice[i]))
			return false;
		describe(&r->plan[i], r->choice[i], r->tried.at[i].what);
		r->tried.at[i].us = us;
	}
	r->tried.chosen = chosen;
	r->tried.kept = true;
	return chosen >= 0 && chosen < r->tried.n;
}

static void remember(const struct tuning *r, struct cache *cache)
{
	char record[RECORD_BYTES];
	int len = snprintf(record, sizeof(record), "%d\n", r->tried.chosen);

	for (int i = 0; i < r->tried.n; i++)
		len += snprintf(record + len, sizeof(record) - (size_t)len, "%d %.3f\n",
				(int)r->choice[i], r->tried.at[i].us);
	cache_write(cache, r->key, r->key, strlen(r->key), record, (size_t)len);
}

/* ---- candidates */

static void drop_plans(struct tuning *r)
{
	for (int i = 0; i < r->tried.n; i++)
		cuda_kernel_finish(&r->plan[i]);
	r->tried = (struct kernel_tried){ 0 };
}

/* Those whose text is another than those before them, after the others' of the graph. */
static bool add_candidates(struct tune *u, struct tuning *r)
{
	r->first = u->texts.n;
	for (int choice = 0; choice < CUDA_CHOICES; choice++) {
		struct cuda_text *text = &u->texts.kernels[u->texts.n];
		int i = r->tried.n;
		bool seen = false;

		if (!cuda_kernel_plan(&r->plan[i], u->exe->lowered, r->kernel, u->lanes,
				      (enum cuda_choice)choice) ||
		    !cuda_text_write(text, &r->plan[i])) {
			cuda_kernel_finish(&r->plan[i]);
			return false;
		}
		for (int k = r->first; k < u->texts.n && !seen; k++)
			seen = u->texts.kernels[k].block == text->block &&
			       u->texts.kernels[k].text.len == text->text.len &&
			       memcmp(u->texts.kernels[k].text.data, text->text.data,
				      text->text.len) == 0;
		if (seen) {
			cuda_kernel_finish(&r->plan[i]);
			buf_finish(&text->text);
			*text = (struct cuda_text){ 0 };
			continue;
		}
		describe(&r->plan[i], (enum cuda_choice)choice, r->tried.at[i].what);
		r->choice[i] = (enum cuda_choice)choice;
		r->tried.n++;
		u->texts.n++;
	}
	return true;
}

/* ---- memory that they run on */

struct room {
	void **buffers;
	size_t *bytes;
};

static void reach(const struct tune *u, const struct kernel *k, const struct inst *insts, int n,
		  size_t *bytes)
{
	for (int i = 0; i < n; i++) {
		const struct access *at = &insts[i].at;
		int64_t last;

		if (at->buffer < 0 || (insts[i].kind != INST_LOAD && insts[i].kind != INST_STORE))
			continue;
		last = sym_eval(at->offset, u->vars);
		for (int d = 0; d < k->n_dims; d++) {
			int64_t stride = sym_eval(at->stride[d], u->vars);

			if (stride > 0)
				last += (sym_eval(k->extent[d], u->vars) - 1) * stride;
		}
		if ((size_t)(last + 1) * dtype_bytes(insts[i].dtype) > bytes[at->buffer])
			bytes[at->buffer] = (size_t)(last + 1) * dtype_bytes(insts[i].dtype);
	}
}

static void drop_room(const struct tune *u, struct room *room)
{
	for (int b = 0; room->buffers && room->bytes && b < u->exe->lowered->n_buffers; b++)
		if (room->buffers[b])
			cuda_release(u->exe->device, (uint64_t)room->buffers[b], room->bytes[b]);
	free(room->buffers);
	free(room->bytes);
}

/* False: there is too little. */
static bool take_room(const struct tune *u, int kernel, struct room *room)
{
	const struct lowered *l = u->exe->lowered;
	const struct kernel *k = &l->kernels[kernel];
	struct device *d = u->exe->device;
	size_t all = 0;

	room->buffers = calloc((size_t)l->n_buffers + 1, sizeof(*room->buffers));
	room->bytes = calloc((size_t)l->n_buffers + 1, sizeof(*room->bytes));
	if (!room->buffers || !room->bytes)
		return false;
	reach(u, k, k->setup, k->n_setup, room->bytes);
	reach(u, k, k->prologue, k->n_prologue, room->bytes);
	for (int s = 0; s < k->n_stages; s++) {
		reach(u, k, k->stages[s].body, k->stages[s].n_body, room->bytes);
		reach(u, k, k->stages[s].post, k->stages[s].n_post, room->bytes);
	}
	for (int b = 0; b < l->n_buffers; b++) {
		room->bytes[b] += room->bytes[b] ? 64 - room->bytes[b] % 4 : 0;
		all += room->bytes[b];
	}
	if (all > d->memory.free_bytes(d) / SHARE_OF_FREE)
		return false;
	for (int b = 0; b < l->n_buffers; b++) {
		if (!room->bytes[b])
			continue;
		room->buffers[b] = (void *)cuda_take(d, room->bytes[b]);
		if (!room->buffers[b] ||
		    d->api.cuMemsetD32Async((CUdeviceptr)room->buffers[b], FILL, room->bytes[b] / 4,
					    d->stream) != CUDA_SUCCESS)
			return false;
	}
	return true;
}

/* ---- their times */

static double batch_us(struct tune *u, struct cuda_launch *l, void **buffers, int launches)
{
	struct device *d = u->exe->device;
	int64_t begin, ns;

	d->api.cuStreamSynchronize(d->stream);
	begin = clock_ns();
	for (int i = 0; i < launches; i++)
		cuda_launch_run(l, d, buffers, false);
	d->api.cuStreamSynchronize(d->stream);
	ns = clock_ns() - begin;
	return (double)ns / 1000 / launches;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool time_one(struct tune *u, struct tuning *r, int i, void **buffers, struct err *err)
{
	const struct cuda_text *text = &u->texts.kernels[r->first + i];
	struct device *d = u->exe->device;
	struct cuda_scratch scratch = { 0 };
	struct cuda_launch l = { 0 };
	double us[BATCHES];
	CUfunction function;
	int launches;
	char name[32];
	bool ok;

	snprintf(name, sizeof(name), "k%d", text->first);
	if (!cuda_check(d, d->api.cuModuleGetFunction(&function, u->modules.at[text->module], name),
			"cuModuleGetFunction"))
		return cuda_device_fault(d, err);
	ok = cuda_launch_create(&l, &r->plan[i], function, d, &u->exe->fault, err) &&
	     cuda_launch_bind(&l, d, &scratch, u->vars, err);
	if (ok) {
		cuda_launch_use_scratch(&l, &scratch);
		batch_us(u, &l, buffers, 2);
		launches = (int)(BATCH_NS / 1000 / (batch_us(u, &l, buffers, 2) + 0.1)) + 1;
		launches = launches < MOST_LAUNCHES ? launches : MOST_LAUNCHES;
		for (int b = 0; b < BATCHES; b++)
			us[b] = batch_us(u, &l, buffers, launches);
		qsort(us, BATCHES, sizeof(us[0]), by_size);
		r->tried.at[i].us = us[BATCHES / 2];
		cuda_settle(d);
		ok = cuda_device_fault(d, err);
	}
	cuda_launch_finish(&l);
	cuda_scratch_finish(&scratch, d);
	return ok;
}

/* The planned one first; what there is no time for is left out. */
static bool time_all(struct tune *u, struct tuning *r, struct err *err)
{
	struct room room = { 0 };
	int timed = 0;
	bool ok = true;

	if (take_room(u, r->kernel, &room))
		while (ok && timed < r->tried.n && (timed == 0 || clock_ns() < u->until)) {
			ok = time_one(u, r, timed, room.buffers, err);
			timed++;
		}
	drop_room(u, &room);
	for (int i = timed; i < r->tried.n; i++)
		cuda_kernel_finish(&r->plan[i]);
	r->tried.n = timed;
	for (int i = 1; i < timed; i++)
		if (r->tried.at[i].us < r->tried.at[r->tried.chosen].us &&
		    r->tried.at[i].us * 100 < r->tried.at[0].us * CLEARLY)
			r->tried.chosen = i;
	return ok;
}

/* ---- all of a graph */

/* Finds the trials, and what is known of them already. */
static bool begin(struct tune *u, struct cache *cache)
{
	int n = u->exe->lowered->n_kernels;

	u->trials = calloc((size_t)n + 1, sizeof(*u->trials));
	u->texts.kernels = calloc((size_t)n * CUDA_CHOICES + 1, sizeof(*u->texts.kernels));
	u->v->tried = calloc((size_t)n + 1, sizeof(*u->v->tried));
	u->vars = calloc((size_t)sym_var_count(u->exe->lowered->graph->syms) + 1, sizeof(*u->vars));
	if (!u->trials || !u->texts.kernels || !u->v->tried || !u->vars)
		return false;
	for (int i = 0; i < sym_var_count(u->exe->lowered->graph->syms); i++)
		u->vars[i] = sym_var_hint(u->exe->lowered->graph->syms, i);
	for (int i = 0; i < n; i++) {
		struct tuning *r = &u->trials[u->n];

		if (!can_try(u, i) || find_trial(u, i) >= 0)
			continue;
		r->kernel = i;
		if (!make_key(u, r))
			return false;
		u->n++;
		if (recall(u, r, cache))
			continue;
		drop_plans(r);
		if (!add_candidates(u, r))
			return false;
	}
	return true;
}

static bool try_all(struct tune *u, struct cache *cache, struct err *err)
{
	bool ok = u->texts.n == 0 || cuda_compile_texts(u->exe, &u->texts, &u->modules, err);

	u->until = clock_ns() + (u->exe->autotune == AUTOTUNE_MAX ? MAX_NS : FAST_NS);
	for (int i = 0; i < u->n && ok; i++) {
		struct tuning *r = &u->trials[i];

		if (r->tried.kept)
			continue;
		ok = time_all(u, r, err);
		if (ok && r->tried.n > 0)
			remember(r, cache);
	}
	return ok;
}

/* What was chosen, for each kernel of the text. */
static bool choose(struct tune *u)
{
	for (int i = 0; i < u->exe->lowered->n_kernels; i++) {
		int at = can_try(u, i) ? find_trial(u, i) : -1;

		if (at >= 0)
			u->v->tried[i] = u->trials[at].tried;
	}
	for (int i = 0; i < u->exe->lowered->n_kernels; i++) {
		struct cuda_kernel *k = &u->v->kernels[i];
		int at = can_try(u, i) && u->v->tried[i].chosen > 0 ? find_trial(u, i) : -1;

		if (at < 0)
			continue;
		cuda_kernel_finish(k);
		if (!cuda_kernel_plan(k, u->exe->lowered, i, u->lanes,
				      u->trials[at].choice[u->trials[at].tried.chosen]))
			return false;
	}
	return true;
}

static void finish(struct tune *u)
{
	for (int i = 0; i < u->n; i++)
		drop_plans(&u->trials[i]);
	for (int i = 0; i < u->texts.n; i++)
		buf_finish(&u->texts.kernels[i].text);
	for (int i = 0; i < u->modules.n; i++)
		u->exe->device->api.cuModuleUnload(u->modules.at[i]);
	buf_finish(&u->texts.head);
	free(u->modules.source);
	free(u->texts.kernels);
	free(u->trials);
	free(u->vars);
}

bool cuda_tune(struct executable *exe, struct version *v, int lanes, struct cuda_texts *t,
	       struct err *err)
{
	struct tune u = { .exe = exe, .v = v, .t = t, .lanes = lanes };
	struct cache cache;
	bool ok;

	if (exe->autotune == AUTOTUNE_OFF || lanes == 1)
		return true;
	cuda_cache_open(exe, "tuned", &cache);
	cache.rebuild = false; /* that is for what is compiled */
	buf_init(&u.texts.head, 0);
	buf_add(&u.texts.head, t->head.data, t->head.len);
	ok = (begin(&u, &cache) || no_memory(err)) && try_all(&u, &cache, err) &&
	     (choose(&u) || no_memory(err));
	for (int i = 0; i < exe->lowered->n_kernels && ok; i++)
		if (v->tried[i].chosen > 0)
			ok = cuda_text_write(&t->kernels[i], &v->kernels[i]) || no_memory(err);
	cache_close(&cache);
	finish(&u);
	return ok;
}
