/* fusion/session/plugin_pass.c -- a plugin's pass among ours. */
#include <string.h>

#include "fusion/session/plugin_private.h"

struct visit {
	const struct pass_info *pass;
	const struct be_pass *plugin;
};

static int failed(const struct visit *v, const struct node *n, const struct err *why,
		  struct err *err)
{
	err_at(err, ERR_PLUGIN, n->line, n->column,
	       "pass %s of the plugin %s failed at %%%s: %.300s", v->pass->name, v->pass->plugin,
	       n->name, why->code != ERR_NONE ? why->message : "it gives no reason");
	return PASS_FAILED;
}

static int visit(void *self, struct graph *g, const struct node *n, struct err *err)
{
	const struct visit *v = self;
	struct err why = { 0 };
	struct be_rewrite rw = plugin_rewrite(g, n, &why);
	int before = g->n_nodes;
	int id = v->plugin->visit(plugin_host(), &rw, &rw.view, v->plugin->self);

	if (id == BE_KEEP)
		return PASS_KEEP;
	if (id < 0)
		return failed(v, n, &why, err);
	if (id >= g->n_nodes) {
		err_set(&why, ERR_PLUGIN, "it puts node %d in its place, of %d that there are", id,
			g->n_nodes);
		return failed(v, n, &why, err);
	}
	if (id >= before) /* a new node has the name of the one it stands for */
		g->nodes[id]->name = n->name;
	return id;
}

static bool run(struct pass_run *run, const struct pass_info *pass, bool *changed, struct err *err)
{
	struct visit v = { pass, pass->data };

	return pass_visit_all(run, visit, &v, changed, err);
}

/* "primitive live" -> bits. */
static bool read_properties(const char *words, unsigned *bits, struct err *err)
{
	*bits = 0;
	for (size_t len; words && *words; words += len) {
		int found = -1;

		words += strspn(words, " ");
		len = strcspn(words, " ");
		for (int i = 0; len && i < PROPERTY_COUNT; i++)
			if (strlen(pass_property(i)->name) == len &&
			    memcmp(pass_property(i)->name, words, len) == 0)
				found = i;
		if (len && found < 0)
			return err_set(err, ERR_PLUGIN,
				       "'%.*s' is no property of graphs; `breakeven passes --json` "
				       "lists them",
				       len > 40 ? 40 : (int)len, words);
		if (len)
			*bits |= 1u << found;
	}
	return true;
}

bool plugin_add_pass(struct be_registry *r, const struct be_pass *pass)
{
	struct pass_info info = { .after = "", .plugin = r->plugin, .run = run };
	struct err why = { 0 };

	if (!pass || !plugin_is_name(pass->name) || !pass->purpose || !pass->place || !pass->visit)
		return err_set(
		    r->err, ERR_PLUGIN,
		    "a pass needs a name that is an identifier, a purpose, a place and a "
		    "function visit");
	info.name = pass->name;
	info.purpose = pass->purpose;
	info.data = (void *)pass;
	if (!read_properties(pass->needs, &info.needs, &why) ||
	    !read_properties(pass->makes, &info.makes, &why) ||
	    !read_properties(pass->breaks, &info.breaks, &why) ||
	    !pass_list_insert(&r->to->passes, &info, pass->place, pass->behind, &why))
		return err_set(r->err, ERR_PLUGIN, "pass %s: %.380s", pass->name, why.message);
	return true;
}
