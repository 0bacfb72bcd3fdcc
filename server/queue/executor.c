/* server/queue/executor.c -- the commands that executors call, and the executor that calls none. */
#include "server/queue/executor.h"

#include <string.h>

#include "fusion/base/buf.h"
#include "profiler/measure/program.h"

enum { OUTPUT_BYTES = 4 << 20 };
static const double call_seconds = 60;

const struct executor executor_local = { .name = "local",
					 .title = "this machine, one run at a time" };

/* The text without blanks at its end, one line, as long as a message takes. */
static const char *as_line(struct arena *arena, const char *text)
{
	size_t len = strlen(text);
	char *line;

	while (len > 0 && strchr(" \t\r\n", text[len - 1]))
		len--;
	line = arena_strndup(arena, text, len < 300 ? len : 300);
	for (char *c = line; c && *c; c++)
		*c = (unsigned char)*c < 0x20 ? ' ' : *c;
	return line ? line : "";
}

bool executor_call(const char *const *argv, struct arena *arena, const char **output,
		   struct err *err)
{
	const struct timed_program program = { .argv = argv,
					       .folder = "/",
					       .timeout_s = call_seconds,
					       .errors_too = true,
					       .leaves = true };
	struct timed_program_end end;
	struct buf out;
	bool ok;

	buf_init(&out, OUTPUT_BYTES);
	ok = program_run(&program, &out, &end, err);
	*output = ok ? arena_strndup(arena, out.len ? out.data : "", out.len) : NULL;
	buf_finish(&out);
	if (ok && !*output)
		return err_set(err, ERR_MEMORY, "out of memory for what %s prints", argv[0]);
	if (ok && end.timed_out)
		return err_set(err, ERR_IO, "%.100s did not end within %g s", argv[0],
			       call_seconds);
	return ok && (end.status == 0 || err_set(err, ERR_IO, "%.100s ended with status %d: %s",
						 argv[0], end.status, as_line(arena, *output)));
}
