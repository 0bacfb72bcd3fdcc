/* server/queue/outgoing.c -- posts to addresses of others by libcurl, which is loaded when wanted.
 */
#include "server/queue/outgoing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fusion/base/buf.h"

/* ---- addresses ---- */

static bool is_inside4(uint32_t address)
{
	static const struct {
		uint32_t net;
		int bits;
	} nets[] = {
		{ 0x00000000, 8 },  /* this network */
		{ 0x0a000000, 8 },  /* private */
		{ 0x64400000, 10 }, /* shared by customers of a provider */
		{ 0x7f000000, 8 },  /* loopback */
		{ 0xa9fe0000, 16 }, /* link-local: services of clouds too */
		{ 0xac100000, 12 }, /* private */
		{ 0xc0000000, 24 }, /* of protocols */
		{ 0xc0000200, 24 }, /* of documents, as the next two */
		{ 0xc0a80000, 16 }, /* private */
		{ 0xc6120000, 15 }, /* of benchmarks */
		{ 0xc6336400, 24 }, { 0xcb007100, 24 }, { 0xe0000000, 3 }, /* multicast, reserved */
	};

	for (size_t i = 0; i < sizeof(nets) / sizeof(nets[0]); i++)
		if ((address ^ nets[i].net) >> (32 - nets[i].bits) == 0)
			return true;
	return false;
}

static uint32_t four_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

/* 2000::/3 is what is given out; of it what leads to an address of IPv4 is that. */
static bool is_inside6(const uint8_t *a)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff },
			     nat[12] = { 0, 0x64, 0xff, 0x9b };

	if (memcmp(a, mapped, sizeof(mapped)) == 0 || memcmp(a, nat, sizeof(nat)) == 0)
		return is_inside4(four_at(a + 12));
	if (a[0] == 0x20 && a[1] == 0x02) /* 6to4 */
		return is_inside4(four_at(a + 2));
	if (a[0] == 0x20 && a[1] == 0x01 && a[2] < 2) /* Teredo and others of protocols */
		return true;
	return (a[0] & 0xe0) != 0x20;
}

