/* profiler/workload/call.c -- see call.h for the two forms of a call. */
#include "profiler/workload/call.h"

#include <stdio.h>
#include <string.h>

#include "profiler/workload/workload.h"

static const json_t *by_place(const json_t *call)
{
	return json_is_array(call) ? call : json_object_get(call, "args");
}

static json_t *by_name(const json_t *call)
{
	return json_object_get(call, "kwargs");
}

bool call_check(const json_t *call, int i, struct err *err)
{
	const char *key;
	json_t *value;

	if (!json_is_array(call) && !json_is_object(call))
		return err_set(err, ERR_WORKLOAD,
			       "calls[%d] must be a list of values, or {\"args\": [...], \"kwargs\": "
			       "{\"name\": ...}}",
			       i);
	json_object_foreach((json_t *)call, key, value)
	{
		bool args = strcmp(key, "args") == 0;

		if (!args && strcmp(key, "kwargs") != 0)
			return err_set(err, ERR_WORKLOAD,
				       "calls[%d] has an unknown field '%.40s'; it has args, a list, "
				       "and kwargs, an object",
				       i, key);
		if (args ? !json_is_array(value) : !json_is_object(value))
			return err_set(err, ERR_WORKLOAD, "calls[%d].%s must be %s", i, key,
				       args ? "a list of values" : "an object of values by name");
	}
	if (call_length(call) > WORKLOAD_MAX_ARGS)
		return err_set(err, ERR_BOUND, "calls[%d] has %zu arguments; the limit is %d", i,
			       call_length(call), WORKLOAD_MAX_ARGS);
	return true;
}

size_t call_length(const json_t *call)
{
	return json_array_size(by_place(call)) + json_object_size(by_name(call));
}

int call_named(const json_t *call)
{
	return (int)json_object_size(by_name(call));
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

json_t *call_specs(const json_t *call)
{
	json_t *all;

	if (json_is_array(call))
		return json_incref((json_t *)call);
	all = json_array();
	for (size_t k = 0; k < call_length(call); k++)
		json_array_append(all, (json_t *)call_spec(call, k));
	return all;
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
