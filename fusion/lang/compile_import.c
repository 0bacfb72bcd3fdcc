/* fusion/lang/compile_import.c -- imports; which modules exist, the host says. */
#include "fusion/lang/compile.h"

#include <string.h>

static struct place name_place(const struct import_name *name)
{
	int len = (int)strlen(name->name);

	return (struct place){ name->line, name->column, name->column + len };
}

static bool compile_plain(struct builder *b, const struct import_name *name)
{
	struct place at = name_place(name);

	if (!emit_name(b, at, CODE_IMPORT, name->name))
		return false;
	if (name->alias)
		return compile_store_name(b, at, name->alias);
	/* `import a.b` loads a.b and binds a */
	if (name->first != name->name &&
	    (!emit(b, at, CODE_POP, 0) || !emit_name(b, at, CODE_IMPORT, name->first)))
		return false;
	return compile_store_name(b, at, name->first);
}

/* Its features are the language's own, or about annotations, which are never
 * evaluated. */
static bool compile_future(struct builder *b, const struct import *import)
{
	static const char *const features[] = {
		"annotations",     "division",         "print_function",
		"absolute_import", "unicode_literals", "generator_stop",
		"nested_scopes",   "generators",       "with_statement",
	};

	for (int i = 0; i < import->n; i++) {
		const struct import_name *name = &import->at[i];
		size_t k = 0, n = sizeof(features) / sizeof(features[0]);

		while (k < n && strcmp(features[k], name->name) != 0)
			k++;
		if (k == n)
			return err_at(b->c->err, ERR_SYNTAX, name->line, name->column,
				      "__future__ has no feature %s", name->name);
	}
	return true;
}

static bool compile_from(struct builder *b, const struct node *node)
{
	const struct import *import = node->import;
	struct place at = place_of(node);

	if (import->level)
		return refuse_at(b, node->line, node->column, "a relative import",
				 "a workload is one file: put the code into it");
	if (strcmp(import->module, "__future__") == 0)
		return compile_future(b, import);
	if (!import->at[0].first)
		return refuse_at(b, import->at[0].line, import->at[0].column, "import *",
				 "name what is imported");
	if (!emit_name(b, at, CODE_IMPORT, import->module))
		return false;
	for (int i = 0; i < import->n; i++) {
		const struct import_name *name = &import->at[i];
		struct place here = name_place(name);

		if (!emit(b, here, CODE_COPY, 1) ||
		    !emit_name(b, here, CODE_LOAD_ATTR, name->name) ||
		    !compile_store_name(b, here, name->alias ? name->alias : name->name))
			return false;
	}
	return emit(b, at, CODE_POP, 0);
}

bool compile_import(struct builder *b, const struct node *node)
{
	if (node->kind == NODE_IMPORT_FROM)
		return compile_from(b, node);
	for (int i = 0; i < node->import->n; i++)
		if (!compile_plain(b, &node->import->at[i]))
			return false;
	return true;
}
