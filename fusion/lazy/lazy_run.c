/* fusion/lazy/lazy_run.c -- barriers: from the pending trace to elements.
 *
 * Only values that an object still names are computed, and those of ops that may fail.
 * After a barrier for one tensor its node is an input, so nothing is computed twice.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/graph/lay.h"
#include "fusion/lazy/lazy.h"
#include "fusion/tensor/keep.h"
#include "fusion/tensor/view.h"

/* ---- what makes two traces the same graph.
 *
 * As in PyTorch/XLA: ops and how they are wired, dtypes, shapes, strides of
 * inputs, and Python numbers, but neither names nor lines.  Of a float that kernels take
 * as an argument only which other uses are of the same one.  The whole key is
 * kept and compared, so equal hashes alone prove nothing.
 */

struct key_writer {
	const struct graph *g;
	bool with_names;
	bool *need;
	int *number; /* by node: its place among the needed ones */
	struct lazy_part *part;
	struct buf *key;
};

static void put(struct key_writer *w, int64_t word)
{
	buf_add(w->key, &word, sizeof(word));
}

static void put_text(struct key_writer *w, const char *text)
{
	put(w, (int64_t)strlen(text));
	buf_puts(w->key, text);
}

static void put_sizes(struct key_writer *w, const struct sym *const *size, int n)
{
	put(w, n);
	for (int i = 0; i < n; i++)
		put(w, size[i]->value);
}

/* The place of a symbol among those of the part. */
static int place_of(struct lazy_part *part, int symbol)
{
	int i = 0;

	while (i < part->n_numbers && part->numbers[i] != symbol)
		i++;
	if (i == part->n_numbers)
		part->numbers[part->n_numbers++] = symbol;
	return i;
}

static void put_arg(struct key_writer *w, const struct arg *a)
{
	int64_t bits;

	put(w, a->kind);
	switch (a->kind) {
	case ARG_NONE:
		return;
	case ARG_NODE:
		put(w, w->number[a->node]);
		return;
	case ARG_INT:
		put(w, a->sym->value);
		return;
	case ARG_REAL:
		put(w, place_of(w->part, (int)a->sym->value));
		return;
	case ARG_FLOAT: /* by bits: -0.0 is not 0.0 */
		memcpy(&bits, &a->f, sizeof(bits));
		put(w, bits);
		return;
	case ARG_BOOL:
		put(w, a->b);
		return;
	case ARG_DTYPE:
		put(w, a->dtype);
		return;
	case ARG_INTS:
		put_sizes(w, a->ints, a->n);
		return;
	case ARG_STR:
		put_text(w, a->str);
		return;
	}
}

static void put_node(struct key_writer *w, const struct node *n)
{
	size_t bytes = dtype_bytes(n->dtype);

	put(w, (int64_t)n->op | (int64_t)n->dtype << 16 | (int64_t)n->compute << 24 |
		   (int64_t)n->weak << 32);
	put(w, n->order);
	put_sizes(w, n->shape.size, n->shape.rank);
	if (n->op == OP_input)
		put_sizes(w, n->stride, n->shape.rank);
	for (int d = 0; d < n->shape.rank; d++)
		bytes *= (size_t)n->shape.size[d]->value;
	if (n->data)
		buf_add(w->key, n->data, bytes);
	for (int i = 0; i < n->n_args; i++)
		put_arg(w, &n->args[i]);
	if (w->with_names)
		put_text(w, n->fx);
}

/* Sets need[id] for what the outputs are made of, and themselves. */
static void lazy_reach(const struct graph *g, const int *outputs, int n_outputs, bool *need)
{
	for (int i = 0; i < n_outputs; i++)
		need[outputs[i]] = true;
	for (int id = g->n_nodes - 1; id >= 0; id--) {
		const struct node *n = g->nodes[id];

		need[id] = need[id] || graph_draws(n);
		for (int i = 0; need[id] && i < n->n_args; i++)
			if (n->args[i].kind == ARG_NODE)
				need[n->args[i].node] = true;
	}
}

static void lazy_part_finish(struct lazy_part *p)
{
	free(p->inputs);
	free(p->numbers);
	*p = (struct lazy_part){ 0 };
}

/* All in which the part of g that computes `outputs` may differ from another, as bytes.  False
 * when out of memory; *part is to be finished in any case. */
static bool lazy_key(const struct graph *g, const int *outputs, int n_outputs, bool with_names,
		     struct buf *key, struct lazy_part *part)
{
	struct key_writer w = { .g = g, .with_names = with_names, .part = part, .key = key };
	int count = 0;

