/* tests/fuzz/mutate.h -- what files of each kind that is imported are made of, put into an input
 * of the fuzzer: events of a Chrome trace, texts of an export of our own, records of TORCH_TRACE,
 * lines of PyTorch/XLA, heads of a .tar, and the whole file once more, as another rank.
 */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/import/artifacts.h"
#include "profiler/import/kineto.h"
#include "profiler/timeline/timeline.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* Between two files of one input. */
#define FILE_ENDS "\n\x1c\n"

enum { PIECE = 8192 };

/* An input that is changed where it stands: the first byte is not the file's. */
struct mutant {
	uint8_t *data;
	size_t size, most;
	unsigned state;
};

/* What is to be put in. */
struct piece {
	char text[PIECE];
	size_t len;
};

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

/* Puts a piece before a byte `mark` from a place on (or at the end).  False: it has no room. */
static bool put_in(struct mutant *m, const struct piece *p, int mark)
{
	size_t at = 1 + draw(&m->state, (unsigned)m->size);
	const uint8_t *found = at < m->size ? memchr(m->data + at, mark, m->size - at) : NULL;

	if (p->len == 0 || m->size + p->len > m->most)
		return false;
	at = found ? (size_t)(found - m->data) + (mark == '\n') : m->size;
	memmove(m->data + at + p->len, m->data + at, m->size - at);
	memcpy(m->data + at, p->text, p->len);
	m->size += p->len;
	return true;
}

__attribute__((format(printf, 2, 3))) static void say(struct piece *p, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(p->text + p->len, PIECE - p->len, format, args);
	va_end(args);
	p->len += n > 0 && (size_t)n < PIECE - p->len ? (size_t)n : 0;
}

/* ---- Chrome traces ---- */

static void make_event(struct piece *p, unsigned *state)
{
	static const char *const keys[] = { "pid", "tid", "ts", "dur", "id", "bp" };
	const char *before = ", \"args\": {";
	char text[24];

	say(p, "{\"ph\": \"%s\", \"cat\": \"%s\", \"name\": \"%s\"", PICK(phases), PICK(categories),
	    PICK(names));
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (draw(state, 8))
			say(p, ", \"%s\": %s", keys[i], number(state, text));
	for (unsigned i = draw(state, 4); i > 0; i--, before = ", ")
		say(p, "%s\"%s\": %s", before, PICK(arguments), number(state, text));
	say(p, "%s}%s", *before && strcmp(before, ", ") == 0 ? "}" : "",
	    draw(state, 16) ? "," : "");
}

static const char *const record_kinds[] = {
#define KIND(name, handler) name,
#define COUNT(name, field) name,
#include "profiler/import/torch_kinds.def"
#undef COUNT
#undef KIND
	"nobody's"
};

/* ---- texts of an export of our own ---- */

static bool say_block(void *self, const void *block, size_t len, struct err *err)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *bytes = block;
	struct piece *p = self;

	(void)err;
	if (p->len + 2 * len + 200 > PIECE)
		return true;
	say(p, "{\"ph\":\"M\",\"name\":\"" ARTIFACTS_METADATA
	       "\",\"pid\":0,\"tid\":0,\"args\":{\"block\":\"");
	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		uint32_t bits = (uint32_t)bytes[i] << 16 |
				(n > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				(n > 2 ? bytes[i + 2] : 0);

		say(p, "%c%c%c%c", letters[bits >> 18], letters[bits >> 12 & 63],
		    n > 1 ? letters[bits >> 6 & 63] : '=', n > 2 ? letters[bits & 63] : '=');
	}
	say(p, "\"}},\n");
	return true;
}

static void say_row(struct piece *rows, unsigned *state)
{
	static const char *const keys[] = { "n",       "process", "file",    "resets",
					    "attempt", "line",    "records", "bytes",
					    "at",      "said",    "compile" };
	char text[24];

	say(rows, "%s{\"kind\":\"%s\"", rows->len > 1 ? "," : "", PICK(record_kinds));
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (draw(state, 4))
			say(rows, ",\"%s\":%s", keys[i], number(state, text));
	say(rows, "%s}", draw(state, 4) ? ",\"compile\":\"0/0\"" : "");
}

