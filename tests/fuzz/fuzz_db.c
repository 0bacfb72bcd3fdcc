/* tests/fuzz/fuzz_db.c -- libFuzzer entry of SQL over a run.
 *
 * Whatever the statement is, it answers within its bounds, or says what is wrong with it; and the
 * tables are as they were.
 */
#include <stdlib.h>
#include <string.h>

#include "db/db.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct query_cell integer(int64_t n)
{
	return (struct query_cell){ .kind = QUERY_INTEGER, .integer = n };
}

static void fill(struct query *q)
{
	const struct query_cell text = { .kind = QUERY_TEXT, .text = "add" }, none = { 0 };
	struct err err = { 0 };

	for (int64_t i = 0; i < 8; i++) {
		const struct query_cell lane[] = { integer(i), text, text, text,      none,
						   none,       none, none, integer(0) };
		const struct query_cell name[] = { integer(i), text, none,       text,
						   integer(3), none, integer(0), none };
		const struct query_cell event[] = { integer(i),    integer(10 * i), integer(5),
						    integer(0),    integer(i % 2),  text,
						    text,          integer(i),      none,
						    integer(i / 2) };

		if (!query_add(q, QUERY_LANES, lane, 9, &err) ||
		    !query_add(q, QUERY_NAMES, name, 8, &err) ||
		    !query_add(q, QUERY_EVENTS, event, 10, &err))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct query_limits limits = { 100, 1 << 16, 50, 0 };
	struct err err = { 0 };
	struct query *q = query_create(&limits, &err);
	char *sql = strndup((const char *)data, size);
	json_t *answer;

	if (!q || !sql)
		abort();
	fill(q);
	answer = query_run(q, sql, &err);
	if (answer ? json_array_size(json_object_get(answer, "rows")) > 100 : !err.message[0])
		abort();
	json_decref(answer);
	query_destroy(q);
	free(sql);
	return 0;
}
