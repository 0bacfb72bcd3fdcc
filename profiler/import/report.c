/* profiler/import/report.c -- an import as JSON. */
#include "profiler/import/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/fields/fields.h"
#include "profiler/import/inductor.h"
#include "profiler/import/own.h"

enum { MAX_MODELS = 1000 };

/* Files of one folder are of one model; all are where only one folder has logs of XLA. */
struct stages {
	const struct model *m;
	const json_t *files, *breaks;
	bool single;
};

/* What the files of a model say together. */
struct stage_sums {
	json_int_t captured, extracted, capture_breaks, compiled, executions;
	json_t *hashes, *reads, *fallbacks; /* {key: true} */
	double compile_us, run_us;
	bool has_log; /* of Dynamo */
};

/* The folder of a file, its name's part before the last slash; "" where there is none. */
static size_t folder_of(const json_t *files, size_t file, const char **text)
{
	const char *slash;

	*text = json_string_value(json_object_get(json_array_get(files, file), "name"));
	if (!*text)
		*text = "";
	slash = strrchr(*text, '/');
	return slash ? (size_t)(slash - *text) : 0;
}

static bool same_folder(const json_t *files, size_t a, size_t b)
{
	const char *x, *y;
	size_t n = folder_of(files, a, &x), k = folder_of(files, b, &y);

	return n == k && memcmp(x, y, n) == 0;
}

static bool same_model(const struct stages *g, size_t a, size_t b)
{
	return g->single || same_folder(g->files, a, b);
}

/* The last part of a folder's name; of a file in none its own. */
static json_t *model_name(const json_t *files, size_t file)
{
	const char *text;
	size_t end = folder_of(files, file, &text), from = end;

	if (end == 0)
		return json_string(text[0] == '/' ? text + 1 : text);
	while (from > 0 && text[from - 1] != '/')
		from--;
	return json_stringn(text + from, end - from);
}

static bool has_kind(const json_t *files, size_t file, const char *kind)
{
	const char *is = json_string_value(json_object_get(json_array_get(files, file), "kind"));

	return is && strcmp(is, kind) == 0;
}

static size_t file_of_process(const struct model *m, json_int_t process)
{
	return (size_t)json_integer_value(
	    json_object_get(json_array_get(m->compiles.processes, (size_t)process), "file"));
}

/* Graphs that Dynamo captured, and what broke them there. */
static void add_captured(const struct stages *g, size_t first, struct stage_sums *s)
{
	const struct model *m = g->m;
	const char *key;
	json_t *row;
	size_t i, k;

	json_object_foreach(m->compiles.rows, key, row)
	{
		size_t file = file_of_process(m,
					      json_integer_value(json_object_get(row, "process")));

		if (same_model(g, file, first))
			s->captured += json_integer_value(json_object_get(row, "graphs"));
	}
	json_array_foreach((json_t *)g->breaks, i, row)
	{
		const json_t *at;
		bool here = false;

		json_array_foreach(json_object_get(row, "compiles"), k, at)
		{
			json_int_t process = json_integer_value(json_object_get(at, "process"));

			here = here || same_model(g, file_of_process(m, process), first);
		}
		s->capture_breaks += here;
	}
}

static void add_lowered(const json_t *row, struct stage_sums *s)
{
	json_object_update_missing(s->hashes, json_object_get(row, "hashes"));
	json_object_update_missing(s->reads, json_object_get(row, "reads"));
	json_object_update_missing(s->fallbacks, json_object_get(row, "fallbacks"));
	s->compiled += json_integer_value(json_object_get(row, "compiled"));
	s->extracted += json_integer_value(json_object_get(row, "extracted"));
	s->executions += json_integer_value(json_object_get(row, "executions"));
	s->compile_us += json_number_value(json_object_get(row, "compile_us"));
	s->run_us += json_number_value(json_object_get(row, "execute_us"));
}

/* What is more than before; not below zero: LazyTensor joins what Dynamo splits. */
static json_int_t added(json_int_t after, json_int_t before)
{
	return after > before ? after - before : 0;
}

static const char *main_stage(json_int_t capture, json_int_t lowering)
{
	if (capture == lowering)
		return capture ? "both" : "none";
	return capture > lowering ? "capture" : "lowering";
}

