/* fusion/lazy/lazy.c -- a call in mode lazy, and the account of what was run.
 *
 * The end of a call is the end of a STEP: whatever is still named then, results,
 * written arguments, tensors in globals, gets its elements.
 */
#include "fusion/lazy/lazy.h"

#include <stdio.h>
#include <stdlib.h>

#include "fusion/vm/classes.h"

struct lazy *lazy_create(const struct lazy_options *options, struct err *err)
{
	struct lazy *l = calloc(1, sizeof(*l));

	if (!l) {
		err_set(err, ERR_MEMORY, "out of memory for a session");
		return NULL;
	}
	l->eager = options->eager;
	l->vm = options->vm;
	l->report = options->report;
	l->callee = options->callee;
	l->backend = options->backend;
	l->passes_disabled = options->passes_disabled;
	l->lowering = (struct lowering){ .deny = options->deny, .n_deny = options->n_deny };
	lazy_host_init(l);
	l->autocast = options->eager->autocast;
	l->autocast.decomposer = &l->decomposer;
	return l;
}

void lazy_destroy(struct lazy *l)
{
	if (!l)
		return;
	autocast_finish(&l->autocast);
	lazy_reset(l);
	lazy_free_programs(l);
	VEC_FREE(&l->entries);
	VEC_FREE(&l->inputs);
	VEC_FREE(&l->numbers);
	VEC_FREE(&l->unsure);
	VEC_FREE(&l->events);
	free(l);
}

/* After an error the effects of what ran before it still count, and the error of an op that
 * waited: in the program it came first. */
static void end_failed(struct lazy *l, struct lazy_reason why, struct err *err)
{
	bool first = !l->faulted;
	struct err waited = { 0 };

	if (!lazy_sync(l, why, &waited)) {
		if (first && l->faulted && err) {
			vm_forget_raised(l->vm);
			*err = waited;
		}
		lazy_sync_dirty(l, why, NULL);
	}
	lazy_reset(l);
}

static void lazy_modules_begin(struct lazy_modules *m)
{
	m->off = m->quiet >= LAZY_QUIET_CALLS;
}

/* A call begins; it has ended, and compiled something or not. */
static void lazy_modules_end(struct lazy_modules *m, bool compiled)
{
	if (compiled)
		m->quiet = 0;
	else if (m->quiet < LAZY_QUIET_CALLS)
		m->quiet++;
}

bool lazy_call(struct lazy *l, const struct arguments *args, struct value *out, struct err *err)
{
	struct lazy_reason why = { .id = BREAK_STEP_END };
	int64_t graphs = l->report->counts.graphs;
	bool ok;

	l->faulted = false;
	lazy_modules_begin(&l->modules);
	ok = vm_call(l->vm, l->callee, args, out, err);
	autocast_forget(&l->autocast); /* what is kept would be a result of the trace */

	if (!ok) {
		end_failed(l, why, err);
	} else if (!lazy_sync(l, why, err)) {
		value_unref(*out);
		*out = value_none();
		end_failed(l, why, err);
		ok = false;
	}
	lazy_modules_end(&l->modules, l->report->counts.graphs > graphs);
	l->report->counts.launches += l->eager->launches;
	l->eager->launches = 0;
	return ok;
}

const char *lazy_cause(struct lazy_reason why)
{
	switch (why.id) {
	case BREAK_STEP_END:
		return "user torch_xla.sync (the end of the call)";
	case BREAK_TRACE_LIMIT:
		return "torch_xla.sync (the trace holds as many ops as are allowed)";
	default:
		return "most likely user code trying to access tensor value before torch_xla.sync";
	}
}

static void print_line(struct buf *out, const char *prefix, char fill)
{
	buf_puts(out, prefix);
	for (int i = 0; i < 80; i++)
		buf_putc(out, fill);
	buf_putc(out, '\n');
}

static void print_event(const struct lazy_event *e, const char *what, struct buf *out)
{
	struct buf text;
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "%s Analysis: ", what);
	buf_init(&text, 512);
	break_message(&text, e->reason.id, e->reason.subject);
	print_line(out, prefix, '=');
	buf_printf(out, "%s%s Cause\n%s  %s\n", prefix, what, prefix, lazy_cause(e->reason));
	if (e->reason.id != BREAK_STEP_END && text.data)
		buf_printf(out, "%s  %s\n", prefix, text.data);
	buf_printf(out, "%sGraph Info: \n%s  Graph Hash: %s\n", prefix, prefix, e->hex);
	buf_printf(out, "%s  Number of Graph Inputs: %d\n", prefix, e->n_inputs);
	buf_printf(out, "%s  Number of Graph Outputs: %d\n", prefix, e->n_outputs);
	buf_printf(out, "%sPython Frame Triggered Execution: \n%s  %s (line %d)\n", prefix, prefix,
		   e->function, e->line);
	print_line(out, prefix, '-');
	print_line(out, prefix, '=');
	buf_finish(&text);
}

void lazy_print(const struct lazy *l, struct buf *out)
{
	for (size_t i = 0; i < l->events.len; i++) {
		if (l->events.at[i].compiled)
			print_event(&l->events.at[i], "Compilation", out);
		print_event(&l->events.at[i], "Execution", out);
	}
	if (l->events_left_out > 0)
		buf_printf(out, "Execution Analysis: %lld further executions are left out\n",
			   (long long)l->events_left_out);
}
