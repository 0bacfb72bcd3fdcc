/* profiler/report/graph.c -- a captured graph as data and as text.
 *
 * `ops` holds FX target names in order, as PyTorch's graph has them: a call
 * each, no placeholders and no output.
 */
#include "profiler/report/graph.h"

#include <stdio.h>
#include <stdlib.h>

#include "fusion/base/buf.h"
#include "profiler/report/report.h"

static json_t *buf_json(struct buf *text)
{
	json_t *json = json_stringn(text->data ? text->data : "", text->len);

	buf_finish(text);
	return json ? json : json_string("");
}

static void print_number(struct buf *out, const struct fusion_arg *a)
{
	if (a->kind == FUSION_ARG_INT)
		buf_printf(out, "%lld", (long long)a->i);
	else
		fusion_print_symbol(out, a);
}

static json_t *number_json(const struct fusion_arg *a)
{
	struct buf text;

	if (a->kind == FUSION_ARG_INT)
		return json_integer(a->i);
	buf_init(&text, 4096);
	fusion_print_symbol(&text, a);
	return buf_json(&text);
}

/* Tensors as {"node": id}, all else as a plain value. */
static json_t *arg_json(const struct fusion_arg *a)
{
	json_t *list;

	switch (a->kind) {
	case FUSION_ARG_NONE:
		return json_null();
	case FUSION_ARG_NODE:
		return json_pack("{s:i}", "node", a->node);
	case FUSION_ARG_INT:
	case FUSION_ARG_SYMBOL:
		return number_json(a);
	case FUSION_ARG_FLOAT:
		return a->f - a->f == 0 ? json_real(a->f) : json_string(a->f > 0 ? "inf" : "-inf");
	case FUSION_ARG_BOOL:
		return json_boolean(a->i);
	case FUSION_ARG_DTYPE:
		return json_string(dtype_name(a->dtype));
	case FUSION_ARG_INTS:
		list = json_array();
		for (int i = 0; i < a->n; i++) {
			struct fusion_arg item = fusion_arg_item(a, i);

			json_array_append_new(list, number_json(&item));
		}
		return list;
	case FUSION_ARG_STR:
		return json_string(a->str);
	}
	return json_null();
}

static const char *text_of(struct buf *text, struct report_draft *draft)
{
	const char *kept = arena_strndup(&draft->arena, text->data ? text->data : "", text->len);

	buf_finish(text);
	return kept;
}

/* "[s0, 16]" */
static const char *shape_of(const struct fusion_arg *shape, struct report_draft *draft)
{
	struct buf text;

	buf_init(&text, 4096);
	buf_putc(&text, '[');
	for (int i = 0; i < shape->n; i++) {
		struct fusion_arg size = fusion_arg_item(shape, i);

		buf_puts(&text, i ? ", " : "");
		print_number(&text, &size);
	}
	buf_putc(&text, ']');
	return text_of(&text, draft);
}

static void fill_node(struct report_node *to, const struct graph *g, int id,
		      struct report_draft *draft)
{
	struct fusion_node n = fusion_node(g, id);
	json_t *args = json_array();

	for (int i = 0; i < n.n_args; i++) {
		struct fusion_arg a = fusion_arg(g, id, i);

		json_array_append_new(args, arg_json(&a));
	}
	REPORT_SET(to, id, id);
	REPORT_SET(to, name, report_draft_text(draft, n.name));
	REPORT_SET(to, op,
		   report_draft_text(draft, n.kind == FUSION_PLACEHOLDER ? "placeholder"
					    : n.fx[0]                    ? n.fx
									 : n.op));
	REPORT_SET(to, dtype, dtype_name(n.dtype));
	REPORT_SET(to, shape, shape_of(&n.shape, draft));
	REPORT_SET(to, line, n.line);
	REPORT_SET(to, column, n.column);
	REPORT_SET(to, args, report_draft_value(draft, args));
	REPORT_SET_OR_NULL(to, module, n.module, report_draft_text(draft, n.module));
}

/* Generated code; NULL: there is none. */
static const char *source_of(const char *source, struct report_draft *draft)
{
	struct buf text;

	if (!source)
		return NULL;
	buf_init(&text, 0);
	buf_printf(&text, "%.*s", REPORT_MAX_SOURCE_BYTES, source);
	if (text.len >= REPORT_MAX_SOURCE_BYTES)
		buf_puts(&text, "\n/* the rest is left out: 64 KiB a graph are kept */\n");
	return text_of(&text, draft);
}

