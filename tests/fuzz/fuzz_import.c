/* tests/fuzz/fuzz_import.c -- libFuzzer entry of the importer: logs of strangers.
 *
 * The first byte says in which pieces the rest comes.  Whatever it is, there is a report
 * with its ledger, or a message; and the timeline that was made can be read, and aligned with
 * itself.
 *
 * Half of the inputs are changed by what a Chrome trace is made of: events of every phase and
 * category, whose numbers meet (threads, correlations, flows, times), are put between those that
 * are there or begin a trace of their own.  The rest is changed byte by byte.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/align/align.h"
#include "profiler/import/import.h"
#include "profiler/import/kineto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

static bool read_back(void *self, const void *block, size_t len, struct err *err)
{
	char name[TIMELINE_FILE_NAME_CHARS + 1];
	struct timeline_block b;
	struct buf text = { 0 };
	json_t *rows = NULL;

	if (!timeline_block_read(block, len, &b, err))
		abort();
	if (b.kind >= TIMELINE_TEXTS && !timeline_file_read(&b, name, &text, err))
		abort();
	if (b.kind == TIMELINE_INDEX) {
		rows = json_loadb(text.data, text.len, 0, NULL);
		if (!json_is_array(rows) || b.t1_ns - b.t0_ns + 1 != (int64_t)json_array_size(rows))
			abort();
	}
	json_decref(rows);
	buf_finish(&text);
	return timeline_events_block(self, block, len, err);
}

/* Nothing differs from itself. */
static void align(const struct timeline_events *events)
{
	struct err err = { 0 };
	json_t *head = json_object();
	struct align_run run = { .head = head, .events = events };
	json_t *aligned = align_timelines(&run, &run, &err);

	if (aligned ? json_is_true(json_object_get(json_object_get(aligned, "wall"), "changed"))
		    : !err.message[0])
		abort();
	json_decref(aligned);
	json_decref(head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t piece = size ? 1 + data[0] * (size_t)97 : 1;
	struct timeline_events events = ALIGN_EVENTS;
	struct import *im = import_create(read_back, &events, 1 << 21, NULL);
	struct err err = { 0 };
	bool ok = import_begin(im, "fuzz", &err);
	json_t *report = NULL;

	for (size_t at = 1; ok && at < size; at += piece)
		ok = import_feed(im, data + at, size - at < piece ? size - at : piece, &err);
	ok = ok && import_end(im, &err);
	report = ok ? import_finish(im, &err) : NULL;
	if (report ? !json_is_object(json_object_get(report, "ledger")) : !err.message[0])
		abort();
	if (report)
		align(&events);
	json_decref(report);
	import_destroy(im);
	timeline_events_finish(&events);
	return 0;
}

/* ---- Chrome traces ---- */

static unsigned draw(unsigned *state, unsigned below)
{
	*state = *state * 1103515245u + 12345u;
	return (*state >> 8) % below;
}

#define PICK(list) (list)[draw(state, sizeof(list) / sizeof((list)[0]))]

static const char *const categories[] = {
#define CATEGORY(name, kind, lane, totals) name,
#include "profiler/import/categories.def"
#undef CATEGORY
	"series", "nobody's"
};
static const char *const arguments[] = {
#define ARG(id, name) name,
	KINETO_ARGS(ARG)
#undef ARG
	    "lane",
	"name_id", "shape_id", "Input Dims", "nothing"
};
static const char *const phases[] = { "X", "X", "X", "X", "B", "E", "s", "t", "f",
				      "C", "M", "i", "b", "e", "N", "D", "P", "" };
static const char *const names[] = { "k",
				     "aten::mm",
				     "cudaLaunchKernel",
				     "hipLaunchKernel",
				     "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
				     "ncclKernel_SendRecv",
				     "Memcpy DtoH (Device -> Pageable)",
				     "cudaMemcpyAsync",
				     "cudaStreamSynchronize",
				     "cudaEventRecord",
				     "cudaStreamWaitEvent",
				     "Stream Wait Event",
				     "ProfilerStep#1",
				     "ProfilerStep#2",
				     "[memory]",
				     "Iteration Start: PyTorch Profiler",
				     "Torch-Compiled Region: 0/0",
				     "thread_name",
				     "process_name",
				     "process_labels",
				     "autograd::engine::evaluate_function: AddBackward0",
				     "\\u0000\\ud800",
				     "" };
static const char *const numbers[] = {
	"0",    "1",  "2",     "3.5",  "-1",   "9223372036854775807",
	"1e18", "7",  "\"7\"", "null", "1e-9", "18446744073709551616",
	"[]",   "{}", "true",  "0x1",  "\"a\""
};
static const char *const heads[] = {
	"{\"schemaVersion\": 1, \"traceEvents\": [",
	"[",
	"{\"baseTimeNanoseconds\": 1790857026000000000, \"traceEvents\": [",
	"{\"distributedInfo\": {\"rank\": 1}, \"traceEvents\": [",
	"{\"breakeven\": {\"export\": 1, \"run\": {}}, \"traceEvents\": [",
	"{\"deviceProperties\": [{\"id\": 0, \"totalGlobalMem\": 1}], \"traceEvents\": [",
};

/* A number that other events have too, or any. */
static const char *number(unsigned *state, char out[24])
{
	if (draw(state, 8) == 0)
		return PICK(numbers);
	snprintf(out, 24, "%u", draw(state, 12));
	return out;
}

static size_t make_event(char *out, size_t most, unsigned *state)
{
	static const char *const keys[] = { "pid", "tid", "ts", "dur", "id", "bp" };
	char text[24];
	size_t n = (size_t)snprintf(out, most, "{\"ph\": \"%s\", \"cat\": \"%s\", \"name\": \"%s\"",
				    PICK(phases), PICK(categories), PICK(names));

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && n < most; i++)
		if (draw(state, 8))
			n += (size_t)snprintf(out + n, most - n, ", \"%s\": %s", keys[i],
					      number(state, text));
	for (unsigned i = draw(state, 4), first = 1; i > 0 && n < most; i--, first = 0)
		n += (size_t)snprintf(out + n, most - n, "%s\"%s\": %s",
				      first ? ", \"args\": {" : ", ", PICK(arguments),
				      number(state, text));
	if (n < most && memmem(out, n, "\"args\"", 6))
		n += (size_t)snprintf(out + n, most - n, "}");
	if (n < most)
		n += (size_t)snprintf(out + n, most - n, "}%s", draw(state, 16) ? "," : "");
	return n < most ? n : 0;
}

/* Where an event may stand: before the first brace from a place on. */
static size_t a_place(const uint8_t *data, size_t size, unsigned *state)
{
	size_t from = 1 + draw(state, (unsigned)size);
	const uint8_t *brace = from < size ? memchr(data + from, '{', size - from) : NULL;

	return brace ? (size_t)(brace - data) : size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	unsigned state = seed;
	char text[4096];
	size_t n = 0, at;

	if (draw(&state, 2) || size < 2)
		return LLVMFuzzerMutate(data, size, most);
	if (draw(&state, 8) == 0) { /* a trace of its own */
		n = (size_t)snprintf(text, sizeof(text), "%s",
				     heads[draw(&state, sizeof(heads) / sizeof(heads[0]))]);
		size = 1;
	}
	for (unsigned i = 1 + draw(&state, 6); i > 0; i--)
		n += make_event(text + n, sizeof(text) - n, &state);
	if (n == 0 || size + n > most)
		return LLVMFuzzerMutate(data, size, most);
	at = size == 1 ? 1 : a_place(data, size, &state);
	memmove(data + at + n, data + at, size - at);
	memcpy(data + at, text, n);
	return draw(&state, 4) ? size + n : LLVMFuzzerMutate(data, size + n, most);
}
