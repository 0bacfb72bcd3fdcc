/* fusion/data.h -- files that a program may read: weights. */
#ifndef FUSION_DATA_H
#define FUSION_DATA_H

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

#endif