/* Blocks of texts and their index, whose sums are right. */
static void make_texts(struct piece *p, unsigned *state)
{
	struct timeline_writer *w = timeline_writer_create(say_block, p, NULL);
	struct piece *rows = calloc(1, sizeof(*rows));
	struct timeline_piece texts = { .kind = TIMELINE_TEXTS, .name = "" };
	int64_t at = draw(state, 12);

	if (!w || !rows)
		abort();
	texts.bytes = "def forward(self):\n    return x";
	texts.len = 1 + draw(state, 30);
	texts.first = at;
	texts.last = at + (int64_t)(draw(state, 8) ? texts.len - 1 : draw(state, 40));
	if (draw(state, 4))
		timeline_writer_file(w, &texts, NULL);
	say(rows, "[");
	for (unsigned i = draw(state, 5); i > 0; i--)
		say_row(rows, state);
	say(rows, "]");
	texts = (struct timeline_piece){ .kind = TIMELINE_INDEX,
					 .name = "",
					 .bytes = rows->text,
					 .len = rows->len,
					 .first = draw(state, 3),
					 .last = draw(state, 8) };
	timeline_writer_file(w, &texts, NULL);
	timeline_writer_destroy(w);
	free(rows);
}

/* ---- TORCH_TRACE ---- */

static const char *const payloads[] = {
	"class GraphModule(torch.nn.Module):\n\tdef forward(self, L_x_: \"f32[4]\"):\n\t\treturn "
	"(x,)",
	"Graph break in user code at /w/train.py:7\n\tReason: Data-dependent jump\n\tUser code "
	"traceback:\n\t  File \"/w/train.py\", line 7, in f\n\t    x",
	"[{\"code\": \"x\", \"stack\": [{\"line\": 1, \"filename\": 0, \"name\": \"f\"}]}]",
	"{\"name\": \"compile\", \"ph\": \"B\", \"ts\": 1, \"pid\": 0, \"args\": {\"compile_id\": "
	"\"0/0\"}}",
	"{\"postToPre\": {\"mul\": [\"mul\"]}, \"cppCodeToPost\": {\"k\": [\"mul\"]}}",
	"{\"triton_poi_0\": [\"x.py:3\", \"y\"]}",
	"TREE_GUARD_MANAGER:\n\t+- RootGuardManager\n\t| +- TENSOR_MATCH: x, size=[4], stride=[1]",
	"[\"0/0: tensor 'x' size mismatch at index 0. expected 4, actual 5\"]",
	"# kernel path: /tmp/k.py\n\tasync_compile = AsyncCompile()\n\tdef call(args): pass",
	"\\ud800",
	"[",
	""
};
static const char *const record_keys[] = { "name",
					   "encoding",
					   "sizes",
					   "stack",
					   "compile_id",
					   "co_filename",
					   "line",
					   "filename",
					   "id",
					   "storage",
					   "describer_id",
					   "rank",
					   "symbol",
					   "val",
					   "expr",
					   "start_time",
					   "duration_us",
					   "fail_type",
					   "restart_reasons",
					   "entire_frame_compile_time_s",
					   "is_forward",
					   "graph_op_count",
					   "guard_count",
					   "recompile_reason",
					   "cache_state",
					   "key",
					   "user_stack",
					   "result" };
static const char *const record_values[] = { "\"dynamo_graph_break_reason\"",
					     "\"fx_graph_cache_hit\"",
					     "\"aotautograd_cache_miss\"",
					     "\"recompile_reasons\"",
					     "\"string\"",
					     "\"json\"",
					     "\"0/0\"",
					     "\"1/0_1\"",
					     "\"!1/0/0\"",
					     "\"-\"",
					     "[]",
					     "{}",
					     "null",
					     "[\"a\"]",
					     "[{\"line\": 3, \"name\": \"f\", \"filename\": 0}]",
					     "[[\"s0\", 4]]",
					     "{\"l_x_\": [4]}",
					     "0.25",
					     "1e308",
					     "true",
					     "-1" };

static void make_record(struct piece *p, unsigned *state)
{
	static const char *const outer[] = { "frame_id",
					     "frame_compile_id",
					     "attempt",
					     "rank",
					     "compiled_autograd_id",
					     "num_resets",
					     "stack",
					     "process" };
	static const char *const levels[] = { "V", "V", "V", "I", "" };
	const char *kind = PICK(record_kinds);
	char text[24];

	say(p, "%s1121 10:00:%02u.%06u %s torch/_dynamo/x.py:1] {\"%s\": ", PICK(levels),
	    draw(state, 60), draw(state, 1000000), number(state, text), kind);
	if (draw(state, 8)) {
		const char *before = "{";

		for (unsigned i = draw(state, 5); i > 0; i--, before = ", ")
			say(p, "%s\"%s\": %s", before, PICK(record_keys),
			    draw(state, 4) ? PICK(record_values) : number(state, text));
		say(p, "%s}", *before == '{' ? "{" : "");
	} else {
		say(p, "%s", PICK(record_values));
	}
	for (size_t i = 0; i < sizeof(outer) / sizeof(outer[0]); i++)
		if (draw(state, 2))
			say(p, ", \"%s\": %s", outer[i], number(state, text));
	if (draw(state, 2))
		say(p, ", \"has_payload\": \"00000000000000000000000000000000\"}\n\t%s\n",
		    PICK(payloads));
	else
		say(p, "}\n");
}

