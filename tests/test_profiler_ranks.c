/* tests/test_profiler_ranks.c -- ranks of a job: figures, what moments waited for, collectives that
 * meet, and where ranks differ. */
#include <stdlib.h>
#include <time.h>

#include "tests/import_file.h"

#include "profiler/ranks/critical.h"
#include "profiler/ranks/figures.h"
#include "profiler/ranks/logs.h"
#include "profiler/ranks/path.h"

enum { STREAM = 0, COMM = 1, HOST = 2, OTHER_HOST = 3 }; /* lanes */

struct made {
	struct rank_events events;
	struct rank_texts texts;
	struct report_draft draft;
};

static void finish(struct made *m)
{
	rank_events_finish(&m->events);
	rank_texts_finish(&m->texts);
	report_draft_finish(&m->draft);
}

/* In microseconds. */
static void add(struct made *m, enum timeline_kind kind, const char *name, int lane,
		const int64_t at[2], uint32_t correlation)
{
	const char *args = "{\"args\":{}}";
	struct ranks_event e = { .kind = kind,
				 .start_ns = at[0] * 1000,
				 .duration_ns = at[1] * 1000,
				 .name = name,
				 .lane = (uint32_t)lane,
				 .correlation = correlation,
				 .stream = lane == COMM ? 20 : 7,
				 .bytes = 4000,
				 .text = args,
				 .text_bytes = strlen(args) };

	assert_true(rank_events_add(&m->events, &e, &m->texts));
}
#define AT(from, length)                                                                           \
	(const int64_t[2])                                                                         \
	{                                                                                          \
		from, length                                                                       \
	}

/* A launch and its kernel. */
static void add_kernel(struct made *m, const char *name, int lane, int64_t launch,
		       const int64_t at[2])
{
	uint32_t correlation = (uint32_t)m->events.rows.len + 1;

	add(m, TIMELINE_API, "cudaLaunchKernel", HOST, AT(launch, 2), correlation);
	add(m, TIMELINE_KERNEL, name, lane, at, correlation);
}

static void assert_near(double found, double wanted)
{
	if (found < wanted - 1e-6 || found > wanted + 1e-6)
		print_error("%.9g, not %.9g\n", found, wanted);
	assert_true(found >= wanted - 1e-6 && found <= wanted + 1e-6);
}

/*   0    10   20   30   40   50   60   70   80
 *   |gemm     |    |gemm     |         |copy|      stream 7
 *        |all-reduce     |                         stream 20 */
static void make_overlapping(struct made *m)
{
	add_kernel(m, "gemm", STREAM, -5, AT(0, 20));
	add_kernel(m, "ncclDevKernel_AllReduce_Sum_f32(x)", COMM, -3, AT(10, 30));
	add_kernel(m, "gemm", STREAM, -1, AT(30, 20));
	add(m, TIMELINE_API, "cudaMemcpyAsync", HOST, AT(60, 2), 77);
	add(m, TIMELINE_COPY, "Memcpy HtoD (Pageable -> Device)", STREAM, AT(70, 10), 77);
}