bool outgoing_is_inside(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return is_inside4(ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr));
	if (address->sa_family == AF_INET6)
		return is_inside6(((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr);
	return true;
}

#if __has_include(<curl/curl.h>)
#include <curl/curl.h>
#include <dlfcn.h>

struct outgoing {
	struct outgoing_options options;
	void *library;
	typeof(&curl_easy_init) init;
	typeof(&curl_easy_setopt) set;
	typeof(&curl_easy_perform) perform;
	typeof(&curl_easy_getinfo) info;
	typeof(&curl_easy_cleanup) cleanup;
	typeof(&curl_easy_strerror) text;
	typeof(&curl_slist_append) append;
	typeof(&curl_slist_free_all) free_all;
	CURL *handle;
	struct buf answer;
	bool refuses; /* addresses of the inside, of the post that is under way */
	bool refused; /* one was */
};

static bool load(struct outgoing *o)
{
	o->library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
	if (!o->library)
		return false;
	o->init = (typeof(o->init))dlsym(o->library, "curl_easy_init");
	o->set = (typeof(o->set))dlsym(o->library, "curl_easy_setopt");
	o->perform = (typeof(o->perform))dlsym(o->library, "curl_easy_perform");
	o->info = (typeof(o->info))dlsym(o->library, "curl_easy_getinfo");
	o->cleanup = (typeof(o->cleanup))dlsym(o->library, "curl_easy_cleanup");
	o->text = (typeof(o->text))dlsym(o->library, "curl_easy_strerror");
	o->append = (typeof(o->append))dlsym(o->library, "curl_slist_append");
	o->free_all = (typeof(o->free_all))dlsym(o->library, "curl_slist_free_all");
	return o->init && o->set && o->perform && o->info && o->cleanup && o->text && o->append &&
	       o->free_all;
}

static size_t take(char *bytes, size_t size, size_t n, void *self)
{
	struct outgoing *o = self;
	size_t left = o->options.answer_bytes - o->answer.len, len = size * n;

	if (len > left && !o->options.cut)
		return 0;
	buf_add(&o->answer, bytes, len < left ? len : left);
	return o->answer.failed ? 0 : size * n;
}

/* The address that a name led to is looked at as it is connected to, so that no name leads inside
 * when it is asked for a second time. */
static curl_socket_t open_socket(void *self, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct outgoing *o = self;

	(void)purpose;
	if (o->refuses && outgoing_is_inside(&to->addr)) {
		o->refused = true;
		return CURL_SOCKET_BAD;
	}
	return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

static int look_whether_stopped(void *self, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct outgoing *o = self;

	(void)a, (void)b, (void)c, (void)d;
	return o->options.stopping && atomic_load(o->options.stopping);
}

struct outgoing *outgoing_open(const struct outgoing_options *options, struct err *err)
{
	struct outgoing *o = calloc(1, sizeof(*o));

	if (o) {
		o->options = *options;
		buf_init(&o->answer, options->answer_bytes + 1);
	}
	if (!o)
		err_set(err, ERR_MEMORY, "out of memory for a connection");
	else if (!load(o))
		err_set(err, ERR_IO, "posting wants libcurl.so.4, which is not installed");
	else if (!(o->handle = o->init()))
		err_set(err, ERR_MEMORY, "out of memory for a connection");
	else
		return o;
	outgoing_close(o);
	return NULL;
}

void outgoing_close(struct outgoing *o)
{
	if (!o)
		return;
	if (o->handle)
		o->cleanup(o->handle);
	if (o->library)
		dlclose(o->library);
	buf_finish(&o->answer);
	free(o);
}

/* False where libcurl had no memory for one of them: nothing is sent without what it needs. */
static bool set_up(struct outgoing *o, const struct outgoing_post *post,
		   const struct curl_slist *headers)
{
	CURLcode failed = CURLE_OK;

	failed |= o->set(o->handle, CURLOPT_HTTPHEADER, headers);
	failed |= o->set(o->handle, CURLOPT_URL, post->url);
	if (post->bytes) {
		failed |= o->set(o->handle, CURLOPT_POST, 1L);
		failed |= o->set(o->handle, CURLOPT_POSTFIELDS, post->bytes);
		failed |= o->set(o->handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->len);
	} else {
		failed |= o->set(o->handle, CURLOPT_HTTPGET, 1L);
	}
	failed |= o->set(o->handle, CURLOPT_WRITEFUNCTION, take);
	failed |= o->set(o->handle, CURLOPT_WRITEDATA, o);
	failed |= o->set(o->handle, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	failed |= o->set(o->handle, CURLOPT_OPENSOCKETDATA, o);
	failed |= o->set(o->handle, CURLOPT_XFERINFOFUNCTION, look_whether_stopped);
	failed |= o->set(o->handle, CURLOPT_XFERINFODATA, o);
	failed |= o->set(o->handle, CURLOPT_NOPROGRESS, 0L);
	failed |= o->set(o->handle, CURLOPT_NOSIGNAL, 1L);
	failed |= o->set(o->handle, CURLOPT_FOLLOWLOCATION, 0L);
#if LIBCURL_VERSION_NUM >= 0x075500
	failed |= o->set(o->handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	failed |= o->set(o->handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	if (o->options
		.outside) /* a proxy of the environment would see to the address in our place */
		failed |= o->set(o->handle, CURLOPT_PROXY, "");
	failed |= o->set(o->handle, CURLOPT_CONNECTTIMEOUT_MS, o->options.connect_ms);
	failed |= o->set(o->handle, CURLOPT_TIMEOUT_MS, o->options.send_ms);
	return failed == CURLE_OK;
}

/* NULL: there was no memory for all of them. */
static struct curl_slist *headers_of(const struct outgoing *o, const char *const *more)
{
	struct curl_slist *list = o->append(NULL, "Expect:");

	for (const char *const *h = more; list && *h; h++) {
		struct curl_slist *longer = o->append(list, *h);

		if (!longer)
			o->free_all(list);
		list = longer;
	}
	return list;
}

bool outgoing_post(struct outgoing *o, const struct outgoing_post *post,
		   struct outgoing_answer *answer, struct err *err)
{
	struct curl_slist *headers = headers_of(o, post->headers);
	CURLcode code;

	buf_clear(&o->answer);
	o->refuses = o->options.outside && !post->inside;
	o->refused = false;
	*answer = (struct outgoing_answer){ 0 };
	code = headers && set_up(o, post, headers) ? o->perform(o->handle) : CURLE_OUT_OF_MEMORY;
	o->info(o->handle, CURLINFO_RESPONSE_CODE, &answer->status);
	o->free_all(headers);
	if (code != CURLE_OK && o->refused)
		return err_set(err, ERR_IO,
			       "its address is of this machine or its network, which is refused");
	if (code != CURLE_OK)
		return err_set(err, ERR_IO, "%s", o->text(code));
	answer->bytes = o->answer.len ? o->answer.data : "";
	answer->len = o->answer.len;
	return true;
}

#else

struct outgoing *outgoing_open(const struct outgoing_options *options, struct err *err)
{
	(void)options;
	err_set(err, ERR_IO,
		"this program was built without libcurl; install libcurl4-openssl-dev and build "
		"again");
	return NULL;
}

void outgoing_close(struct outgoing *o)
{
	(void)o;
}

bool outgoing_post(struct outgoing *o, const struct outgoing_post *post,
		   struct outgoing_answer *answer, struct err *err)
{
	(void)o, (void)post, (void)answer;
	return err_set(err, ERR_IO, "this program was built without libcurl");
}

#endif
