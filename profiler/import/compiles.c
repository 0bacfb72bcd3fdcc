/* profiler/import/compiles.c -- what compile logs say, over all files of an import. */
#include "profiler/import/compiles.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/import/model.h"

/* ---- the text of a graph break, taken apart.
 *
 * The payload, since 2.7, and what releases before wrote otherwise:
 *
 * 	Graph break in user code at FILE:LINE            Graph break: skip: from user code at:
 * 	Graph Break Reason: HOW, where it is known:        File "FILE", line LINE, in f
 * 	                                                  (then a traceback that ends with
 * 	TYPE                                               ...Unsupported: REASON)
 * 	  Explanation: ...
 * 	 ... please visit: .../gb/gb0170.html
 *
 * 	User code traceback:
 * 	  File "FILE", line LINE, in f
 */

/* A break that is warned of says it once more, before the one that the frame makes:
 * "WON'T CONVERT f FILE line LINE", a traceback, and the user's code after this. */
static const char warned_code[] =
    "The above exception occurred while processing the following code ==========\n\n";

static const char *after(const char *text, const char *mark)
{
	const char *at = strstr(text, mark);

	return at ? at + strlen(mark) : NULL;
}

/* "Graph break in user code at FILE:LINE" */
static void read_first_line(const char *text, struct torch_break *out)
{
	const char *at = after(text, "Graph break in user code at ");
	size_t len = at ? strcspn(at, "\n") : 0, colon = len;

	while (colon > 0 && at[colon - 1] != ':')
		colon--;
	if (colon == 0)
		return;
	snprintf(out->file, sizeof(out->file), "%.*s", (int)(colon - 1), at);
	out->line = atoi(at + colon);
}

/* The last `  File "FILE", line LINE` of the block at `at`. */
static void read_stack(const char *at, struct torch_break *out)
{
	static const char file[] = "File \"";

	while (*at && *at != '\n') {
		size_t len = strcspn(at, "\n"), blank = strspn(at, " ");
		const char *name = at + blank, *quote;

		if (strncmp(at, "Traceback", 9) == 0)
			return;
		if (strncmp(name, file, sizeof(file) - 1) == 0) {
			name += sizeof(file) - 1;
			quote = memchr(name, '"', len - (size_t)(name - at));
			if (quote && strncmp(quote, "\", line ", 8) == 0) {
				snprintf(out->file, sizeof(out->file), "%.*s", (int)(quote - name),
					 name);
				out->line = atoi(quote + 8);
			}
		}
		at += len + (at[len] == '\n');
	}
}

static void read_place(const char *text, struct torch_break *out)
{
	static const char *const marks[] = { "in the following user code:\n",
					     "from user code at:\n", "User code traceback:\n",
					     "from user code:\n", warned_code };

	read_first_line(text, out);
	for (size_t i = 0; !out->file[0] && i < sizeof(marks) / sizeof(marks[0]); i++) {
		const char *at = after(text, marks[i]);

		if (at)
			read_stack(at, out);
	}
}

/* What became of the frame, by the words before the cause; the cause begins after the
 * empty line that ends them. */