static void each_moment_counts_once(void **state)
{
	struct made m = { 0 };
	struct report_rank *r = report_new_rank(1, &m.draft.arena);
	int64_t mix[RANK_MIXES] = { 0 };
	struct report_kernel_mix_list rows;

	(void)state;
	make_overlapping(&m);
	assert_true(rank_figures(&m.events, r, mix, &m.draft));
	assert_near(r->total_us, 80);
	assert_near(r->computation_us, 40);
	assert_near(r->communication_us, 30);
	assert_near(r->overlap_us, 20);
	assert_near(r->overlap, 20.0 / 30);
	assert_near(r->exposed_us, 10);
	assert_near(r->memory_us, 10);
	assert_near(r->non_compute_us, 20);
	assert_near(r->idle_us, 20);
	assert_near(r->other_wait_us, 0);
	assert_near(r->kernel_wait_us, 10); /* 20 to 30, launched long before */
	assert_near(r->host_wait_us, 20);   /* 50 to 70, launched at 60 */
	assert_near(r->shares->busy, 0.75);
	assert_near(r->shares->computation, 0.5);
	assert_near(r->shares->communication, 0.375);
	assert_near(r->shares->exposed, 0.125);
	assert_near(r->shares->both, 0.25);
	/* Each moment once. */
	assert_near(r->shares->computation_alone + r->shares->both + r->shares->exposed +
			r->shares->memory_alone + r->shares->idle,
		    1);
	rows = rank_mix_rows(mix, &m.draft);
	assert_int_equal(rows.n, 4);
	assert_int_equal(r->copies.n, 1);
	assert_string_equal(r->copies.at[0].name, "Memcpy HtoD");
	assert_near(r->copies.at[0].gb_per_s, 0.4);
	assert_string_equal(r->top.at[0].name, "gemm");
	assert_string_equal(r->top.at[0].kind, rank_kernel_name(RANK_COMPUTATION));
	assert_near(r->top.at[0].sum_us, 40);
	assert_int_equal(r->streams.n, 2);
	assert_int_equal(r->streams.at[0].queue_max, 2);
	finish(&m);
}

/* What is launched in the last ProfilerStep is left out, and what nobody launched. */
static void the_last_step_is_left_out(void **state)
{
	struct made m = { 0 };
	size_t n;
	uint32_t *sorted;

	(void)state;
	make_overlapping(&m);
	add(&m, TIMELINE_KERNEL, "of nobody", STREAM, AT(90, 5), 999);
	add(&m, TIMELINE_RANGE, "ProfilerStep#3", HOST, AT(-10, 50), 0);
	assert_true(rank_events_end(&m.events));
	assert_int_equal(m.events.steps, 1);
	assert_false(m.events.last_left_out);
	add(&m, TIMELINE_RANGE, "ProfilerStep#4", HOST, AT(40, 50), 0);
	assert_true(rank_events_end(&m.events));
	assert_int_equal(m.events.steps, 1);
	assert_true(m.events.last_left_out);
	sorted = rank_events_sorted(&m.events, RANK_KERNELS, &n);
	assert_int_equal(n, 3);
	assert_int_equal(m.events.copied.len, 0);
	assert_int_equal(m.events.collectives.len, 1);
	assert_int_equal(m.events.rows.at[m.events.collectives.at[0].event].kind,
			 RANK_COMMUNICATION);
	free(sorted);
	finish(&m);
}

static int64_t sum_of(const struct path_segment *s)
{
	int64_t ns = 0;

	for (int k = 0; k < PATH_KINDS; k++)
		ns += s->ns[k];
	return ns;
}

/* The host launches, then waits, then works for 40 us and launches again. */
static void the_path_goes_through_launches_and_waits(void **state)
{
	struct made m = { 0 };
	struct path_segment last;
	bool recorded = false;

	(void)state;
	add_kernel(&m, "gemm", STREAM, 0, AT(6, 50));
	add(&m, TIMELINE_API, "cudaDeviceSynchronize", HOST, AT(4, 55), 0);
	add(&m, TIMELINE_OP, "aten::slow", HOST, AT(60, 45), 0);
	add_kernel(&m, "add", STREAM, 99, AT(105, 10));
	assert_true(rank_paths(&m.events, &last, &recorded, &m.texts.arena));
	assert_false(recorded);
	assert_int_equal(last.after, PATH_BEGIN);
	assert_int_equal(last.from_ns, 6000);
	assert_int_equal(last.to_ns, 115000);
	assert_int_equal(sum_of(&last), 115000 - 6000);
	assert_int_equal(last.ns[PATH_COMPUTATION], 60000);
	assert_int_equal(last.ns[PATH_SYNC], 3000);
	assert_int_equal(last.ns[PATH_HOST], 40000);
	assert_int_equal(last.ns[PATH_LAUNCH], 6000);
	assert_string_equal(last.top[0].name, "gemm");
	assert_string_equal(last.top[1].name, "aten::slow");
	finish(&m);
}

