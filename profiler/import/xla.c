/* profiler/import/xla.c -- what PyTorch/XLA says of its graphs, over all files. */
#include "profiler/import/xla.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/import/decimal.h"
#include "profiler/import/model.h"

static void xla_add(struct xla_log *x, const struct xla_block *b);
static void xla_number(struct xla_log *x, const char *name, const char *field, json_t *value);
static void xla_end_file(struct xla_log *all, const struct xla_log *of_file, int file);

/* ---- PT_XLA_DEBUG output and metrics reports, line by line.
 *
 * 	Compilation Analysis: ====...====
 * 	Compilation Analysis: Compilation Cause
 * 	Compilation Analysis:   user torch_xla.sync
 * 	Compilation Analysis: Graph Info:
 * 	Compilation Analysis:   Graph Hash: <32 hex>
 * 	Compilation Analysis:   Number of Graph Inputs: 2
 * 	Compilation Analysis: Python Frame Triggered Execution:
 * 	Compilation Analysis:   fn (file:line)
 * 	Compilation Analysis: ----...----
 *
 * Lines of other programs may stand between; they are counted.
 */

enum { LINE_BYTES = 1 << 20, MAX_NOTES = 1000, TEXT_BYTES = 4 << 20, TEXT_MAX_BYTES = 8 << 20 };

struct pt_xla {
	struct model *m;
	struct xla_log own; /* of this file */
	struct buf line;
	struct buf text;                  /* of the log, that is not kept yet */
	int64_t text_line, text_newlines; /* where it begins, from 1; what it has of them */
	struct xla_block block;
	bool in_block, cause_follows, in_frames, skipping;
	char metric[128]; /* whose lines follow; "": none */
	bool is_counter;
};

static const struct {
	const char *prefix;
	enum xla_act act;
	bool counts; /* false: what follows a compilation, sizes of its memory */
} prefixes[] = {
	{ "Post Compilation Analysis: ", XLA_COMPILATION, false },
	{ "Unexpected Execution Analysis: ", XLA_UNEXPECTED, true },
	{ "Compilation Analysis: ", XLA_COMPILATION, true },
	{ "Execution Analysis: ", XLA_EXECUTION, true },
};

static void end_block(struct pt_xla *p)
{
	if (p->in_block) {
		xla_add(&p->m->xla, &p->block);
		xla_add(&p->own, &p->block);
	}
	p->in_block = p->cause_follows = p->in_frames = false;
}

static void begin_block(struct pt_xla *p, enum xla_act act)
{
	end_block(p);
	p->block = (struct xla_block){ .act = act, .inputs = -1, .outputs = -1 };
	p->in_block = p->cause_follows = true;
}

static void keep(char *out, size_t size, const char *text)
{
	while (*text == ' ')
		text++;
	snprintf(out, size, "%s", text);
}

/* "  fn (file:line)", the innermost first: kept is the first that is not PyTorch's own. */
static void take_frame(struct xla_block *b, const char *text)
{
	const char *open, *colon;
	bool own;

	text += strspn(text, " ");
	open = strstr(text, " (");
	colon = strrchr(text, ':');
	if (!open || !colon || colon < open + 2)
		return;
	own = strstr(open, "torch_xla/") || strstr(open, "/torch/") ||
	      strstr(open, "site-packages/");
	if (b->has_place || (own && b->file[0]))
		return;
	snprintf(b->function, sizeof(b->function), "%.*s", (int)(open - text), text);
	snprintf(b->file, sizeof(b->file), "%.*s", (int)(colon - open - 2), open + 2);
	b->line = atoi(colon + 1);
	b->has_place = !own;
}

static bool after(const char *text, const char *mark, const char **rest)
{
	const char *at = strstr(text, mark);

	*rest = at ? at + strlen(mark) : NULL;
	return at != NULL;
}

