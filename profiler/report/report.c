/* profiler/report/report.c -- candidates, statistics and comparisons as a report has them. */
#include "profiler/report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fusion/base/refused.h"
#include "profiler/fields/breaks.h"
#include "profiler/profiler.h"
#include "profiler/report/graph.h"
#include "profiler/workload/value_json.h"

/* ---- breaks, entries and frames ---- */

enum { MOST_BARRIERS = 500 }; /* listed of mode lazy */

/* A message that is written into a buffer; frees that. */
static const char *kept(struct buf *text, struct report_draft *draft)
{
	const char *copy = report_draft_text(draft, text->data ? text->data : "");

	buf_finish(text);
	return copy;
}

static const char *message_of(const struct fusion_session *s, int index, struct report_draft *draft)
{
	struct buf text;

	buf_init(&text, 4096);
	fusion_break_message(s, index, &text);
	return kept(&text, draft);
}

static struct report_stack_line_list stack_of(const struct fusion_break *b,
					      struct report_draft *draft)
{
	struct report_stack_line *lines = report_new_stack_line((size_t)b->n_stack, &draft->arena);

	for (int i = 0; lines && i < b->n_stack; i++) {
		REPORT_SET(&lines[i], line, b->stack[i].line);
		REPORT_SET(&lines[i], function, report_draft_text(draft, b->stack[i].function));
	}
	return (struct report_stack_line_list){ lines, (size_t)b->n_stack };
}

/* Why the frame could not go on after the break. */
static struct report_because *because_of(const struct fusion_break *b, struct report_draft *draft)
{
	struct report_because *to = report_new_because(1, &draft->arena);

	if (!to)
		return NULL;
	REPORT_SET(to, message, report_draft_text(draft, b->because));
	REPORT_SET_OR_NULL(to, hint, b->because_hint, report_draft_text(draft, b->because_hint));
	REPORT_SET_OR_NULL(to, gb, b->because_gb, report_draft_text(draft, b->because_gb));
	return to;
}

/* Where the cause is, if the break's own place is the block around it. */
static struct report_cause *cause_of(const struct fusion_break *b, struct report_draft *draft)
{
	struct report_cause *to = report_new_cause(1, &draft->arena);

	if (!to)
		return NULL;
	REPORT_SET(to, line, b->cause.line);
	REPORT_SET(to, function, report_draft_text(draft, b->cause.function));
	REPORT_SET(to, column, b->cause_column);
	REPORT_SET(to, end_column, b->cause_end_column);
	return to;
}

static void fill_break(struct report_break *to, const struct fusion_session *s, int index,
		       struct report_draft *draft)
{
	struct fusion_break b = fusion_break(s, index);

	REPORT_SET(to, stage, report_draft_text(draft, b.stage));
	REPORT_SET(to, kind, report_draft_text(draft, b.kind));
	REPORT_SET(to, outcome, report_draft_text(draft, b.outcome));
	REPORT_SET_OR_NULL(to, gb, b.gb, report_draft_text(draft, b.gb));
	REPORT_SET(to, call, b.call);
	REPORT_SET_OR_NULL(to, graph, b.graph >= 0, b.graph);
	REPORT_SET(to, message, message_of(s, index, draft));
	REPORT_SET_OR_NULL(to, hint, b.hint, report_draft_text(draft, b.hint));
	REPORT_SET_OR_NULL(to, because, b.because, because_of(&b, draft));
	REPORT_SET_OR_NULL(to, subject, b.subject, report_draft_text(draft, b.subject));
	REPORT_SET(to, stack, stack_of(&b, draft));
	REPORT_SET(to, column, b.column);
	REPORT_SET(to, end_column, b.end_column);
	REPORT_SET_OR_NULL(to, cause, b.cause.line > 0, cause_of(&b, draft));
	REPORT_SET(to, count, b.count);
	REPORT_SET_OR_NULL(to, cost_us, b.cost_ns >= 0, (double)b.cost_ns / 1000);
}

