/* server/http/sites.h -- which sites may speak to the server through somebody's browser.
 *
 * A browser sends what a page of any site asks it to send.  What it says of that page, and by
 * which name it found this server, tells such requests apart: a page of another site must not
 * write here (cross-site requests), and one whose name was made to lead here (DNS rebinding)
 * must not read either.
 */
#ifndef SERVER_HTTP_SITES_H
#define SERVER_HTTP_SITES_H

#include <stdbool.h>

#include "fusion/base/err.h"

struct sites {
	int port;                /* that the server has got */
	bool any_host;           /* it may be found by any name: who asks is known otherwise */
	const char *const *more; /* names, or NAME:PORT, beside those of loopback */
	int n_more;
};

/* Headers of a request; NULL: it has none. */
struct site_headers {
	const char *host, *origin;
	const char *fetch_site, *fetch_mode, *fetch_dest; /* Sec-Fetch-... */
};

/* Whether it may be answered; FORBIDDEN with what would help.  `reads`: its method changes
 * nothing. */
bool sites_check(const struct sites *s, const struct site_headers *h, bool reads, struct err *err);

#endif