/* A line of a block, without its prefix. */
static void take_block_line(struct pt_xla *p, const char *text, enum xla_act act)
{
	const char *rest;

	if (strncmp(text, "Compilation Cause", 17) == 0 ||
	    strncmp(text, "Execution Cause", 15) == 0) {
		begin_block(p, act);
	} else if (!p->in_block) {
		if (act == XLA_UNEXPECTED && *text && *text != '=' && *text != '-') {
			begin_block(p, act); /* it says its cause alone */
			keep(p->block.cause, sizeof(p->block.cause), text);
			p->cause_follows = false;
		}
	} else if (*text == '=' || *text == '-') {
		end_block(p);
	} else if (p->cause_follows) {
		keep(p->block.cause, sizeof(p->block.cause), text);
		p->cause_follows = false;
	} else if (after(text, "Graph Name: ", &rest)) {
		keep(p->block.name, sizeof(p->block.name), rest);
	} else if (after(text, "Graph Hash: ", &rest)) {
		keep(p->block.hash, sizeof(p->block.hash), rest);
	} else if (after(text, "Number of Graph Inputs: ", &rest)) {
		decimal_scaled(rest, strspn(rest, "0123456789"), 0, &p->block.inputs);
	} else if (after(text, "Number of Graph Outputs: ", &rest)) {
		decimal_scaled(rest, strspn(rest, "0123456789"), 0, &p->block.outputs);
	} else if (strncmp(text, "Python Frame", 12) == 0) {
		p->in_frames = true;
	} else if (p->in_frames) {
		take_frame(&p->block, text);
	}
}

/* A metric's total: as it was, and as its text adds up. */
static void take_total(struct pt_xla *p, const char *text)
{
	int64_t ns, printed_ns;

	if (!xla_duration(text, &ns, &printed_ns))
		return;
	xla_number(&p->own, p->metric, "total_us", json_real((double)ns / 1e3));
	xla_number(&p->own, p->metric, "printed_us", json_real((double)printed_ns / 1e3));
	p->m->ledger.n[LEDGER_ROUNDED] += ns != printed_ns;
}

/* "Metric: CompileTime", "  TotalSamples: 202", "  Accumulator: 06m09s", "Counter: X",
 * "  Value: n".  False: no such line. */
static bool take_metric_line(struct pt_xla *p, const char *text)
{
	struct xla_log *x = &p->own;
	bool counter = strncmp(text, "Counter: ", 9) == 0;
	int64_t value;

	/* In old reports a metric's total is its "Counter:", indented. */
	if (counter || strncmp(text, "Metric: ", 8) == 0) {
		snprintf(p->metric, sizeof(p->metric), "%.120s", text + (counter ? 9 : 8));
		p->is_counter = counter;
		return true;
	}
	if (!p->metric[0] || *text != ' ')
		return false;
	text += strspn(text, " ");
	if (p->is_counter) {
		if (strncmp(text, "Value: ", 7) == 0 &&
		    decimal_scaled(text + 7, strspn(text + 7, "0123456789"), 0, &value))
			xla_number(x, p->metric, NULL, json_integer(value));
		return true;
	}
	if (strncmp(text, "TotalSamples: ", 14) == 0 &&
	    decimal_scaled(text + 14, strspn(text + 14, "0123456789"), 0, &value))
		xla_number(x, p->metric, "samples", json_integer(value));
	else if (strncmp(text, "Accumulator: ", 13) == 0)
		take_total(p, text + 13);
	else if (strncmp(text, "Counter: ", 9) == 0)
		take_total(p, text + 9);
	return true;
}

static void take_line(struct pt_xla *p, const char *line)
{
	struct xla_log *x = &p->m->xla;
	bool bad = false;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const char *rest;

		if (!after(line, prefixes[i].prefix, &rest))
			continue;
		p->metric[0] = '\0';
		if (prefixes[i].counts)
			take_block_line(p, rest, prefixes[i].act);
		return;
	}
	/* Of the program that XLA was given, before the sizes of its memory. */
	if (strncmp(line, "Computation hash: ", 18) == 0)
		return;
	if (strstr(line, "pt-xla-profiler: ")) {
		const char *note = strstr(line, "pt-xla-profiler: ");

		if (json_array_size(x->notes) < MAX_NOTES)
			json_array_append_new(x->notes, json_of_text(note, strlen(note), &bad));
	} else if (line[0] && line[strspn(line, " \t")] && !take_metric_line(p, line)) {
		p->metric[0] = '\0';
		p->m->ledger.n[LEDGER_FOREIGN_LINE]++;
	}
}

/* ---- the log itself, as texts of the import: pieces that end with a line ---- */