struct report_break_list breaks_of_session(const struct fusion_session *s,
					   struct report_draft *draft)
{
	size_t n = (size_t)fusion_counts(s).n_breaks;
	struct report_break *all = report_new_break(n, &draft->arena);

	for (size_t i = 0; all && i < n; i++)
		fill_break(&all[i], s, (int)i, draft);
	return (struct report_break_list){ all, n };
}

static struct report_symbol_list symbols_of(const struct fusion_entry_info *e,
					    struct report_draft *draft)
{
	struct report_symbol *all = report_new_symbol((size_t)e->n_symbols, &draft->arena);

	for (int i = 0; all && i < e->n_symbols; i++) {
		const char *range = e->symbols[i].range;

		REPORT_SET(&all[i], name, report_draft_text(draft, e->symbols[i].name));
		REPORT_SET(&all[i], source, report_draft_text(draft, e->symbols[i].source));
		REPORT_SET_OR_NULL(&all[i], range, range, report_draft_text(draft, range));
	}
	return (struct report_symbol_list){ all, (size_t)e->n_symbols };
}

static void fill_entry(struct report_entry *to, const struct fusion_entry_info *e, int frame_id,
		       struct report_draft *draft)
{
	REPORT_SET(to, compile, arena_printf(&draft->arena, "%d/%d", frame_id, e->compile_id));
	REPORT_SET_OR_NULL(to, graph, e->graph >= 0, e->graph);
	REPORT_SET(to, call, e->call);
	REPORT_SET(to, compile_ms, (double)e->compile_ns / 1e6);
	REPORT_SET(to, uses, e->uses);
	REPORT_SET(to, bail_outs, e->refuted);
	REPORT_SET_OR_NULL(to, reason, e->reason, report_draft_text(draft, e->reason));
	REPORT_SET(to, guards, report_draft_texts(draft, e->guards, e->n_guards));
	REPORT_SET(to, symbols, symbols_of(e, draft));
}

/* The compiled versions of a frame, which is one of the session's. */
static struct report_entry_list entries_of(const struct fusion_session *s, int frame,
					   struct report_draft *draft)
{
	int n = 0, all = fusion_counts(s).n_entries;
	struct report_entry *list;

	for (int i = 0; i < all; i++)
		n += fusion_entry(s, i).frame == frame;
	list = report_new_entry((size_t)n, &draft->arena);
	for (int i = 0, at = 0; list && i < all; i++) {
		struct fusion_entry_info e = fusion_entry(s, i);

		if (e.frame == frame)
			fill_entry(&list[at++], &e, fusion_frame(s, frame).frame_id, draft);
	}
	return (struct report_entry_list){ list, (size_t)n };
}

/* As many of a frame's lines as a report takes; none when out of memory, which the draft knows. */
static struct report_integers lines_of(const struct fusion_frame_info *f,
				       struct report_draft *draft)
{
	struct report_integers lines = { ARENA_ARRAY(&draft->arena, int64_t, (size_t)f->n_lines),
					 0 };

	for (; lines.at && lines.n < (size_t)f->n_lines; lines.n++)
		lines.at[lines.n] = f->lines[lines.n];
	return lines;
}

/* `tree`: each frame with its compiled versions, in the order they were met. */
static struct report_frame_list tree_of_session(const struct fusion_session *s,
						struct report_draft *draft)
{
	int n = fusion_counts(s).n_frames;
	struct report_frame *all = report_new_frame((size_t)n, &draft->arena);

