/* fusion/data.h -- files that a program may read: weights; and objects that Python saved. */
#ifndef FUSION_DATA_H
#define FUSION_DATA_H

#include "fusion/value.h"

struct err;

/* A file of the caller's under the name that a program knows it by: "weights.pt" serves
 * torch.load("weights.pt") and torch.load("out/weights.pt").  It must not change while the
 * engine lives: tensors lie in it. */
struct fusion_data {
	const char *name, *path;
};
struct fusion_data_files {
	const struct fusion_data *at;
	int n;
};

/* What pickle.dump or torch.save wrote, read without executing it.  An object is a dict of its
 * attributes, with its class under the key ""; only those of `classes` ("module.Name", up to a
 * NULL) are known.  `bytes` are those of the file.  OP: it is damaged, holds tensors, or names
 * anything else. */
bool fusion_data_objects(const void *bytes, size_t len, const char *const *classes,
			 struct value *out, struct err *err);

#endif