static bool keep_text(struct pt_xla *p, struct err *err)
{
	bool bad = false;
	json_t *record = json_pack("{s:{s:o}}", XLA_TEXT_KIND, "name",
				   json_of_text(p->m->file_name, strlen(p->m->file_name), &bad));
	const struct artifact what = { .kind = XLA_TEXT_KIND,
				       .compile = "",
				       .record = record,
				       .payload = p->text.data,
				       .payload_len = p->text.len,
				       .file = p->m->file,
				       .line = p->text_line };
	bool ok = record ? artifacts_keep(&p->m->artifacts, p->m->writer, &what, err)
			 : err_set(err, ERR_MEMORY, "out of memory for the text of a log");

	json_decref(record);
	p->text_line += p->text_newlines;
	p->text_newlines = 0;
	buf_clear(&p->text);
	return ok;
}

/* The next bytes of the log, as far as the end of a line. */
static bool add_text(struct pt_xla *p, const char *bytes, size_t len, struct err *err)
{
	bool ends = len > 0 && bytes[len - 1] == '\n';

	buf_add(&p->text, bytes, len);
	p->text_newlines += ends;
	if (p->text.failed)
		return err_set(err, ERR_MEMORY, "out of memory for the text of a log");
	return p->text.len < (ends ? TEXT_BYTES : TEXT_MAX_BYTES) || keep_text(p, err);
}

static bool feed(void *self, const char *bytes, size_t len, struct err *err)
{
	struct pt_xla *p = self;

	while (len > 0) {
		const char *newline = memchr(bytes, '\n', len);
		size_t n = newline ? (size_t)(newline - bytes) : len;

		if (p->line.len + n > LINE_BYTES) {
			p->m->ledger.n[LEDGER_TOO_LARGE] += !p->skipping;
			p->skipping = true;
			buf_clear(&p->line);
		} else if (!p->skipping) {
			buf_add(&p->line, bytes, n);
		}
		if (p->line.failed)
			return err_set(err, ERR_MEMORY, "out of memory for a line");
		if (newline && !p->skipping) {
			if (p->line.len && p->line.data[p->line.len - 1] == '\r')
				p->line.data[p->line.len - 1] = '\0';
			take_line(p, p->line.data ? p->line.data : "");
		}
		if (newline) {
			buf_clear(&p->line);
			p->skipping = false;
		}
		n += newline != NULL;
		if (!add_text(p, bytes, n, err))
			return false;
		bytes += n;
		len -= n;
	}
	return true;
}

static void *create(struct model *m, struct err *err)
{
	struct pt_xla *p = calloc(1, sizeof(*p));

	if (!p || !xla_init(&p->own, &m->ledger)) {
		err_set(err, ERR_MEMORY, "out of memory for a log");
		free(p);
		return NULL;
	}
	p->m = m;
	p->text_line = 1;
	buf_init(&p->line, LINE_BYTES + 16);
	buf_init(&p->text, 0);
	return p;
}

static void destroy(void *self)
{
	struct pt_xla *p = self;

	if (!p)
		return;
	buf_finish(&p->line);
	buf_finish(&p->text);
	xla_finish(&p->own);
	free(p);
}

static bool end(void *self, struct err *err)
{
	struct pt_xla *p = self;

	if (p->line.len)
		take_line(p, p->line.data);
	p->m->ledger.n[LEDGER_CUT_OFF] += p->in_block;
	end_block(p);
	xla_end_file(&p->m->xla, &p->own, p->m->file);
	return p->text.len == 0 || keep_text(p, err);
}

static bool has(const char *bytes, size_t len, const char *mark)
{
	return memmem(bytes, len, mark, strlen(mark)) != NULL;
}

static bool recognises(const char *bytes, size_t len)
{
	return has(bytes, len, "Compilation Analysis: ") ||
	       has(bytes, len, "Execution Analysis: ") || has(bytes, len, "pt-xla-profiler: ") ||
	       has(bytes, len, "Metric: ") || has(bytes, len, "Counter: ");
}

const struct log_reader reader_pt_xla = {
	.kind = "pt_xla",
	.recognises = recognises,
	.create = create,
	.feed = feed,
	.end = end,
	.destroy = destroy,
};

enum { MAX_ROWS = 20000 };

static const char *const act_names[XLA_ACT_COUNT] = { "compilation", "execution", "unexpected" };

