/* profiler/workload/spec.h -- the JSON values of a workload, before they exist.
 *
 * A spec is {"tensor": ...}, {"random": ...}, {"value": ...}, {"tuple": [...]},
 * {"list": [...]}, {"dict": {...}} or {"python": "..."}.  Checking one allocates no tensor, so a
 * request for 10^12 elements is refused where it is posted.
 */
#ifndef PROFILER_WORKLOAD_SPEC_H
#define PROFILER_WORKLOAD_SPEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "fusion/base/err.h"
#include "fusion/dtype.h"
#include "profiler/workload/random.h"

enum {
	SPEC_MAX_DEPTH = 16,
	SPEC_MAX_ELEMENTS_LOG2 = 31,
	SPEC_MAX_RESIZED_DATA = 1 << 20, /* elements of a "tensor" that a sweep enlarges */
};

/* A tensor spec, read.  `data` is borrowed, NULL for a random one. */
struct spec_tensor {
	enum dtype dtype;
	int rank;
	int64_t size[MAX_RANK];
	int64_t numel;
	const json_t *data;
	struct random random;
	bool requires_grad;
	unsigned dynamic_dims; /* bit d: as torch._dynamo.mark_dynamic(t, d) */
};

/* Whether spec is {"tensor"} or {"random"}. */
static inline bool spec_is_tensor(const json_t *spec)
{
	return json_object_get(spec, "tensor") || json_object_get(spec, "random");
}

/* Reads a spec that is one of the two.  `path` ("calls[0][1]") goes into the
 * message.  WORKLOAD, or BOUND with the limit. */
bool spec_tensor(const json_t *spec, const char *path, struct spec_tensor *out, struct err *err);

/* Checks a spec of any kind and adds the bytes of its tensors to *bytes. */
bool spec_check(const json_t *spec, const char *path, int64_t *bytes, struct err *err);

/* Calls `each` with every expression in the spec, and its path; until that is false. */
typedef bool spec_python_fn(void *self, const char *text, const char *path);
bool spec_each_python(const json_t *spec, const char *path, spec_python_fn *each, void *self);

bool spec_has_python(const json_t *spec);

/* Whether some tensor in it requires a gradient, or an expression may make one that does. */
bool spec_has_leaf(const json_t *spec);

/* A new spec with size `size` along `dim` (negative counts from the end).  The
 * numbers of a "tensor" are repeated or cut along dim; "random" draws new ones. */
json_t *spec_resize(const json_t *spec, const char *path, int dim, int64_t size, struct err *err);

/* "bool, int64, ..." of all dtypes, for messages. */
const char *spec_dtypes(char *out, size_t out_bytes);

/* A number of a tensor's data or of {"value"}: "nan", "inf" and "-inf" too. */
bool spec_number(const json_t *json, double *out);

#endif
