/* fusion/compile/partition.c -- cuts a graph at what a backend cannot lower.
 *
 * A lowered node has a LEVEL, how often a path to it has left the backend and
 * come back; a fallback has the level of what it reads (-1: nothing lowered).
 * All lowered nodes of a level are one piece, after the fallbacks of the levels
 * below it.  No order has fewer pieces, for the longest path needs as many.
 * A cheap node then sinks to the level of its readers, to fuse with them.
 */
#include "fusion/compile/partition.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/graph/loop.h"

enum { LEVEL_NONE = -2 }; /* inputs, constants, and what nothing reads */

struct partition_cut {
	const struct backend *backend;
	const struct lowering *how;
	struct graph *g;
	struct arena *arena;
	int *level;
	bool *fallback;
	int *search; /* by node: the search before it of the same elements; -1 */
	enum fallback_cause *cause;
	const char **why;
	bool *live;
	int *value;            /* by node: as struct partition numbers them; -1 */
	int *last;             /* by value: the last piece that reads it */
	bool *inside, *wanted; /* of the piece under way, by node */
	struct partition *p;
};

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory while cutting a graph into pieces");
}

static bool is_source(const struct node *n)
{
	return n->op == OP_input || op_info(n->op)->kind == KIND_CONSTANT;
}

static bool is_control(const struct node *n)
{
	return op_info(n->op)->kind == KIND_CONTROL;
}

static bool is_denied(const struct lowering *how, const struct node *n)
{
	for (int i = 0; how && i < how->n_deny; i++) {
		const char *name = how->deny[i];
		enum op op;

		if (strcmp(name, n->fx) == 0 || strcmp(name, op_info(n->op)->id) == 0 ||
		    strcmp(name, op_info(n->op)->fx) == 0 || (op_find(name, &op) && op == n->op))
			return true;
	}
	return false;
}

static bool lowers(struct partition_cut *c, const struct node *n)
{
	const struct backend *b = c->backend;
	bool type = false;

	if (is_control(n))
		return false;
	c->cause[n->id] = FALLBACK_DENIED;
	if (is_denied(c->how, n))
		return false;
	if (!b->can_lower || b->can_lower(b, c->g, n, &type, &c->why[n->id]))
		return true;
	c->cause[n->id] = type ? FALLBACK_TYPE : FALLBACK_OP;
	return false;
}

/* What outputs are made of, and draws of random numbers: later ones would be others. */
static void mark_live(struct partition_cut *c)
{
	for (int i = 0; i < c->g->n_outputs; i++)
		c->live[c->g->outputs[i]] = true;
	for (int id = c->g->n_nodes - 1; id >= 0; id--) {
		const struct node *n = c->g->nodes[id];

		c->live[id] |= graph_draws(n);
		for (int i = 0; c->live[id] && i < n->n_args; i++)
			if (n->args[i].kind == ARG_NODE)
				c->live[n->args[i].node] = true;
	}
}

/* Levels of all live nodes; the number of fallbacks.  Draws stay in their order. */
static int rank_nodes(struct partition_cut *c)
{
	int found = 0, drawn = -1;

	for (int id = 0; id < c->g->n_nodes; id++) {
		const struct node *n = c->g->nodes[id];
		int level;

		c->level[id] = LEVEL_NONE;
		if (!c->live[id] || is_source(n))
			continue;
		c->fallback[id] = !lowers(c, n);
		found += c->fallback[id];
		level = c->fallback[id] ? -1 : 0;
		for (int i = 0; i < n->n_args; i++) {
			int arg = n->args[i].kind == ARG_NODE ? n->args[i].node : -1, at;

			if (arg < 0 || c->level[arg] == LEVEL_NONE)
				continue;
			at = c->level[arg] + (c->fallback[arg] && !c->fallback[id]);
			level = at > level ? at : level;
		}
		if (graph_draws(n)) {
			level = drawn > level ? drawn : level;
			drawn = level + c->fallback[id];
		}
		c->level[id] = level;
	}
	return found;
}

/* Whether two searches for order are of the same elements: pass cse makes one search of both
 * where one finds the places of what the other does. */