/* The backward runs on a thread of its own, while the main thread waits; a third one, which asks
 * for events again and again, holds nobody up. */
static void the_path_goes_from_thread_to_thread(void **state)
{
	struct made m = { 0 };
	struct path_segment last;
	bool recorded = false;

	(void)state;
	add_kernel(&m, "first", STREAM, 0, AT(6, 4));
	add(&m, TIMELINE_OP, "forward", HOST, AT(0, 20), 0);
	add(&m, TIMELINE_OP, "backward", OTHER_HOST, AT(25, 50), 0);
	add(&m, TIMELINE_API, "cudaLaunchKernel", OTHER_HOST, AT(70, 2), 90);
	add(&m, TIMELINE_KERNEL, "second", STREAM, AT(76, 4), 90);
	for (int i = 0; i < 10; i++)
		add(&m, TIMELINE_API, "cudaEventQuery", 4, AT(9 * i, 1), 0);
	add(&m, TIMELINE_API, "cudaStreamIsCapturing", HOST, AT(80, 1), 0);
	add(&m, TIMELINE_OP, "step", HOST, AT(85, 20), 0);
	add_kernel(&m, "third", STREAM, 95, AT(105, 5));
	assert_true(rank_paths(&m.events, &last, &recorded, &m.texts.arena));
	assert_int_equal(sum_of(&last), 110000); /* from the first launch's start */
	assert_int_equal(last.ns[PATH_COMPUTATION], 5000);
	assert_int_equal(last.ns[PATH_LAUNCH], 10000);
	assert_int_equal(last.ns[PATH_CALL], 2000 + 2000 - 2000 + 1000 + 2000);
	assert_int_equal(last.ns[PATH_HOST], 110000 - 5000 - 10000 - 5000);
	finish(&m);
}

/* A stream that waits for an event of another is held up by what was launched before it. */
static void a_stream_waits_for_what_is_recorded(void **state)
{
	struct made m = { 0 };
	struct path_segment last;
	bool recorded = false;
	struct ranks_event wait = { .kind = TIMELINE_WAIT,
				    .start_ns = 5000,
				    .name = "Stream Wait Event",
				    .lane = COMM,
				    .correlation = 51,
				    .stream = 20,
				    .recorded = 50,
				    .on_stream = 7 };

	(void)state;
	add_kernel(&m, "gemm", STREAM, 0, AT(6, 100));
	add(&m, TIMELINE_API, "cudaEventRecord", HOST, AT(3, 1), 50);
	add_kernel(&m, "later", STREAM, 4, AT(106, 300));
	add(&m, TIMELINE_API, "cudaStreamWaitEvent", HOST, AT(6, 1), 51);
	assert_true(rank_events_add(&m.events, &wait, &m.texts));
	add_kernel(&m, "other", COMM, 8, AT(108, 500));
	assert_true(rank_paths(&m.events, &last, &recorded, &m.texts.arena));
	assert_true(recorded);
	assert_int_equal(last.ns[PATH_COMPUTATION], 600000);
	assert_int_equal(last.ns[PATH_GAP], 2000);
	finish(&m);
}

/* ---- several ranks ---- */

static void feed(struct ranks *r, enum timeline_kind kind, const char *name, int lane,
		 const int64_t ns[2], const char *text)
{
	struct err err = { 0 };
	static uint32_t correlation;
	struct ranks_event e = { .kind = TIMELINE_API,
				 .start_ns = ns[0] - 8000,
				 .duration_ns = 2000,
				 .name = "cudaLaunchKernel",
				 .lane = HOST,
				 .correlation = ++correlation };

	assert_true(ranks_event(r, &e, &err));
	e = (struct ranks_event){ .kind = kind,
				  .start_ns = ns[0],
				  .duration_ns = ns[1],
				  .name = name,
				  .lane = (uint32_t)lane,
				  .correlation = correlation,
				  .text = text,
				  .text_bytes = strlen(text) };
	assert_true(ranks_event(r, &e, &err));
}