	for (int i = 0; all && i < n; i++) {
		struct fusion_frame_info f = fusion_frame(s, i);

		REPORT_SET(&all[i], frame, report_draft_text(draft, f.name));
		REPORT_SET(&all[i], id, f.frame_id);
		REPORT_SET(&all[i], line, f.line);
		REPORT_SET(&all[i], skipped, f.skipped);
		REPORT_SET(&all[i], run_only, f.run_only);
		REPORT_SET_IF(&all[i], broke, f.broke >= 0, f.broke);
		REPORT_SET_IF(&all[i], lines, f.n_lines > 0, lines_of(&f, draft));
		REPORT_SET(&all[i], entries, entries_of(s, i, draft));
	}
	return (struct report_frame_list){ all, (size_t)n };
}

static void fill_barrier(struct report_trace_run *to, const struct fusion_session *s, int index,
			 struct report_draft *draft)
{
	struct fusion_barrier b = fusion_barrier(s, index);
	struct buf text;
	bool said;

	buf_init(&text, 4096);
	fusion_barrier_message(s, index, &text);
	said = text.len > 0;
	REPORT_SET(to, call, b.call);
	REPORT_SET(to, line, b.line);
	REPORT_SET(to, function, report_draft_text(draft, b.function));
	REPORT_SET(to, cause, report_draft_text(draft, b.cause));
	REPORT_SET_OR_NULL(to, message, said, kept(&text, draft));
	REPORT_SET(to, compiled, b.compiled);
	REPORT_SET(to, hash, report_draft_text(draft, b.hash));
	REPORT_SET_OR_NULL(to, graph, b.graph >= 0, b.graph);
	REPORT_SET(to, inputs, b.n_inputs);
	REPORT_SET(to, outputs, b.n_outputs);
	if (!said)
		buf_finish(&text);
}

/* `lazy` of mode lazy: each run of a trace, its cause, hash and whether it was
 * compiled, as PyTorch/XLA names them. */
static struct report_lazy *lazy_of_session(const struct fusion_session *s,
					   struct report_draft *draft)
{
	int n = fusion_counts(s).n_barriers, listed = n < MOST_BARRIERS ? n : MOST_BARRIERS;
	struct report_trace_run *runs = report_new_trace_run((size_t)listed, &draft->arena);
	struct report_lazy *to = report_new_lazy(1, &draft->arena);

	for (int i = 0; runs && i < listed; i++)
		fill_barrier(&runs[i], s, i, draft);
	if (!to)
		return NULL;
	REPORT_SET(to, runs, (struct report_trace_run_list){ runs, (size_t)listed });
	REPORT_SET(to, left_out, fusion_counts(s).barriers_left_out + n - listed);
	return to;
}

/* ---- */

enum { LATER_GRAPHS = 32 };

static bool as_it_was(const struct candidate *candidate, int call, int k)
{
	return candidate->use && candidate->use[call][k] == USE_READ;
}

/* What a report that is not whole has of an argument as it was: made once.  A new reference. */
static json_t *inputs_summed(const struct inputs *in, int call, int arg)
{
	json_t **at = &in->summed[call][arg];

	if (!*at)
		*at = value_to_json(in->args[call][arg], false);
	return json_incref(*at);
}

static json_t *inputs_after(const struct candidate *candidate, int call, bool whole)
{
	json_t *list = json_array();

	for (int k = 0; k < candidate->originals->n_args[call]; k++)
		json_array_append_new(list, whole || !as_it_was(candidate, call, k)
						? value_to_json(candidate->args[call][k], whole)
						: inputs_summed(candidate->originals, call, k));
	return list;
}

/* A tensor whose bits another candidate's has is summed up there.  New. */
static json_t *output_json(const struct report_of_call *r)
{
	struct value out = r->candidate->outputs[r->call];
	struct value like = { .kind = VALUE_UNSET };

	if (r->like && !r->whole)
		like = r->like->outputs[r->call];
	if (value_alike(out, like) &&
	    tensor_same_on_device(fusion_tensor(like), fusion_tensor(out)))
		return json_incref(r->like_entry->output);
	return value_to_json(out, r->whole);
}