static bool same_search(const struct partition_cut *c, int a, int b)
{
	const struct node *x = c->g->nodes[a], *y = c->g->nodes[b];
	bool same = c->live[b] && c->fallback[b] && op_has(y->op, FACT_BETWEEN) &&
		    x->n_args == y->n_args && c->cause[a] == c->cause[b];

	for (int i = 0; same && i < x->n_args; i++)
		same = arg_equal(&x->args[i], &y->args[i]);
	return same;
}

static void join_searches(struct partition_cut *c)
{
	for (int id = 0; id < c->g->n_nodes; id++) {
		c->search[id] = -1;
		if (!c->live[id] || !c->fallback[id] || !op_has(c->g->nodes[id]->op, FACT_BETWEEN))
			continue;
		for (int k = 0; k < id && c->search[id] < 0; k++)
			if (c->search[k] < 0 && same_search(c, id, k))
				c->search[id] = k;
	}
}

/* Whether computing it later costs no more memory traffic than its result. */
static bool may_sink(const struct partition_cut *c, const struct node *n)
{
	enum op_kind kind = op_info(n->op)->kind;

	if (kind == KIND_CREATE)
		return true;
	if (kind != KIND_POINTWISE && kind != KIND_VIEW)
		return false;
	for (int i = 0; i < n->n_args; i++)
		if (n->args[i].kind == ARG_NODE && !is_source(c->g->nodes[n->args[i].node]))
			return false;
	return true;
}

static void sink(struct partition_cut *c, int *readers)
{
	for (int id = 0; id < c->g->n_nodes; id++)
		readers[id] = INT32_MAX;
	for (int i = 0; i < c->g->n_outputs; i++)
		readers[c->g->outputs[i]] = -1; /* stays where it is */
	for (int id = c->g->n_nodes - 1; id >= 0; id--) {
		const struct node *n = c->g->nodes[id];

		if (c->level[id] == LEVEL_NONE)
			continue;
		if (!c->fallback[id] && readers[id] > c->level[id] && readers[id] < INT32_MAX &&
		    may_sink(c, n))
			c->level[id] = readers[id];
		for (int i = 0; i < n->n_args; i++)
			if (n->args[i].kind == ARG_NODE && readers[n->args[i].node] > c->level[id])
				readers[n->args[i].node] = c->level[id];
	}
}

/* Who computes an output that is a constant: any piece does. */
static void place_constant_outputs(struct partition_cut *c)
{
	for (int i = 0; i < c->g->n_outputs; i++) {
		int id = c->g->outputs[i];

		if (op_info(c->g->nodes[id]->op)->kind == KIND_CONSTANT)
			c->level[id] = 0;
	}
}

static bool in_piece(const struct partition_cut *c, int id, int level, int fallback)
{
	return fallback >= 0 ? id == fallback || c->search[id] == fallback
			     : c->level[id] == level && !c->fallback[id];
}

/* What is read by someone outside of the piece. */
static void find_wanted(struct partition_cut *c)
{
	memset(c->wanted, 0, sizeof(*c->wanted) * (size_t)c->g->n_nodes);
	for (int i = 0; i < c->g->n_outputs; i++)
		c->wanted[c->g->outputs[i]] = true;
	for (int id = 0; id < c->g->n_nodes; id++) {
		const struct node *n = c->g->nodes[id];

		for (int i = 0; c->live[id] && !c->inside[id] && i < n->n_args; i++)
			if (n->args[i].kind == ARG_NODE)
				c->wanted[n->args[i].node] = true;
	}
}

/* What is to be computed outside of the piece is its output. */
static bool note_made(struct partition_cut *c, struct piece *piece, int *made)
{
	piece->outputs = ARENA_ARRAY(c->arena, int, (size_t)c->g->n_nodes + 1);
	if (!piece->outputs || !made)
		return false;
	find_wanted(c);
	for (int id = 0; id < c->g->n_nodes; id++) {
		if (!c->inside[id] || !c->wanted[id])
			continue;
		c->value[id] = c->p->n_values++;
		made[piece->n_outputs] = id;
		piece->outputs[piece->n_outputs++] = c->value[id];
	}
	return true;
}

static void note_reads(struct partition_cut *c, const struct piece *piece)
{
	for (int i = 0; i < piece->n_inputs; i++)
		c->last[piece->inputs[i]] = c->p->n_pieces;
	for (int i = 0; i < piece->n_outputs; i++)
		c->last[piece->outputs[i]] = c->p->n_pieces;
}

