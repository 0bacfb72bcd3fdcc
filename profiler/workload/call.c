/* profiler/workload/call.c -- see call.h for the two forms of a call. */
#include "profiler/workload/call.h"

#include <stdio.h>

static const json_t *by_place(const json_t *call)
{
	return json_is_array(call) ? call : json_object_get(call, "args");
}

static json_t *by_name(const json_t *call)
{
	return json_object_get(call, "kwargs");
}

size_t call_length(const json_t *call)
{
	return json_array_size(by_place(call)) + json_object_size(by_name(call));
}

/* The item of argument k among those with a name; NULL: it has none. */
static void *named_item(const json_t *call, size_t k)
{
	size_t first = json_array_size(by_place(call));
	void *item = k < first ? NULL : json_object_iter(by_name(call));

	for (; item && k > first; k--)
		item = json_object_iter_next(by_name(call), item);
	return item;
}

const json_t *call_spec(const json_t *call, size_t k)
{
	void *item = named_item(call, k);

	return item ? json_object_iter_value(item) : json_array_get(by_place(call), k);
}

const char *call_name(const json_t *call, size_t k)
{
	void *item = named_item(call, k);

	return item ? json_object_iter_key(item) : NULL;
}

void call_set(json_t *call, size_t k, json_t *spec)
{
	const char *name = call_name(call, k);

	if (name)
		json_object_set_new(by_name(call), name, spec);
	else
		json_array_set_new((json_t *)by_place(call), k, spec);
}

void call_path(const json_t *call, int i, size_t k, char out[CALL_PATH_BYTES])
{
	const char *name = call_name(call, k);

	if (name)
		snprintf(out, CALL_PATH_BYTES, "calls[%d].%.64s", i, name);
	else
		snprintf(out, CALL_PATH_BYTES, "calls[%d][%zu]", i, k);
}