	w.need = calloc((size_t)g->n_nodes + 1, sizeof(*w.need));
	w.number = calloc((size_t)g->n_nodes + 1, sizeof(*w.number));
	*part = (struct lazy_part){
		.inputs = calloc((size_t)g->n_nodes + 1, sizeof(*part->inputs)),
		.numbers = calloc((size_t)sym_var_count(g->syms) + 1, sizeof(*part->numbers)),
	};
	if (w.need && w.number && part->inputs && part->numbers) {
		lazy_reach(g, outputs, n_outputs, w.need);
		for (int id = 0; id < g->n_nodes; id++) {
			if (!w.need[id])
				continue;
			w.number[id] = count++;
			put_node(&w, g->nodes[id]);
			if (g->nodes[id]->op == OP_input)
				part->inputs[part->n_inputs++] = g->nodes[id]->input;
		}
		put(&w, n_outputs);
		for (int i = 0; i < n_outputs; i++)
			put(&w, w.number[outputs[i]]);
	} else {
		key->failed = true;
	}
	free(w.need);
	free(w.number);
	return !key->failed;
}

/* ---- */

enum { BUCKETS = sizeof(((struct lazy *)0)->buckets) / sizeof(struct lazy_program *) };

/* One barrier under way. */
struct barrier {
	struct lazy *l;
	struct lazy_reason why;
	int *nodes;              /* to compute */
	struct lazy_entry **to;  /* whose they are; NULL: nobody's */
	struct tensor **results; /* references */
	int n;
	struct tensor **inputs;
	struct lazy_part part;
	struct lazy_program *program;
	bool compiled;
	int64_t begin_ns; /* 0: nobody watches */
};

struct stack {
	VEC(struct fusion_line) lines;
};

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory for a pending trace");
}

static void free_program(struct lazy_program *p)
{
	exec_destroy(p->exec);
	buf_finish(&p->key);
	arena_finish(&p->arena);
	free(p);
}

void lazy_free_programs(struct lazy *l)
{
	for (size_t i = 0; i < l->programs.len; i++)
		free_program(l->programs.at[i]);
	VEC_FREE(&l->programs);
}

static struct lazy_program *find(const struct lazy *l, const struct buf *key, uint64_t hash)
{
	struct lazy_program *p = l->buckets[hash % BUCKETS];

	while (p && !(p->hash == hash && p->key.len == key->len &&
		      memcmp(p->key.data, key->data, key->len) == 0))
		p = p->next;
	return p;
}

static bool build(struct barrier *b, struct lazy_program *p, struct err *err)
{
	struct lazy *l = b->l;
	struct compile_options options = { .env = l->eager->env,
					   .backend = p->graph < 0 ? l->eager->backend : l->backend,
					   .passes = { .disabled = l->passes_disabled },
					   .lowering = l->lowering };
	struct graph *g;
	int *inputs;

	p->captured = graph_extract(l->graph, NULL, b->nodes, b->n, &p->arena, &inputs);
	p->orders = ARENA_ARRAY(&p->arena, uint32_t, (size_t)b->n + 1);
	g = p->captured && p->orders ? graph_copy(p->captured, &p->arena) : NULL;
	for (int i = 0; g && i < b->n; i++)
		p->orders[i] = l->graph->nodes[b->nodes[i]]->order;
	if (!g || !graph_lay_outputs(g, p->orders, b->n))
		return no_memory(err);
	p->numbers = ARENA_ARRAY(&p->arena, int, (size_t)b->part.n_numbers + 1);
	p->vars = ARENA_ARRAY(&p->arena, int64_t, l->numbers.len + 1);
	if (!p->numbers || !p->vars)
		return no_memory(err);
	if (b->part.n_numbers)
		memcpy(p->numbers, b->part.numbers,
		       sizeof(*p->numbers) * (size_t)b->part.n_numbers);
	p->exec = compile_graph(&options, g, &p->arena, err);
	return p->exec != NULL;
}

static bool announce(struct lazy *l, struct lazy_program *p)
{
	struct session_report *r = l->report;
	const struct fusion_observer *observer = r->observer;

	p->next = l->buckets[p->hash % BUCKETS];
	l->buckets[p->hash % BUCKETS] = p;
	if (observer && observer->compiled)
		observer->compiled(observer->self, p->graph, p->compile_ns,
				   p->exec->lowered->n_kernels, p->exec->stats.cached);
	return partition_report(p->exec, r, p->graph, r->frame);
}

