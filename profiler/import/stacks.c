/* profiler/import/stacks.c -- the stacks of a compile log, as one trie. */
#include "profiler/import/stacks.h"

#include <stdbool.h>
#include <string.h>

/* Frames of Dynamo itself, which stand after the frame that it compiles. */
static bool is_of_dynamo(const json_t *frame)
{
	const char *file = json_string_value(json_object_get(frame, "filename"));

	return file && strstr(file, "torch/_dynamo/convert_frame.py");
}

static json_t *text_or(const json_t *frame, const char *key)
{
	json_t *text = json_object_get(frame, key);

	return json_is_string(text) ? json_incref(text) : json_string("?");
}

static json_t *new_node(const json_t *frame, int parent)
{
	json_t *code = json_object_get(frame, "loc");
	json_t *node = json_pack("{s:i, s:o, s:o, s:I}", "parent", parent, "function",
				 text_or(frame, "name"), "file", text_or(frame, "filename"), "line",
				 json_integer_value(json_object_get(frame, "line")));

	if (json_is_string(code))
		json_object_set(node, "code", code);
	return node;
}

/* The child of a node; -1: there are too many. */
static int child_of(struct stacks *s, int parent, const json_t *frame)
{
	json_t *node = new_node(frame, parent);
	json_t *key = json_sprintf("%d %lld %s %s", parent,
				   (long long)json_integer_value(json_object_get(node, "line")),
				   json_string_value(json_object_get(node, "function")),
				   json_string_value(json_object_get(node, "file")));
	const char *text = json_string_value(key);
	const json_t *known = text ? json_object_get(s->known, text) : NULL;
	int at = known ? (int)json_integer_value(known) : -1;

	if (!known && text && node && json_array_size(s->nodes) < STACKS_MAX) {
		at = (int)json_array_size(s->nodes);
		json_object_set_new(s->known, text, json_integer(at));
		json_array_append(s->nodes, node);
	}
	json_decref(key);
	json_decref(node);
	return at;
}

int stacks_add(struct stacks *s, const json_t *stack)
{
	size_t n = json_array_size(stack);
	int at = -1;

	while (n > 0 && is_of_dynamo(json_array_get(stack, n - 1)))
		n--;
	n = n < STACKS_MAX_DEPTH ? n : STACKS_MAX_DEPTH;
	if (n > 0 && !s->nodes) {
		s->nodes = json_array();
		s->known = json_object();
	}
	for (size_t i = 0; i < n; i++) {
		at = child_of(s, at, json_array_get(stack, i));
		if (at < 0)
			return -1;
	}
	return at;
}