static const char *read_outcome(const char *reason, struct torch_break *out)
{
	static const struct {
		const char *words, *outcome;
	} known[] = {
		{ "Encountered graph break when attempting to trace", "resume" },
		{ "Encountered graph break that we cannot resume from", "step" },
		{ "Failed to handle graph break gracefully", "skip" },
		{ "Graph break: skip", "skip" },
		{ "Graph break: torch.compile cannot properly resume", "skip" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *cause;

		if (strncmp(reason, known[i].words, strlen(known[i].words)) != 0)
			continue;
		out->outcome = known[i].outcome;
		cause = after(reason, "\n\n");
		return cause && *cause ? cause : reason;
	}
	return reason;
}

/* The registry id that the text links to: .../gb/gb0170.html, in 2025 .../gb/GB0170 */
static void read_link(const char *reason, size_t len, struct torch_break *out)
{
	const char *at = strcasestr(reason, "/gb/gb");
	size_t n = at ? strspn(at + 6, "0123456789") : 0;

	if (at && at < reason + len && n > 0 && n < 8)
		snprintf(out->gb, sizeof(out->gb), "GB%.*s", (int)n, at + 6);
}

static void find_kind(struct torch_break *out)
{
	static const struct {
		const char *gb, *kind, *type;
	} types[] = {
#define TYPE(gb, kind, type) { gb, kind, type },
#define TEXT(kind, type)
#include "profiler/import/torch_breaks.def"
#undef TYPE
#undef TEXT
	};
	static const struct {
		const char *kind, *text;
	} texts[] = {
#define TYPE(gb, kind, type)
#define TEXT(kind, text) { kind, text },
#include "profiler/import/torch_breaks.def"
#undef TYPE
#undef TEXT
	};

	for (size_t i = 0; !out->kind && i < sizeof(types) / sizeof(types[0]); i++)
		if (out->gb[0] ? strcmp(types[i].gb, out->gb) == 0
			       : strcmp(types[i].type, out->type) == 0) {
			out->kind = types[i].kind;
			snprintf(out->gb, sizeof(out->gb), "%s", types[i].gb);
		}
	for (size_t i = 0; !out->kind && i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strncmp(out->type, texts[i].text, strlen(texts[i].text)) == 0)
			out->kind = texts[i].kind;
	if (!out->kind)
		out->kind = "unsupported";
}

/* The cause, from its first byte to the end of its text. */
static void read_cause(const char *cause, size_t len, struct torch_break *out)
{
	static const char unsupported[] = "Unsupported: ";

	if (strncmp(cause, unsupported, sizeof(unsupported) - 1) == 0 &&
	    len > sizeof(unsupported)) {
		cause += sizeof(unsupported) - 1;
		len -= sizeof(unsupported) - 1;
	}
	while (len > 0 && isspace((unsigned char)cause[len - 1]))
		len--;
	out->reason = cause;
	out->reason_len = len;
	snprintf(out->type, sizeof(out->type), "%.*s",
		 (int)(strcspn(cause, "\n") < len ? strcspn(cause, "\n") : len), cause);
	read_link(cause, len, out);
	find_kind(out);
}

/* Where the reason ends: before what follows it in a payload. */
static size_t reason_length(const char *reason)
{
	static const char *const ends[] = { "\nUser code traceback:", "\nTraceback (most recent",
					    "\nNoneType: None",
					    "\nfrom user code:", "\n\n========== The above" };
	size_t len = strlen(reason);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *end = strstr(reason, ends[i]);

		if (end && (size_t)(end - reason) < len)
			len = (size_t)(end - reason);
	}
	return len;
}

/* The exception that a warning's traceback ends with. */
static const char *warned_cause(const char *text)
{
	const char *code = strstr(text, warned_code), *at;

	if (strncmp(text, "WON'T CONVERT ", 14) != 0 || !code)
		return text;
	at = code;
	while (at > text && (at[-1] == '=' || isspace((unsigned char)at[-1])))
		at--;
	while (at > text && at[-1] != '\n')
		at--;
	return at;
}

void torch_break_read(const char *text, struct torch_break *out)
{
	const char *reason = after(text, "Graph Break Reason: "), *cause;

	*out = (struct torch_break){ 0 };
	read_place(text, out);
	if (!reason)
		reason = after(text, "\nReason: ");
	cause = read_outcome(reason ? reason : text, out);
	if (!reason) { /* a skipped frame of 2.5 to 2.8: at the end of a traceback */
		const char *last = NULL;

		for (const char *at = text; (at = after(at, "Unsupported: ")); last = at)
			;
		cause = last ? last : warned_cause(text);
	}
	read_cause(cause, reason_length(cause), out);
}

/* The reason alone, as restart_reasons have it. */
static void torch_break_read_reason(const char *reason, struct torch_break *out)
{
	const char *cause;

	*out = (struct torch_break){ 0 };
	cause = read_outcome(reason, out);
	read_cause(cause, strlen(cause), out);
}

enum { KEY_CHARS = 128 };

/* A restart that gives no reason: a break that cannot be resumed, or one at an assignment. */
static const char unknown_restart[] = "Unknown fail_and_restart_analysis";

/* A compilation's key among the rows: ids begin at 0 again where the process forgot its own. */
static void key_of(char out[KEY_CHARS], int process, json_int_t resets, const char *id)
{
	if (resets)
		snprintf(out, KEY_CHARS, "%d %.80s+%lld", process, id, (long long)resets);
	else
		snprintf(out, KEY_CHARS, "%d %.80s", process, id);
}

static json_int_t resets_of(const struct compiles *c, int process)
{
	return json_integer_value(
	    json_object_get(json_array_get(c->processes, (size_t)process), "resets"));
}

