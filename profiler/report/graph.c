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
#include "profiler/report/subgraphs.h"

static json_t *buf_json(struct buf *text)
{
	json_t *json = json_stringn(text->data ? text->data : "", text->len);

	buf_finish(text);
	return json ? json : json_string("");
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

static json_t *node_json(const struct graph *g, int id)
{
	struct fusion_node n = fusion_node(g, id);
	json_t *args = json_array();
	struct buf shape;

	for (int i = 0; i < n.n_args; i++) {
		struct fusion_arg a = fusion_arg(g, id, i);

		json_array_append_new(args, arg_json(&a));
	}
	buf_init(&shape, 4096);
	fusion_node_shape(g, id, &shape);
	return json_pack("{s:i, s:s, s:s, s:s, s:o, s:i, s:i, s:o, s:s?}", "id", id, "name", n.name,
			 "op",
			 n.kind == FUSION_PLACEHOLDER ? "placeholder"
			 : n.fx[0]                    ? n.fx
						      : n.op,
			 "dtype", dtype_name(n.dtype), "shape", buf_json(&shape), "line", n.line,
			 "column", n.column, "args", args, "module", n.module);
}

static json_t *source_json(const char *source)
{
	struct buf text;

	if (!source)
		return json_null();
	buf_init(&text, 0);
	buf_printf(&text, "%.*s", REPORT_MAX_SOURCE_BYTES, source);
	if (text.len >= REPORT_MAX_SOURCE_BYTES)
		buf_puts(&text, "\n/* the rest is left out: 64 KiB a graph are kept */\n");
	return buf_json(&text);
}

/* Bytes are under the sizes of the capture. */
static json_t *kernel_json(const struct fusion_kernel *k)
{
	json_t *lines = json_array();

	for (int i = 0; i < k->n_lines; i++)
		json_array_append_new(lines, json_integer(k->lines[i]));
	return json_pack("{s:s, s:s, s:s, s:i, s:o, s:I, s:I, s:I, s:b}", "name", k->name, "form",
			 k->form, "why", k->why, "ops", k->n_ops, "lines", lines, "read_bytes",
			 (json_int_t)k->read_bytes, "written_bytes", (json_int_t)k->written_bytes,
			 "saved_bytes", (json_int_t)k->saved_bytes, "copies", k->copies);
}

/* Mode graphs; null where nothing was to be recorded. */
static json_t *recording_json(const struct fusion_recording *r)
{
	if (!r->tried)
		return json_null();
	return json_pack("{s:b, s:i, s:i, s:s?, s:i, s:s?, s:s?, s:f, s:I, s:I, s:I, s:s?, s:I}",
			 "recorded", r->made > 0, "made", r->made, "refused", r->refused, "why_not",
			 r->why_not, "direct", r->direct, "why_direct", r->why_direct, "because",
			 r->because, "record_us", (double)r->record_ns / 1000, "replays",
			 (json_int_t)r->replays, "pointed", (json_int_t)r->pointed,
			 "guards_left_out", (json_int_t)r->left_out, "why_guards", r->why_guards,
			 "held_bytes", (json_int_t)r->held_bytes);
}

static json_t *outputs_json(const struct graph *g)
{
	json_t *list = json_array();

	for (int i = 0; i < fusion_output_count(g); i++)
		json_array_append_new(list, json_integer(fusion_output(g, i)));
	return list;
}

json_t *graph_to_json(const struct fusion_graph_info *info, int id, bool brief)
{
	json_t *ops = json_array(), *nodes = json_array(), *kernels = json_array(), *json;
	json_t *details = json_array();
	char compile[32];

	for (int i = 0; i < fusion_node_count(info->captured); i++) {
		struct fusion_node n = fusion_node(info->captured, i);

		if (!brief)
			json_array_append_new(nodes, node_json(info->captured, i));
		if (n.kind == FUSION_OP && n.fx[0])
			json_array_append_new(ops, json_string(n.fx));
	}
	for (int i = 0; i < info->n_kernels; i++) {
		struct fusion_kernel k = fusion_kernel(info, i);

		json_array_append_new(kernels, json_string(k.name));
		json_array_append_new(details, kernel_json(&k));
	}
	snprintf(compile, sizeof(compile), "%d/%d", info->frame_id, info->compile_id);
	json = json_pack("{s:i, s:s, s:s, s:o, s:i, s:o, s:o, s:o, s:f, s:b, s:I}", "id", id,
			 "frame", info->frame, "compile", compile, "ops", ops, "placeholders",
			 info->n_placeholders, "nodes", nodes, "kernels", kernels, "lowered",
			 source_json(info->source), "compile_ms", (double)info->compile_ns / 1e6,
			 "cached", info->cached, "uses", (json_int_t)info->uses);
	json_object_set_new(json, "kernel_details", details);
	if (!brief) {
		json_object_set_new(json, "outputs", outputs_json(info->captured));
		json_object_set_new(json, "subgraphs", subgraphs_json(info->captured));
	}
	if (info->cache_note)
		json_object_set_new(json, "cache_note", json_string(info->cache_note));
	if (info->recording.tried || info->backward.tried) {
		json_object_set_new(json, "recording", recording_json(&info->recording));
		json_object_set_new(json, "backward_recording", recording_json(&info->backward));
	}
	json_object_set_new(json, "compile_parts_ms",
			    json_pack("{s:f, s:f, s:f}", "capture", (double)info->capture_ns / 1e6,
				      "passes", (double)info->passes_ns / 1e6, "backend",
				      (double)info->backend_ns / 1e6));
	return json;
}