static const char *tiles_of(const struct fusion_graph_info *info, struct report_draft *draft)
{
	struct buf text;

	buf_init(&text, 0);
	fusion_tile_program(info, &text);
	if (text.len > REPORT_MAX_SOURCE_BYTES) {
		text.len = REPORT_MAX_SOURCE_BYTES;
		buf_puts(&text, "\n# the rest is left out: 64 KiB a graph are kept\n");
	}
	return text_of(&text, draft);
}

/* Bytes are under the sizes of the capture. */
static void fill_kernel(struct report_kernel *to, const struct fusion_kernel *k,
			struct report_draft *draft)
{
	REPORT_SET(to, name, report_draft_text(draft, k->name));
	REPORT_SET(to, form, k->form);
	REPORT_SET(to, why, report_draft_text(draft, k->why));
	REPORT_SET(to, ops, k->n_ops);
	REPORT_SET(to, lines, report_draft_integers(draft, k->lines, k->n_lines));
	REPORT_SET(to, read_bytes, k->read_bytes);
	REPORT_SET(to, written_bytes, k->written_bytes);
	REPORT_SET(to, saved_bytes, k->saved_bytes);
	REPORT_SET(to, copies, k->copies);
}

/* Mode graphs; NULL where nothing was to be recorded. */
static struct report_recording *recording_of(const struct fusion_recording *r,
					     struct report_draft *draft)
{
	struct report_recording *to = report_new_recording(1, &draft->arena);

	if (!to)
		return NULL;
	REPORT_SET(to, recorded, r->made > 0);
	REPORT_SET(to, made, r->made);
	REPORT_SET(to, refused, r->refused);
	REPORT_SET_IF(to, why_not, r->why_not, report_draft_text(draft, r->why_not));
	REPORT_SET(to, direct, r->direct);
	REPORT_SET_IF(to, why_direct, r->why_direct, report_draft_text(draft, r->why_direct));
	REPORT_SET_IF(to, because, r->because, report_draft_text(draft, r->because));
	REPORT_SET(to, record_us, (double)r->record_ns / 1000);
	REPORT_SET(to, replays, r->replays);
	REPORT_SET(to, pointed, r->pointed);
	REPORT_SET(to, guards_left_out, r->left_out);
	REPORT_SET_IF(to, why_guards, r->why_guards, report_draft_text(draft, r->why_guards));
	REPORT_SET(to, held_bytes, r->held_bytes);
	return to;
}

static void fill_nodes(struct report_graph *to, const struct fusion_graph_info *info, bool brief,
		       struct report_draft *draft)
{
	const struct graph *g = info->captured;
	int n = info->n_nodes;
	struct report_node *nodes = report_new_node(brief ? 0 : (size_t)n, &draft->arena);
	const char **ops = ARENA_ARRAY(&draft->arena, const char *, (size_t)n + 1);
	size_t n_ops = 0;

	for (int i = 0; i < n && nodes && ops; i++) {
		struct fusion_node node = fusion_node(g, i);

		if (!brief)
			fill_node(&nodes[i], g, i, draft);
		if (node.kind == FUSION_OP && node.fx[0])
			ops[n_ops++] = report_draft_text(draft, node.fx);
	}
	REPORT_SET(to, ops, (struct report_texts){ ops, n_ops });
	REPORT_SET(to, nodes, (struct report_node_list){ nodes, brief ? 0 : (size_t)n });
}

static void fill_kernels(struct report_graph *to, const struct fusion_graph_info *info,
			 struct report_draft *draft)
{
	size_t n = (size_t)info->n_kernels;
	struct report_kernel *details = report_new_kernel(n, &draft->arena);
	const char **names = ARENA_ARRAY(&draft->arena, const char *, n + 1);

	for (int i = 0; details && names && i < info->n_kernels; i++) {
		struct fusion_kernel k = fusion_kernel(info, i);

		fill_kernel(&details[i], &k, draft);
		names[i] = details[i].name;
	}
	REPORT_SET(to, kernels, (struct report_texts){ names, n });
	REPORT_SET(to, kernel_details, (struct report_kernel_list){ details, n });
}

static struct report_compile_parts *parts_of(const struct fusion_graph_info *info,
					     struct report_draft *draft)
{
	struct report_compile_parts *to = report_new_compile_parts(1, &draft->arena);

	if (!to)
		return NULL;
	REPORT_SET(to, capture, (double)info->capture_ns / 1e6);
	REPORT_SET(to, passes, (double)info->passes_ns / 1e6);
	REPORT_SET(to, backend, (double)info->backend_ns / 1e6);
	return to;
}