/* The nodes `c->inside` as the next piece. */
static bool add_piece(struct partition_cut *c, struct piece piece, struct err *err)
{
	struct partition *p = c->p;
	int *nodes, *made = ARENA_ARRAY(c->arena, int, (size_t)c->g->n_nodes + 1);
	bool *inside = ARENA_ARRAY(c->arena, bool, (size_t)c->g->n_nodes + 1);

	if (!inside || !note_made(c, &piece, made))
		return no_memory(err);
	memcpy(inside, c->inside, sizeof(*inside) * (size_t)c->g->n_nodes);
	piece.inside = inside;
	piece.made = made;
	piece.graph = graph_extract(c->g, c->inside, made, piece.n_outputs, c->arena, &nodes);
	if (!piece.graph)
		return no_memory(err);
	piece.n_inputs = piece.graph->n_inputs;
	piece.inputs = nodes;
	for (int i = 0; i < piece.n_inputs; i++)
		piece.inputs[i] = c->value[nodes[i]];
	note_reads(c, &piece);
	piece.brk = -1;
	p->pieces[p->n_pieces++] = piece;
	return true;
}

/* The loop with its operands and results: its inputs are values, its outputs too. */
static bool describe_loop(struct partition_cut *c, struct piece *piece, const struct node *loop)
{
	int n = loop_operand_list(c->g, loop, NULL), *results;
	int *made = ARENA_ARRAY(c->arena, int, (size_t)c->g->n_nodes + 1);

	memset(c->inside, 0, sizeof(*c->inside) * (size_t)c->g->n_nodes);
	for (int id = loop->id + 1; id < c->g->n_nodes; id++)
		c->inside[id] = c->live[id] && c->g->nodes[id]->op == OP_loop_result &&
				c->g->nodes[id]->args[0].node == loop->id;
	piece->inputs = ARENA_ARRAY(c->arena, int, (size_t)n + 1);
	piece->round = ARENA_ARRAY(c->arena, struct tensor *, (size_t)n + 1);
	piece->carried = ARENA_ARRAY(c->arena, struct tensor *, (size_t)n + 1);
	piece->next = ARENA_ARRAY(c->arena, struct tensor *, (size_t)loop->loop->n_carried + 2);
	results = ARENA_ARRAY(c->arena, int, (size_t)c->g->n_nodes + 1);
	if (!piece->inputs || !piece->round || !piece->carried || !piece->next || !results ||
	    !note_made(c, piece, made))
		return false;
	piece->n_inputs = n + 1;
	loop_operand_list(c->g, loop, piece->inputs + 1);
	piece->inputs[0] = loop->args[0].node;
	for (int i = 0; i <= n; i++)
		piece->inputs[i] = c->value[piece->inputs[i]];
	for (int i = 0; i < piece->n_outputs; i++)
		results[i] = (int)c->g->nodes[made[i]]->args[1].sym->value;
	piece->results = results;
	note_reads(c, piece);
	return true;
}

static bool cut_loop(struct partition_cut *c, const struct node *loop, struct err *err)
{
	struct piece piece = { .kind = PIECE_LOOP,
			       .node = loop,
			       .loop = loop->loop,
			       .cause = FALLBACK_DENIED,
			       .denied = is_denied(c->how, loop) };

	piece.graph = graph_copy(loop->loop->body, c->arena);
	if (piece.denied)
		piece.why = "while_loop is in the workload's list `deny`: the interpreter runs it "
			    "round by round between two pieces";
	if (!piece.graph || !describe_loop(c, &piece, loop))
		return no_memory(err);
	c->p->n_fallbacks += piece.denied;
	piece.brk = -1;
	c->p->pieces[c->p->n_pieces++] = piece;
	return true;
}

/* All lowered nodes of a level, or one fallback, with the searches that it makes too. */
static bool cut_piece(struct partition_cut *c, int level, int fallback, struct err *err)
{
	struct piece piece = { .kind = fallback < 0 ? PIECE_LOWERED : PIECE_FALLBACK };
	bool any = false;

	for (int id = 0; id < c->g->n_nodes; id++) {
		c->inside[id] = in_piece(c, id, level, fallback);
		any |= c->inside[id];
	}
	if (!any)
		return true;
	if (fallback >= 0) {
		piece.cause = c->cause[fallback];
		piece.why = c->why[fallback];
		piece.node = c->g->nodes[fallback];
		c->p->n_fallbacks++;
	} else {
		c->p->n_lowered++;
	}
	return add_piece(c, piece, err);
}

