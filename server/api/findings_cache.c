/* server/api/findings_cache.c -- findings of the runs that were asked for last. */
#include "server/api/findings_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"
#include "profiler/findings/findings.h"
#include "profiler/findings/skim.h"

enum { KEPT = 64, LONGEST_BYTES = 1 << 20 };

struct findings_cache {
	pthread_mutex_t lock;
	struct {
		int64_t run;
		uint64_t hash; /* of the report */
		size_t len;
		char *text; /* NULL: free */
	} at[KEPT];
	int next; /* the oldest, which is replaced */
};

struct findings_cache *findings_cache_new(void)
{
	struct findings_cache *c = calloc(1, sizeof(*c));

	if (c)
		pthread_mutex_init(&c->lock, NULL);
	return c;
}

void findings_cache_destroy(struct findings_cache *c)
{
	if (!c)
		return;
	for (int i = 0; i < KEPT; i++)
		free(c->at[i].text);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static char *make(const struct buf *report, struct arena *arena, struct err *err)
{
	json_t *json = report->len ? report_skim(report->data, report->len) : NULL, *found;
	const struct report_run *run = json ? report_read_run(json, arena, NULL) : NULL;
	const struct report_findings *f = NULL;
	char *text = NULL;

	if (run && (run->modes.n || run->points.n))
		f = findings_make(run, arena, err);
	if (err->code == ERR_NONE) {
		found = f ? report_write_findings(f) : json_null();
		text = json_dumps(found, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY);
		json_decref(found);
	}
	json_decref(json);
	return text || err->code != ERR_NONE
		   ? text
		   : (err_set(err, ERR_MEMORY, "out of memory for the findings"), NULL);
}

static char *find(struct findings_cache *c, int64_t run, uint64_t hash, size_t len)
{
	char *text = NULL;

	pthread_mutex_lock(&c->lock);
	for (int i = 0; i < KEPT && !text; i++)
		if (c->at[i].text && c->at[i].run == run && c->at[i].hash == hash &&
		    c->at[i].len == len)
			text = strdup(c->at[i].text);
	pthread_mutex_unlock(&c->lock);
	return text;
}

static void keep(struct findings_cache *c, int64_t run, uint64_t hash, size_t len, const char *text)
{
	char *copy = strlen(text) <= LONGEST_BYTES ? strdup(text) : NULL;

	if (!copy)
		return;
	pthread_mutex_lock(&c->lock);
	free(c->at[c->next].text);
	c->at[c->next].run = run;
	c->at[c->next].hash = hash;
	c->at[c->next].len = len;
	c->at[c->next].text = copy;
	c->next = (c->next + 1) % KEPT;
	pthread_mutex_unlock(&c->lock);
}

char *findings_text(struct findings_cache *c, int64_t run, const struct buf *report,
		    struct arena *arena, struct err *err)
{
	uint64_t hash = report->len ? hash_bytes(report->data, report->len, 0) : 0;
	char *text = c ? find(c, run, hash, report->len) : NULL;

	if (text)
		return text;
	text = make(report, arena, err);
	if (c && text)
		keep(c, run, hash, report->len, text);
	return text;
}