static json_t *model_row(json_t *name, const struct stage_sums *s)
{
	const char *from = s->has_log ? "log" : s->extracted ? "counter" : NULL;
	json_int_t captured = s->has_log ? s->captured : s->extracted;
	json_int_t lowered = (json_int_t)json_object_size(s->hashes);
	json_int_t capture, lowering;

	/* Blocks say which graphs; without them a counter says how many. */
	lowered = lowered ? lowered : s->compiled;
	capture = added(captured, 1);
	lowering = added(lowered, captured);
	return json_pack(
	    "{s:o, s:o, s:s?, s:o, s:I, s:I, s:o, s:I, s:f, s:f, s:I, s:s?}", "model", name,
	    "captured_graphs", from ? json_integer(captured) : json_null(), "captured_from", from,
	    "capture_added", from ? json_integer(capture) : json_null(), "capture_breaks",
	    s->capture_breaks, "lowered_graphs", lowered, "lowering_added",
	    from ? json_integer(lowering) : json_null(), "lowering_breaks",
	    (json_int_t)json_object_size(s->reads) + (json_int_t)json_object_size(s->fallbacks),
	    "compile_us", s->compile_us, "run_us", s->run_us, "executions", s->executions,
	    "main_stage", from ? main_stage(capture, lowering) : NULL);
}

/* The row of the model that file `first` is the first of; NULL: it says nothing of XLA. */
static json_t *row_of(const struct stages *g, size_t first)
{
	struct stage_sums s = { .hashes = json_object(),
				.reads = json_object(),
				.fallbacks = json_object() };
	size_t i, named = SIZE_MAX;
	const json_t *of;
	json_t *row = NULL;

	for (i = first; i < json_array_size(g->files); i++)
		if (same_model(g, i, first)) {
			s.has_log = s.has_log || has_kind(g->files, i, "torch_trace");
			if (named == SIZE_MAX && has_kind(g->files, i, "pt_xla"))
				named = i;
		}
	add_captured(g, first, &s);
	json_array_foreach(g->m->xla.files, i, of)
	{
		if (same_model(g, (size_t)json_integer_value(json_object_get(of, "file")), first))
			add_lowered(of, &s);
	}
	if (named != SIZE_MAX)
		row = model_row(model_name(g->files, named), &s);
	json_decref(s.hashes);
	json_decref(s.reads);
	json_decref(s.fallbacks);
	return row;
}

/* Whether all files that XLA wrote lie in one folder. */
static bool in_one_folder(const json_t *files)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < json_array_size(files); i++) {
		if (!has_kind(files, i, "pt_xla"))
			continue;
		if (first == SIZE_MAX)
			first = i;
		else if (!same_folder(files, i, first))
			return false;
	}
	return true;
}

/* A list with a row for each model: {"model", "captured_graphs" (null: nothing says it, as
 * with "capture_added" and "lowering_added"),
 * "captured_from" ("log", "counter" or null), "capture_added", "capture_breaks",
 * "lowered_graphs", "lowering_added", "lowering_breaks", "compile_us", "run_us",
 * "executions", "main_stage" ("capture", "lowering", "both", "none"; null: unknown)}.  Files
 * of one folder are of one model, which is named for it; where only one folder has logs of
 * PyTorch/XLA, all files are of one.  New. */
static json_t *stages_json(const struct model *m, const json_t *files, const json_t *breaks)
{
	const struct stages g = { m, files, breaks, in_one_folder(files) };
	json_t *list = json_array();

	for (size_t i = 0; i < json_array_size(files) && json_array_size(list) < MAX_MODELS; i++) {
		bool first = true;
		json_t *row;

		for (size_t k = 0; first && k < i; k++)
			first = !same_model(&g, k, i);
		row = first ? row_of(&g, i) : NULL;
		if (row)
			json_array_append_new(list, row);
	}
	return list;
}

static double us(int64_t ns)
{
	return (double)ns / 1e3;
}

/* A compiled frame as the timeline has it. */
static json_t *region_json(const struct region *x)
{
	return json_pack("{s:s, s:s, s:I, s:f, s:f, s:f, s:I, s:f, s:I, s:f, s:I, s:I, s:f}",
			 "process", x->pid, "compile", x->id, "calls", (json_int_t)x->calls,
			 "total_us", us(x->total_ns), "self_us", us(x->self_ns), "compile_us",
			 us(x->compile_ns), "lookups", (json_int_t)x->lookups, "lookup_us",
			 us(x->lookup_ns), "graph_calls", (json_int_t)x->graph_calls, "graph_us",
			 us(x->graph_ns), "launches", (json_int_t)x->launches, "kernels",
			 (json_int_t)x->kernels, "kernel_us", us(x->kernel_ns));
}