/* d output / d input; null where there is none. */
static json_t *grad_json(struct value t, bool whole)
{
	struct value g = { .kind = VALUE_UNSET };

	if (t.kind == VALUE_TENSOR)
		g = fusion_grad(t);
	return g.kind == VALUE_TENSOR ? value_to_json(g, whole) : json_null();
}

static json_t *grads_json(const struct candidate *candidate, int call, bool whole)
{
	json_t *list = candidate->grad ? json_array() : json_null();

	for (int k = 0; candidate->grad && k < candidate->originals->n_args[call]; k++)
		json_array_append_new(list, grad_json(candidate->args[call][k], whole));
	return list;
}

struct param_grads {
	json_t *json;
	bool whole;
};

static void add_param(void *self, const char *name, struct value t)
{
	const struct param_grads *p = self;

	json_object_set_new(p->json, name, grad_json(t, p->whole));
}

static json_t *param_grads_json(const struct candidate *candidate, bool whole)
{
	struct param_grads p = { json_object(), whole };

	if (candidate->grad)
		fusion_parameters(candidate->session, add_param, &p);
	if (json_object_size(p.json) > 0)
		return p.json;
	json_decref(p.json);
	return json_null();
}

static const char *printed(const struct candidate *candidate, struct report_draft *draft)
{
	const struct buf *text = fusion_stdout(candidate->session);
	struct buf shown = { 0 };
	const char *kept = NULL;

	buf_add_text(&shown, text->data, text->len);
	if (!shown.failed)
		kept = arena_strndup(&draft->arena, shown.data ? shown.data : "", shown.len);
	buf_finish(&shown);
	return kept;
}

void report_call_fill(struct report_call *to, const struct report_of_call *r,
		      struct report_draft *draft)
{
	const struct fusion_counts *before = &r->before, *after = &r->after;
	const struct candidate *candidate = r->candidate;
	int call = r->call;
	bool whole = r->whole;

	REPORT_SET(to, new_graphs, after->graphs - before->graphs);
	REPORT_SET(to, compiles, after->kernels_built - before->kernels_built);
	REPORT_SET(to, launches, after->launches - before->launches);
	REPORT_SET(to, eager_fallback, after->eager_fallbacks > before->eager_fallbacks);
	REPORT_SET(to, output, report_draft_value(draft, output_json(r)));
	REPORT_SET(to, inputs_after,
		   report_draft_value(draft, inputs_after(candidate, call, whole)));
	REPORT_SET(to, grads, report_draft_value(draft, grads_json(candidate, call, whole)));
	REPORT_SET(to, param_grads, report_draft_value(draft, param_grads_json(candidate, whole)));
	REPORT_SET(to, stdout, printed(candidate, draft));
}

double report_compile_us(const struct candidate *candidate)
{
	double us = 0;

	for (int i = 0; i < fusion_counts(candidate->session).n_graphs; i++)
		us += (double)fusion_graph(candidate->session, i).compile_ns / 1000;
	return us;
}

/* What makes samples doubtful; NULL: nothing does. */
static const char *noise_of(const struct report_samples *s, struct report_draft *draft)
{
	char noise[512];
	bool noisy = s->n > 0 && stats_noise(s->us, s->n, noise, sizeof(noise));

	if (s->n > 0 && s->compiled)
		return arena_printf(&draft->arena,
				    "Calls still compile (%lld graphs and kernels in the "
				    "samples): see recompiles.%s%s",
				    (long long)s->compiled, noisy ? " " : "", noisy ? noise : "");
	return noisy ? arena_strdup(&draft->arena, noise) : NULL;
}

static struct report_integers whole_ns(const double *us, int n, struct report_draft *draft)
{
	int64_t *ns = ARENA_ARRAY(&draft->arena, int64_t, (size_t)n + 1);

	for (int k = 0; ns && k < n; k++)
		ns[k] = llround(us[k] * 1000);
	return (struct report_integers){ ns, ns ? (size_t)n : 0 };
}