json_t *compiles_row(struct compiles *c, int process, const char *id)
{
	json_int_t resets = resets_of(c, process);
	char key[KEY_CHARS];
	json_t *row;

	key_of(key, process, resets, id);
	row = json_object_get(c->rows, key);
	if (row)
		return row;
	if (json_object_size(c->rows) >= COMPILES_MAX) {
		c->ledger->n[LEDGER_ROWS_FULL]++;
		json_object_set_new(json_array_get(c->processes, (size_t)process), "cut",
				    json_true());
		return NULL;
	}
	row = json_pack("{s:i, s:s, s:i}", "process", process, "compile", id, "graphs", 0);
	if (!row || json_object_set_new(c->rows, key, row) != 0)
		return NULL;
	if (resets)
		json_object_set_new(row, "resets", json_integer(resets));
	return row;
}

json_t *compiles_start(struct compiles *c, int process, const char *id)
{
	json_t *of = json_array_get(c->processes, (size_t)process);
	json_t *row = compiles_row(c, process, id);

	if (!json_object_get(row, "attempts"))
		return row;
	json_object_set_new(of, "resets", json_integer(resets_of(c, process) + 1));
	return compiles_row(c, process, id);
}

json_t *compiles_find(const struct compiles *c, int process, const char *id)
{
	char key[KEY_CHARS];
	json_t *row = NULL;

	for (json_int_t i = resets_of(c, process); !row && i >= 0; i--) {
		key_of(key, process, i, id);
		row = json_object_get(c->rows, key);
	}
	return row;
}

json_t *compiles_of(const struct compiles *c, const json_t *place)
{
	char key[KEY_CHARS];

	key_of(key, (int)json_integer_value(json_object_get(place, "process")),
	       json_integer_value(json_object_get(place, "resets")),
	       json_string_value(json_object_get(place, "compile")));
	return json_object_get(c->rows, key);
}

void compiles_append(struct compiles *c, json_t *row, const char *list, json_t *item)
{
	json_t *items = json_object_get(row, list);

	if (row && !items) {
		items = json_array();
		if (json_object_set_new(row, list, items) != 0)
			items = NULL;
	}
	if (!items || json_array_size(items) >= COMPILES_LIST_MAX) {
		c->ledger->n[LEDGER_ROWS_FULL] += items != NULL;
		json_decref(item);
		return;
	}
	json_array_append_new(items, item);
}

void compiles_add_in(json_t *row, const char *object, const char *name, double n)
{
	json_t *in = json_object_get(row, object);

	if (row && !in) {
		in = json_object();
		if (json_object_set_new(row, object, in) != 0)
			in = NULL;
	}
	if (!in || (!json_object_get(in, name) && json_object_size(in) >= COMPILES_LIST_MAX))
		return;
	n += json_number_value(json_object_get(in, name));
	json_object_set_new(in, name,
			    fabs(n) < 0x1p63 && n == floor(n) ? json_integer((json_int_t)n)
							      : json_real(n));
}

/* ---- breaks ---- */

static json_t *text_json(const char *text, size_t len)
{
	bool bad = false;

	return json_of_text(text, len, &bad);
}

/* The lines of a reason that begin with a mark, without it. */
static json_t *marked_lines(const char *reason, size_t len, const char *mark)
{
	json_t *list = json_array();

	for (size_t at = 0, n; at < len; at += n + 1) {
		const char *line = reason + at;

		n = strcspn(line, "\n");
		n = n > len - at ? len - at : n;
		if (n > strlen(mark) && strncmp(line, mark, strlen(mark)) == 0)
			json_array_append_new(list,
					      text_json(line + strlen(mark), n - strlen(mark)));
	}
	return list;
}

static json_t *new_break(const struct torch_break *b)
{
	json_t *explained = marked_lines(b->reason, b->reason_len, "  Explanation: ");
	json_t *row = json_pack(
	    "{s:o, s:i, s:s, s:s?, s:o, s:i, s:s?, s:o, s:o, s:o, s:{}, s:[]}", "file",
	    text_json(b->file, strlen(b->file)), "line", b->line, "kind", b->kind, "gb",
	    b->gb[0] ? b->gb : NULL, "message", text_json(b->type, strlen(b->type)), "count", 0,
	    "outcome", b->outcome, "explanation",
	    json_incref(json_array_get(explained, 0)) ? json_array_get(explained, 0) : json_null(),
	    "hints", marked_lines(b->reason, b->reason_len, "  Hint: "), "reason",
	    text_json(b->reason, b->reason_len), "outcomes", "compiles");

	json_decref(explained);
	return row;
}