/* 20 rounds of work and a collective, whose ranks leave together; `work_us` is what rank r takes.
 * Rank `swapped` runs the third and the fourth in the other order. */
static void add_rank(struct ranks *r, int rank, int64_t work_us, int64_t longest_us, bool swapped)
{
	struct err err = { 0 };
	char name[40];
	int64_t clock = rank * 500000, begin = clock;
	json_t *head = json_pack("{s:{s:i, s:i}}", "distributedInfo", "rank", rank, "world_size",
				 3);

	snprintf(name, sizeof(name), "rank_%d.json", rank);
	assert_true(ranks_begin(r, name, 0, &err));
	for (int i = 0; i < 20; i++) {
		int n = swapped && (i == 2 || i == 3) ? 5 - i : i;
		int64_t start = begin + work_us * 1000, end = begin + longest_us * 1000 + 20000;
		char text[300];

		snprintf(text, sizeof(text),
			 "{\"args\":{\"Collective name\":\"%s\",\"dtype\":\"Float\",\"In msg "
			 "nelems\":%d,"
			 "\"Out msg nelems\":%d,\"Process Group Name\":\"0\"}}",
			 n == 2 ? "allgather" : "allreduce", 100 + n, 100 + n);
		feed(r, TIMELINE_KERNEL, "gemm", STREAM, AT(begin, work_us * 1000), "{}");
		feed(r, TIMELINE_KERNEL, "ncclKernel_AllReduce", STREAM, AT(start, end - start),
		     text);
		begin = end;
	}
	assert_true(ranks_end(r, head, false, &err));
	json_decref(head);
}

static void stragglers_and_clocks_are_found(void **state)
{
	struct err err = { 0 };
	struct ranks *r = ranks_create(&err);
	struct report_draft draft = { 0 };
	struct report_ranks *all;

	(void)state;
	for (int i = 0; i < 3; i++)
		add_rank(r, i, i == 1 ? 150 : 100, 150, false);
	all = ranks_report(r, NULL, NULL, &draft);
	assert_non_null(all);
	assert_int_equal(all->world_size, 3);
	assert_int_equal(all->ranks.n, 3);
	assert_int_equal(all->collectives, 20);
	assert_int_equal(all->divergences.n, 0);
	assert_near(all->ranks.at[2].offset_us, 1000);
	assert_near(all->ranks.at[2].offset_error_us, 0);
	assert_int_equal(all->ranks.at[1].last, 20);
	assert_int_equal(all->ranks.at[0].last, 0);
	assert_near(all->ranks.at[1].late_us, 20 * 50);
	assert_near(all->ranks.at[1].caused_us, 20 * 2 * 50);
	assert_near(all->ranks.at[0].wait_us, 20 * 50);
	assert_string_equal(all->ranks.at[1].late_kind, path_kind_name(PATH_COMPUTATION));
	assert_string_equal(all->ranks.at[1].late_name, "gemm");
	assert_string_equal(path_kind_label("host"), "the program on the host");
	assert_int_equal(all->sentences.n, 3);
	assert_non_null(strstr(all->sentences.at[0],
			       "What it spends more on is computation, most of it in gemm."));
	assert_near(all->path->total_us, 20 * 170);
	assert_near(all->path->shares.at[PATH_COMPUTATION].us, 20 * 150);
	assert_near(all->path->shares.at[PATH_COMMUNICATION].us, 20 * 20);
	/* All leave the last collective together: it counts for the first. */
	assert_near(all->path->by_rank.at[1].us, all->path->total_us - 20);
	assert_int_equal(all->waits.n, 20);
	assert_int_equal(all->waits.at[0].last, 1);
	report_draft_finish(&draft);
	ranks_destroy(r);
}

