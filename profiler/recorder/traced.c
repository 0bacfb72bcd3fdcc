/* profiler/recorder/traced.c -- processes that send what CUPTI records, as one timeline. */
#include "profiler/recorder/traced.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fusion/base/clock.h"
#include "fusion/base/vec.h"
#include "profiler/recorder/demangle.h"
#include "profiler/recorder/launch_shape.h"
#include "profiler/timeline/timeline.h"

enum { READ_BYTES = 1 << 16, READS = 64 /* of a process in its turn */ };

/* A stream, or a thread's calls, of a process. */
struct traced_lane {
	uint32_t device, context, stream, kind;
	uint32_t lane;
};

/* Memory of a device that the process has taken, as it was while we watched. */
struct device_bytes {
	int64_t held, peak;
	struct timeline_event
	    sample; /* that holds until the next; of no lane where `known` is not */
	bool known;
};
enum { MAX_DEVICES = 64 };

struct process {
	int fd; /* -1: ended */
	struct wire_hello hello;
	char *command, *fault;
	struct buf pending;
	VEC(uint32_t) names; /* of the timeline, by the process's own numbers */
	VEC(struct traced_lane) lanes;
	struct wire_counts counts;
	uint64_t kernels;
	int64_t end_ns;                  /* of its last event */
	VEC(struct device_bytes) memory; /* by device */
};

struct traced {
	FILE *file;
	struct timeline_writer *writer;
	VEC(struct process) processes;
	json_t *names; /* number of the timeline by symbol: of all processes */
	struct launch_shapes shapes;
	struct demangler demangler;
	int64_t file_bytes, files_left_out;
};

static bool put(void *self, const void *block, size_t len, struct err *err)
{
	struct traced *t = self;

	return (fwrite(block, 1, len, t->file) == len && fflush(t->file) == 0) ||
	       err_set(err, ERR_IO, "the timeline could not be written: %s", strerror(errno));
}

struct traced *traced_create(const char *path, struct err *err)
{
	struct traced *t = calloc(1, sizeof(*t));

	if (!t) {
		err_set(err, ERR_MEMORY, "out of memory for a timeline");
		return NULL;
	}
	t->names = json_object();
	t->file = fopen(path, "wbe");
	if (!t->file)
		err_set(err, ERR_IO, "%.300s: %s", path, strerror(errno));
	else
		t->writer = timeline_writer_create(put, t, err);
	if (!t->writer) {
		traced_destroy(t);
		return NULL;
	}
	demangler_open(&t->demangler);
	return t;
}

void traced_destroy(struct traced *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->processes.len; i++) {
		struct process *p = &t->processes.at[i];

		if (p->fd >= 0)
			close(p->fd);
		free(p->command);
		free(p->fault);
		buf_finish(&p->pending);
		VEC_FREE(&p->names);
		VEC_FREE(&p->lanes);
		VEC_FREE(&p->memory);
	}
	VEC_FREE(&t->processes);
	json_decref(t->names);
	timeline_writer_destroy(t->writer);
	if (t->file)
		fclose(t->file);
	demangler_close(&t->demangler);
	free(t);
}

void traced_accept(struct traced *t, int fd)
{
	struct process p = { .fd = fd };

	buf_init(&p.pending, 4 * WIRE_MAX_BYTES);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	if (t->processes.len >= TRACED_MAX_PROCESSES || !VEC_PUSH(&t->processes, p))
		close(fd);
}

int traced_poll(const struct traced *t, struct pollfd *fds)
{
	int n = 0;

	for (size_t i = 0; i < t->processes.len; i++)
		if (t->processes.at[i].fd >= 0)
			fds[n++] = (struct pollfd){ t->processes.at[i].fd, POLLIN, 0 };
	return n;
}

/* ---- messages ---- */

/* The timeline's number of a symbol. */
static uint32_t name_of(struct traced *t, const char *symbol)
{
	json_t *known = json_object_get(t->names, symbol), *row;
	char *readable;
	uint32_t number;

	if (known)
		return (uint32_t)json_integer_value(known);
	readable = demangle(&t->demangler, symbol);
	row = json_pack("{s:s}", "name", readable ? readable : symbol);
	if (readable && row)
		json_object_set_new(row, "mangled", json_string(symbol));
	free(readable);
	number = timeline_writer_name(t->writer, row);
	json_object_set_new(t->names, symbol, json_integer(number));
	return number;
}