/* Reading a value is what ends a graph of LazyTensor. */
static const char read_cause[] = "most likely user code trying to access tensor value";

bool xla_init(struct xla_log *x, struct ledger *ledger)
{
	*x = (struct xla_log){ .ledger = ledger,
			       .causes = json_pack("{s:{}, s:{}, s:{}}", act_names[0], act_names[1],
						   act_names[2]),
			       .graphs = json_object(),
			       .reads = json_object(),
			       .metrics = json_object(),
			       .counters = json_object(),
			       .notes = json_array(),
			       .files = json_array() };
	return x->causes && x->graphs && x->reads && x->metrics && x->counters && x->notes &&
	       x->files;
}

static void add(json_t *row, const char *field, int64_t n)
{
	json_object_set_new(row, field,
			    json_integer(json_integer_value(json_object_get(row, field)) + n));
}

/* The row of a key that may be no UTF-8, new where there is none; NULL: too many. */
static json_t *row_of(struct xla_log *x, json_t *rows, const char *key)
{
	bool bad = false;
	json_t *clean = json_of_text(key, strlen(key), &bad);
	json_t *row = json_object_get(rows, json_string_value(clean));

	if (!row && json_object_size(rows) < MAX_ROWS) {
		row = json_object();
		if (json_object_set_new(rows, json_string_value(clean), row) != 0)
			row = NULL; /* no memory: it is gone */
	} else if (!row) {
		x->ledger->n[LEDGER_ROWS_FULL]++;
	}
	json_decref(clean);
	return row;
}

static json_t *text_json(const char *text)
{
	bool bad = false;

	return json_of_text(text, strlen(text), &bad);
}

static void add_graph(struct xla_log *x, const struct xla_block *b)
{
	static const char *const fields[XLA_ACT_COUNT] = { "compilations", "executions",
							   "unexpected" };
	json_t *row = b->hash[0] ? row_of(x, x->graphs, b->hash) : NULL;

	if (!row)
		return;
	if (!json_object_get(row, "hash")) {
		json_object_set_new(row, "hash", text_json(b->hash));
		json_object_set_new(row, "name", b->name[0] ? text_json(b->name) : json_null());
		json_object_set_new(row, "inputs",
				    b->inputs < 0 ? json_null() : json_integer(b->inputs));
		json_object_set_new(row, "outputs",
				    b->outputs < 0 ? json_null() : json_integer(b->outputs));
		json_object_set_new(row, "cause", text_json(b->cause));
		json_object_set_new(row, "file", text_json(b->file));
		json_object_set_new(row, "line", json_integer(b->line));
		json_object_set_new(row, "function", text_json(b->function));
		for (int i = 0; i < XLA_ACT_COUNT; i++)
			json_object_set_new(row, fields[i], json_integer(0));
	}
	add(row, fields[b->act], 1);
}

static void add_read(struct xla_log *x, const struct xla_block *b)
{
	char key[600];
	json_t *row;

	if (strncmp(b->cause, read_cause, sizeof(read_cause) - 1) != 0)
		return;
	snprintf(key, sizeof(key), "%s:%d", b->file, b->line);
	row = row_of(x, x->reads, key);
	if (!row)
		return;
	json_object_set_new(row, "file", text_json(b->file));
	json_object_set_new(row, "line", json_integer(b->line));
	json_object_set_new(row, "function", text_json(b->function));
	add(row, act_names[b->act], 1);
}

static void xla_add(struct xla_log *x, const struct xla_block *b)
{
	json_t *causes = json_object_get(x->causes, act_names[b->act]);

	x->blocks[b->act]++;
	if (json_object_size(causes) < MAX_ROWS) {
		json_t *clean = text_json(b->cause);

		add(causes, json_string_value(clean), 1);
		json_decref(clean);
	}
	add_graph(x, b);
	add_read(x, b);
}

/* A number of a metrics report: of a metric `field` is "samples" or "total_us", of a
 * counter NULL.  Takes over `value`; what a report says again replaces what it said. */
static void xla_number(struct xla_log *x, const char *name, const char *field, json_t *value)
{
	json_t *row = field ? row_of(x, x->metrics, name) : NULL;

	if (field)
		json_object_set_new(row, field, value);
	else if (json_object_size(x->counters) < MAX_ROWS)
		json_object_set_new(x->counters, name, value);
	else
		json_decref(value);
}

