/* tests/bench/bench_import.c -- MB/s of processor time in reading a Chrome trace.
 *
 *	bench_import [MB [ROUNDS]]
 *
 * A made trace, in Kineto's own layout, of so many megabytes (64): its events one by one
 * through Jansson (an object each) and through libyajl (callbacks), and the import whole,
 * without and with a timeline, with the most memory that the process ever held.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <yajl/yajl_parse.h>

#include "profiler/import/import.h"
#include "profiler/import/slices.h"

enum { ROUNDS = 3, PIECE_BYTES = 256 << 10, MADE_BYTES = 1 << 20 };

/* Makes the trace a piece at a time: it is never whole. */
struct maker {
	int64_t left_bytes, number, made_bytes;
	char piece[MADE_BYTES];
	size_t len;
};

static void add_step(struct maker *m, int64_t i)
{
	long long at = 1000 + 20 * i;

	m->len += (size_t)snprintf(
	    m->piece + m->len, sizeof(m->piece) - m->len,
	    "%s\n  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op%lld\", \"pid\": "
	    "398, "
	    "\"tid\": 398,\n    \"ts\": %lld.460, \"dur\": 9.683,\n    \"args\": {\n      "
	    "\"External "
	    "id\": %lld,\"Sequence number\": 0, \"Fwd thread id\": 0, \"Record function id\": 0, "
	    "\"Concrete Inputs\": [\"\", \"\", \"1\"], \"Input type\": [\"float\", \"double\", "
	    "\"Scalar\"], \"Input Strides\": [[16, 1], [], []], \"Input Dims\": [[8, 16], [], []], "
	    "\"Ev Idx\": %lld\n    }\n  },\n  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", "
	    "\"name\": \"cudaLaunchKernel\", \"pid\": 398, \"tid\": 398,\n    \"ts\": %lld.840, "
	    "\"dur\": 3.963,\n    \"args\": {\n      \"External id\": %lld, \"cbid\": 211, "
	    "\"correlation\": %lld\n    }\n  },\n  {\n    \"ph\": \"s\", \"id\": %lld, \"pid\": "
	    "398, "
	    "\"tid\": 398, \"ts\": %lld.840,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  },\n  "
	    "{\n    "
	    "\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void "
	    "at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor%lld<float>, "
	    "std::array<char*, 2ul> >(int, at::native::CUDAFunctor%lld<float>)\", \"pid\": 0, "
	    "\"tid\": 7,\n    \"ts\": %lld.991, \"dur\": 0.895,\n    \"args\": {\n      \"External "
	    "id\": %lld,\n      \"queued\": 0, \"device\": 0, \"context\": 1,\n      \"stream\": "
	    "7, "
	    "\"correlation\": %lld,\n      \"registers per thread\": 32,\n      \"shared memory\": "
	    "0,\n "
	    "     \"blocks per SM\": 0.007576,\n      \"warps per SM\": 0.030303,\n      \"grid\": "
	    "[1, "
	    "1, 1],\n      \"block\": [128, 1, 1],\n      \"est. achieved occupancy %%\": 0\n    "
	    "}\n  "
	    "},\n  {\n    \"ph\": \"f\", \"id\": %lld, \"pid\": 0, \"tid\": 7, \"ts\": %lld.991,\n "
	    "   "
	    "\"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  }",
	    i ? "," : "", (long long)(i % 300), at, (long long)i + 1, (long long)i, at,
	    (long long)i + 1, (long long)i + 1, (long long)i + 1, at, (long long)(i % 200),
	    (long long)(i % 200), at + 30, (long long)i + 1, (long long)i + 1, (long long)i + 1,
	    at + 30);
}