static void take_name(struct traced *t, struct process *p, const char *bytes, size_t len)
{
	char text[WIRE_NAME_BYTES + 1];
	uint32_t number;

	if (len < sizeof(number) || len - sizeof(number) > WIRE_NAME_BYTES)
		return;
	memcpy(&number, bytes, sizeof(number));
	memcpy(text, bytes + sizeof(number), len - sizeof(number));
	text[len - sizeof(number)] = '\0';
	/* Numbers come in order, from 1. */
	if (p->names.len == 0)
		VEC_PUSH(&p->names, 0);
	if (number == p->names.len)
		VEC_PUSH(&p->names, name_of(t, text));
}

static bool on_device(uint32_t kind)
{
	return kind == TIMELINE_KERNEL || kind == TIMELINE_COPY || kind == TIMELINE_SET;
}

static json_t *lane_row(const struct process *p, const struct wire_event *e)
{
	json_t *name = on_device(e->kind) ? json_sprintf("GPU %u, stream %u", e->device, e->stream)
		       : e->kind == TIMELINE_MEMORY ? json_sprintf("GPU %u, memory", e->device)
		       : e->kind == TIMELINE_OVERHEAD
			   ? json_string("recording")
			   : json_sprintf("%s %u", e->kind == TIMELINE_RANGE ? "NVTX" : "API",
					  e->stream);
	json_t *row = json_pack("{s:o, s:s, s:i, s:s}", "name", name, "role",
				on_device(e->kind) ? "kernels" : "host", "pid", (int)p->hello.pid,
				"process", p->command ? p->command : "");

	if (row && (on_device(e->kind) || e->kind == TIMELINE_MEMORY))
		json_object_set_new(row, "device", json_integer(e->device));
	if (row && on_device(e->kind))
		json_object_set_new(row, "stream", json_integer(e->stream));
	return row;
}

static uint32_t lane_of(struct traced *t, struct process *p, const struct wire_event *e)
{
	struct traced_lane lane = { .device = e->device };

	if (e->kind != TIMELINE_MEMORY && e->kind != TIMELINE_OVERHEAD) {
		lane.context = e->context;
		lane.stream = e->stream;
	}
	lane.kind = on_device(e->kind) ? 0 : e->kind;
	for (size_t i = 0; i < p->lanes.len; i++) {
		const struct traced_lane *at = &p->lanes.at[i];

		if (at->device == lane.device && at->context == lane.context &&
		    at->stream == lane.stream && at->kind == lane.kind)
			return at->lane;
	}
	lane.lane = timeline_writer_lane(t->writer, lane_row(p, e));
	VEC_PUSH(&p->lanes, lane);
	return lane.lane;
}

/* Writes what was in use until then. */
static bool settle(struct traced *t, struct device_bytes *m, int64_t until_ns, struct err *err)
{
	if (!m->known)
		return true;
	if (until_ns > m->sample.start_ns)
		m->sample.duration_ns = until_ns - m->sample.start_ns;
	return timeline_writer_add(t->writer, &m->sample, err);
}

static uint32_t memory_lane(struct traced *t, const struct process *p, uint32_t device)
{
	json_t *name = json_sprintf("GPU %u, in use", device);

	return timeline_writer_lane(
	    t->writer, json_pack("{s:o, s:s, s:s, s:i, s:s, s:i}", "name", name, "role", "counter",
				 "unit", "bytes", "pid", (int)p->hello.pid, "process",
				 p->command ? p->command : "", "device", (int)device));
}

/* What a release gives back may have been taken before we watched. */
static bool count_memory(struct traced *t, struct process *p, const struct wire_event *e,
			 struct err *err)
{
	struct device_bytes *m;

	while (p->memory.len <= e->device && e->device < MAX_DEVICES)
		if (!VEC_PUSH(&p->memory, (struct device_bytes){ 0 }))
			return err_set(err, ERR_MEMORY, "out of memory for a timeline");
	if (e->device >= p->memory.len)
		return true;
	m = &p->memory.at[e->device];
	m->held += e->memory == WIRE_TAKEN ? e->bytes : -e->bytes;
	m->held = m->held < 0 ? 0 : m->held;
	m->peak = m->held > m->peak ? m->held : m->peak;
	if (!settle(t, m, e->start_ns, err))
		return false;
	if (!m->known)
		m->sample = (struct timeline_event){ .kind = TIMELINE_COUNTER,
						     .lane = memory_lane(t, p, e->device),
						     .name = name_of(t, "bytes in use") };
	m->known = true;
	m->sample.start_ns = e->start_ns;
	m->sample.duration_ns = 0;
	m->sample.bytes = m->held;
	return true;
}