static bool cut_fallback(struct partition_cut *c, int level, int id, struct err *err)
{
	const struct node *n = c->g->nodes[id];

	if (n->op == OP_while_loop)
		return cut_loop(c, n, err);
	return is_control(n) || cut_piece(c, level, id, err);
}

static bool cut_all(struct partition_cut *c, struct err *err)
{
	int most = 0;

	for (int id = 0; id < c->g->n_nodes; id++)
		most = c->level[id] > most ? c->level[id] : most;
	for (int level = -1; level <= most; level++) {
		if (level >= 0 && !cut_piece(c, level, -1, err))
			return false;
		for (int id = 0; id < c->g->n_nodes; id++)
			if (c->level[id] == level && c->fallback[id] && c->search[id] < 0 &&
			    !cut_fallback(c, level, id, err))
				return false;
	}
	return true;
}

/* Which values each piece leaves for nobody. */
static bool find_dead(struct partition_cut *c)
{
	struct partition *p = c->p;

	for (int i = 0; i < c->g->n_outputs; i++)
		c->last[c->value[c->g->outputs[i]]] = -1;
	for (int i = 0; i < p->n_pieces; i++) {
		struct piece *piece = &p->pieces[i];

		piece->dead = ARENA_ARRAY(c->arena, int,
					  (size_t)(piece->n_inputs + piece->n_outputs) + 1);
		if (!piece->dead)
			return false;
		for (int v = c->g->n_inputs; v < p->n_values; v++)
			if (c->last[v] == i)
				piece->dead[piece->n_dead++] = v;
	}
	return true;
}

static bool note_outputs(struct partition_cut *c)
{
	struct partition *p = c->p;
	int n = c->g->n_outputs;

	p->outputs = ARENA_ARRAY(c->arena, int, (size_t)n + 1);
	p->copy = ARENA_ARRAY(c->arena, bool, (size_t)n + 1);
	p->values = ARENA_ARRAY(c->arena, struct tensor *, (size_t)p->n_values + 1);
	p->handed = ARENA_ARRAY(c->arena, struct tensor *, (size_t)p->n_values + 1);
	p->made = ARENA_ARRAY(c->arena, struct tensor *, (size_t)p->n_values + 1);
	if (!p->outputs || !p->copy || !p->values || !p->handed || !p->made)
		return false;
	for (int i = 0; i < n; i++) {
		p->outputs[i] = c->value[c->g->outputs[i]];
		p->copy[i] = p->outputs[i] < c->g->n_inputs;
		for (int j = 0; j < i; j++)
			p->copy[i] |= p->outputs[j] == p->outputs[i];
	}
	return true;
}

static bool prepare(struct partition_cut *c)
{
	size_t n = (size_t)c->g->n_nodes + 1;

	c->level = ARENA_ARRAY(c->arena, int, n);
	c->fallback = ARENA_ARRAY(c->arena, bool, n);
	c->search = ARENA_ARRAY(c->arena, int, n);
	c->cause = ARENA_ARRAY(c->arena, enum fallback_cause, n);
	c->why = ARENA_ARRAY(c->arena, const char *, n);
	c->live = ARENA_ARRAY(c->arena, bool, n);
	c->value = ARENA_ARRAY(c->arena, int, n);
	c->last = ARENA_ARRAY(c->arena, int, n);
	c->inside = ARENA_ARRAY(c->arena, bool, n);
	c->wanted = ARENA_ARRAY(c->arena, bool, n);
	c->p = ARENA_NEW(c->arena, struct partition);
	if (!c->level || !c->fallback || !c->search || !c->cause || !c->why || !c->live ||
	    !c->value || !c->last || !c->inside || !c->wanted || !c->p)
		return false;
	c->p->pieces = ARENA_ARRAY(c->arena, struct piece, n);
	for (int i = 0; i < c->g->n_inputs; i++)
		c->value[c->g->inputs[i]] = i;
	c->p->n_values = c->g->n_inputs;
	return c->p->pieces != NULL;
}