/* ---- PyTorch/XLA ---- */

static void make_line(struct piece *p, unsigned *state)
{
	static const char *const acts[] = { "Compilation Analysis: ",      "Execution Analysis: ",
					    "Post Compilation Analysis: ", "Unexpected Execution: ",
					    "pt-xla-profiler: ",           "" };
	static const char *const lines[] = {
		"================================================================================",
		"--------------------------------------------------------------------------------",
		"Compilation Cause",
		"Execution Cause",
		"  user torch_xla.sync",
		"  most likely user code trying to access tensor value before torch_xla.sync",
		"Graph Info: ",
		"  Graph Hash: c74c3b91b855b2b123f833b0d5f86943",
		"  Graph Name: g",
		"  Number of Graph Inputs: 35",
		"  Number of Graph Outputs: 99999999999999999999",
		"Python Frame Triggered Execution: ",
		"  train (/w/train.py:48)",
		"  f (:)",
		"  ..........",
		"TransferFromDeviceTime too frequent: 5 counts during 5 steps",
		"Metric: CompileTime",
		"  TotalSamples: 4",
		"  Accumulator: 06m09s401ms746.001us",
		"  ValueRate: 1s / second",
		"  Percentiles: 1%=001ms; 99%=9h",
		"Counter: aten::nonzero",
		"  Value: 12",
		"Computation hash: 0a1b2c3d4e5f60718293a4b5c6d7e8f9",
	};

	for (unsigned i = 1 + draw(state, 6); i > 0; i--)
		say(p, "%s%s\n", PICK(acts), PICK(lines));
}

/* ---- archives ---- */

/* The sums of a .tar's heads are made right. */
static void repair_tar(struct mutant *m)
{
	for (size_t at = 1; at + 512 <= m->size; at += 512) {
		char *head = (char *)m->data + at;
		unsigned sum = 0;

		if (memcmp(head + 257, "ustar", 5) != 0)
			continue;
		memset(head + 148, ' ', 8);
		for (int i = 0; i < 512; i++)
			sum += (unsigned char)head[i];
		snprintf(head + 148, 8, "%06o", sum);
	}
}

/* ---- any ---- */

/* A part of the input once more, as the next file. */
static bool put_rank(struct mutant *m)
{
	const uint8_t *end = memmem(m->data + 1, m->size - 1, FILE_ENDS, strlen(FILE_ENDS));
	size_t len = end ? (size_t)(end - m->data) - 1 : m->size - 1, mark = strlen(FILE_ENDS);

	if (m->size + mark + len > m->most)
		return false;
	memcpy(m->data + m->size, FILE_ENDS, mark);
	memcpy(m->data + m->size + mark, m->data + 1, len);
	m->size += mark + len;
	return true;
}

static bool begins(const struct mutant *m, const char *text)
{
	return m->size > strlen(text) && memcmp(m->data + 1, text, strlen(text)) == 0;
}

/* Changes an input by what its kind is made of.  False: it is as it was. */
static bool mutate_file(struct mutant *m)
{
	struct piece p = { .len = 0 };
	unsigned *state = &m->state;
	bool is_trace = begins(m, "{") || begins(m, "[");

	if (draw(state, 16) == 0)
		return put_rank(m);
	if (m->size > 512 && memcmp(m->data + 1 + 257, "ustar", 5) == 0) {
		m->size = LLVMFuzzerMutate(m->data, m->size, m->most);
		repair_tar(m);
		return true;
	}
	if (draw(state, is_trace ? 16 : 64) == 0) { /* a trace of its own */
		say(&p, "%s", PICK(heads));
		m->size = 1;
		is_trace = true;
	}
	if (is_trace && draw(state, 8) == 0)
		make_texts(&p, state);
	for (unsigned i = 1 + draw(state, 6); i > 0; i--) {
		if (is_trace)
			make_event(&p, state);
		else if (begins(m, "V") || begins(m, "I"))
			make_record(&p, state);
		else if (memmem(m->data, m->size, "Analysis: ", 10) ||
			 memmem(m->data, m->size, "Metric: ", 8))
			make_line(&p, state);
	}
	return put_in(m, &p, is_trace ? '{' : '\n');
}

#endif
