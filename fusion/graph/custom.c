/* fusion/graph/custom.c -- ops that plugins add. */
#include "fusion/graph/custom.h"
#include "fusion/base/words.h"

#include <string.h>

#include "fusion/graph/infer.h"

int custom_index(const struct custom_ops *ops, const char *name)
{
	for (int i = 0; ops && i < ops->n; i++)
		if (strcmp(ops->at[i].info.id, name) == 0 ||
		    words_have(ops->at[i].info.spellings, name))
			return i;
	return -1;
}

const struct custom_op *custom_find(const struct custom_ops *ops, const char *name)
{
	int i = custom_index(ops, name);

	return i < 0 ? NULL : &ops->at[i];
}
