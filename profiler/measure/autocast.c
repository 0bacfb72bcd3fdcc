/* profiler/measure/autocast.c -- what autocast saved, mode by mode. */
#include "profiler/measure/autocast.h"

#include <math.h>

#include "profiler/measure/break_even.h"
#include "profiler/workload/value_json.h"

/* A candidate without autocast, and its calls. */
static bool make_calls(struct candidate *plain, struct candidate_spec spec, struct err *err)
{
	struct workload without = *spec.w;
	struct allocator *a;

	without.autocast = (enum dtype)0;
	spec.w = &without;
	if (!candidate_create(plain, &spec, err))
		return false;
	a = fusion_allocator(plain->engine);
	plain->held_bytes = (int64_t)allocator_used_bytes(a);
	allocator_reset_peak(a);
	for (int i = 0; i < spec.originals->n_calls; i++) {
		if (!candidate_call(plain, i, &plain->outputs[i], err))
			return false;
		buf_clear(fusion_stdout(plain->session));
		if (!candidate_note_writes(plain, i, err))
			return false;
	}
	plain->peak_bytes = (int64_t)allocator_peak_bytes(a);
	return true;
}

/* The largest difference between the outputs of the two. */
static double error_of(const struct candidate *with, const struct candidate *without)
{
	double error = 0;

	for (int i = 0; i < with->originals->n_calls && !isnan(error); i++) {
		double one = value_distance(with->outputs[i], without->outputs[i], true);

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
static double samples_of(const struct candidate *candidate)
{
	double all = 0;

	for (int i = 0; i < candidate->n_timed; i++)
		all += (double)batch_of(candidate->originals, candidate->timed[i]);
	return all / candidate->n_timed;
}

static struct report_autocast_side *side(const struct candidate *candidate,
					 struct report_draft *draft)
{
	struct report_autocast_side *to = report_new_autocast_side(1, &draft->arena);
	double samples = samples_of(candidate);
	struct interval i;

	if (!to)
		return NULL;
	REPORT_SET(to, peak_bytes, candidate->peak_bytes);
	REPORT_SET(to, activation_bytes, candidate->peak_bytes - candidate->held_bytes);
	if (candidate->n_samples == 0 ||
	    !stats_median(candidate->sample_us, candidate->n_samples, &i))
		return to;
	REPORT_SET(to, median_us, i.mid);
	REPORT_SET(to, ci_us, (struct report_interval){ i.low, i.high });
	REPORT_SET_OR_NULL(to, samples_per_s, samples > 0, samples / i.mid * 1e6);
	return to;
}

static bool fill_mode(struct report_autocast_mode *to, const struct candidate *with,
		      const struct candidate *without, double error, struct report_draft *draft)
{
	int64_t before = without->peak_bytes - without->held_bytes;
	int64_t after = with->peak_bytes - with->held_bytes;
	struct comparison c;

	REPORT_SET(to, with, side(with, draft));
	REPORT_SET(to, without, side(without, draft));
	REPORT_SET_IF(to, activation_ratio, before > 0, (double)after / (double)before);
	REPORT_SET(to, max_abs_error, error);
	if (with->n_samples == 0)
		return true;
	if (!break_even_compare(
		&(struct paired_samples){ without->sample_us, with->sample_us,
					  (int[STATS_PROCESSES]){ with->n_samples } },
		0, &c))
		return false;
	REPORT_SET(to, speedup, c.speedup.mid);
	REPORT_SET(to, speedup_ci, (struct report_interval){ c.speedup.low, c.speedup.high });
	REPORT_SET(to, verdict, verdict_word(c.verdict));
	return true;
}

bool autocast_effect_create(struct autocast_effect *m, const struct candidate_spec *spec,
			    const struct candidate *with, struct report_draft *draft,
			    struct err *err)
{
	int64_t batch = batch_of(spec->originals, 0);
	int n = spec->w->n_modes;
	struct err why = { 0 };

	m->section = report_new_autocast(1, &draft->arena);
	if (!m->section)
		return err_set(err, ERR_MEMORY, "out of memory for the report");
	REPORT_SET(m->section, dtype, dtype_name(spec->w->autocast));
	REPORT_SET_IF(m->section, batch, batch > 0, batch);
	REPORT_SET(m->section, modes, (struct report_autocast_mode_map){ 0 });
	for (m->n = 0; m->n < n; m->n++) {
		struct candidate *plain = &m->plain[m->n];
		struct candidate_spec of = *spec;

		of.mode = with[m->n].mode;
		if (!make_calls(plain, of, &why))
			break;
		m->error[m->n] = error_of(&with[m->n], plain);
	}
	if (m->n == n)
		return true;
	for (int k = 0; k <= m->n; k++)
		candidate_destroy(&m->plain[k]);
	m->n = 0;
	REPORT_SET(m->section, error, report_draft_text(draft, why.message));
	return true;
}

bool autocast_effect_report(struct autocast_effect *m, const struct candidate *with,
			    struct report_draft *draft, struct err *err)
{
	struct report_autocast_mode *modes = report_new_autocast_mode((size_t)m->n, &draft->arena);
	const char **names = ARENA_ARRAY(&draft->arena, const char *, (size_t)m->n + 1);
	bool ok = modes && names;

	for (int k = 0; ok && k < m->n; k++) {
		names[k] = fusion_mode_name(with[k].mode);
		ok = fill_mode(&modes[k], &with[k], &m->plain[k], m->error[k], draft);
	}
	if (m->section)
		REPORT_SET(m->section, modes,
			   (struct report_autocast_mode_map){ modes, (size_t)m->n, names });
	return ok || err_set(err, ERR_MEMORY, "out of memory for the run");
}
