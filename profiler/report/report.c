/* profiler/report/report.c -- candidates, statistics and comparisons as JSON. */
#include "profiler/report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/report/break.h"
#include "profiler/report/graph.h"
#include "profiler/workload/value_json.h"

enum { LATER_GRAPHS = 32 };

static json_t *interval_json(double low, double high)
{
	return json_pack("[f, f]", low, high);
}

static bool as_it_was(const struct candidate *candidate, int call, int k)
{
	return candidate->use && candidate->use[call][k] == USE_READ;
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

/* A tensor whose bits another candidate's has is summed up there. */
static json_t *output_json(const struct report_of_call *r)
{
	struct value out = r->candidate->outputs[r->call];
	struct value like = { .kind = VALUE_UNSET };

	if (r->like && !r->whole)
		like = r->like->outputs[r->call];
	if (value_alike(out, like) &&
	    tensor_same_on_device(fusion_tensor(like), fusion_tensor(out)))
		return json_incref(json_object_get(r->like_entry, "output"));
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

json_t *report_call(const struct report_of_call *r)
{
	const struct fusion_counts *before = &r->before, *after = &r->after;
	const struct candidate *candidate = r->candidate;
	int call = r->call;
	bool whole = r->whole;
	struct buf *printed = fusion_stdout(candidate->session);
	json_t *text = json_stringn(printed->data ? printed->data : "", printed->len);

	return json_pack("{s:I, s:I, s:I, s:b, s:o, s:o, s:o, s:o, s:o}", "new_graphs",
			 (json_int_t)(after->graphs - before->graphs), "compiles",
			 (json_int_t)(after->kernels_built - before->kernels_built), "launches",
			 (json_int_t)(after->launches - before->launches), "eager_fallback",
			 after->eager_fallbacks > before->eager_fallbacks, "output", output_json(r),
			 "inputs_after", inputs_after(candidate, call, whole), "grads",
			 grads_json(candidate, call, whole), "param_grads",
			 param_grads_json(candidate, whole), "stdout",
			 text ? text : json_string(""));
}

double report_compile_us(const struct candidate *candidate)
{
	double us = 0;

	for (int i = 0; i < fusion_graph_count(candidate->session); i++)
		us += (double)fusion_graph(candidate->session, i).compile_ns / 1000;
	return us;
}

static json_t *noise_json(const double *sample_us, int n, int64_t compiled)
{
	char noise[512];
	bool noisy = stats_noise(sample_us, n, noise, sizeof(noise));

	if (compiled)
		return json_sprintf("Calls still compile (%lld graphs and kernels in the "
				    "samples): see recompiles.%s%s",
				    (long long)compiled, noisy ? " " : "", noisy ? noise : "");
	return noisy ? json_string(noise) : json_null();
}

json_t *report_samples(const double *sample_us, int n, int64_t calls_a_sample, int64_t compiled)
{
	json_t *list = json_array();
	struct interval i = { 0 };

	for (int k = 0; k < n; k++)
		json_array_append_new(list, json_integer(llround(sample_us[k] * 1000)));
	if (n > 0)
		stats_median(sample_us, n, &i);
	return json_pack("{s:f, s:o, s:i, s:I, s:I, s:o, s:o}", "median_us", i.mid, "ci_us",
			 interval_json(i.low, i.high), "n", n, "calls_a_sample",
			 (json_int_t)calls_a_sample, "compiled", (json_int_t)compiled, "samples_ns",
			 list, "noise", n > 0 ? noise_json(sample_us, n, compiled) : json_null());
}

static json_t *add_graph(json_t *m, const struct fusion_session *s, int id, bool brief)
{
	struct fusion_graph_info info = fusion_graph(s, id);
	json_t *graph = graph_to_json(&info, id, brief), *guards = json_object_get(m, "guards");

	json_array_append_new(json_object_get(m, "graphs"), graph);
	for (int g = 0; g < info.n_guards && !brief; g++)
		json_array_append_new(guards,
				      json_pack("{s:i, s:s}", "graph", id, "text", info.guards[g]));
	return graph;
}

/* What was compiled since the calls were made once, as by an optimiser that had no
 * momentum before its first step: that is what was timed. */
static void add_later_graphs(json_t *m, const struct candidate *candidate)
{
	int n = fusion_graph_count(candidate->session);
	int first = (int)json_array_size(json_object_get(m, "graphs"));

	for (int i = first; i < n && i < first + LATER_GRAPHS; i++)
		json_object_set_new(add_graph(m, candidate->session, i, false), "later",
				    json_true());
}

/* How inputs that the program writes were put back. */
static json_t *restored_json(const struct candidate *candidate)
{
	return json_pack("{s:s, s:i, s:I, s:I}", "where",
			 fusion_device_name(candidate->engine) ? "device" : "host", "sets",
			 candidate->most_sets > 0 ? candidate->most_sets : 1, "arguments",
			 (json_int_t)candidate->restores, "copied_on_device",
			 (json_int_t)candidate->restored_on_device);
}

void report_latency(json_t *m, const struct candidate *candidate, const struct split *split)
{
	static const char *const names[PHASE_COUNT] = {
		[PHASE_GUARDS] = "guards", [PHASE_DISPATCH] = "dispatch", [PHASE_ALLOC] = "alloc",
		[PHASE_LAUNCH] = "launch", [PHASE_KERNEL] = "kernel",
	};
	json_t *latency = report_samples(candidate->sample_us, candidate->n_samples,
					 candidate->cycles * candidate->n_timed,
					 candidate->compiled);
	json_t *parts = json_object();
	double median_us = json_number_value(json_object_get(latency, "median_us"));
	double rest = median_us, scale = 1;

	json_object_set_new(m, "latency", latency);
	/* The watched call may have met a slower moment of the machine than the
	 * latency: its parts then count by their shares, so that they add up. */
	if (split->observed_us > median_us)
		scale = median_us / split->observed_us;
	for (int p = 0; p < PHASE_COUNT; p++) {
		json_object_set_new(parts, names[p], json_real(split->phase_us[p] * scale));
		rest -= split->phase_us[p] * scale;
	}
	json_object_set_new(parts, "rest", json_real(fmax(rest, 0)));
	json_object_set_new(parts, "observed", json_real(split->observed_us));
	json_object_set_new(m, "split_us", parts);
	json_object_set_new(m, "launches",
			    candidate->launches == floor(candidate->launches)
				? json_integer((json_int_t)candidate->launches)
				: json_real(candidate->launches));
	if (candidate->writes)
		json_object_set_new(m, "restored", restored_json(candidate));
	add_later_graphs(m, candidate);
}

/* Both stages side by side, and what mode lazy did. */
static json_t *counts_json(const struct fusion_session *s)
{
	struct fusion_counts c = fusion_counts(s);

	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "captured", (json_int_t)c.graphs,
			 "lowered", (json_int_t)c.lowered, "launches", (json_int_t)c.launches,
			 "eager_fallbacks", (json_int_t)c.eager_fallbacks, "executions",
			 (json_int_t)c.executions, "cache_hits", (json_int_t)c.cache_hits);
}

void report_graphs(json_t *m, const struct candidate *candidate, bool brief)
{
	const struct fusion_session *s = candidate->session;
	json_t *recompiles = json_array();
	bool cached = fusion_graph_count(s) > 0;

	json_object_set_new(m, "graphs", json_array());
	json_object_set_new(m, "guards", json_array());
	for (int i = 0; i < fusion_graph_count(s); i++) {
		add_graph(m, s, i, brief);
		cached = cached && fusion_graph(s, i).cached;
	}
	for (int i = 0; i < fusion_recompile_count(s); i++) {
		struct fusion_recompile r = fusion_recompile(s, i);

		json_array_append_new(recompiles,
				      json_pack("{s:I, s:s, s:s}", "call", (json_int_t)r.call,
						"frame", r.frame, "reason", r.reason));
	}
	json_object_set_new(m, "breaks", breaks_to_json(s));
	json_object_set_new(m, "tree", tree_to_json(s));
	if (candidate->mode == FUSION_LAZY)
		json_object_set_new(m, "lazy", lazy_to_json(s));
	json_object_set_new(m, "counts", counts_json(s));
	json_object_set_new(m, "recompiles", recompiles);
	json_object_set_new(m, "compile_ms", json_real(report_compile_us(candidate) / 1000));
	json_object_set_new(m, "cached", json_boolean(cached));
}

json_t *report_comparison(const struct comparison *c, double compile_us)
{
	bool after = c->repay == REPAY_AFTER;

	if (c->verdict == VERDICT_DISAGREES)
		return json_pack("{s:n, s:n, s:s, s:n, s:n, s:s, s:n, s:n, s:f, s:n, s:n}",
				 "speedup", "speedup_ci", "verdict", verdict_word(c->verdict),
				 "calls_to_repay", "calls_to_repay_ci", "repay",
				 repay_word(REPAY_UNKNOWN), "saved_us", "saved_ci_us", "compile_ms",
				 compile_us / 1000, "crossover_n", "crossover_ci");
	return json_pack("{s:f, s:o, s:s, s:o, s:o, s:s, s:f, s:o, s:f, s:n, s:n}", "speedup",
			 c->speedup.mid, "speedup_ci",
			 interval_json(c->speedup.low, c->speedup.high), "verdict",
			 verdict_word(c->verdict), "calls_to_repay",
			 after ? json_real(c->calls_to_repay) : json_null(), "calls_to_repay_ci",
			 after ? interval_json(c->calls_ci[0], c->calls_ci[1]) : json_null(),
			 "repay", repay_word(c->repay), "saved_us", c->saved_us.mid, "saved_ci_us",
			 interval_json(c->saved_us.low, c->saved_us.high), "compile_ms",
			 compile_us / 1000, "crossover_n", "crossover_ci");
}

json_t *report_crossover(const struct crossover *c)
{
	return json_pack("{s:o, s:o, s:s, s:i}", "crossover_n",
			 c->found ? json_real(c->n) : json_null(), "crossover_ci",
			 c->found ? interval_json(c->low, c->high) : json_null(), "side",
			 side_word(c->side), "meetings", c->meetings);
}

json_t *report_reproduce(const struct workload *w, const struct point *p, enum fusion_mode mode)
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
	return json_sprintf("breakeven run %s.json --modes %s%s%s%s%s%s", file,
			    mode == FUSION_EAGER ? "" : "eager,", fusion_mode_name(mode), at,
			    threads, backend, w->torch ? " --engine breakeven" : "");
}

