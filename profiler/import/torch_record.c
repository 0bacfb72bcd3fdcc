/* profiler/import/torch_record.c -- the records of a TORCH_TRACE file. */
#include "profiler/import/torch_record.h"

#include <ctype.h>
#include <string.h>

#include "profiler/import/repair.h"

void torch_records_init(struct torch_records *r, torch_record_fn *each, void *self,
			struct ledger *ledger)
{
	*r = (struct torch_records){ .each = each, .self = self, .ledger = ledger };
	buf_init(&r->line, 2 * RECORD_MAX_BYTES);
	buf_init(&r->payload, RECORD_MAX_BYTES);
}

void torch_records_finish(struct torch_records *r)
{
	buf_finish(&r->line);
	buf_finish(&r->payload);
	json_decref(r->json);
}

/* Whether text begins like `pattern`, where 0 stands for a digit; steps over it. */
static bool step(const char **text, const char *end, const char *pattern)
{
	const char *at = *text;

	for (; *pattern; pattern++, at++)
		if (at >= end || (*pattern == '0' ? !isdigit((unsigned char)*at) : *at != *pattern))
			return false;
	*text = at;
	return true;
}

static bool step_digits(const char **text, const char *end, int64_t *value)
{
	const char *from = *text;

	*value = 0;
	for (; *text < end && isdigit((unsigned char)**text) && *text - from < 18; ++*text)
		*value = *value * 10 + (**text - '0');
	return *text > from;
}

/* "path:line] {", from behind the process on; the object. */
static const char *step_place(const char *at, const char *end)
{
	for (; at + 2 < end && *at != '{'; at++)
		if (at[0] == ']' && at[1] == ' ' && at[2] == '{')
			return at + 2;
	return NULL;
}

const char *torch_record_prefix(const char *line, size_t len, int64_t *pid)
{
	const char *at = line, *end = line + len;
	int64_t fraction;

	if (step(&at, end, "[rank")) { /* of logs that went through torchrun */
		while (at < end && *at != ']')
			at++;
		if (!step(&at, end, "]:"))
			return NULL;
		while (at < end && *at == ' ')
			at++;
	}
	if (at >= end || !strchr("VIWEC", *at) || !*at)
		return NULL;
	at++;
	if (!step(&at, end, "0000 00:00:00.") || !step_digits(&at, end, &fraction) ||
	    !step(&at, end, " ") || !step_digits(&at, end, pid))
		return NULL;
	return step_place(at, end);
}

/* Hands on the record that is pending, with what came of its payload. */
static bool hand_on(struct torch_records *r, struct err *err)
{
	struct torch_record record = { .pid = r->pid, .json = r->json };
	bool ok;

	if (!r->json)
		return true;
	r->ledger->n[LEDGER_TOO_LARGE] += r->payload.failed;
	if (r->wants_payload && !r->has_payload)
		r->ledger->n[LEDGER_NO_PAYLOAD]++;
	else if (r->wants_payload && !r->payload.failed) {
		record.payload = r->payload.data ? r->payload.data : "";
		record.payload_len = r->payload.len;
	}
	ok = r->each(r->self, &record, err);
	json_decref(r->json);
	r->json = NULL;
	buf_finish(&r->payload);
	buf_init(&r->payload, RECORD_MAX_BYTES);
	return ok;
}

static bool take_line(struct torch_records *r, const char *line, size_t len, struct err *err)
{
	const char *object;
	int64_t pid;

	if (len > 0 && line[0] == '\t') {
		if (!r->json || !r->wants_payload) {
			r->ledger->n[LEDGER_LOST_PAYLOAD]++;
			return true;
		}
		if (r->has_payload)
			buf_putc(&r->payload, '\n');
		buf_add(&r->payload, line + 1, len - 1);
		r->has_payload = true;
		return true;
	}
	if (len > 0 && line[len - 1] == '\r')
		len--;
	if (len == 0)
		return true;
	if (!hand_on(r, err))
		return false;
	object = torch_record_prefix(line, len, &pid);
	if (!object) {
		r->ledger->n[LEDGER_FOREIGN_LINE]++;
		return true;
	}
	r->pid = pid;
	r->json = json_of_log(object, len - (size_t)(object - line), r->ledger);
	if (!json_is_object(r->json)) {
		json_decref(r->json);
		r->json = NULL;
		r->ledger->n[LEDGER_BROKEN_RECORD]++;
	}
	r->wants_payload = json_object_get(r->json, "has_payload") != NULL;
	r->has_payload = false;
	return true;
}

/* A line that goes over the bound is passed over to its end. */
static void bound_line(struct torch_records *r)
{
	if (r->line.len <= RECORD_MAX_BYTES)
		return;
	r->ledger->n[LEDGER_TOO_LARGE] += !r->skipping;
	r->skipping = true;
	buf_clear(&r->line);
}

bool torch_records_feed(struct torch_records *r, const char *bytes, size_t len, struct err *err)
{
	while (len > 0) {
		const char *newline = memchr(bytes, '\n', len);
		size_t n = newline ? (size_t)(newline - bytes) : len;
		bool ok = true;

		if (newline && r->line.len == 0 && !r->skipping) {
			ok = take_line(r, bytes, n, err);
		} else {
			buf_add(&r->line, bytes, n);
			bound_line(r);
			if (newline && !r->skipping)
				ok = take_line(r, r->line.data ? r->line.data : "", r->line.len,
					       err);
			if (newline) {
				buf_clear(&r->line);
				r->skipping = false;
			}
		}
		if (!ok)
			return false;
		n += newline != NULL;
		bytes += n;
		len -= n;
	}
	return true;
}

bool torch_records_end(struct torch_records *r, struct err *err)
{
	int64_t broken = r->ledger->n[LEDGER_BROKEN_RECORD];
	bool ok = r->line.len == 0 || take_line(r, r->line.data, r->line.len, err);

	/* The last line, where it is broken, was cut. */
	if (r->ledger->n[LEDGER_BROKEN_RECORD] > broken) {
		r->ledger->n[LEDGER_BROKEN_RECORD] = broken;
		r->ledger->n[LEDGER_CUT_OFF]++;
	}
	buf_clear(&r->line);
	return ok && hand_on(r, err);
}