static json_t *regions_json(const struct regions *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->rows.len; i++)
		json_array_append_new(list, region_json(&r->rows.at[i]));
	return list;
}

static json_t *memory_json(const struct model *m)
{
	json_t *list = json_array();

	for (int i = 0; i <= MODEL_MAX_DEVICES; i++) {
		const struct held_memory *h = &m->memory[i];

		if (h->events)
			json_array_append_new(
			    list,
			    json_pack("{s:o, s:I, s:I, s:I, s:I}", "device",
				      i ? json_integer(i - 1) : json_null(), "events",
				      (json_int_t)h->events, "held_bytes",
				      (json_int_t)h->allocated_bytes, "peak_bytes",
				      (json_int_t)h->peak_allocated_bytes, "peak_reserved_bytes",
				      (json_int_t)h->peak_reserved_bytes));
	}
	return list;
}

static int by_total(const void *a, const void *b)
{
	const struct name_total *x = *(struct name_total *const *)a,
				*y = *(struct name_total *const *)b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* {"count", "total_us", "bytes", "by_name": [{"name", "count", "total_us"}]}, the longest
 * first, of one group.  New. */
static json_t *names_json(const struct names *n, enum name_group group)
{
	VEC(const struct name_total *) rows = { 0 };
	struct name_total all = n->others[group];
	json_t *list = json_array();
	bool bad = false;

	for (size_t i = 0; i < n->rows.len; i++) {
		const struct name_total *row = &n->rows.at[i];

		if (row->group != group || row->count == 0)
			continue;
		all.count += row->count;
		all.total_ns = timeline_add(all.total_ns, row->total_ns);
		all.bytes = timeline_add(all.bytes, row->bytes);
		if (!VEC_PUSH(&rows, row))
			break;
	}
	if (rows.len)
		qsort(rows.at, rows.len, sizeof(*rows.at), by_total);
	for (size_t i = 0; i < rows.len; i++)
		json_array_append_new(
		    list, json_pack("{s:o, s:I, s:f}", "name",
				    json_of_text(rows.at[i]->text, rows.at[i]->len, &bad), "count",
				    (json_int_t)rows.at[i]->count, "total_us",
				    (double)rows.at[i]->total_ns / 1e3));
	if (n->others[group].count)
		json_array_append_new(list,
				      json_pack("{s:s, s:I, s:f}", "name", "others", "count",
						(json_int_t)n->others[group].count, "total_us",
						(double)n->others[group].total_ns / 1e3));
	VEC_FREE(&rows);
	return json_pack("{s:I, s:f, s:I, s:o}", "count", (json_int_t)all.count, "total_us",
			 (double)all.total_ns / 1e3, "bytes", (json_int_t)all.bytes, "by_name",
			 list);
}

/* What a trace holds. */
static void add_trace(const struct model *m, json_t *report)
{
	json_object_set_new(report, "kernels", names_json(&m->names, GROUP_KERNEL));
	json_object_set_new(report, "copies", names_json(&m->names, GROUP_COPY));
	json_object_set_new(report, "sets", names_json(&m->names, GROUP_SET));
	json_object_set_new(report, "ops", names_json(&m->names, GROUP_OP));
	json_object_set_new(report, "annotations", names_json(&m->names, GROUP_ANNOTATION));
	json_object_set_new(report, "api", names_json(&m->names, GROUP_API));
	json_object_set_new(report, "memory", memory_json(m));
	json_object_set_new(report, "regions", regions_json(&m->regions));
	json_object_set(report, "graphs_called", m->graphs_called);
	json_object_set(report, "heads", m->heads);
	json_object_set_new(report, "events", json_integer(m->events));
	json_object_set_new(report, "flows", json_integer(m->flows));
	json_object_set_new(report, "arrows", json_integer(m->arrows));
	json_object_set_new(report, "async_spans", json_integer(m->async_spans));
	json_object_set_new(report, "async_marks", json_integer(m->async_marks));
	json_object_set(report, "counters", m->counters);
	json_object_set_new(report, "graph_kernels", json_integer(m->graph_kernels));
}

/* ---- compile logs, and where they meet a trace ---- */

/* The process of a compile log that has a trace's pid; the only one where neither side
 * has others.  -1: none. */
static int process_of(const struct model *m, const char *pid)
{
	const json_t *processes = m->compiles.processes, *process;
	size_t i;

	json_array_foreach((json_t *)processes, i, process)
	{
		char own[32];

		snprintf(own, sizeof(own), "%lld",
			 (long long)json_integer_value(json_object_get(process, "pid")));
		if (strcmp(own, pid) == 0)
			return (int)i;
	}
	for (size_t k = 0; k < m->regions.rows.len; k++)
		if (strcmp(m->regions.rows.at[k].pid, pid) != 0)
			return -1;
	return json_array_size(processes) == 1 ? 0 : -1;
}

/* Gives each compilation what the timeline has of it; how many were found. */
static int join_regions(const struct model *m)
{
	int joined = 0;

	for (size_t i = 0; i < m->regions.rows.len; i++) {
		const struct region *x = &m->regions.rows.at[i];
		int process = process_of(m, x->pid);
		json_t *row = process >= 0 ? compiles_find(&m->compiles, process, x->id) : NULL;

		if (!row)
			continue;
		joined++;
		json_object_set_new(row, "timeline", region_json(x));
	}
	return joined;
}

/* A frame that a break ends, over its compilations. */
struct ended_frame {
	int process;
	long frame;
	double calls, self_us, lookup_us;
};

static void add_frame(struct ended_frame *frames, size_t *n, size_t most, int process,
		      const char *compile, const json_t *line)
{
	long frame = strtol(compile, NULL, 10);
	size_t i = 0;

	while (i < *n && (frames[i].process != process || frames[i].frame != frame))
		i++;
	if (i == most)
		return;
	if (i == *n)
		frames[(*n)++] = (struct ended_frame){ .process = process, .frame = frame };
	frames[i].calls += json_number_value(json_object_get(line, "calls"));
	frames[i].self_us += json_number_value(json_object_get(line, "self_us"));
	frames[i].lookup_us += json_number_value(json_object_get(line, "lookup_us"));
}

/* What a call pays at a break: the host's time within the frames that it ends, beyond
 * their graphs and the frames that go on, and the lookups of these frames.  A frame may
 * have several compilations, of which a call runs one. */
static void add_cost(const struct model *m, json_t *item)
{
	struct ended_frame frames[COMPILES_LIST_MAX];
	double self_us = 0, lookup_us = 0, calls = 0;
	const json_t *of;
	size_t n = 0, i;

	json_array_foreach(json_object_get(item, "compiles"), i, of)
	{
		const char *compile = json_string_value(json_object_get(of, "compile"));
		int process = (int)json_integer_value(json_object_get(of, "process"));
		const json_t *line = json_object_get(compiles_of(&m->compiles, of), "timeline");

		if (line)
			add_frame(frames, &n, COMPILES_LIST_MAX, process, compile, line);
	}
	for (i = 0; i < n; i++) {
		self_us += frames[i].calls > 0 ? frames[i].self_us / frames[i].calls : 0;
		lookup_us += frames[i].calls > 0 ? frames[i].lookup_us / frames[i].calls : 0;
		calls = frames[i].calls > calls ? frames[i].calls : calls;
	}
	if (calls > 0)
		json_object_set_new(item, "cost",
				    json_pack("{s:f, s:f, s:f}", "calls", calls, "host_us_per_call",
					      self_us, "lookup_us_per_call", lookup_us));
}

static json_t *breaks_json(const struct model *m)
{
	json_t *list = json_array(), *item;
	const char *key;

	json_object_foreach(m->compiles.breaks, key, item)
	{
		add_cost(m, item);
		json_array_append(list, item);
	}
	return list;
}

static json_t *rows_json(const struct compiles *c)
{
	json_t *list = json_array(), *row;
	const char *key;

	json_object_foreach(c->rows, key, row) json_array_append(list, row);
	return list;
}

/* What compilations counted, as sums: {what it is: how many}; new. */
static json_t *counted_json(const struct compiles *c)
{
	static const struct {
		const char *name;
		size_t offset; /* unused: a field that import.def lacks does not compile */
	} counts[] = {
#define KIND(name, handler)
#define COUNT(name, field) { #field, offsetof(struct report_compilation, field) },
#include "profiler/import/torch_kinds.def"
#undef KIND
#undef COUNT
	};
	json_t *sums = json_object(), *row;
	const char *key;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const char *name = counts[i].name;
		json_int_t n = 0;

		json_object_foreach(c->rows, key, row)
		    n += json_integer_value(json_object_get(row, name));
		if (n)
			json_object_set_new(sums,
					    report_field(REPORT_RECORD(compilation), name)->meaning,
					    json_integer(n));
	}
	return sums;
}