/* Two are late together, and share what the others wait. */
static void several_may_be_late(void **state)
{
	static const int work[] = { 100, 150, 100, 149, 100 };
	struct err err = { 0 };
	struct ranks *r = ranks_create(&err);
	struct report_draft draft = { 0 };
	struct report_ranks *all;

	(void)state;
	for (int i = 0; i < 5; i++)
		add_rank(r, i, work[i], 150, false);
	all = ranks_report(r, NULL, NULL, &draft);
	for (int i = 0; i < 5; i++)
		assert_int_equal(all->ranks.at[i].last, work[i] > 100 ? 20 : 0);
	assert_near(all->ranks.at[1].late_us, 20 * 50);
	assert_near(all->ranks.at[3].late_us, 20 * 49);
	assert_near(all->ranks.at[1].caused_us, 20 * 3 * 50 / 2.0);
	assert_near(all->ranks.at[3].caused_us, 20 * 3 * 50 / 2.0);
	assert_non_null(
	    strstr(all->sentences.at[0], "Rank 1, like 1 other, comes late to 20 of its 20"));
	report_draft_finish(&draft);
	ranks_destroy(r);
}

static void a_wrong_order_is_named(void **state)
{
	struct err err = { 0 };
	struct ranks *r = ranks_create(&err);
	struct report_draft draft = { 0 };
	struct report_ranks *all;

	(void)state;
	for (int i = 0; i < 3; i++)
		add_rank(r, i, 100, 100, i == 2);
	all = ranks_report(r, NULL, NULL, &draft);
	assert_int_equal(all->divergences.n, 1);
	assert_string_equal(all->divergences.at[0].kind, "collective");
	assert_int_equal(all->divergences.at[0].index, 2);
	assert_int_equal(all->divergences.at[0].ranks.n, 1);
	assert_int_equal(all->divergences.at[0].ranks.at[0], 2);
	assert_string_equal(all->divergences.at[0].theirs, "allreduce of 103 Float");
	assert_string_equal(all->divergences.at[0].most, "allgather of 102 Float");
	report_draft_finish(&draft);
	ranks_destroy(r);
}

/* The first trace begins later than the others, the last one ends earlier. */
static void traces_that_begin_elsewhere_are_matched(void **state)
{
	struct err err = { 0 };
	struct ranks *r = ranks_create(&err);
	struct report_draft draft = { 0 };
	struct report_ranks *all;
	char text[300];

	(void)state;
	for (int rank = 0; rank < 3; rank++) {
		snprintf(text, sizeof(text), "rank_%d.json", rank);
		assert_true(ranks_begin(r, text, 0, &err));
		for (int i = rank == 0 ? 2 : 0; i < (rank == 2 ? 18 : 20); i++) {
			/* Never as long as the one before. */
			int64_t end = 1000000 * i + 37000 * (i * i % 11) + 300000 * rank;

			snprintf(text, sizeof(text),
				 "{\"args\":{\"Collective name\":\"allreduce\",\"dtype\":\"Float\","
				 "\"In msg nelems\":8,\"Out msg nelems\":8}}");
			feed(r, TIMELINE_KERNEL, "ncclKernel_AllReduce", COMM,
			     AT(end - (rank == 1 ? 20000 : 90000), rank == 1 ? 20000 : 90000),
			     text);
		}
		assert_true(ranks_end(r, NULL, false, &err));
	}
	all = ranks_report(r, NULL, NULL, &draft);
	assert_int_equal(all->collectives, 20);
	assert_int_equal(all->unmatched, 0);
	assert_near(all->ranks.at[1].offset_us, 300);
	assert_near(all->ranks.at[2].offset_us, 600);
	assert_int_equal(all->ranks.at[1].last, 20);
	assert_int_equal(all->divergences.n, 1);
	assert_string_equal(all->divergences.at[0].kind, "collectives");
	assert_int_equal(all->divergences.at[0].ranks.at[0], 2);
	report_draft_finish(&draft);
	ranks_destroy(r);
}