/* The next piece in m->piece; false at the end. */
static bool make(struct maker *m)
{
	m->len = 0;
	if (m->made_bytes == 0)
		m->len = (size_t)sprintf(m->piece,
					 "{\n  \"schemaVersion\": 1,\n  \"baseTimeNanoseconds\": "
					 "1790857026000000000,\n  \"traceEvents\": [");
	else if (m->made_bytes < 0)
		return false;
	while (m->left_bytes > 0 && m->len < PIECE_BYTES) {
		size_t before = m->len;

		add_step(m, m->number++);
		m->left_bytes -= (int64_t)(m->len - before);
	}
	m->made_bytes += (int64_t)m->len;
	if (m->left_bytes <= 0) {
		m->len += (size_t)sprintf(m->piece + m->len,
					  "\n  ],\n  \"traceName\": \"made\"\n}\n");
		m->made_bytes = -1;
	}
	return true;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool by_jansson(void *self, const char *text, size_t len, struct err *err)
{
	json_t *json = json_loadb(text, len, 0, NULL);
	bool ok = json != NULL;

	(void)self;
	(void)err;
	json_decref(json);
	return ok;
}

static int on_text(void *self, const unsigned char *text, size_t len)
{
	*(size_t *)self += text ? len : 0;
	return 1;
}

static int on_number(void *self, const char *text, size_t len)
{
	*(size_t *)self += text ? len : 0;
	return 1;
}

static int on_mark(void *self)
{
	++*(size_t *)self;
	return 1;
}

static bool by_yajl(void *self, const char *text, size_t len, struct err *err)
{
	(void)err;
	return yajl_parse(self, (const unsigned char *)text, len) == yajl_status_ok;
}

static double slices_rate(slice_fn *each, void *self, int64_t bytes)
{
	struct maker *m = calloc(1, sizeof(*m));
	struct ledger ledger = { 0 };
	struct slices s;
	double spent = 0;

	m->left_bytes = bytes;
	slices_init(&s, each, self, &ledger);
	while (make(m)) {
		double from = seconds();

		if (!slices_feed(&s, m->piece, m->len, NULL))
			exit(1);
		spent += seconds() - from;
	}
	slices_finish(&s);
	free(m);
	return ledger.n[LEDGER_BROKEN_EVENT] ? 0 : (double)bytes / 1e6 / spent;
}

static bool count_block(void *self, const void *block, size_t len, struct err *err)
{
	(void)block;
	(void)err;
	*(size_t *)self += len;
	return true;
}

static double import_rate(timeline_block_fn *put, size_t *stored, int64_t bytes)
{
	struct maker *m = calloc(1, sizeof(*m));
	struct err err = { 0 };
	struct import *im = import_create(put, stored, 0, &err);
	double spent = 0;
	json_t *report;

	m->left_bytes = bytes;
	import_begin(im, "made", &err);
	while (make(m)) {
		double from = seconds();

		if (!import_feed(im, m->piece, m->len, &err))
			exit(1);
		spent += seconds() - from;
	}
	spent -= seconds();
	report = import_end(im, &err) ? import_finish(im, &err) : NULL;
	spent += seconds();
	if (!report || json_integer_value(json_object_get(json_object_get(report, "kernels"),
							  "count")) != m->number) {
		fprintf(stderr, "bench_import: not all kernels came: %s\n", err.message);
		exit(1);
	}
	json_decref(report);
	import_destroy(im);
	free(m);
	return (double)bytes / 1e6 / spent;
}

static double yajl_rate(int64_t bytes)
{
	static const yajl_callbacks callbacks = {
		.yajl_null = on_mark,
		.yajl_number = on_number,
		.yajl_string = on_text,
		.yajl_start_map = on_mark,
		.yajl_map_key = on_text,
		.yajl_end_map = on_mark,
		.yajl_start_array = on_mark,
		.yajl_end_array = on_mark,
	};
	size_t total = 0;
	yajl_handle yajl = yajl_alloc(&callbacks, NULL, &total);
	double rate;

	yajl_config(yajl, yajl_allow_multiple_values, 1);
	rate = slices_rate(by_yajl, yajl, bytes);
	yajl_free(yajl);
	return rate;
}

int main(int argc, char **argv)
{
	int64_t bytes = (argc > 1 ? atoll(argv[1]) : 64) * 1000000;
	struct rusage usage;
	int rounds = argc > 2 ? atoi(argv[2]) : ROUNDS;

	for (int i = 0; i < rounds; i++) {
		size_t stored = 0;
		double jansson = slices_rate(by_jansson, NULL, bytes / 4);
		double yajl = yajl_rate(bytes);
		double plain = import_rate(NULL, NULL, bytes);
		double whole = import_rate(count_block, &stored, bytes);

		getrusage(RUSAGE_SELF, &usage);
		printf(
		    "%lld MB: Jansson %.0f MB/s, yajl %.0f MB/s, import %.0f MB/s, with a timeline "
		    "%.0f MB/s (%.1f MB stored); at most %.0f MB resident\n",
		    (long long)bytes / 1000000, jansson, yajl, plain, whole, (double)stored / 1e6,
		    (double)usage.ru_maxrss / 1e3);
	}
	return 0;
}
