/* profiler/import/torch_break.h -- private: the text of a graph break, taken apart. */
#ifndef PROFILER_IMPORT_TORCH_BREAK_H
#define PROFILER_IMPORT_TORCH_BREAK_H

#include <stdbool.h>
#include <stddef.h>

enum { BREAK_FILE_CHARS = 1024, BREAK_TYPE_CHARS = 256 };

struct torch_break {
	char file[BREAK_FILE_CHARS]; /* "": the text names no place */
	int line;
	bool unplaced;       /* the place is that of its frame */
	const char *outcome; /* "resume", "step", "skip", "jump"; NULL: not said */
	const char *reason;  /* within the text, from the cause on */
	size_t reason_len;
	char type[BREAK_TYPE_CHARS]; /* the first line of the reason */
	char gb[16];                 /* "GB0170"; "": none */
	const char *kind;            /* one of fusion/report/breaks.def */
};

/* The payload of a dynamo_graph_break_reason, of 2.5 to 2.14.  `text` is NUL terminated
 * and must outlive *out. */
void torch_break_read(const char *text, struct torch_break *out);

/* The reason alone, as restart_reasons have it. */
void torch_break_read_reason(const char *reason, struct torch_break *out);

#endif
