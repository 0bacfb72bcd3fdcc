/* server/http/metrics.c -- see metrics.h. */
#include "server/http/metrics.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { N_LIMITS = 14, N_CLASSES = 6 };
static const double limits_s[N_LIMITS] = { 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
					   0.1,    0.25,  0.5,    1,     2.5,  5,     10 };

struct histogram {
	_Atomic uint64_t within[N_LIMITS + 1]; /* of each range alone; the last: above all limits */
	_Atomic uint64_t ns;
};

struct metrics {
	const struct route_table *routes;
	_Atomic uint64_t
	    classes[N_CLASSES]; /* by the first digit of the status; 0: none was sent */
	_Atomic uint64_t kept[ANSWER_HOW_COUNT];
	struct histogram at[]; /* by route; the last: what has none */
};

struct metrics *metrics_create(const struct route_table *routes)
{
	struct metrics *m = calloc(1,
				   sizeof(*m) + ((size_t)routes->n + 1) * sizeof(struct histogram));

	if (m)
		m->routes = routes;
	return m;
}

void metrics_destroy(struct metrics *m)
{
	free(m);
}

void metrics_note(struct metrics *m, const struct route *route, int status, int64_t ns)
{
	struct histogram *h = &m->at[route ? route - m->routes->rows : m->routes->n];
	int i = 0;

	while (i < N_LIMITS && (double)ns > limits_s[i] * 1e9)
		i++;
	atomic_fetch_add_explicit(&h->within[i], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&h->ns, (uint64_t)ns, memory_order_relaxed);
	i = status / 100;
	atomic_fetch_add_explicit(&m->classes[i > 0 && i < N_CLASSES ? i : 0], 1,
				  memory_order_relaxed);
}

void metrics_note_kept(struct metrics *m, enum answer_how how)
{
	atomic_fetch_add_explicit(&m->kept[how], 1, memory_order_relaxed);
}

static void print_histogram(const struct histogram *h, const char *method, const char *path,
			    struct buf *out)
{
	static const char name[] = "breakeven_http_request_duration_seconds";
	uint64_t sum = 0;

	for (int i = 0; i <= N_LIMITS; i++)
		sum += h->within[i];
	if (sum == 0)
		return;
	sum = 0;
	for (int i = 0; i < N_LIMITS; i++) {
		sum += h->within[i];
		buf_printf(out, "%s_bucket{method=\"%s\",route=\"%s\",le=\"%g\"} %llu\n", name,
			   method, path, limits_s[i], (unsigned long long)sum);
	}
	sum += h->within[N_LIMITS];
	buf_printf(out, "%s_bucket{method=\"%s\",route=\"%s\",le=\"+Inf\"} %llu\n", name, method,
		   path, (unsigned long long)sum);
	buf_printf(out,
		   "%s_sum{method=\"%s\",route=\"%s\"} %.9g\n"
		   "%s_count{method=\"%s\",route=\"%s\"} %llu\n",
		   name, method, path, (double)h->ns / 1e9, name, method, path,
		   (unsigned long long)sum);
}

void metrics_print(const struct metrics *m, struct buf *out)
{
	static const char *const hows[ANSWER_HOW_COUNT] = { "made", "found", "shared" };
	const struct route_table *t = m->routes;

	buf_puts(out,
		 "# HELP breakeven_http_request_duration_seconds From the head of a request to the "
		 "end of its answer, by route.\n"
		 "# TYPE breakeven_http_request_duration_seconds histogram\n");
	for (int i = 0; i < t->n; i++)
		print_histogram(&m->at[i], t->rows[i].method, t->rows[i].path, out);
	print_histogram(&m->at[t->n], "", "other", out);
	buf_puts(out, "# HELP breakeven_http_responses_total Answers, by class of status; none: "
		      "given up.\n# TYPE breakeven_http_responses_total counter\n");
	for (int i = 0; i < N_CLASSES; i++)
		if (i)
			buf_printf(out, "breakeven_http_responses_total{code=\"%dxx\"} %llu\n", i,
				   (unsigned long long)m->classes[i]);
		else
			buf_printf(out, "breakeven_http_responses_total{code=\"none\"} %llu\n",
				   (unsigned long long)m->classes[i]);
	buf_puts(out, "# HELP breakeven_http_answers_total Answers that are kept: made, found, or "
		      "got from another request that made it meanwhile.\n"
		      "# TYPE breakeven_http_answers_total counter\n");
	for (int i = 0; i < ANSWER_HOW_COUNT; i++)
		buf_printf(out, "breakeven_http_answers_total{how=\"%s\"} %llu\n", hows[i],
			   (unsigned long long)m->kept[i]);
}