static bool take_events(struct traced *t, struct process *p, const char *bytes, size_t len,
			struct err *err)
{
	for (; len >= sizeof(struct wire_event);
	     bytes += sizeof(struct wire_event), len -= sizeof(struct wire_event)) {
		struct timeline_event event;
		struct wire_event e;

		memcpy(&e, bytes, sizeof(e));
		if (e.kind >= TIMELINE_KIND_COUNT)
			continue;
		event = (struct timeline_event){ .start_ns = e.start_ns,
						 .duration_ns = e.end_ns - e.start_ns,
						 .bytes = e.bytes,
						 .lane = lane_of(t, p, &e),
						 .kind = e.kind,
						 .name = e.name < p->names.len ? p->names.at[e.name]
									       : 0,
						 .shape = launch_shape(&t->shapes, t->writer, &e),
						 .correlation = e.correlation };
		p->kernels += e.kind == TIMELINE_KERNEL;
		p->end_ns = e.end_ns > p->end_ns ? e.end_ns : p->end_ns;
		if (e.kind == TIMELINE_MEMORY && e.memory != WIRE_HOST &&
		    !count_memory(t, p, &e, err))
			return false;
		if (!timeline_writer_add(t->writer, &event, err))
			return false;
	}
	return true;
}

static bool take(struct traced *t, struct process *p, const struct wire_head *head,
		 const char *bytes, struct err *err)
{
	size_t len = head->bytes;

	switch (head->type) {
	case WIRE_HELLO:
		if (len >= sizeof(p->hello) && !p->command) {
			memcpy(&p->hello, bytes, sizeof(p->hello));
			p->command = strndup(bytes + sizeof(p->hello), len - sizeof(p->hello));
		}
		return true;
	case WIRE_NAME:
		take_name(t, p, bytes, len);
		return true;
	case WIRE_EVENTS:
		return take_events(t, p, bytes, len, err);
	case WIRE_COUNTS:
		if (len == sizeof(p->counts))
			memcpy(&p->counts, bytes, len);
		return true;
	case WIRE_FAULT:
		free(p->fault);
		p->fault = strndup(bytes, len);
		return true;
	default:
		return true;
	}
}

/* Whole messages of what is pending; what is left goes to its front. */
static bool take_all(struct traced *t, struct process *p, struct err *err)
{
	size_t at = 0;
	struct wire_head head;

	while (p->pending.len - at >= sizeof(head)) {
		memcpy(&head, p->pending.data + at, sizeof(head));
		if (head.bytes > WIRE_MAX_BYTES) {
			close(p->fd); /* not a library that Breakeven made */
			p->fd = -1;
			return true;
		}
		if (p->pending.len - at - sizeof(head) < head.bytes)
			break;
		if (!take(t, p, &head, p->pending.data + at + sizeof(head), err))
			return false;
		at += sizeof(head) + head.bytes;
	}
	if (at) {
		memmove(p->pending.data, p->pending.data + at, p->pending.len - at);
		p->pending.len -= at;
	}
	return true;
}

bool traced_read(struct traced *t, struct err *err)
{
	char bytes[READ_BYTES];

	for (size_t i = 0; i < t->processes.len; i++) {
		struct process *p = &t->processes.at[i];

		/* Much at once, so that none of them has to wait for us. */
		for (int turn = 0; p->fd >= 0 && turn < READS; turn++) {
			ssize_t n = recv(p->fd, bytes, sizeof(bytes), 0);

			if (n < 0 && errno == EINTR)
				continue;
			if (n < 0 && errno == EAGAIN)
				break;
			if (n <= 0) {
				close(p->fd);
				p->fd = -1;
				break;
			}
			buf_add(&p->pending, bytes, (size_t)n);
			if (!take_all(t, p, err))
				return false;
		}
	}
	return true;
}

bool traced_flush(struct traced *t, struct err *err)
{
	return timeline_writer_flush(t->writer, err);
}

