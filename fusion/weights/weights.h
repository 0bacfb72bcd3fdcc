/* fusion/weights/weights.h -- reads files of weights: safetensors, and what torch.save wrote.
 *
 * Nothing of a file is executed.  It is mapped, not read: tensors lie where the file has them
 * (fusion/tensor/mapping.h).  All that a file says is checked against its length.
 */
#ifndef FUSION_WEIGHTS_WEIGHTS_H
#define FUSION_WEIGHTS_WEIGHTS_H

#include "fusion/data.h"
#include "fusion/tensor/mapping.h"
#include "fusion/tensor/tensor.h"

struct weights_reader {
	struct allocator *allocator;
	const struct fusion_data_files *files; /* NULL: there are none */
};

/* The file that a program means by `path`: one of that name, or of the longest name that the
 * path ends in.  NULL where there is none. */
const struct fusion_data *weights_find(const struct fusion_data_files *files, const char *path);

/* Messages name the file as the program does; OP for one that is damaged or of another kind, IO. */

/* {name: tensor}, and {key: text} of its metadata, as a tuple. */
bool weights_safetensors(const struct weights_reader *r, const char *path, struct value *out,
			 struct err *err);

/* What torch.save was given, and a list of the tensors in it that require gradients, as a tuple.
 * `ordered`: the class of an OrderedDict. */
bool weights_torch(const struct weights_reader *r, const char *path, struct value ordered,
		   struct value *out, struct err *err);

#endif