static void names_of_files_tell_ranks(void **state)
{
	(void)state;
	assert_int_equal(ranks_number(NULL, "/runs/job/rank-12.Nov.pt.trace.json.gz"), 12);
	assert_int_equal(ranks_number(NULL, "dedicated_log_torch_trace_rank_3_x1y2.log"), 3);
	assert_int_equal(ranks_number(NULL, "rank7.json"), 7);
	assert_int_equal(ranks_number(NULL, "frank7.json"), -1);
	assert_int_equal(ranks_number(NULL, "ranking.json"), -1);
	assert_int_equal(ranks_number(NULL, "rank_99999999999999.json"), -1);
	assert_int_equal(
	    ranks_number("{\"distributedInfo\": {\"rank\": 4, \"world_size\": 8}", "rank7.json"),
	    4);
	assert_int_equal(ranks_number("{\"distributedInfo\": {\"rank\": -4}}", "rank7.json"), 7);
	assert_int_equal(ranks_number("{\"distributedInfo\": {}, \"a\": {\"rank\": 2}}", "x"), -1);
}

/* A name that was cut within a character is shown all the same. */
static void names_are_utf8(void **state)
{
	struct arena arena = { 0 };
	const char *good = "\xc2\xb5-kernel";

	(void)state;
	assert_ptr_equal(rank_valid(&arena, good), good);
	assert_string_equal(rank_valid(&arena, "a\xc2"), "a?");
	assert_string_equal(rank_valid(&arena, "\xff\xc2\xb5\xff"), "?\xc2\xb5?");
	assert_null(rank_valid(&arena, NULL));
	arena_finish(&arena);
}

/* ---- compile logs ---- */

static json_t *row(int process, const char *compile, const char *graph, const char *why)
{
	char hash[20];

	snprintf(hash, sizeof(hash), "%016llx",
		 (unsigned long long)ranks_graph_hash(graph, strlen(graph)));
	return json_pack("{s:i, s:s, s:s, s:i, s:i, s:i, s:s, s:s, s:{s:i}, s:[s*]}", "process",
			 process, "compile", compile, "frame", "step", "line", 7, "graphs", 1,
			 "ops", 3, "outcome", "ok", "graph_hash", hash, "caches", "hit",
			 process == 1, "recompile_reasons", why);
}

static const struct report_divergence *find(const struct divergences *d, const char *kind)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->rows[i].kind, kind) == 0)
			return &d->rows[i];
	return NULL;
}

static void what_ranks_compile_is_compared(void **state)
{
	struct report_draft draft = { 0 };
	struct rank_match m = { .draft = &draft };
	json_t *processes = json_pack("[{s:i}, {s:i}, {s:i}]", "rank", 0, "rank", 1, "rank", 2);
	json_t *compiles = json_array();
	const struct report_divergence *d;

	(void)state;
	for (int i = 0; i < 3; i++) {
		json_array_append_new(compiles, row(i, "0/0", i == 2 ? "mul(x)" : "add(x)", NULL));
		json_array_append_new(
		    compiles,
		    row(i, "2/0", i ? "f(x.to('cuda:1')) # rank 1" : "f(x.to('cuda:0'))  # File: a",
			NULL));
	}
	json_array_append_new(compiles, row(1, "0/1", "add(x)", "L['x'].size()[0] == 4"));
	assert_int_equal(rank_logs(&m, compiles, processes), 3);
	d = find(&m.divergences, "graph");
	assert_non_null(d);
	assert_string_equal(d->compile, "0/0");
	assert_int_equal(d->ranks.at[0], 2);
	d = find(&m.divergences, "cache");
	assert_non_null(d);
	assert_int_equal(d->ranks.at[0], 1);
	d = find(&m.divergences, "recompile");
	assert_non_null(d);
	assert_string_equal(d->compile, "0/1");
	assert_int_equal(d->ranks.n, 1);
	assert_int_equal(d->ranks.at[0], 1);
	assert_non_null(strstr(d->sentence, "L['x'].size()[0] == 4"));
	/* 0/0: graph and cache; 0/1; 2/0: cache alone. */
	assert_int_equal(m.divergences.n, 4);
	json_decref(compiles);
	json_decref(processes);
	report_draft_finish(&draft);
}