static bool add_file(struct traced *t, const char *folder, const char *name, struct err *err)
{
	char path[4096];
	char *piece = malloc(TIMELINE_PIECE_BYTES);
	bool ok = piece || err_set(err, ERR_MEMORY, "out of memory for %.200s", name);
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "%.3800s/%.250s", folder, name);
	file = ok ? fopen(path, "rbe") : NULL;
	while (ok && file && (n = fread(piece, 1, TIMELINE_PIECE_BYTES, file)) > 0) {
		if (t->file_bytes + (int64_t)n > TRACED_FILE_BYTES) {
			t->files_left_out += (int64_t)n;
			continue;
		}
		t->file_bytes += (int64_t)n;
		ok = timeline_writer_file(
		    t->writer,
		    &(struct timeline_piece){
			.kind = TIMELINE_FILE, .name = name, .bytes = piece, .len = n },
		    err);
	}
	if (file)
		fclose(file);
	free(piece);
	return ok;
}

bool traced_add_files(struct traced *t, const char *folder, int64_t since_s, struct err *err)
{
	DIR *dir = opendir(folder);
	bool ok = true;

	for (struct dirent *e; ok && dir && (e = readdir(dir));) {
		struct stat st;

		if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && st.st_mtime >= since_s)
			ok = add_file(t, folder, e->d_name, err);
	}
	if (dir)
		closedir(dir);
	return ok;
}

bool traced_put_texts(void *traced, const void *block, size_t len, struct err *err)
{
	struct timeline_block b;

	if (!timeline_block_read(block, len, &b, err))
		return false;
	return (b.kind != TIMELINE_TEXTS && b.kind != TIMELINE_INDEX) ||
	       put(traced, block, len, err);
}

static json_t *process_json(const struct process *p)
{
	json_t *memory = json_array();

	for (size_t i = 0; i < p->memory.len; i++)
		json_array_append_new(memory,
				      json_pack("{s:i, s:I, s:I}", "device", (int)i, "held_bytes",
						(json_int_t)p->memory.at[i].held, "peak_bytes",
						(json_int_t)p->memory.at[i].peak));
	return json_pack("{s:i, s:i, s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:s?, s:o}", "pid",
			 (int)p->hello.pid, "parent", (int)p->hello.parent, "command",
			 p->command ? p->command : "", "kernels", (json_int_t)p->kernels, "records",
			 (json_int_t)p->counts.records, "dropped", (json_int_t)p->counts.dropped,
			 "lost", (json_int_t)p->counts.lost, "doubtful",
			 (json_int_t)p->counts.doubtful, "finished", (int)p->counts.finished,
			 "fault", p->fault, "memory", memory);
}

bool traced_finish(struct traced *t, FILE *out, json_t **facts, struct err *err)
{
	json_t *list = json_array();
	uint64_t dropped = 0, doubtful = 0;

	for (size_t i = 0; i < t->processes.len; i++) {
		const struct process *p = &t->processes.at[i];

		for (size_t k = 0; k < p->memory.len; k++)
			if (!settle(t, &p->memory.at[k], p->end_ns, err)) {
				json_decref(list);
				return false;
			}
		dropped += p->counts.dropped + p->counts.lost;
		doubtful += p->counts.doubtful;
		json_array_append_new(list, process_json(p));
		fprintf(out,
			"breakeven trace: process %d (%.80s): %llu kernels, %llu dropped, %llu "
			"lost, %llu doubtful%s\n",
			(int)p->hello.pid, p->command ? p->command : "",
			(unsigned long long)p->kernels, (unsigned long long)p->counts.dropped,
			(unsigned long long)p->counts.lost, (unsigned long long)p->counts.doubtful,
			p->fault             ? ""
			: p->counts.finished ? ""
					     : "; it ended without its last records");
		if (p->fault)
			fprintf(out, "breakeven trace: process %d is not recorded: %s\n",
				(int)p->hello.pid, p->fault);
	}
	if (t->processes.len == 0)
		fprintf(out, "breakeven trace: no process of the command used CUDA (or its driver "
			     "does not load CUDA_INJECTION64_PATH)\n");
	*facts = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "recorder", "cupti", "clock",
			   "CLOCK_MONOTONIC", "wall_ahead_ns",
			   (json_int_t)(clock_wall_ns() - clock_ns()), "dropped",
			   (json_int_t)dropped, "doubtful", (json_int_t)doubtful,
			   "torch_trace_bytes", (json_int_t)t->file_bytes, "torch_trace_left_out",
			   (json_int_t)t->files_left_out, "processes", list);
	return timeline_writer_finish(t->writer, json_incref(*facts), err);
}
