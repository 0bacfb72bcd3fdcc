/* profiler/import/pt_xla.c -- PT_XLA_DEBUG output and metrics reports, line by line.
 *
 *	Compilation Analysis: ====...====
 *	Compilation Analysis: Compilation Cause
 *	Compilation Analysis:   user torch_xla.sync
 *	Compilation Analysis: Graph Info:
 *	Compilation Analysis:   Graph Hash: <32 hex>
 *	Compilation Analysis:   Number of Graph Inputs: 2
 *	Compilation Analysis: Python Frame Triggered Execution:
 *	Compilation Analysis:   fn (file:line)
 *	Compilation Analysis: ----...----
 *
 * Lines of other programs may stand between; they are counted.
 */
#include <stdlib.h>
#include <string.h>

#include "profiler/import/decimal.h"
#include "profiler/import/model.h"

enum { LINE_BYTES = 1 << 20, MAX_NOTES = 1000 };

struct pt_xla {
	struct model *m;
	struct xla_log own; /* of this file */
	struct buf line;
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
	buf_init(&p->line, LINE_BYTES + 16);
	return p;
}

static void destroy(void *self)
{
	struct pt_xla *p = self;

	if (!p)
		return;
	buf_finish(&p->line);
	xla_finish(&p->own);
	free(p);
}

static bool end(void *self, struct err *err)
{
	struct pt_xla *p = self;

	(void)err;
	if (p->line.len)
		take_line(p, p->line.data);
	p->m->ledger.n[LEDGER_CUT_OFF] += p->in_block;
	end_block(p);
	xla_end_file(&p->m->xla, &p->own, p->m->file);
	return true;
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