/* What a rank lacks of which compilations were left out, nobody can tell. */
static void what_was_cut_is_no_difference(void **state)
{
	struct report_draft draft = { 0 };
	struct rank_match m = { .draft = &draft };
	json_t *processes = json_pack("[{s:i}, {s:i, s:b}, {s:i}]", "rank", 0, "rank", 1, "cut", 1,
				      "rank", 2);
	json_t *compiles = json_array();

	(void)state;
	for (int i = 0; i < 3; i++)
		json_array_append_new(compiles, row(i, "0/0", "add(x)", NULL));
	json_array_append_new(compiles, row(0, "1/0", "add(x)", NULL));
	json_array_append_new(compiles, row(2, "1/0", "add(x)", NULL));
	assert_int_equal(rank_logs(&m, compiles, processes), 3);
	assert_null(find(&m.divergences, "compile"));
	assert_int_equal(m.n_cut, 1);
	assert_int_equal(m.first_cut, 1);
	json_array_append_new(compiles, row(0, "2/0", "add(x)", NULL));
	assert_int_equal(rank_logs(&m, compiles, processes), 3);
	assert_non_null(find(&m.divergences, "compile")); /* rank 2 lacks it too */
	json_decref(compiles);
	json_decref(processes);
	report_draft_finish(&draft);
}

/* A rank of which more of the last step is left out has no collective too few. */
static void the_last_step_is_no_difference(void **state)
{
	struct report_draft draft = { 0 };
	struct path_segment before = { 0 };
	struct rank_collective all[2][4];

	(void)state;
	for (int i = 0; i < 8; i++)
		all[i / 4][i % 4] = (struct rank_collective){ .start_ns = 1000 * (i % 4),
							      .end_ns = 1000 * (i % 4) + 500,
							      .name = "allreduce",
							      .group = "0",
							      .dtype = "",
							      .in = -1,
							      .out = -1,
							      .seq = -1,
							      .before = &before };
	for (int left = 0; left < 2; left++) {
		struct report_rank *reports = report_new_rank(2, &draft.arena);
		struct rank_row rows[2] = {
			{ .report = &reports[0],
			  .collectives = all[0],
			  .n = 3,
			  .in_last_step = left },
			{ .report = &reports[1], .collectives = all[1], .n = 4 },
		};
		struct rank_match m = { .draft = &draft, .rows = rows, .n_rows = 2 };

		assert_true(rank_match(&m));
		assert_int_equal(m.matched, 3);
		assert_int_equal(m.divergences.n, !left);
		rank_match_finish(&m);
	}
	report_draft_finish(&draft);
}

/* ---- many ranks: what looks at each of them beside each takes minutes ---- */

enum { MANY = RANKS_MAX_RANKS, GROUPS = 64, MOST_CPU_S = 8 };

static void many_ranks_without_numbers(void **state)
{
	struct err err = { 0 };
	struct ranks *r = ranks_create(&err);
	struct report_draft draft = { 0 };
	struct report_ranks *all;
	clock_t began = clock();

	(void)state;
	for (int i = 0; i < MANY; i++) {
		assert_true(ranks_begin(r, "trace.json", 0, &err));
		feed(r, TIMELINE_KERNEL, "gemm", STREAM, AT(10000, 5000), "{}");
		assert_true(ranks_end(r, NULL, false, &err));
	}
	all = ranks_report(r, NULL, NULL, &draft);
	assert_non_null(all);
	assert_int_equal(all->ranks.n, MANY);
	assert_int_equal(all->ranks.at[MANY - 1].rank, MANY - 1);
	assert_true((clock() - began) / CLOCKS_PER_SEC < MOST_CPU_S);
	report_draft_finish(&draft);
	ranks_destroy(r);
}