/* Sets of_process where more than one took samples. */
static void report_processes(struct report_latency *l, const struct report_samples *s,
			     struct report_draft *draft)
{
	int64_t *of = ARENA_ARRAY(&draft->arena, int64_t, STATS_PROCESSES);
	size_t n = 0;

	for (int p = 0; of && s->of_process && p < STATS_PROCESSES; p++)
		if (s->of_process[p])
			of[n++] = s->of_process[p];
	REPORT_SET_IF(l, of_process, n > 1, (struct report_integers){ of, n });
}

struct report_latency *report_latency_of(const struct report_samples *s, struct report_draft *draft)
{
	struct report_latency *l = report_new_latency(1, &draft->arena);
	const char *noise = noise_of(s, draft);
	struct interval i = { 0 };
	int whole[STATS_PROCESSES] = { s->n };

	if (s->n > 0)
		stats_processes(s->us, s->of_process ? s->of_process : whole, 0.5, &i);
	if (!l)
		return NULL;
	REPORT_SET(l, median_us, i.mid);
	REPORT_SET(l, ci_us, report_interval_of(&i));
	REPORT_SET(l, n, s->n);
	REPORT_SET(l, calls_a_sample, s->calls_a_sample);
	REPORT_SET(l, compiled, s->compiled);
	REPORT_SET(l, samples_ns, whole_ns(s->us, s->n, draft));
	report_processes(l, s, draft);
	REPORT_SET_IF(l, aside_ns, s->n_aside, whole_ns(s->aside_us, s->n_aside, draft));
	REPORT_SET_OR_NULL(l, noise, noise, noise);
	return l;
}

/* Fills in graphs from `first` on, and their guards; m has room for all. */
static void add_graphs(struct report_mode *m, const struct fusion_session *s, int first, bool brief,
		       struct report_draft *draft)
{
	for (int id = first; id < (int)m->graphs.n; id++) {
		struct fusion_graph_info info = fusion_graph(s, id);

		graph_fill(&m->graphs.at[id], &info, id, brief, draft);
		for (int g = 0; g < info.n_guards && !brief; g++) {
			struct report_guard *guard = &m->guards.at[m->guards.n++];

			REPORT_SET(guard, graph, id);
			REPORT_SET(guard, text, report_draft_text(draft, info.guards[g]));
		}
	}
}

/* Room for the graphs up to `n`, and for their guards; those that are there stay. */
static bool make_room(struct report_mode *m, const struct fusion_session *s, int n,
		      struct report_draft *draft)
{
	struct report_graph *graphs = report_new_graph((size_t)n, &draft->arena);
	size_t n_guards = m->guards.n;
	struct report_guard *guards;

	for (int id = (int)m->graphs.n; id < n; id++)
		n_guards += (size_t)fusion_graph(s, id).n_guards;
	guards = report_new_guard(n_guards, &draft->arena);
	if (!graphs || !guards)
		return false;
	if (m->graphs.n)
		memcpy(graphs, m->graphs.at, m->graphs.n * sizeof(*graphs));
	if (m->guards.n)
		memcpy(guards, m->guards.at, m->guards.n * sizeof(*guards));
	REPORT_SET(m, graphs, (struct report_graph_list){ graphs, (size_t)n });
	REPORT_SET(m, guards, (struct report_guard_list){ guards, m->guards.n });
	return true;
}

/* What was compiled since the calls were made once, as by an optimiser that had no
 * momentum before its first step: that is what was timed. */
static bool add_later_graphs(struct report_mode *m, const struct candidate *candidate,
			     struct report_draft *draft)
{
	int n = fusion_counts(candidate->session).n_graphs, first = (int)m->graphs.n;