/* What became of the frame; the first that says so counts for all. */
static void say_outcome(json_t *found, const char *outcome)
{
	compiles_add_in(found, "outcomes", outcome, 1);
	if (!json_is_string(json_object_get(found, "outcome")) && strcmp(outcome, "unknown") != 0)
		json_object_set_new(found, "outcome", json_string(outcome));
}

void compiles_break(struct compiles *c, json_t *row, const struct torch_break *b)
{
	char key[BREAK_FILE_CHARS + BREAK_TYPE_CHARS + 32];
	json_t *found, *clean;

	/* Where only the frame is known there may be several. */
	snprintf(key, sizeof(key), "%s:%d%s%s", b->file, b->line, b->unplaced ? " " : "",
		 b->unplaced ? b->type : "");
	clean = text_json(key, strlen(key));
	found = json_object_get(c->breaks, json_string_value(clean));
	if (!found && json_object_size(c->breaks) < COMPILES_MAX) {
		found = new_break(b);
		if (json_object_set_new(c->breaks, json_string_value(clean), found) != 0)
			found = NULL; /* no memory: it is gone */
	}
	json_decref(clean);
	if (!found) {
		c->ledger->n[LEDGER_ROWS_FULL]++;
		return;
	}
	compiles_add(found, "count", 1);
	if (b->outcome || !row)
		say_outcome(found, b->outcome ? b->outcome : "unknown");
	if (!row)
		return;
	compiles_add(row, "breaks", 1);
	compiles_append(c, found, "compiles",
			json_pack("{s:O, s:O, s:O*}", "process", json_object_get(row, "process"),
				  "compile", json_object_get(row, "compile"), "resets",
				  json_object_get(row, "resets")));
	/* By these restart_reasons are known to have been stated. */
	compiles_append(c, row, "stated",
			json_pack("{s:o, s:O, s:s?}", "reason", text_json(b->reason, b->reason_len),
				  "break", found, "outcome", b->outcome));
}

/* Breaks that the log states in a compilation and that have this restart's reason; whether
 * there is one.  Where their texts do not say so, the frame went on after them. */
static bool was_stated(const json_t *stated, const struct torch_break *b)
{
	bool found = false;
	json_t *s;
	size_t i;

	json_array_foreach((json_t *)stated, i, s)
	{
		if (!b->type[0] ||
		    !strstr(json_string_value(json_object_get(s, "reason")), b->type))
			continue;
		found = true;
		json_object_set_new(s, "restarted", json_true());
		if (!json_is_string(json_object_get(s, "outcome"))) {
			json_object_set_new(s, "outcome", json_string("resume"));
			say_outcome(json_object_get(s, "break"), "resume");
		}
	}
	return found;
}

static bool is_branch(const json_t *found)
{
	const char *kind = json_string_value(json_object_get(found, "kind"));

	return kind && strcmp(kind, "data-dependent-branch") == 0;
}

/* Whether a stated break is what a restart that gives no reason was made for: one that no
 * other restart is of, and that restarts at all. */
static bool explains_unknown(const json_t *stated)
{
	json_t *s;
	size_t i;

	json_array_foreach((json_t *)stated, i, s)
	{
		const char *outcome = json_string_value(json_object_get(s, "outcome"));
		json_t *found = json_object_get(s, "break");

		if (json_object_get(s, "restarted"))
			continue;
		if (outcome && (strcmp(outcome, "step") == 0 || strcmp(outcome, "resume") == 0))
			return true;
		if (outcome || is_branch(found))
			continue;
		json_object_set_new(s, "outcome", json_string("resume"));
		say_outcome(found, "resume");
		return true;
	}
	return false;
}

/* What became of breaks of which neither their texts nor a restart say it. */
static void settle_outcomes(const json_t *row)
{
	bool skipped = json_is_false(json_object_get(row, "has_guarded_code"));
	const json_t *s;
	size_t i;

	json_array_foreach(json_object_get(row, "stated"), i, s)
	{
		json_t *found = json_object_get(s, "break");

		if (!json_is_string(json_object_get(s, "outcome")))
			say_outcome(found, skipped            ? "skip"
					   : is_branch(found) ? "jump"
							      : "unknown");
	}
}

/* A break that a restart alone tells, at its frame. */
static void unstated_break(struct compiles *c, json_t *row, struct torch_break *b)
{
	const char *file = json_string_value(json_object_get(row, "file"));

	snprintf(b->file, sizeof(b->file), "%s", file ? file : "?");
	b->line = (int)json_integer_value(json_object_get(row, "line"));
	b->unplaced = true;
	b->outcome = "step";
	c->ledger->n[LEDGER_UNPLACED_BREAK]++;
	compiles_break(c, row, b);
}