/* ---- its loops */

static struct report_carried_list carried_of(const struct fusion_loop *l,
					     struct report_draft *draft)
{
	struct report_carried *all = report_new_carried((size_t)l->n_carried, &draft->arena);

	for (int i = 0; all && i < l->n_carried; i++) {
		const struct fusion_carried *c = &l->carried[i];

		REPORT_SET_OR_NULL(&all[i], node, c->node >= 0, c->node);
		REPORT_SET_OR_NULL(&all[i], start, c->start >= 0, c->start);
		REPORT_SET_OR_NULL(&all[i], next, c->next >= 0, c->next);
		REPORT_SET_OR_NULL(&all[i], result, c->result >= 0, c->result);
	}
	return (struct report_carried_list){ all, (size_t)l->n_carried };
}

static void fill_loop(struct report_subgraph *to, const struct fusion_loop *l,
		      struct report_draft *draft)
{
	REPORT_SET(to, kind, "while_loop");
	REPORT_SET(to, node, l->node);
	REPORT_SET_OR_NULL(to, parent, l->parent >= 0, l->parent);
	REPORT_SET(to, line, l->line);
	REPORT_SET_OR_NULL(to, first, l->first >= 0, l->first);
	REPORT_SET_OR_NULL(to, again, l->again >= 0, l->again);
	REPORT_SET(to, carried, carried_of(l, draft));
	REPORT_SET(to, reads, report_draft_integers(draft, l->reads, l->n_reads));
	REPORT_SET(to, nodes, report_draft_integers(draft, l->nodes, l->n_nodes));
	REPORT_SET(to, condition, report_draft_integers(draft, l->condition, l->n_condition));
}

static struct report_subgraph_list subgraphs_of(const struct graph *g, struct report_draft *draft)
{
	struct fusion_loops loops = fusion_loops(g, &draft->arena);
	struct report_subgraph *all = report_new_subgraph((size_t)loops.n, &draft->arena);

	for (int i = 0; all && i < loops.n; i++)
		fill_loop(&all[i], &loops.at[i], draft);
	return (struct report_subgraph_list){ all, (size_t)loops.n };
}

static struct report_origin_list origins_of(const struct fusion_graph_info *info,
					    struct report_draft *draft)
{
	struct report_origin *all = report_new_origin((size_t)info->n_origins, &draft->arena);

	for (int i = 0; all && i < info->n_origins; i++) {
		REPORT_SET(&all[i], node, info->origins[i].node);
		REPORT_SET(&all[i], graph, info->origins[i].graph);
		REPORT_SET(&all[i], output, info->origins[i].output);
	}
	return (struct report_origin_list){ all, all ? (size_t)info->n_origins : 0 };
}

void graph_fill(struct report_graph *to, const struct fusion_graph_info *info, int id, bool brief,
		struct report_draft *draft)
{
	const struct fusion_recording *forward = &info->recording, *backward = &info->backward;

	REPORT_SET(to, id, id);
	REPORT_SET(to, frame, report_draft_text(draft, info->frame));
	REPORT_SET(to, compile,
		   arena_printf(&draft->arena, "%d/%d", info->frame_id, info->compile_id));
	REPORT_SET(to, placeholders, info->n_placeholders);
	fill_nodes(to, info, brief, draft);
	fill_kernels(to, info, draft);
	REPORT_SET_OR_NULL(to, lowered, info->source, source_of(info->source, draft));
	REPORT_SET_OR_NULL(to, tile_program, !brief && info->lowered, tiles_of(info, draft));
	REPORT_SET(to, compile_ms, (double)info->compile_ns / 1e6);
	REPORT_SET(to, cached, info->cached);
	REPORT_SET(to, uses, info->uses);
	if (!brief) {
		REPORT_SET(to, outputs,
			   report_draft_integers(draft, info->outputs, info->n_outputs));
		REPORT_SET(to, origins, origins_of(info, draft));
		REPORT_SET(to, subgraphs, subgraphs_of(info->captured, draft));
	}
	REPORT_SET_IF(to, cache_note, info->cache_note, report_draft_text(draft, info->cache_note));
	if (forward->tried || backward->tried) {
		REPORT_SET_OR_NULL(to, recording, forward->tried, recording_of(forward, draft));
		REPORT_SET_OR_NULL(to, backward_recording, backward->tried,
				   recording_of(backward, draft));
	}
	REPORT_SET(to, compile_parts_ms, parts_of(info, draft));
}
