/* server/http/sites.c -- see sites.h: names of the server, and the site of the page that asks. */
#include "server/http/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* "NAME[:PORT]"; an address of IPv6 is in brackets. */
struct host_name {
	const char *name;
	size_t len;
	const char *port; /* NULL: none is given */
};

static struct host_name host_read(const char *text)
{
	const char *from = *text == '[' ? strchr(text, ']') : text;
	const char *colon = from ? strchr(from, ':') : NULL;
	size_t len = colon ? (size_t)(colon - text) : strlen(text);

	return (struct host_name){ text, len, colon ? colon + 1 : NULL };
}

static bool is_name(const struct host_name *h, const char *name)
{
	return strlen(name) == h->len && strncasecmp(h->name, name, h->len) == 0;
}

/* 127.0.0.0/8 in four numbers, ::1, localhost. */
static bool is_loopback(const struct host_name *h)
{
	const char *at = h->name + 4, *end = h->name + h->len;
	int numbers = 0;

	if (is_name(h, "localhost") || is_name(h, "[::1]"))
		return true;
	if (h->len < 5 || strncmp(h->name, "127.", 4) != 0)
		return false;
	for (; at < end && numbers < 3; at++) {
		int n = 0, digits = 0;

		while (at < end && *at >= '0' && *at <= '9' && digits++ < 3)
			n = n * 10 + (*at++ - '0');
		if (digits == 0 || n > 255 || (at < end && *at != '.'))
			return false;
		numbers++;
	}
	return numbers == 3 && at == end + 1;
}

static bool is_port(const char *text, int port)
{
	char wanted[16];

	snprintf(wanted, sizeof(wanted), "%d", port);
	return text ? strcmp(text, wanted) == 0 : port == 80;
}

static bool is_allowed(const struct sites *s, const char *host)
{
	struct host_name h = host_read(host);

	if (is_loopback(&h) && is_port(h.port, s->port))
		return true;
	for (int i = 0; i < s->n_more; i++) {
		struct host_name more = host_read(s->more[i]);

		if (more.len == h.len && strncasecmp(more.name, h.name, h.len) == 0 &&
		    (!more.port || (h.port && strcmp(more.port, h.port) == 0)))
			return true;
	}
	return false;
}

/* Whether the page that asks is one of this server: its origin is the host that it asked. */
static bool is_own(const struct site_headers *h)
{
	const char *host = strstr(h->origin, "://");

	return h->host && host && strcasecmp(host + 3, h->host) == 0 &&
	       (strncmp(h->origin, "http:", 5) == 0 || strncmp(h->origin, "https:", 6) == 0);
}

/* Somebody followed a link to a page of this server: the other site cannot read what it shows. */
static bool is_visit(const struct site_headers *h)
{
	return h->fetch_mode && strcmp(h->fetch_mode, "navigate") == 0 && h->fetch_dest &&
	       strcmp(h->fetch_dest, "document") == 0;
}

bool sites_check(const struct sites *s, const struct site_headers *h, bool reads, struct err *err)
{
	/* Every browser sends Host; a probe in HTTP/1.0 does not. */
	if (!s->any_host && h->host && !is_allowed(s, h->host))
		return err_set(
		    err, ERR_FORBIDDEN,
		    "this server is not known as '%.100s'; ask for 127.0.0.1:%d, or, where "
		    "that is its name, start it with --allow-host",
		    h->host, s->port);
	if (h->fetch_site && strcmp(h->fetch_site, "same-origin") != 0 &&
	    strcmp(h->fetch_site, "none") != 0 && !(reads && is_visit(h)))
		return err_set(err, ERR_FORBIDDEN,
			       "a page of another site (%.20s) may not use this server",
			       h->fetch_site);
	if (h->origin && !is_own(h))
		return err_set(err, ERR_FORBIDDEN,
			       "a page of another site (%.100s) may not use this server",
			       h->origin);
	return true;
}
