/* profiler/import/torch_break.c -- the text of a graph break, taken apart.
 *
 * The payload, since 2.7, and what releases before wrote otherwise:
 *
 *	Graph break in user code at FILE:LINE            Graph break: skip: from user code at:
 *	Graph Break Reason: HOW, where it is known:        File "FILE", line LINE, in f
 *	                                                  (then a traceback that ends with
 *	TYPE                                               ...Unsupported: REASON)
 *	  Explanation: ...
 *	 ... please visit: .../gb/gb0170.html
 *
 *	User code traceback:
 *	  File "FILE", line LINE, in f
 */
#include "profiler/import/torch_break.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A break that is warned of says it once more, before the one that the frame makes:
 * "WON'T CONVERT f FILE line LINE", a traceback, and the user's code behind this. */
static const char warned_code[] =
    "The above exception occurred while processing the following code ==========\n\n";

static const char *behind(const char *text, const char *mark)
{
	const char *at = strstr(text, mark);

	return at ? at + strlen(mark) : NULL;
}

/* "Graph break in user code at FILE:LINE" */
static void read_first_line(const char *text, struct torch_break *out)
{
	const char *at = behind(text, "Graph break in user code at ");
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
		const char *at = behind(text, marks[i]);

		if (at)
			read_stack(at, out);
	}
}

/* What became of the frame, by the words before the cause; the cause begins behind the
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
		cause = behind(reason, "\n\n");
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
	const char *reason = behind(text, "Graph Break Reason: "), *cause;

	*out = (struct torch_break){ 0 };
	read_place(text, out);
	if (!reason)
		reason = behind(text, "\nReason: ");
	cause = read_outcome(reason ? reason : text, out);
	if (!reason) { /* a skipped frame of 2.5 to 2.8: at the end of a traceback */
		const char *last = NULL;

		for (const char *at = text; (at = behind(at, "Unsupported: ")); last = at)
			;
		cause = last ? last : warned_cause(text);
	}
	read_cause(cause, reason_length(cause), out);
}

void torch_break_read_reason(const char *reason, struct torch_break *out)
{
	const char *cause;

	*out = (struct torch_break){ 0 };
	cause = read_outcome(reason, out);
	read_cause(cause, strlen(cause), out);
}