/* Breaks that were not stated: releases before 2.9 or so say nothing else of one that is
 * stepped over, and of most of them not even the reason. */
static void settle_restarts(struct compiles *c, json_t *row)
{
	const json_t *reasons = json_object_get(row, "restart_reasons"), *reason;
	/* As it is before what only restarts tell is added to it. */
	json_t *stated = json_copy(json_object_get(row, "stated"));
	bool unknown = false;
	struct torch_break b;
	size_t i;

	json_array_foreach((json_t *)reasons, i, reason)
	{
		const char *text = json_string_value(reason);

		if (!text)
			continue;
		torch_break_read_reason(text, &b);
		if (strncmp(text, "<class '", 8) == 0)
			c->ledger->n[LEDGER_OTHER_RESTART]++;
		else if (strncmp(text, unknown_restart, sizeof(unknown_restart) - 1) == 0)
			unknown = true;
		else if (!was_stated(stated, &b))
			unstated_break(c, row, &b);
	}
	if (unknown && !explains_unknown(stated)) {
		torch_break_read_reason(unknown_restart, &b);
		unstated_break(c, row, &b);
	}
	settle_outcomes(row);
	json_decref(stated);
}

/* As tlparse colours it, but that a restart which is no break is none.  One with reasons to
 * compile again that was never begun was refused: there are too many. */
static const char *outcome_of(const json_t *row)
{
	const char *id = json_string_value(json_object_get(row, "compile"));
	bool refused = json_object_get(row, "recompile_reasons") &&
		       !json_object_get(row, "attempts") && !json_object_get(row, "metrics");

	if (json_is_string(json_object_get(row, "fail_type")) || json_object_get(row, "error") ||
	    refused)
		return "error";
	if (id && !strchr(id, '/')) /* of compiled autograd, which captures no frame */
		return "ok";
	if (json_integer_value(json_object_get(row, "ops")) == 0 &&
	    json_integer_value(json_object_get(row, "graphs")) == 0)
		return "empty";
	return json_object_get(row, "breaks") ? "break" : "ok";
}

static bool wants_metrics(const json_t *row)
{
	const char *id = json_string_value(json_object_get(row, "compile"));

	return !json_object_get(row, "metrics") && id && strchr(id, '/');
}

void compiles_settle(struct compiles *c)
{
	const char *key;
	json_t *row;

	json_object_foreach(c->rows, key, row)
	{
		settle_restarts(c, row);
		json_object_del(row, "stated");
		json_object_set_new(row, "outcome", json_string(outcome_of(row)));
		c->ledger->n[LEDGER_NO_METRICS] += wants_metrics(row);
		json_object_del(row, "metrics");
	}
}

/* The name of a compilation's frame; one that was refused has it from those before. */
static json_t *frame_of(const struct compiles *c, const json_t *row)
{
	const char *id = json_string_value(json_object_get(row, "compile"));
	const char *slash = id ? strrchr(id, '/') : NULL;
	json_t *frame = json_object_get(row, "frame");
	char key[KEY_CHARS], of[80];

	for (int i = 0; !frame && slash && i < atoi(slash + 1); i++) {
		snprintf(of, sizeof(of), "%.*s/%d", (int)(slash - id < 60 ? slash - id : 60), id,
			 i);
		key_of(key, (int)json_integer_value(json_object_get(row, "process")),
		       json_integer_value(json_object_get(row, "resets")), of);
		frame = json_object_get(json_object_get(c->rows, key), "frame");
		if (i >= COMPILES_LIST_MAX)
			break;
	}
	return frame;
}

json_t *compiles_recompiles(const struct compiles *c)
{
	json_t *list = json_array(), *row;
	const char *key;

	json_object_foreach(c->rows, key, row)
	{
		json_t *reasons = json_object_get(row, "recompile_reasons");
		json_t *said = json_object_get(row, "recompile_reason");
		json_t *first = json_array_size(reasons) ? json_array_get(reasons, 0) : said;

		if (!json_is_string(first))
			continue;
		json_array_append_new(list,
				      json_pack("{s:O?, s:O, s:O?, s:O, s:O}", "frame",
						frame_of(c, row), "reason", first, "reasons",
						reasons, "compile", json_object_get(row, "compile"),
						"process", json_object_get(row, "process")));
	}
	return list;
}