/* Past the bound on programs a trace is run by the interpreter and forgotten. */
static struct lazy_program *compile(struct barrier *b, struct buf *key, uint64_t hash,
				    struct err *err)
{
	struct lazy *l = b->l;
	struct lazy_program *p = calloc(1, sizeof(*p));
	int64_t begin = clock_ns();

	if (!p) {
		no_memory(err);
		return NULL;
	}
	p->hash = hash;
	p->unplaced = l->modules.off;
	p->trace_ns = begin - l->begin_ns;
	p->graph = l->programs.len < LAZY_MAX_PROGRAMS ? (int)l->programs.len : -1;
	hash_hex(key->data, key->len, p->hex);
	if (!build(b, p, err)) {
		free_program(p);
		return NULL;
	}
	p->compile_ns = clock_ns() - begin;
	l->report->counts.graphs++;
	l->report->counts.kernels_built += p->exec->stats.kernels_built;
	b->compiled = true;
	if (p->graph < 0)
		return p;
	if (!VEC_PUSH(&l->programs, p)) {
		free_program(p);
		no_memory(err);
		return NULL;
	}
	p->key = *key;
	*key = (struct buf){ 0 };
	if (announce(l, p))
		return p;
	no_memory(err);
	return NULL;
}

/* Equal keys are equal nodes in equal order: what the trace needs, the program holds. */
static bool lazy_adopt_modules(const struct lazy *l, struct lazy_program *p, const int *outputs,
			       int n_outputs)
{
	bool *need;
	int at = 0;

	if (!p->unplaced || l->modules.off)
		return true;
	need = calloc((size_t)l->graph->n_nodes + 1, sizeof(*need));
	if (!need)
		return false;
	lazy_reach(l->graph, outputs, n_outputs, need);
	for (int id = 0; id < l->graph->n_nodes && at < p->captured->n_nodes; id++) {
		const char *module = l->graph->nodes[id]->module;

		if (!need[id])
			continue;
		if (!graph_set_module(p->captured, module))
			break;
		p->captured->nodes[at++]->module = p->captured->module;
	}
	free(need);
	p->unplaced = at < p->captured->n_nodes;
	return !p->unplaced;
}

static bool find_program(struct barrier *b, struct err *err)
{
	struct lazy *l = b->l;
	struct buf key;
	uint64_t hash;

	buf_init(&key, 0);
	if (!lazy_key(l->graph, b->nodes, b->n, l->lowering.n_deny > 0, &key, &b->part)) {
		buf_finish(&key);
		return no_memory(err);
	}
	hash = hash_bytes(key.data, key.len, 0);
	b->program = find(l, &key, hash);
	if (b->program)
		l->report->counts.cache_hits++;
	else
		b->program = compile(b, &key, hash, err);
	buf_finish(&key);
	return b->program && (lazy_adopt_modules(l, b->program, b->nodes, b->n) || no_memory(err));
}

/* Where the program is, the innermost frame first; its end has no frame any more. */
static bool find_place(const struct lazy *l, struct session_break *brk, struct stack *stack)
{
	struct fusion_line last = { .line = l->host.line, .function = l->report->frame };
	const struct frame *f = l->vm->frame;

	for (; f; f = f->up) {
		struct fusion_line at = { .line = f->inst->line, .function = f->code->name };

		if (f->unit->hidden || !f->function)
			continue;
		if (!VEC_PUSH(&stack->lines, at))
			return false;
		if (stack->lines.len == 1) {
			brk->column = f->inst->column;
			brk->end_column = f->inst->end_column;
		}
	}
	return stack->lines.len > 0 || VEC_PUSH(&stack->lines, last);
}

static void turn(struct stack *stack)
{
	for (size_t i = 0, n = stack->lines.len; i < n / 2; i++) {
		struct fusion_line line = stack->lines.at[i];

		stack->lines.at[i] = stack->lines.at[n - 1 - i];
		stack->lines.at[n - 1 - i] = line;
	}
}

static bool note_event(const struct barrier *b, const struct fusion_line *at)
{
	struct lazy *l = b->l;
	struct lazy_event event = { .reason = b->why,
				    .call = l->report->calls - 1,
				    .line = at->line,
				    .function = at->function,
				    .compiled = b->compiled,
				    .graph = b->program->graph,
				    .n_inputs = b->part.n_inputs,
				    .n_outputs = b->n };

	memcpy(event.hex, b->program->hex, sizeof(event.hex));
	if (l->events.len < LAZY_MAX_EVENTS)
		return VEC_PUSH(&l->events, event);
	l->events_left_out++;
	return true;
}

