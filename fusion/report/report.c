/* fusion/report/report.c -- keeps what a session tells; names of breaks. */
#include "fusion/report/report.h"

#include <stdlib.h>
#include <string.h>

static const struct break_row rows[BREAK_COUNT] = {
	[BREAK_NONE] = { BREAK_KIND_UNSUPPORTED, NULL, "", NULL },
#define KIND(id, name)
#define BREAK(id, kind, gb, message, hint) [BREAK_##id] = { BREAK_KIND_##kind, gb, message, hint },
#include "fusion/report/breaks.def"
#undef KIND
#undef BREAK
};

static const char *const kind_names[BREAK_KIND_COUNT] = {
#define KIND(id, name) [BREAK_KIND_##id] = name,
#define BREAK(id, kind, gb, message, hint)
#include "fusion/report/breaks.def"
#undef KIND
#undef BREAK
};

static const char *const outcome_names[OUTCOME_COUNT] = {
	[OUTCOME_RESUME] = "resume",   [OUTCOME_JUMP] = "jump",
	[OUTCOME_STEP] = "step",       [OUTCOME_SKIP] = "skip",
	[OUTCOME_INLINE] = "inline",   [OUTCOME_FALLBACK] = "fallback",
	[OUTCOME_BARRIER] = "barrier", [OUTCOME_ORDERED] = "ordered",
};

const struct break_row *break_row(enum break_id id)
{
	return &rows[id];
}

const char *break_kind_name(enum break_kind kind)
{
	return kind_names[kind];
}

const char *break_outcome_name(enum break_outcome outcome)
{
	return outcome_names[outcome];
}

void break_message(struct buf *out, enum break_id id, const char *subject)
{
	const char *text = rows[id].message, *place = strstr(text, "%s");

	if (!place) {
		buf_puts(out, text);
		return;
	}
	buf_add(out, text, (size_t)(place - text));
	buf_puts(out, subject ? subject : "it");
	buf_puts(out, place + 2);
}

/* *text into the arena; NULL stays. */
static bool keep(struct arena *arena, const char **text)
{
	if (*text)
		*text = arena_strdup(arena, *text);
	return *text;
}

static bool keep_optional(struct arena *arena, const char **text)
{
	return !*text || keep(arena, text);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_stack(const struct session_break *a, const struct session_break *b)
{
	if (a->n_stack != b->n_stack)
		return false;
	for (int i = 0; i < a->n_stack; i++)
		if (a->stack[i].line != b->stack[i].line ||
		    !same_text(a->stack[i].function, b->stack[i].function))
			return false;
	return true;
}

static bool same_break(const struct session_break *a, const struct session_break *b)
{
	bool barrier = a->outcome == OUTCOME_BARRIER;

	return a->stage == b->stage && a->id == b->id && a->outcome == b->outcome &&
	       a->because == b->because && a->column == b->column &&
	       a->cause.at.line == b->cause.at.line && a->cause.column == b->cause.column &&
	       (barrier || (a->call == b->call && a->graph == b->graph)) &&
	       same_text(a->subject, b->subject) && same_text(a->message, b->message) &&
	       same_stack(a, b);
}

static void set(int *index, size_t place)
{
	if (index)
		*index = (int)place;
}

bool report_again(struct session_report *r, const struct session_break *b, int *index)
{
	for (size_t i = 0; i < r->breaks.len; i++) {
		struct session_break *known = &r->breaks.at[i];

		if (known->stage != b->stage || known->id != b->id ||
		    known->outcome != b->outcome || known->column != b->column ||
		    known->cause.at.line != b->cause.at.line || !same_stack(known, b))
			continue;
		known->count++;
		set(index, i);
		return true;
	}
	return false;
}

/* Only the innermost frames of a stack that is too deep. */
static bool keep_stack(struct arena *arena, struct session_break *b)
{
	int left_out = b->n_stack > REPORT_MAX_STACK ? b->n_stack - REPORT_MAX_STACK : 0;
	int n = b->n_stack - left_out;
	struct fusion_line *stack = ARENA_ARRAY(arena, struct fusion_line, (size_t)n + 1);

	if (!stack)
		return false;
	for (int i = 0; i < n; i++) {
		stack[i] = b->stack[left_out + i];
		if (!keep(arena, &stack[i].function))
			return false;
	}
	b->stack = stack;
	b->n_stack = n;
	return true;
}

bool report_add_break(struct session_report *r, const struct session_break *b, int *index)
{
	struct session_break copy = *b;

	if (copy.count <= 0)
		copy.count = 1;
	if (copy.cost_ns == 0)
		copy.cost_ns = -1;
	for (size_t i = 0; i < r->breaks.len; i++)
		if (same_break(&r->breaks.at[i], &copy)) {
			r->breaks.at[i].count += copy.count;
			set(index, i);
			return true;
		}
	if (r->breaks.len >= REPORT_MAX_BREAKS) {
		r->breaks_left_out += copy.count;
		if (index)
			*index = -1;
		return true;
	}
	set(index, r->breaks.len);
	return keep_optional(&r->arena, &copy.subject) && keep_optional(&r->arena, &copy.message) &&
	       keep_optional(&r->arena, &copy.cause.at.function) &&
	       keep_optional(&r->arena, &copy.hint) && keep_stack(&r->arena, &copy) &&
	       VEC_PUSH(&r->breaks, copy);
}

bool report_add_frame(struct session_report *r, const struct session_frame *f, int *index)
{
	struct session_frame copy = *f;

	*index = (int)r->frames.len;
	return keep(&r->arena, &copy.name) && VEC_PUSH(&r->frames, copy);
}

static bool keep_symbols(struct arena *arena, struct session_entry *e)
{
	struct fusion_symbol *symbols = ARENA_ARRAY(arena, struct fusion_symbol,
						    (size_t)e->n_symbols + 1);

	if (!symbols)
		return false;
	for (int i = 0; i < e->n_symbols; i++) {
		symbols[i] = e->symbols[i];
		if (!keep(arena, &symbols[i].name) || !keep(arena, &symbols[i].source) ||
		    !keep_optional(arena, &symbols[i].range))
			return false;
	}
	e->symbols = symbols;
	return true;
}

bool report_add_entry(struct session_report *r, const struct session_entry *e)
{
	struct session_entry copy = *e;

	if (r->entries.len >= REPORT_MAX_ENTRIES)
		return true;
	return keep_optional(&r->arena, &copy.reason) && keep_symbols(&r->arena, &copy) &&
	       VEC_PUSH(&r->entries, copy);
}
