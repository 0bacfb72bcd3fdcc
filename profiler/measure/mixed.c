/* profiler/measure/mixed.c -- what autocast saved, mode by mode. */
#include "profiler/measure/mixed.h"

#include <math.h>

#include "profiler/measure/break_even.h"
#include "profiler/workload/value_json.h"

static bool make_calls(struct lane *plain, const struct workload *w, const struct point *p,
		       enum fusion_mode mode, const struct inputs *originals,
		       struct lane_cache cache, struct err *err)
{
	struct workload without = *w;
	struct allocator *a;

	without.autocast = (enum dtype)0;
	if (!lane_create(plain, &without, p, mode, originals, cache, err))
		return false;
	a = fusion_allocator(plain->engine);
	plain->held_bytes = (int64_t)allocator_used_bytes(a);
	allocator_reset_peak(a);
	for (int i = 0; i < originals->n_calls; i++) {
		if (!lane_call(plain, i, &plain->outputs[i], err))
			return false;
		buf_clear(fusion_stdout(plain->session));
		if (!lane_note_writes(plain, i, err))
			return false;
	}
	plain->peak_bytes = (int64_t)allocator_peak_bytes(a);
	return true;
}

/* The largest difference between the outputs of the two. */
static double error_of(const struct lane *with, const struct lane *without)
{
	double error = 0;

	for (int i = 0; i < with->originals->n_calls && !isnan(error); i++) {
		double one = value_distance_any(with->outputs[i], without->outputs[i]);

		error = isnan(one) ? one : fmax(error, one);
	}
	return error;
}

/* The first size of a tensor in v; 0: there is none. */
static int64_t first_size(struct value v)
{
	int64_t found = 0;

	if (v.kind == VALUE_TENSOR && fusion_tensor(v)->rank > 0)
		return fusion_tensor(v)->size[0];
	if (v.kind == VALUE_LIST || v.kind == VALUE_TUPLE)
		for (int i = 0; i < value_length(v) && found == 0; i++)
			found = first_size(value_item(v, i));
	return found;
}

static int64_t batch_of(const struct inputs *in, int call)
{
	int64_t found = 0;

	for (int k = 0; k < in->n_args[call] && found == 0; k++)
		found = first_size(in->args[call][k]);
	return found;
}

/* The mean over the calls that are timed. */
static double samples_of(const struct lane *lane)
{
	double all = 0;

	for (int i = 0; i < lane->n_timed; i++)
		all += (double)batch_of(lane->originals, lane->timed[i]);
	return all / lane->n_timed;
}

static json_t *side(const struct lane *lane)
{
	struct interval i;
	double samples = samples_of(lane);
	json_t *json = json_pack("{s:I, s:I}", "peak_bytes", (json_int_t)lane->peak_bytes,
				 "activation_bytes",
				 (json_int_t)(lane->peak_bytes - lane->held_bytes));

	if (lane->n_samples == 0 || !stats_median(lane->sample_us, lane->n_samples, &i))
		return json;
	json_object_set_new(json, "median_us", json_real(i.mid));
	json_object_set_new(json, "ci_us", json_pack("[f, f]", i.low, i.high));
	json_object_set_new(json, "samples_per_s",
			    samples > 0 ? json_real(samples / i.mid * 1e6) : json_null());
	return json;
}

static json_t *mode_json(const struct lane *with, const struct lane *without, double error,
			 struct err *err)
{
	int64_t before = without->peak_bytes - without->held_bytes;
	int64_t after = with->peak_bytes - with->held_bytes;
	json_t *json = json_pack(
	    "{s:o, s:o, s:o, s:o}", "with", side(with), "without", side(without),
	    "activation_ratio",
	    before > 0 ? json_real((double)after / (double)before) : json_null(), "max_abs_error",
	    isnan(error) ? json_string("nan") : json_real(error));
	struct comparison c;

	if (with->n_samples == 0)
		return json;
	if (!break_even_compare(without->sample_us, with->sample_us, with->n_samples, 0, &c)) {
		json_decref(json);
		err_set(err, ERR_MEMORY, "out of memory for the run");
		return NULL;
	}
	json_object_set_new(json, "speedup", json_real(c.speedup.mid));
	json_object_set_new(json, "speedup_ci", json_pack("[f, f]", c.speedup.low, c.speedup.high));
	json_object_set_new(json, "verdict", json_string(verdict_word(c.verdict)));
	return json;
}

bool mixed_create(struct mixed *m, const struct workload *w, const struct point *p,
		  const struct lane *with, const struct inputs *originals, struct lane_cache cache,
		  struct err *err)
{
	int64_t batch = batch_of(originals, 0);
	struct err why = { 0 };

	m->json = json_pack("{s:s, s:o, s:n, s:{}}", "dtype", dtype_name(w->autocast), "batch",
			    batch > 0 ? json_integer(batch) : json_null(), "error", "modes");
	if (!m->json)
		return err_set(err, ERR_MEMORY, "out of memory for the report");
	for (m->n = 0; m->n < w->n_modes; m->n++) {
		struct lane *plain = &m->plain[m->n];

		if (!make_calls(plain, w, p, with[m->n].mode, originals, cache, &why))
			break;
		m->error[m->n] = error_of(&with[m->n], plain);
	}
	if (m->n == w->n_modes)
		return true;
	for (int k = 0; k <= m->n; k++)
		lane_destroy(&m->plain[k]);
	m->n = 0;
	json_object_set_new(m->json, "error", json_string(why.message));
	return true;
}

bool mixed_report(struct mixed *m, const struct lane *with, struct err *err)
{
	json_t *modes = json_object_get(m->json, "modes");

	for (int k = 0; k < m->n; k++) {
		json_t *mode = mode_json(&with[k], &m->plain[k], m->error[k], err);

		if (!mode)
			return false;
		json_object_set_new(modes, fusion_mode_name(with[k].mode), mode);
	}
	return true;
}