static int64_t tensor_bytes(const struct tensor *t)
{
	return tensor_numel(t) * (int64_t)dtype_bytes(t->dtype);
}

/* What the end of the trace here makes be in memory; what is read must be there anyhow. */
static void tell_crossed(const struct barrier *b, int index)
{
	const struct fusion_observer *o = b->l->report->observer;
	int64_t kept = 0, read = b->n ? tensor_bytes(b->results[0]) : 0;

	for (int i = 0; i < b->n; i++)
		kept += tensor_bytes(b->results[i]);
	o->crossed(o->self, index, kept, 0);
	if (kept > read)
		o->crossed(o->self, index, 0, 2 * (kept - read));
}

/* A barrier is both: the piece that it runs, and what ended the trace. */
static void tell(const struct barrier *b, int index)
{
	const struct fusion_observer *o = b->l->report->observer;
	bool ends = index >= 0 && b->why.id != BREAK_STEP_END;
	int64_t end = clock_ns();

	if (o && o->piece && b->begin_ns)
		o->piece(o->self, b->program->graph, b->begin_ns, end);
	if (o && o->broke && b->begin_ns && ends)
		o->broke(o->self, index, b->begin_ns, end);
	if (o && o->crossed && ends)
		tell_crossed(b, index);
}

static bool note(struct barrier *b)
{
	struct session_report *r = b->l->report;
	struct session_break brk = { .stage = STAGE_CAPTURE,
				     .id = b->why.id,
				     .outcome = OUTCOME_BARRIER,
				     .subject = b->why.subject,
				     .call = r->calls - 1,
				     .graph = b->program->graph };
	struct stack stack = { 0 };
	int index = -1;
	bool ok = find_place(b->l, &brk, &stack) && note_event(b, &stack.lines.at[0]);

	turn(&stack);
	brk.stack = stack.lines.at;
	brk.n_stack = (int)stack.lines.len;
	ok = ok && (b->why.id == BREAK_STEP_END || report_add_break(r, &brk, &index));
	VEC_FREE(&stack.lines);
	if (ok)
		tell(b, index);
	return ok;
}

static int ops_before(const struct graph *g, int node)
{
	int n = 0;

	for (int id = 0; id < node; id++)
		n += g->nodes[id]->op != OP_input;
	return n;
}

/* A program that an earlier trace compiled says the line of that one: the node of this trace
 * that is at the same place among those that it computes has its own. */
static void say_line(const struct barrier *b, struct err *err)
{
	const struct graph *then = b->program->captured, *now = b->l->graph;
	bool *need = calloc((size_t)now->n_nodes + 1, sizeof(*need));
	int at = 0, id = 0;

	while (at < then->n_nodes &&
	       (then->nodes[at]->op == OP_input || then->nodes[at]->line != err->line ||
		then->nodes[at]->column != err->column))
		at++;
	if (!need || at == then->n_nodes) {
		free(need);
		return;
	}
	lazy_reach(now, b->nodes, b->n, need);
	for (int ops = 0; id < now->n_nodes; id++)
		if (need[id] && now->nodes[id]->op != OP_input && ops++ == ops_before(then, at))
			break;
	if (id < now->n_nodes && now->nodes[id]->op == then->nodes[at]->op) {
		err->line = now->nodes[id]->line;
		err->column = now->nodes[id]->column;
	}
	free(need);
}

static bool execute(struct barrier *b, struct err *err)
{
	struct lazy *l = b->l;
	struct session_report *r = l->report;
	struct exec *e = b->program->exec;

	b->inputs = calloc((size_t)b->part.n_inputs + 1, sizeof(*b->inputs));
	b->results = calloc((size_t)b->n + 1, sizeof(*b->results));
	if (!b->inputs || !b->results)
		return no_memory(err);
	for (int i = 0; i < b->part.n_inputs; i++)
		b->inputs[i] = l->inputs.at[b->part.inputs[i]];
	b->program->uses++;
	for (int i = 0; i < b->part.n_numbers; i++)
		b->program->vars[b->program->numbers[i]] = l->numbers.at[b->part.numbers[i]];
	if (!exec_bind(e, b->program->vars, err))
		return false;
	l->faulted = !exec_run(e,
			       &(struct exec_call){ .inputs = b->inputs,
						    .outputs = b->results,
						    .observer = r->observer,
						    .graph = b->program->graph },
			       err);
	if (l->faulted) {
		if (err)
			say_line(b, err);
		return false;
	}
	for (int i = 0; i < b->n; i++)
		if (b->program->orders[i] &&
		    !(b->results[i] = tensor_lay(b->results[i], b->program->orders[i], err)))
			return false;
	r->counts.executions++;
	r->counts.launches += e->launched;
	return note(b) || no_memory(err);
}

