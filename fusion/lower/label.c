/* fusion/lower/label.c -- what people read of a kernel: its name, its lines of the source. */
#include <stdio.h>
#include <string.h>

#include "fusion/lower/build.h"

enum { NAME_OPS = 6, NAME_CHARS = 64 };

static const char *op_name(const struct node *n)
{
	return op_info(n->op)->id;
}

/* Names of kernels before this one that open with the same text. */
static int count_namesakes(const struct build *b, const char *name)
{
	int count = 0;
	size_t len = strlen(name);
	for (int i = 0; i < b->kernel; i++) {
		const char *other = b->l->kernels[i].name;
		if (strncmp(other, name, len) == 0 &&
		    (!other[len] || strspn(other + len, "_0123456789") == strlen(other + len)))
			count++;
	}
	return count;
}

/* "fused_" and the ops in order, each once, as many as fit. */
const char *label_name(struct build *b, const struct kernel *k)
{
	char name[NAME_CHARS + 32];
	size_t len = (size_t)snprintf(name, sizeof(name), "%s",
				      k->form == FORM_LIBRARY ? "library" : "fused");
	bool used[OP_COUNT] = { false };

	for (int i = 0, listed = 0; i < k->n_nodes; i++) {
		const struct node *n = b->g->nodes[k->nodes[i]];
		const char *op = op_name(n);
		if (used[n->op])
			continue;
		used[n->op] = true;
		/* The first ones and the last one say what it is. */
		if (listed >= NAME_OPS && i + 1 < k->n_nodes)
			continue;
		if (len + 1 + strlen(op) >= NAME_CHARS)
			break;
		len += (size_t)snprintf(name + len, sizeof(name) - len, "_%s", op);
		listed++;
	}
	int before = count_namesakes(b, name);
	if (before > 0)
		snprintf(name + len, sizeof(name) - len, "_%d", before);
	return arena_strdup(b->arena, name);
}

bool label_lines(struct build *b, struct kernel *k)
{
	int *lines = ARENA_ARRAY(b->arena, int, (size_t)k->n_nodes);

	for (int i = 0; lines && i < k->n_nodes; i++) {
		int line = b->g->nodes[k->nodes[i]]->line, at = 0;

		while (at < k->n_lines && lines[at] != line)
			at++;
		if (line > 0 && at == k->n_lines)
			lines[k->n_lines++] = line;
	}
	k->lines = lines;
	return lines != NULL;
}
