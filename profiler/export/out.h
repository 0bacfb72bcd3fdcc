/* profiler/export/out.h -- private: what is written, in pieces, gzip or plain.
 *
 * Writers do not check each call: the first fault stays, and the rest does nothing.
 */
#ifndef PROFILER_EXPORT_OUT_H
#define PROFILER_EXPORT_OUT_H

#include <string.h>

#include "fusion/base/buf.h"
#include "profiler/export/export.h"

struct out {
	export_put_fn *put;
	void *self;
	struct buf pending;
	void *deflate; /* z_stream; NULL: plain */
	struct err fault;
	bool failed;
};

bool out_init(struct out *o, export_put_fn *put, void *self, bool gzip, struct err *err);

/* The rest, unless something failed before; frees.  `ok`: of who wrote. */
bool out_finish(struct out *o, bool ok, struct err *err);

void out_add(struct out *o, const char *bytes, size_t len);

static inline void out_puts(struct out *o, const char *text)
{
	out_add(o, text, strlen(text));
}

void out_printf(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
void out_json(struct out *o, const json_t *json); /* NULL: null */
void out_text(struct out *o, const char *text);   /* as a JSON string; NULL: null */
void out_xml(struct out *o, const char *text);    /* as text of XML or HTML, attributes too */
void out_us(struct out *o, int64_t ns);           /* nanoseconds as microseconds, exactly */

#endif