void report_device(json_t *device, const struct fusion *engine)
{
	const char *note = fusion_backend_note(engine);

	json_object_set_new(device, "backend", json_string(fusion_backend_name(engine)));
	if (fusion_device_name(engine)) {
		json_object_set_new(device, "kind", json_string("cuda"));
		json_object_set_new(device, "name", json_string(fusion_device_name(engine)));
	}
	json_object_set_new(device, "backend_note", note ? json_string(note) : json_null());
	json_object_set_new(device, "threads", json_integer(fusion_threads(engine)));
}

void report_order(json_t *mode, const struct fusion *engine)
{
	struct device_order o;

	if (!fusion_device_order(engine, &o))
		return;
	json_object_set_new(mode, "order",
			    json_pack("{s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I}", "streams",
				      o.streams, "events", o.events, "launches",
				      (json_int_t)o.launches, "graph_launches",
				      (json_int_t)o.graphs, "library_calls", (json_int_t)o.calls,
				      "copies", (json_int_t)o.copies, "sets", (json_int_t)o.sets,
				      "waits", (json_int_t)o.waits));
}

json_t *report_error(const struct err *err)
{
	json_t *message = json_string(err->message);

	json_t *json = json_pack("{s:s, s:o, s:i, s:i}", "code", err_name(err->code), "message",
				 message ? message : json_string(""), "line", err->line, "column",
				 err->column);

	if (err->file[0])
		json_object_set_new(json, "file", json_string(err->file));
	return json;
}
