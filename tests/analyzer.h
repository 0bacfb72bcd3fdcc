/* tests/analyzer.h -- what the analyzer has to know of functions in other files (`make tidy`).
 *
 * It sees one file at a time.  Those that say what went wrong return false, always, and that
 * is how values are known to be set where nothing failed: written here, for it would otherwise
 * follow paths on which they return true.
 */
#ifndef TESTS_ANALYZER_H
#define TESTS_ANALYZER_H

#include "fusion/base/err.h"

struct trace;
struct vm;

/* Functions that take any number of arguments it does not look into; for the others it
 * takes the body that is here, and the file that has the function may define it again. */
#define err_set(...) (err_set(__VA_ARGS__), false)
#define err_at(...) (err_at(__VA_ARGS__), false)
#define TOLD extern inline __attribute__((gnu_inline)) bool

TOLD library_no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory");
}
TOLD pass_out_of_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory");
}
TOLD entry_no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory");
}
TOLD torch_no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory");
}
TOLD trace_no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory");
}
TOLD vm_out_of_memory(struct vm *vm, struct err *err)
{
	(void)vm;
	return err_set(err, ERR_MEMORY, "out of memory");
}
TOLD variables_too_many(struct trace *t, struct err *err)
{
	(void)t;
	return err_set(err, ERR_MEMORY, "out of memory");
}

#endif