/* What compilations took, with the backward and what first calls added. */
static double compile_us(const struct compiles *c)
{
	const char *key, *kind;
	json_t *row, *later;
	double us = 0;

	json_object_foreach(c->rows, key, row)
	{
		us += 1e6 * json_number_value(json_object_get(row, "entire_s"));
		json_object_foreach(json_object_get(row, "later_us"), kind, later)
		    us += json_number_value(later);
	}
	return us;
}

static void add_compiles(struct model *m, json_t *report)
{
	json_t *counted = counted_json(&m->compiles);

	compiles_settle(&m->compiles);
	json_object_set_new(report, "joined", json_integer(join_regions(m)));
	json_object_set_new(report, "breaks", breaks_json(m));
	json_object_set_new(report, "recompiles", compiles_recompiles(&m->compiles));
	json_object_set_new(report, "compiles", rows_json(&m->compiles));
	if (json_object_size(m->compiles.rows) > 0)
		json_object_set_new(report, "compile_us", json_real(compile_us(&m->compiles)));
	json_object_set(report, "processes", m->compiles.processes);
	json_object_set(report, "records", m->compiles.kinds);
	json_object_set(report, "unknown_records", m->compiles.unknown);
	if (json_object_size(counted) > 0)
		json_object_set(report, "counted", counted);
	json_decref(counted);
}