/* The node of a tensor that has elements now is an input of what is left. */
static bool become_input(struct lazy *l, struct node *n, struct tensor *memory)
{
	struct graph *g = l->graph;
	int *inputs = ARENA_ARRAY(g->arena, int, (size_t)g->n_inputs + 1);

	for (int d = 0; d < memory->rank; d++)
		if (!(n->stride[d] = sym_const(g->syms, memory->stride[d])))
			return false;
	if (!inputs || !VEC_PUSH(&l->inputs, memory))
		return false;
	tensor_ref(memory);
	if (g->n_inputs)
		memcpy(inputs, g->inputs, sizeof(int) * (size_t)g->n_inputs);
	inputs[g->n_inputs] = n->id;
	n->input = g->n_inputs++;
	g->inputs = inputs;
	n->op = OP_input;
	n->order = 0;
	n->fx = op_info(OP_input)->fx;
	n->compute = n->dtype;
	n->n_args = 0;
	n->data = NULL;
	return true;
}

/* Hands the results to their objects; memory that other names see is written. */
static bool hand_out(struct barrier *b, struct err *err)
{
	for (int i = 0; i < b->n; i++) {
		struct lazy_entry *entry = b->to[i];
		struct vtensor *t = entry ? entry->at : NULL;
		struct tensor *memory;

		if (!entry)
			continue;
		memory = t ? t->memory : entry->orphan;
		if (!memory) {
			t->memory = b->results[i];
			b->results[i] = NULL;
			autograd_deferred_made(t);
			continue;
		}
		if (!storage_before_write(memory->storage, err))
			return false;
		tensor_copy(memory, b->results[i]);
		storage_written(memory->storage);
		b->l->n_dirty -= entry->dirty;
		entry->dirty = false;
	}
	return true;
}

static void finish(struct barrier *b)
{
	for (int i = 0; b->results && i < b->n; i++)
		tensor_unref(b->results[i]);
	if (b->program && b->program->graph < 0)
		free_program(b->program);
	free(b->nodes);
	free(b->to);
	free(b->results);
	free(b->inputs);
	lazy_part_finish(&b->part);
}

static bool begin(struct barrier *b, struct lazy *l, struct lazy_reason why, struct err *err)
{
	*b = (struct barrier){ .l = l, .why = why };
	b->nodes = calloc(l->entries.len + l->unsure.len + 1, sizeof(*b->nodes));
	b->to = calloc(l->entries.len + l->unsure.len + 1, sizeof(struct lazy_entry *));
	return (b->nodes && b->to) || no_memory(err);
}

static void choose(struct barrier *b, struct lazy_entry *entry)
{
	b->nodes[b->n] = entry->at ? entry->at->node : entry->orphan_node;
	b->to[b->n++] = entry;
}

/* Leaves of l->unsure the nodes that the barrier does not run.  Then `choosing`: it runs them
 * too, so that they fail where they do in eager, whoever has their results. */
static bool sort_unsure(struct barrier *b, bool choosing)
{
	struct lazy *l = b->l;
	bool *need = l->unsure.len ? calloc((size_t)l->graph->n_nodes + 1, sizeof(*need)) : NULL;
	size_t left = 0;

	if (!l->unsure.len)
		return true;
	if (!need)
		return false;
	lazy_reach(l->graph, b->nodes, b->n, need);
	for (size_t i = 0; i < l->unsure.len; i++)
		if (!need[l->unsure.at[i]])
			l->unsure.at[left++] = l->unsure.at[i];
	l->unsure.len = left;
	for (size_t i = 0; choosing && i < left; i++)
		b->nodes[b->n++] = l->unsure.at[i];
	free(need);
	return true;
}

static bool run(struct barrier *b, struct err *err)
{
	const struct fusion_observer *o = b->l->report->observer;

	if (o && (o->piece || o->broke))
		b->begin_ns = clock_ns();
	if (!find_program(b, err))
		return false;
	if (o && o->phase && b->begin_ns) /* its key, and who has the same */
		o->phase(o->self, PHASE_GUARDS, b->begin_ns, clock_ns());
	return execute(b, err);
}

