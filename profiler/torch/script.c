/* profiler/torch/script.c -- the experiment as a PyTorch script.
 *
 * script.py is the whole script but for the experiment itself, and is
 * part of the binary (Makefile).  Its statistics and its random numbers are
 * those of stats.c, measure.c, random.c: change them together.
 */
#include <stdlib.h>
#include <string.h>

#include "profiler/workload/workload.h"

extern const char torch_script_text[]; /* script.py, NUL terminated */

static const char mark[] = "# {{experiment}}\n";

/* Source as the inside of a Python string between three double quotes. */
static void put_source(struct buf *out, const char *source)
{
	buf_puts(out, "SOURCE = \"\"\"\\\n");
	for (const char *c = source; *c; c++) {
		if (*c == '\\' || *c == '"')
			buf_putc(out, '\\');
		buf_putc(out, *c);
	}
	buf_puts(out, "\"\"\"\n");
}

/* The rest of the workload, which Python reads as JSON.  No quote of the JSON
 * can end the Python string: each is written as \u0027. */
static bool put_workload(struct buf *out, const json_t *workload)
{
	json_t *copy = json_copy((json_t *)workload);
	char *text;

	json_object_del(copy, "source");
	text = json_dumps(copy, JSON_ENSURE_ASCII | JSON_INDENT(0));
	json_decref(copy);
	if (!text)
		return false;
	buf_puts(out, "WORKLOAD = json.loads(r'''");
	for (const char *c = text; *c; c++) {
		if (*c == '\'')
			buf_puts(out, "\\u0027");
		else
			buf_putc(out, *c);
	}
	buf_puts(out, "''')\n");
	free(text);
	return true;
}

char *workload_torch_script(const struct workload *w, struct err *err)
{
	const char *at = strstr(torch_script_text, mark);
	struct buf out;
	char *script = NULL;

	buf_init(&out, 0);
	buf_add(&out, torch_script_text, (size_t)(at - torch_script_text));
	put_source(&out, w->source);
	if (w->n_is_size)
		buf_puts(&out, "SIZE_IS_N = True\n");
	if (put_workload(&out, w->json)) {
		buf_puts(&out, at + strlen(mark));
		script = buf_steal(&out);
	}
	buf_finish(&out);
	if (!script)
		err_set(err, ERR_MEMORY, "out of memory for the script");
	return script;
}