static void many_ranks_that_all_differ(void **state)
{
	static char names[MANY][8], groups[GROUPS][8];
	struct report_draft draft = { 0 };
	struct rank_match m = { .draft = &draft, .n_rows = MANY };
	struct report_rank *reports = report_new_rank(MANY, &draft.arena);
	struct path_segment before = { 0 };
	clock_t began = clock();

	(void)state;
	m.rows = calloc(MANY, sizeof(*m.rows));
	for (int g = 0; g < GROUPS; g++)
		snprintf(groups[g], sizeof(groups[g]), "g%d", g);
	for (int i = 0; i < MANY; i++) {
		struct rank_row *row = &m.rows[i];

		snprintf(names[i], sizeof(names[i]), "c%d", i);
		*row = (struct rank_row){ .report = &reports[i], .n = GROUPS };
		REPORT_SET(row->report, rank, i);
		row->collectives = calloc(GROUPS, sizeof(*row->collectives));
		for (int g = 0; g < GROUPS; g++)
			row->collectives[g] = (struct rank_collective){ .start_ns = 1000 * g,
									.end_ns = 1000 * g + 500,
									.name = names[i],
									.group = groups[g],
									.dtype = "",
									.in = -1,
									.out = -1,
									.seq = -1,
									.before = &before };
	}
	assert_true(rank_match(&m));
	assert_int_equal(m.divergences.n, MOST_DIVERGENCES);
	assert_int_equal(m.divergences.left_out, GROUPS * (MANY - 1) - MOST_DIVERGENCES);
	assert_int_equal(m.divergences.rows[0].ranks.at[0], 1);
	assert_true((clock() - began) / CLOCKS_PER_SEC < MOST_CPU_S);
	for (int i = 0; i < MANY; i++)
		free(m.rows[i].collectives);
	free(m.rows);
	rank_match_finish(&m);
	report_draft_finish(&draft);
}

/* Without any collective, or any rank, there is nothing to match. */
static void nothing_is_no_error(void **state)
{
	struct err err = { 0 };
	struct ranks *r = ranks_create(&err);
	struct report_draft draft = { 0 };
	struct rank_match m = { .draft = &draft };
	char who[DIVERGENCE_WHO];
	int64_t ranks[20] = { 0, 1, 2 };

	(void)state;
	assert_true(ranks_begin(r, "a", 0, &err));
	assert_true(ranks_end(r, NULL, false, &err));
	assert_null(ranks_report(r, NULL, NULL, &draft));
	assert_true(rank_match(&m));
	assert_null(rank_critical(&m, false));
	assert_non_null(
	    divergence_add(&m, &(struct divergence_of){ "graph", "a", "b", ranks, 3 }, who));
	assert_string_equal(who, "ranks 0, 1 and 2");
	for (int i = 0; i < MOST_DIVERGENCES; i++)
		divergence_add(&m, &(struct divergence_of){ "graph", "a", "b", ranks, 20 }, who);
	assert_int_equal(m.divergences.left_out, 1);
	assert_int_equal(m.divergences.n, MOST_DIVERGENCES);
	rank_match_finish(&m);
	report_draft_finish(&draft);
	ranks_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_moment_counts_once),
		cmocka_unit_test(the_last_step_is_left_out),
		cmocka_unit_test(the_path_goes_through_launches_and_waits),
		cmocka_unit_test(the_path_goes_from_thread_to_thread),
		cmocka_unit_test(a_stream_waits_for_what_is_recorded),
		cmocka_unit_test(stragglers_and_clocks_are_found),
		cmocka_unit_test(several_may_be_late),
		cmocka_unit_test(a_wrong_order_is_named),
		cmocka_unit_test(traces_that_begin_elsewhere_are_matched),
		cmocka_unit_test(names_are_utf8),
		cmocka_unit_test(names_of_files_tell_ranks),
		cmocka_unit_test(what_ranks_compile_is_compared),
		cmocka_unit_test(what_was_cut_is_no_difference),
		cmocka_unit_test(the_last_step_is_no_difference),
		cmocka_unit_test(many_ranks_without_numbers),
		cmocka_unit_test(many_ranks_that_all_differ),
		cmocka_unit_test(nothing_is_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
