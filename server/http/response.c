/* server/http/response.c -- see response.h. */
#include "server/http/response.h"

#include <microhttpd.h>
#include <stdio.h>

#include "fusion/base/refused.h"

void response_add(struct MHD_Response *r, const char *name, const char *value)
{
	if (r && MHD_add_response_header(r, name, value) != MHD_YES)
		memory_note_refused();
}

void response_dress(struct MHD_Response *r, const char *type)
{
	response_add(r, "Content-Type", type);
	response_add(r, "X-Content-Type-Options", "nosniff");
	response_add(r, "X-Frame-Options", "DENY");
	response_add(r, "Cross-Origin-Resource-Policy", "same-origin");
	response_add(r, "Referrer-Policy", "no-referrer");
	response_add(r, "Content-Security-Policy",
		     "default-src 'self'; object-src 'none'; base-uri 'none'; "
		     "form-action 'self'; frame-ancestors 'none'");
}

void response_name_file(struct MHD_Response *r, const char *filename)
{
	char value[256];

	if (!filename)
		return;
	snprintf(value, sizeof(value), "attachment; filename=\"%s\"", filename);
	response_add(r, "Content-Disposition", value);
}
