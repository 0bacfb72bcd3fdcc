/* profiler/import/regions.c -- what ran inside of what, and for which compiled frame. */
#include "profiler/import/regions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A span that is open while its lane is walked. */
struct open_span {
	int64_t end_ns, inner_ns; /* inner: of regions, graphs, compilations directly in it */
	int64_t duration_ns;
	enum span_kind kind;
	int region;  /* around it, or itself; -1: none */
	bool within; /* a compilation */
};

struct walk {
	struct regions *r;
	VEC(struct open_span) open;
	int64_t lookups, lookup_ns; /* that no region has taken yet */
};

void regions_finish(struct regions *r)
{
	VEC_FREE(&r->rows);
	VEC_FREE(&r->window);
	VEC_FREE(&r->launches);
	VEC_FREE(&r->kernels);
}

int regions_find(struct regions *r, const char *pid, const char *id)
{
	struct region row = { 0 };

	snprintf(row.pid, sizeof(row.pid), "%.23s", pid);
	snprintf(row.id, sizeof(row.id), "%.23s", id);
	for (size_t i = r->rows.len; i-- > 0;)
		if (strcmp(r->rows.at[i].id, row.id) == 0 &&
		    strcmp(r->rows.at[i].pid, row.pid) == 0)
			return (int)i;
	if (r->rows.len >= REGION_MAX || !VEC_PUSH(&r->rows, row)) {
		r->ledger->n[LEDGER_ROWS_FULL]++;
		return -1;
	}
	return (int)r->rows.len - 1;
}

/* By lane, then start, then the longest first, which holds the others. */
static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->duration_ns < y->duration_ns) - (x->duration_ns > y->duration_ns);
}

static void close_span(struct walk *w)
{
	const struct open_span *s = &w->open.at[--w->open.len];
	struct region *region = s->region >= 0 ? &w->r->rows.at[s->region] : NULL;
	bool counts = s->kind == SPAN_REGION || s->kind == SPAN_GRAPH || s->kind == SPAN_COMPILE;

	if (s->kind == SPAN_REGION && region) {
		region->calls++;
		region->total_ns += s->duration_ns;
		region->self_ns += s->duration_ns - s->inner_ns;
	}
	if (s->kind == SPAN_GRAPH && region) {
		region->graph_calls++;
		region->graph_ns += s->duration_ns;
	}
	if (s->kind == SPAN_COMPILE && region && !s->within)
		region->compile_ns += s->duration_ns;
	if (w->open.len)
		w->open.at[w->open.len - 1].inner_ns += counts ? s->duration_ns : s->inner_ns;
}

static void begin_region(struct walk *w, int number)
{
	if (number < 0)
		return;
	w->r->rows.at[number].lookups += w->lookups;
	w->r->rows.at[number].lookup_ns += w->lookup_ns;
	w->lookups = w->lookup_ns = 0;
}

static bool note_launch(struct regions *r, int region, uint32_t correlation)
{
	if (region < 0)
		return true;
	r->rows.at[region].launches++;
	if (r->launches.len >= REGION_MAX_LINKS) {
		r->links_left_out++;
		return true;
	}
	return VEC_PUSH(&r->launches, (struct region_link){ correlation, (uint32_t)region, 0 });
}

static bool open_span(struct walk *w, const struct span *s)
{
	int64_t end = s->start_ns + s->duration_ns;
	struct open_span o = { .end_ns = end, .duration_ns = s->duration_ns, .kind = s->kind };

	while (w->open.len && w->open.at[w->open.len - 1].end_ns <= s->start_ns)
		close_span(w);
	o.region = w->open.len ? w->open.at[w->open.len - 1].region : -1;
	o.within = w->open.len && (w->open.at[w->open.len - 1].within ||
				   w->open.at[w->open.len - 1].kind == SPAN_COMPILE);
	if (w->open.len && s->kind == SPAN_DEVICE)
		w->r->ledger->n[LEDGER_DEVICE_OVERLAP]++;
	else if (w->open.len && end > w->open.at[w->open.len - 1].end_ns)
		w->r->ledger->n[LEDGER_OVERLAPPING]++;
	if (s->kind == SPAN_REGION) {
		o.region = (int)s->number;
		begin_region(w, o.region);
	} else if (s->kind == SPAN_LOOKUP) {
		w->lookups++;
		w->lookup_ns += s->duration_ns;
	} else if (s->kind == SPAN_LAUNCH && !o.within && !note_launch(w->r, o.region, s->id)) {
		return false; /* what a compilation launches it only tries */
	}
	return VEC_PUSH(&w->open, o);
}

static bool look_through(struct regions *r)
{
	struct walk w = { .r = r };
	bool ok = true;

	if (r->window.len)
		qsort(r->window.at, r->window.len, sizeof(*r->window.at), compare_spans);
	for (size_t i = 0; ok && i < r->window.len; i++) {
		if (i > 0 && r->window.at[i].lane != r->window.at[i - 1].lane) {
			while (w.open.len)
				close_span(&w);
			w.lookups = w.lookup_ns = 0;
		}
		ok = open_span(&w, &r->window.at[i]);
	}
	while (w.open.len)
		close_span(&w);
	VEC_FREE(&w.open);
	r->ledger->n[LEDGER_WINDOWS] += r->window.len > 0;
	r->window.len = 0;
	return ok;
}

bool regions_add(struct regions *r, struct span span)
{
	return (r->window.len < REGION_WINDOW || look_through(r)) && VEC_PUSH(&r->window, span);
}

bool regions_kernel(struct regions *r, uint32_t correlation, int64_t ns)
{
	if (r->kernels.len >= REGION_MAX_LINKS) {
		r->links_left_out++;
		return true;
	}
	return VEC_PUSH(&r->kernels, (struct region_link){ correlation, 0, ns });
}

static int by_correlation(const void *a, const void *b)
{
	const struct region_link *x = a, *y = b;

	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

bool regions_end_file(struct regions *r)
{
	bool ok = look_through(r);
	size_t at = 0;

	if (r->launches.len)
		qsort(r->launches.at, r->launches.len, sizeof(*r->launches.at), by_correlation);
	if (r->kernels.len)
		qsort(r->kernels.at, r->kernels.len, sizeof(*r->kernels.at), by_correlation);
	for (size_t i = 0; i < r->kernels.len; i++) {
		while (at < r->launches.len &&
		       r->launches.at[at].correlation < r->kernels.at[i].correlation)
			at++;
		if (at < r->launches.len &&
		    r->launches.at[at].correlation == r->kernels.at[i].correlation) {
			struct region *region = &r->rows.at[r->launches.at[at].region];

			region->kernels++;
			region->kernel_ns += r->kernels.at[i].kernel_ns;
		}
	}
	r->launches.len = r->kernels.len = 0;
	return ok;
}