static bool divide(struct partition_cut *c, struct err *err)
{
	int *readers = ARENA_ARRAY(c->arena, int, (size_t)c->g->n_nodes + 1);

	if (!readers)
		return no_memory(err);
	sink(c, readers);
	join_searches(c);
	place_constant_outputs(c);
	return cut_all(c, err) && ((find_dead(c) && note_outputs(c)) || no_memory(err));
}

static bool has_loop(const struct graph *g)
{
	for (int id = 0; id < g->n_nodes; id++)
		if (g->nodes[id]->op == OP_while_loop)
			return true;
	return false;
}

bool partition_is_whole(const struct backend *backend, struct graph *g, const struct lowering *how)
{
	const char *why;
	bool type;

	for (int id = 0; id < g->n_nodes; id++) {
		const struct node *n = g->nodes[id];

		if (is_source(n))
			continue;
		if (is_control(n) || is_denied(how, n) ||
		    (backend->can_lower && !backend->can_lower(backend, g, n, &type, &why)))
			return false;
	}
	return true;
}

bool partition_find(const struct compile_options *options, struct graph *g, struct arena *arena,
		    struct partition **out, struct err *err)
{
	struct partition_cut c = {
		.backend = options->backend, .how = &options->lowering, .g = g, .arena = arena
	};

	*out = NULL;
	if (!c.backend->can_lower && c.how->n_deny == 0 && !has_loop(g))
		return true;
	if (!prepare(&c))
		return no_memory(err);
	mark_live(&c);
	if (rank_nodes(&c) == 0)
		return true;
	*out = c.p;
	return divide(&c, err);
}

/* ---- what the backend did not lower, for the report */

static const enum break_id causes[] = {
	[FALLBACK_OP] = BREAK_UNSUPPORTED_OP,
	[FALLBACK_TYPE] = BREAK_UNSUPPORTED_TYPE,
	[FALLBACK_DENIED] = BREAK_DENIED_OP,
};

static bool is_fallback(const struct piece *piece)
{
	return piece->kind == PIECE_FALLBACK || (piece->kind == PIECE_LOOP && piece->denied);
}

/* One call may be several ops: x.sort() finds values and indices.  -1: nothing tells of
 * it so far. */
static int told_by(const struct partition *p, int index)
{
	const struct node *n = p->pieces[index].node;

	for (int i = 0; i < index; i++)
		if (is_fallback(&p->pieces[i]) && p->pieces[i].node->line == n->line &&
		    p->pieces[i].node->column == n->column)
			return p->pieces[i].brk;
	return -1;
}

static const char *subject_of(const struct piece *piece)
{
	const struct node *n = piece->node;

	if (piece->cause == FALLBACK_TYPE)
		return dtype_name(n->dtype);
	return n->fx[0] ? n->fx : op_info(n->op)->id;
}

/* Those of a loop's body are there once, however often it runs. */
static bool tell_pieces(struct exec *e, struct session_report *r, int graph, const char *function)
{
	for (int i = 0; e && e->parts && i < e->parts->n_pieces; i++) {
		struct piece *piece = &e->parts->pieces[i];
		struct session_break b = { .stage = STAGE_LOWERING,
					   .outcome = OUTCOME_FALLBACK,
					   .call = r->calls - 1,
					   .graph = graph,
					   .n_stack = 1 };
		struct fusion_line at = { .function = function };

		if (piece->kind == PIECE_LOOP && !tell_pieces(piece->exec, r, graph, function))
			return false;
		if (!is_fallback(piece))
			continue;
		piece->brk = told_by(e->parts, i);
		if (piece->brk >= 0)
			continue;
		at.line = piece->node->line;
		b.id = causes[piece->cause];
		b.stack = &at;
		b.column = piece->node->column;
		b.subject = subject_of(piece);
		b.message = piece->why;
		if (!report_add_break(r, &b, &piece->brk))
			return false;
	}
	return true;
}

bool partition_report(struct exec *e, struct session_report *r, int graph, const char *function)
{
	r->counts.lowered += exec_lowered_count(e);
	return tell_pieces(e, r, graph, function);
}