/* Views over memory that is there now; in the order in which they were made. */
static bool replay_views(struct lazy *l, struct err *err)
{
	for (size_t i = 0; i < l->entries.len; i++) {
		struct lazy_entry *entry = &l->entries.at[i];

		if (entry->at && entry->view && !lazy_view_replay(l, entry, err))
			return false;
	}
	return true;
}

static bool draws(const struct graph *g)
{
	for (int i = 0; i < g->n_nodes; i++)
		if (graph_draws(g->nodes[i]))
			return true;
	return false;
}

static bool sync_all(struct lazy *l, struct lazy_reason why, bool dirty_only, struct err *err)
{
	struct barrier b;
	bool ok;

	if (!l->graph)
		return true;
	lazy_views_settle(l);
	ok = begin(&b, l, why, err);
	for (size_t i = 0; ok && i < l->entries.len; i++) {
		struct lazy_entry *entry = &l->entries.at[i];
		bool pending = entry->at && !entry->at->memory && !entry->view;

		if (entry->dirty || (!dirty_only && pending))
			choose(&b, entry);
	}
	ok = ok && (sort_unsure(&b, !dirty_only) || no_memory(err));
	ok = ok && ((b.n == 0 && !draws(l->graph)) || run(&b, err));
	ok = ok && hand_out(&b, err);
	finish(&b);
	ok = ok && (dirty_only || replay_views(l, err));
	if (ok)
		lazy_reset(l);
	return ok;
}

bool lazy_sync(struct lazy *l, struct lazy_reason why, struct err *err)
{
	return sync_all(l, why, false, err);
}

bool lazy_sync_dirty(struct lazy *l, struct lazy_reason why, struct err *err)
{
	return sync_all(l, why, true, err);
}

/* Beside the tensor itself, what lies on the way and still has a name: it is not
 * computed again then. */
static bool choose_way(struct barrier *b, struct vtensor *t)
{
	struct lazy *l = b->l;
	bool *need = calloc((size_t)l->graph->n_nodes + 1, sizeof(*need));

	if (!need)
		return false;
	choose(b, &l->entries.at[t->input]);
	lazy_reach(l->graph, b->nodes, 1, need);
	for (size_t i = 0; i < l->entries.len; i++) {
		struct lazy_entry *entry = &l->entries.at[i];

		if (entry->at && entry->at != t && !entry->at->memory && !entry->view &&
		    need[entry->at->node])
			choose(b, entry);
	}
	free(need);
	return true;
}

/* A view shares the memory of what it is of, so that one comes first. */
static bool sync_view(struct lazy *l, struct vtensor *t, struct lazy_reason why, struct err *err)
{
	struct lazy_view *view = l->entries.at[t->input].view;

	for (int i = 0; i < view->n; i++) {
		if (view->values[i].kind == VALUE_TENSOR &&
		    !lazy_sync_one(l, view->values[i], why, err))
			return false;
		if (t->owner != l) /* that was a barrier for everything */
			return true;
	}
	if (!lazy_view_replay(l, &l->entries.at[t->input], err))
		return false;
	return become_input(l, l->graph->nodes[t->node], t->memory) || no_memory(err);
}

bool lazy_sync_one(struct lazy *l, struct value v, struct lazy_reason why, struct err *err)
{
	struct vtensor *t = v.tensor;
	struct barrier b;
	bool ok;

	if (!lazy_pending(l, v)) /* what it shares memory with may be, and has been written to */
		return l->n_dirty == 0 || !lazy_touches(l, v, 0) || lazy_sync(l, why, err);
	lazy_views_settle(l);
	/* Dirty: others may still read its old elements.  Random: drawn once, in order. */
	if (t->memory || draws(l->graph))
		return lazy_sync(l, why, err);
	if (l->entries.at[t->input].view)
		return sync_view(l, t, why, err);
	ok = begin(&b, l, why, err) &&
	     ((choose_way(&b, t) && sort_unsure(&b, false)) || no_memory(err)) && run(&b, err);
	ok = ok && hand_out(&b, err);
	for (int i = 0; ok && i < b.n; i++) {
		t = b.to[i]->at;
		ok = become_input(l, l->graph->nodes[t->node], t->memory) || no_memory(err);
	}
	finish(&b);
	return ok;
}