	n = n < first + LATER_GRAPHS ? n : first + LATER_GRAPHS;
	if (n <= first)
		return true;
	if (!make_room(m, candidate->session, n, draft))
		return false;
	add_graphs(m, candidate->session, first, false, draft);
	for (int i = first; i < n; i++)
		REPORT_SET(&m->graphs.at[i], later, true);
	return true;
}

/* How inputs that the program writes were put back. */
static struct report_restored *restored(const struct candidate *candidate,
					struct report_draft *draft)
{
	struct report_restored *r = report_new_restored(1, &draft->arena);

	if (!r)
		return NULL;
	REPORT_SET(r, where, fusion_facts(candidate->engine).device ? "device" : "host");
	REPORT_SET(r, sets, candidate->most_sets > 0 ? candidate->most_sets : 1);
	REPORT_SET(r, arguments, candidate->restores);
	REPORT_SET(r, copied_on_device, candidate->restored_on_device);
	return r;
}

static struct report_split *split_of(const struct split *split, double median_us,
				     struct report_draft *draft)
{
	struct report_split *parts = report_new_split(1, &draft->arena);
	double rest = median_us, scale = 1;

	/* The watched call may have met a slower moment of the machine than the
	 * latency: its parts then count by their shares, so that they add up. */
	if (split->observed_us > median_us)
		scale = median_us / split->observed_us;
	for (int p = 0; p < PHASE_COUNT; p++)
		rest -= split->phase_us[p] * scale;
	if (!parts)
		return NULL;
	REPORT_SET(parts, guards, split->phase_us[PHASE_GUARDS] * scale);
	REPORT_SET(parts, dispatch, split->phase_us[PHASE_DISPATCH] * scale);
	REPORT_SET(parts, alloc, split->phase_us[PHASE_ALLOC] * scale);
	REPORT_SET(parts, launch, split->phase_us[PHASE_LAUNCH] * scale);
	REPORT_SET(parts, kernel, split->phase_us[PHASE_KERNEL] * scale);
	REPORT_SET(parts, rest, fmax(rest, 0));
	REPORT_SET(parts, observed, split->observed_us);
	return parts;
}

/* Both stages side by side, and what mode lazy did. */
static struct report_mode_counts *counts_of(const struct fusion_session *s,
					    const struct report_break_list *breaks,
					    struct report_draft *draft)
{
	struct report_mode_counts *to = report_new_mode_counts(1, &draft->arena);
	struct fusion_counts c = fusion_counts(s);

	if (!to)
		return NULL;
	REPORT_SET(to, captured, c.graphs);
	REPORT_SET(to, lowered, c.lowered);
	REPORT_SET(to, breaks, break_distinct(breaks, "capture"));
	REPORT_SET(to, fallbacks, break_distinct(breaks, "lowering"));
	REPORT_SET(to, launches, c.launches);
	REPORT_SET(to, eager_fallbacks, c.eager_fallbacks);
	REPORT_SET(to, executions, c.executions);
	REPORT_SET(to, cache_hits, c.cache_hits);
	return to;
}

static struct report_recompile_list recompiles_of(const struct fusion_session *s,
						  struct report_draft *draft)
{
	int n = fusion_counts(s).n_recompiles;
	struct report_recompile *all = report_new_recompile((size_t)n, &draft->arena);

	for (int i = 0; all && i < n; i++) {
		struct fusion_recompile r = fusion_recompile(s, i);

		REPORT_SET(&all[i], call, r.call);
		REPORT_SET(&all[i], frame, report_draft_text(draft, r.frame));
		REPORT_SET(&all[i], reason, report_draft_text(draft, r.reason));
	}
	return (struct report_recompile_list){ all, (size_t)n };
}

/* What guards that failed while calls were timed compiled, and why, with the breaks that came of
 * it: a counter that each call changes hits the recompile limit only then.  What is there stays. */
static bool add_later_recompiles(struct report_mode *m, const struct candidate *candidate,
				 struct report_draft *draft)
{
	const struct fusion_session *s = candidate->session;
	uint64_t refused = memory_refused_here();
	struct report_break_list breaks;