static json_t *sum_json(const json_t *a, const json_t *b)
{
	if (json_is_real(a) || json_is_real(b))
		return json_real(json_number_value(a) + json_number_value(b));
	return json_integer(json_integer_value(a) + json_integer_value(b));
}

static double metric_us(const struct xla_log *x, const char *name)
{
	return json_number_value(json_object_get(json_object_get(x->metrics, name), "total_us"));
}

static int64_t counter(const struct xla_log *x, const char *name)
{
	return json_integer_value(json_object_get(x->counters, name));
}

/* A key for each row that holds: {key: true}. */
static json_t *keys_of(json_t *rows, const char *needs)
{
	json_t *keys = json_object(), *row;
	const char *key;

	json_object_foreach(rows, key, row)
	{
		if (!needs || json_integer_value(json_object_get(row, needs)) > 0)
			json_object_set_new(keys, key, json_true());
	}
	return keys;
}

/* Ops that ran on the CPU: counters named for them; item() is a read. */
static json_t *fallback_keys(const struct xla_log *x)
{
	json_t *keys = json_object(), *value;
	const char *name;

	json_object_foreach(x->counters, name, value)
	{
		if (strncmp(name, "aten::", 6) == 0 &&
		    strcmp(name, "aten::_local_scalar_dense") != 0)
			json_object_set_new(keys, name, json_true());
	}
	return keys;
}

static json_t *file_row(const struct xla_log *x, int file)
{
	json_t *hashes = keys_of(x->graphs, "compilations");

	if (json_object_size(hashes) == 0) {
		json_decref(hashes);
		hashes = keys_of(x->graphs, NULL);
	}
	return json_pack("{s:i, s:o, s:o, s:o, s:I, s:I, s:I, s:f, s:f}", "file", file, "hashes",
			 hashes, "reads", keys_of(x->reads, NULL), "fallbacks", fallback_keys(x),
			 "compiled", (json_int_t)counter(x, "UncachedCompile"), "extracted",
			 (json_int_t)counter(x, "DynamoExtractCompiledGraph"), "executions",
			 (json_int_t)x->blocks[XLA_EXECUTION], "compile_us",
			 metric_us(x, "CompileTime"), "execute_us",
			 metric_us(x, "ExecuteTime") + metric_us(x, "ExecuteReplicatedTime"));
}

/* Adds what one file said to `all`, and a row of it to all->files. */
static void xla_end_file(struct xla_log *all, const struct xla_log *of_file, int file)
{
	const char *name, *field;
	json_t *row, *value;

	json_object_foreach(of_file->metrics, name, row)
	{
		const json_t *known = json_object_get(all->metrics, name);

		json_object_foreach(row, field, value)
		    xla_number(all, name, field, sum_json(json_object_get(known, field), value));
	}
	json_object_foreach(of_file->counters, name, value)
	    xla_number(all, name, NULL, sum_json(json_object_get(all->counters, name), value));
	json_array_append_new(all->files, file_row(of_file, file));
}

enum { DURATION_PARTS = 8 };

/* PyTorch/XLA prints each part but the last rounded, not cut: 1.9 seconds are "02s900ms000.000us".
 * Takes that back, from the last part on; false where no time is printed so. */
static bool take_back_rounding(double value[], const double unit[], int n)
{
	double rest = value[n - 1] * unit[n - 1];

	for (int i = n - 2; i >= 0; i--) {
		value[i] -= rest > unit[i] / 2 ? 1 : 0;
		if (value[i] < (i == 0 ? 1 : 0))
			return false;
		rest += value[i] * unit[i];
	}
	return true;
}

/* The parts of a duration; how many, 0: it is none. */
static int duration_parts(const char *text, double value[], double unit[], bool *is_printed)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ms", 1e6 },  { "us", 1e3 }, { "ns", 1 }, { "d", 864e11 },
		      { "h", 36e11 }, { "m", 6e10 }, { "s", 1e9 } };
	int parts = 0;

	for (; *text && *text != '\n' && *text != ' ' && *text != '\r'; parts++) {
		size_t i = 0, n = sizeof(units) / sizeof(units[0]);
		char *end;

		if (parts == DURATION_PARTS)
			return 0;
		value[parts] = strtod(text, &end);
		while (i < n && strncmp(end, units[i].unit, strlen(units[i].unit)) != 0)
			i++;
		if (end == text || i == n)
			return 0;
		unit[parts] = units[i].ns;
		*is_printed = unit[parts] == 1e3 && end - text > 4 && end[-4] == '.';
		text = end + strlen(units[i].unit);
	}
	return parts;
}

