/* server/http/listen.c -- see listen.h: sockets by getaddrinfo().
 */
#include "server/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 511, HOST_BYTES = 256 };

static bool split(const char *address, char *host, size_t host_bytes, const char **port,
		  struct err *err)
{
	const char *colon = strrchr(address, ':');
	const char *from = address;
	size_t len;

	if (!colon || colon == address || !colon[1])
		return err_set(err, ERR_BAD_REQUEST,
			       "--listen takes HOST:PORT, as 127.0.0.1:8080; '%s' has no port",
			       address);
	len = (size_t)(colon - address);
	if (*from == '[' && len > 2 && from[len - 1] == ']') {
		from++;
		len -= 2;
	}
	if (len >= host_bytes)
		return err_set(err, ERR_BAD_REQUEST, "the host in --listen is too long");
	memcpy(host, from, len);
	host[len] = '\0';
	*port = colon + 1;
	return true;
}

/* getaddrinfo() takes larger numbers by their low 16 bits. */
static bool check_port(const char *port, struct err *err)
{
	size_t digits = strspn(port, "0123456789");

	return (digits > 0 && digits <= 5 && !port[digits] && atoi(port) <= 65535) ||
	       err_set(err, ERR_BAD_REQUEST,
		       "--listen takes HOST:PORT, as 127.0.0.1:8080; '%.100s' is no port from 0 to "
		       "65535",
		       port);
}

bool listen_check(const char *address, struct err *err)
{
	const char *port;
	char host[HOST_BYTES];

	return split(address, host, sizeof(host), &port, err) && check_port(port, err);
}

static void write_url(int fd, char *url, size_t url_bytes)
{
	struct sockaddr_storage at = { 0 };
	socklen_t len = sizeof(at);
	char host[64], port[16];

	if (getsockname(fd, (struct sockaddr *)&at, &len) != 0 ||
	    getnameinfo((struct sockaddr *)&at, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		snprintf(url, url_bytes, "http://unknown");
	else if (at.ss_family == AF_INET6)
		snprintf(url, url_bytes, "http://[%s]:%s", host, port);
	else
		snprintf(url, url_bytes, "http://%s:%s", host, port);
}

int listen_on(const char *address, char *url, size_t url_bytes, struct err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *found = NULL;
	const char *port = NULL;
	char host[HOST_BYTES];
	int one = 1, fd, code;

	if (!listen_check(address, err) || !split(address, host, sizeof(host), &port, err))
		return -1;
	code = getaddrinfo(host, port, &hints, &found);
	if (code != 0) {
		err_set(err, ERR_BAD_REQUEST, "--listen %s: %s", address, gai_strerror(code));
		return -1;
	}
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) != 0 ||
	    listen(fd, BACKLOG) != 0) {
		if (errno == EADDRINUSE)
			err_set(err, ERR_IO,
				"%s is taken by another program; choose another with --listen "
				"HOST:PORT",
				address);
		else
			err_set(err, ERR_IO, "cannot listen on %s: %s", address, strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = -1;
	} else {
		write_url(fd, url, url_bytes);
	}
	freeaddrinfo(found);
	return fd;
}

bool listen_is_local(int fd, int *port)
{
	struct sockaddr_storage at = { 0 };
	const struct sockaddr_in *v4 = (void *)&at;
	const struct sockaddr_in6 *v6 = (void *)&at;
	socklen_t len = sizeof(at);

	if (getsockname(fd, (struct sockaddr *)&at, &len) != 0)
		return false;
	*port = ntohs(at.ss_family == AF_INET6 ? v6->sin6_port : v4->sin_port);
	return at.ss_family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr)
					: ntohl(v4->sin_addr.s_addr) >> 24 == 127;
}