	if (fusion_counts(s).n_recompiles <= (int)m->recompiles.n)
		return true;
	REPORT_SET(m, recompiles, recompiles_of(s, draft));
	REPORT_SET(m, tree, tree_of_session(s, draft));
	breaks = breaks_of_session(s, draft);
	if (memory_refused_here() != refused)
		return false;
	for (size_t i = 0; i < m->breaks.n && i < breaks.n; i++)
		breaks.at[i] = m->breaks.at[i];
	REPORT_SET(m, breaks, breaks);
	if (m->counts) {
		REPORT_SET(m->counts, captured, fusion_counts(s).graphs);
		REPORT_SET(m->counts, lowered, fusion_counts(s).lowered);
		REPORT_SET(m->counts, breaks, break_distinct(&breaks, "capture"));
		REPORT_SET(m->counts, fallbacks, break_distinct(&breaks, "lowering"));
	}
	return true;
}

bool report_latency(struct report_mode *m, const struct candidate *candidate,
		    const struct split *split, struct report_draft *draft)
{
	const struct report_samples samples = { .us = candidate->sample_us,
						.n = candidate->n_samples,
						.calls_a_sample = candidate->cycles *
								  candidate->n_timed,
						.compiled = candidate->compiled,
						.of_process = candidate->of_process,
						.aside_us = candidate->aside_us,
						.n_aside = candidate->n_aside };
	uint64_t refused = memory_refused_here();
	struct report_latency *latency = report_latency_of(&samples, draft);

	if (!latency)
		return false;
	REPORT_SET(m, latency, latency);
	REPORT_SET(m, split_us, split_of(split, latency->median_us, draft));
	REPORT_SET(m, launches, candidate->launches);
	if (candidate->writes)
		REPORT_SET(m, restored, restored(candidate, draft));
	return add_later_graphs(m, candidate, draft) && add_later_recompiles(m, candidate, draft) &&
	       memory_refused_here() == refused;
}

bool report_graphs(struct report_mode *m, const struct candidate *candidate, bool brief,
		   struct report_draft *draft)
{
	const struct fusion_session *s = candidate->session;
	uint64_t refused = memory_refused_here();
	int n = fusion_counts(s).n_graphs;
	bool cached = n > 0;

	if (!make_room(m, s, n, draft))
		return false;
	add_graphs(m, s, 0, brief, draft);
	for (int i = 0; i < n; i++)
		cached = cached && fusion_graph(s, i).cached;
	REPORT_SET(m, breaks, breaks_of_session(s, draft));
	if (memory_refused_here() != refused) /* some of them may be NULL */
		return false;
	REPORT_SET(m, tree, tree_of_session(s, draft));
	if (candidate->mode == FUSION_LAZY)
		REPORT_SET(m, lazy, lazy_of_session(s, draft));
	REPORT_SET(m, counts, counts_of(s, &m->breaks, draft));
	REPORT_SET(m, recompiles, recompiles_of(s, draft));
	REPORT_SET(m, compile_ms, report_compile_us(candidate) / 1000);
	REPORT_SET(m, cached, cached);
	return memory_refused_here() == refused;
}