/* Breaks of the lowering stand after those of the capture. */
static void add_xla(struct model *m, json_int_t captured, const json_t *files, json_t *report)
{
	json_t *xla = xla_json(&m->xla, captured);

	json_object_set_new(xla, "models",
			    stages_json(m, files, json_object_get(report, "breaks")));
	json_array_extend(json_object_get(report, "breaks"), json_object_get(xla, "breaks"));
	json_object_set_new(report, "pt_xla", xla);
}

/* What files of several ranks say together. */
static void add_ranks(struct model *m, json_t *report)
{
	struct report_draft draft = { 0 };
	struct report_ranks *ranks = ranks_report(m->ranks, json_object_get(report, "compiles"),
						  json_object_get(report, "processes"), &draft);
	const char *key;
	json_t *row;

	if (ranks)
		json_object_set_new(report, "ranks", report_write_ranks(ranks));
	report_draft_finish(&draft);
	json_object_foreach(m->compiles.rows, key, row) inductor_drop(row);
}

static bool xla_is_there(const struct xla_log *x)
{
	return json_object_size(x->graphs) || json_object_size(x->metrics) ||
	       json_object_size(x->counters) || x->blocks[0] || x->blocks[1] || x->blocks[2] ||
	       json_array_size(x->notes);
}

/* Of the first file that was read, not passed over. */
static const char *kind_of_first(const json_t *files)
{
	const json_t *file;
	size_t i;

	json_array_foreach((json_t *)files, i, file)
	{
		if (!json_object_get(file, "refused"))
			return json_string_value(json_object_get(file, "kind"));
	}
	return NULL;
}

json_t *import_report(struct model *m, json_t *files)
{
	const char *kind = kind_of_first(files);
	bool captured = json_array_size(m->compiles.processes) > 0, lowered = xla_is_there(&m->xla);
	/* Captured ones where a compile log says them, else those that the trace saw called. */
	json_int_t graphs = captured  ? m->compiles.graphs
			    : lowered ? xla_graphs(&m->xla)
				      : (json_int_t)json_object_size(m->graphs_called);
	json_t *report = json_pack("{s:s?, s:O, s:I}", "kind", kind, "files", files, "graphs",
				   graphs);

	if (!report)
		return NULL;
	add_compiles(m, report);
	add_trace(m, report);
	if (lowered)
		add_xla(m, captured ? graphs : -1, files, report);
	add_ranks(m, report);
	if (m->stacks.nodes)
		json_object_set(report, "stacks", m->stacks.nodes);
	if (m->artifacts.counts)
		json_object_set(report, "artifacts", m->artifacts.counts);
	m->ledger.n[LEDGER_TEXTS_FULL] += m->artifacts.cut;
	json_object_set_new(report, "ledger", ledger_json(&m->ledger));
	if (m->exported && json_array_size(files) == 1)
		own_report(m, report);
	return report;
}
