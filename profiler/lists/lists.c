/* profiler/lists/lists.c -- backends and passes; see lists.h. */
#include "profiler/lists/lists.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/vec.h"
#include "profiler/fields/fields.h"
#include "profiler/profiler.h"

static json_t *text_json(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *properties_json(unsigned bits)
{
	json_t *list = json_array();

	for (int i = 0; fusion_pass_property(i).name; i++)
		if (bits >> i & 1)
			json_array_append_new(list, json_string(fusion_pass_property(i).name));
	return list;
}

static json_t *words_json(const char *words)
{
	json_t *list = json_array();

	for (size_t len; words && *words; words += len) {
		words += strspn(words, " ");
		len = strcspn(words, " ");
		if (len)
			json_array_append_new(list, json_stringn(words, len));
	}
	return list;
}

static json_t *pass_json(const struct registry *registry, int i)
{
	struct fusion_pass p = fusion_pass(registry, i);
	struct err why = { 0 };

	if (p.required)
		fusion_passes_check(registry, (uint64_t)1 << i, &why);
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "name", p.name, "purpose",
			 p.purpose, "needs", properties_json(p.needs), "makes",
			 properties_json(p.makes), "breaks", properties_json(p.breaks), "after",
			 words_json(p.after), "required", p.required, "why_required",
			 text_json(p.required ? why.message : NULL), "plugin", text_json(p.plugin));
}

json_t *lists_passes(const struct registry *registry, struct err *err)
{
	json_t *passes = json_array(), *properties = json_array(), *all;

	for (int i = 0; fusion_pass(registry, i).name; i++)
		json_array_append_new(passes, pass_json(registry, i));
	for (int i = 0; fusion_pass_property(i).name; i++)
		json_array_append_new(properties,
				      json_pack("{s:s, s:s}", "name", fusion_pass_property(i).name,
						"text", fusion_pass_property(i).text));
	all = json_pack("{s:o, s:o}", "passes", passes, "properties", properties);
	if (!all)
		err_set(err, ERR_MEMORY, "out of memory for the list of passes");
	return all;
}

static json_t *lacks_json(const struct registry *registry, int backend, bool available)
{
	json_t *list = json_array();
	const char *line;

	for (int i = 0; available && (line = fusion_backend_lacks(registry, backend, i)); i++)
		json_array_append_new(list, json_string(line));
	return list;
}

json_t *lists_torch(const char *python, bool confined)
{
	struct err why = { 0 };
	json_t *found = python ? profiler_torch_probe(python, confined, &why) : NULL;
	json_t *row;

	if (!python)
		err_set(&why, ERR_NO_DEVICE, TORCH_SWITCHED_OFF);
	row = json_pack("{s:s, s:s, s:b, s:o}", "name", "torch", "purpose",
			"PyTorch itself, in a process of its own", "available", found != NULL,
			"why_not", text_json(found ? NULL : why.message));
	if (found)
		json_object_update(row, found);
	json_decref(found);
	return row;
}

json_t *lists_backends(const struct registry *registry, struct err *err)
{
	json_t *list = json_array(), *json = profiler_environment(NULL), *all;
	struct arena arena = { 0 };
	const struct report_environment *environment = report_read_environment(json, &arena, err);
	bool chosen = false;
	int n = 0;

	while (fusion_backend(registry, n).name)
		n++;
	for (int i = n - 1; environment && i >= 0; i--) {
		struct fusion_backend b = fusion_backend(registry, i);
		bool compiles = strcmp(b.name, "cpu") == 0, best;
		char why[192] = "";
		bool available = fusion_backend_works(registry, i, why, sizeof(why));

		/* As fusion_create() chooses for the host: cpu where it works, or interp. */
		best = available && !b.plugin && !chosen && !b.on_device;
		chosen |= best;
		json_array_insert_new(
		    list, 0,
		    json_pack("{s:s, s:s, s:b, s:o, s:o, s:b, s:o, s:o, s:o}", "name", b.name,
			      "purpose", b.purpose, "available", available, "why_not",
			      text_json(available ? NULL : why), "lacks",
			      lacks_json(registry, i, available), "default", best, "vector_unit",
			      b.plugin || b.on_device ? json_null()
						      : text_json(environment->vector_unit),
			      "compiler", compiles ? text_json(environment->compiler) : json_null(),
			      "plugin", text_json(b.plugin)));
	}
	json_decref(json);
	arena_finish(&arena);
	all = environment ? json_pack("{s:O}", "backends", list) : NULL;
	json_decref(list);
	if (environment && !all)
		err_set(err, ERR_MEMORY, "out of memory for the list of backends");
	return all;
}

/* ---- names */

struct module_names {
	VEC(char *) at;
	bool failed;
};

/* Those that begin with _ are a module's own. */
static void take_name(void *self, const char *name)
{
	struct module_names *n = self;
	char *copy = *name == '_' ? NULL : strdup(name);

	if (*name != '_' && (!copy || !VEC_PUSH(&n->at, copy))) {
		free(copy);
		n->failed = true;
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

json_t *lists_names(const char *module, struct err *err)
{
	struct module_names n = { 0 };
	json_t *list = json_array(), *out;

	fusion_each_name(module, take_name, &n);
	if (n.at.len)
		qsort(n.at.at, n.at.len, sizeof(*n.at.at), by_text);
	for (size_t i = 0; i < n.at.len; i++)
		if (i == 0 || strcmp(n.at.at[i], n.at.at[i - 1]) != 0)
			json_array_append_new(list, json_string(n.at.at[i]));
	for (size_t i = 0; i < n.at.len; i++)
		free(n.at.at[i]);
	VEC_FREE(&n.at);
	out = n.failed ? NULL : json_pack("{s:s, s:O}", "module", module, "names", list);
	json_decref(list);
	if (!out)
		err_set(err, ERR_MEMORY, "out of memory for names");
	return out;
}