void report_comparison(struct report_comparison *to, const struct comparison *c, double compile_us)
{
	bool known = c->verdict != VERDICT_DISAGREES, after = known && c->repay == REPAY_AFTER;

	REPORT_SET_OR_NULL(to, speedup, known, c->speedup.mid);
	REPORT_SET_OR_NULL(to, speedup_ci, known, report_interval_of(&c->speedup));
	REPORT_SET(to, verdict, verdict_word(c->verdict));
	REPORT_SET_OR_NULL(to, calls_to_repay, after, c->calls_to_repay);
	REPORT_SET_OR_NULL(to, calls_to_repay_ci, after,
			   (struct report_interval){ c->calls_ci[0], c->calls_ci[1] });
	REPORT_SET(to, repay, repay_word(known ? c->repay : REPAY_UNKNOWN));
	REPORT_SET_OR_NULL(to, saved_us, known, c->saved_us.mid);
	REPORT_SET_OR_NULL(to, saved_ci_us, known, report_interval_of(&c->saved_us));
	REPORT_SET(to, compile_ms, compile_us / 1000);
	REPORT_SET_OR_NULL(to, crossover_n, false, NAN);
	REPORT_SET_OR_NULL(to, crossover_ci, false, (struct report_interval){ NAN, NAN });
}

void report_crossover(struct report_comparison *to, const struct crossover *c)
{
	REPORT_SET_OR_NULL(to, crossover_n, c->found, c->n);
	REPORT_SET_OR_NULL(to, crossover_ci, c->found, (struct report_interval){ c->low, c->high });
	REPORT_SET(to, side, side_word(c->side));
	REPORT_SET(to, meetings, c->meetings);
}

const char *report_reproduce(const struct workload *w, const struct point *p, enum fusion_mode mode,
			     struct report_draft *draft)
{
	char file[80], at[32] = "", threads[32] = "", backend[32] = "";
	size_t len = 0;

	for (const char *c = w->name; *c && len < sizeof(file) - 1; c++)
		file[len++] = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
				      (*c >= '0' && *c <= '9') || *c == '-' || *c == '.'
				  ? *c
				  : '_';
	file[len] = '\0';
	if (w->sweep.kind != SWEEP_NONE)
		snprintf(at, sizeof(at), " --at %lld", (long long)p->n);
	if (w->threads)
		snprintf(threads, sizeof(threads), " --threads %d", w->threads);
	if (w->backend)
		snprintf(backend, sizeof(backend), " --backend %s", w->backend);
	return arena_printf(&draft->arena, "breakeven run %s.json --modes %s%s%s%s%s%s", file,
			    mode == FUSION_EAGER ? "" : "eager,", fusion_mode_name(mode), at,
			    threads, backend, w->torch ? " --engine breakeven" : "");
}

void report_device(struct report_device *device, const struct fusion *engine,
		   struct report_draft *draft)
{
	const char *note = fusion_facts(engine).backend_note, *name = fusion_facts(engine).device;

	REPORT_SET(device, backend, report_draft_text(draft, fusion_facts(engine).backend));
	REPORT_SET_IF(device, kind, name, "cuda");
	REPORT_SET_IF(device, name, name, report_draft_text(draft, name));
	REPORT_SET_OR_NULL(device, backend_note, note, report_draft_text(draft, note));
	REPORT_SET(device, threads, fusion_facts(engine).threads);
}

void report_order(struct report_mode *m, const struct fusion *engine, struct report_draft *draft)
{
	struct report_order *to;
	struct device_order o;

	if (!fusion_device_order(engine, &o))
		return;
	to = report_new_order(1, &draft->arena);
	REPORT_SET(m, order, to);
	if (!to)
		return;
	REPORT_SET(to, streams, o.streams);
	REPORT_SET(to, events, o.events);
	REPORT_SET(to, launches, o.launches);
	REPORT_SET(to, graph_launches, o.graphs);
	REPORT_SET(to, library_calls, o.calls);
	REPORT_SET(to, copies, o.copies);
	REPORT_SET(to, sets, o.sets);
	REPORT_SET(to, waits, o.waits);
}

void report_error(struct report_failure *to, const struct err *err, struct report_draft *draft)
{
	REPORT_SET(to, code, err_name(err->code));
	REPORT_SET(to, message, report_draft_text(draft, err->message));
	REPORT_SET(to, line, err->line);
	REPORT_SET(to, column, err->column);
	if (err->file[0])
		REPORT_SET(to, file, report_draft_text(draft, err->file));
}