static bool sum_parts(const double value[], const double unit[], int n, int64_t *ns)
{
	double total = 0;

	for (int i = 0; i < n; i++)
		total += value[i] * unit[i];
	if (!(total >= 0 && total < 9e18))
		return false;
	*ns = (int64_t)(total + 0.5);
	return true;
}

bool xla_duration(const char *text, int64_t *ns, int64_t *printed_ns)
{
	double value[DURATION_PARTS] = { 0 }, unit[DURATION_PARTS], exact[DURATION_PARTS];
	bool is_printed = false;
	int n = duration_parts(text, value, unit, &is_printed);

	if (n == 0 || !sum_parts(value, unit, n, printed_ns))
		return false;
	*ns = *printed_ns;
	memcpy(exact, value, sizeof(exact));
	return !is_printed || !take_back_rounding(exact, unit, n) || sum_parts(exact, unit, n, ns);
}

/* ---- the report ---- */

/* Graphs that were compiled; where no block says so, those of the metrics. */
int64_t xla_graphs(const struct xla_log *x)
{
	const char *hash;
	json_t *row;
	int64_t n = 0;

	json_object_foreach(x->graphs, hash, row)
	    n += json_integer_value(json_object_get(row, "compilations")) > 0;
	if (n == 0)
		n = (int64_t)json_object_size(x->graphs);
	return n ? n : counter(x, "UncachedCompile");
}

static json_t *values(const json_t *rows)
{
	json_t *list = json_array(), *row;
	const char *key;

	json_object_foreach((json_t *)rows, key, row) json_array_append(list, row);
	return list;
}

/* Ops that ran on the CPU: counters named for them. */
static json_t *fallbacks(const struct xla_log *x)
{
	json_t *list = json_array(), *value;
	const char *name;

	json_object_foreach(x->counters, name, value)
	{
		if (strncmp(name, "aten::", 6) == 0)
			json_array_append_new(list,
					      json_pack("{s:s, s:O}", "op", name, "count", value));
	}
	return list;
}

/* Places where the program read a value: a break of the lowering. */
static json_t *breaks(const struct xla_log *x)
{
	const char *act = act_names[x->blocks[XLA_EXECUTION] ? XLA_EXECUTION : XLA_COMPILATION];
	json_t *list = json_array(), *row;
	const char *place;

	json_object_foreach(x->reads, place, row)
	{
		json_int_t n = json_integer_value(json_object_get(row, act));
		json_int_t seen = json_integer_value(json_object_get(row, act_names[0]));

		json_array_append_new(
		    list,
		    json_pack("{s:O, s:O, s:O, s:s, s:n, s:s, s:s, s:I}", "file",
			      json_object_get(row, "file"), "line", json_object_get(row, "line"),
			      "function", json_object_get(row, "function"), "kind", "scalar-read",
			      "gb", "stage", "lowering", "message",
			      "a value is read before the step ends: the graph so far runs",
			      "count", n > seen ? n : seen));
	}
	return list;
}

json_t *xla_json(const struct xla_log *x, int64_t captured)
{
	int64_t extracted = counter(x, "DynamoExtractCompiledGraph");

	if (captured < 0)
		captured = extracted ? extracted : -1;
	return json_pack("{s:I, s:I, s:I, s:o, s:I, s:O, s:o, s:o, s:O, s:O, s:o, s:O}",
			 "compilations", (json_int_t)x->blocks[XLA_COMPILATION], "executions",
			 (json_int_t)x->blocks[XLA_EXECUTION], "unexpected_executions",
			 (json_int_t)x->blocks[XLA_UNEXPECTED], "captured_graphs",
			 captured < 0 ? json_null() : json_integer(captured), "lowered_graphs",
			 (json_int_t)xla_graphs(x), "causes", x->causes, "graphs",
			 values(x->graphs), "breaks", breaks(x), "metrics", x->metrics, "counters",
			 x->counters, "fallbacks", fallbacks(x), "notes", x->notes);
}
