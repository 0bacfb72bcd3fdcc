/* server/http/metrics.h -- how long answers took, by route: histograms for /metrics.
 *
 * Thread-safe: counters alone, which no lock guards.
 */
#ifndef SERVER_HTTP_METRICS_H
#define SERVER_HTTP_METRICS_H

#include <stdint.h>

#include "fusion/base/buf.h"
#include "server/http/route.h"

struct metrics;

/* Of a table of routes, which is borrowed.  NULL when out of memory. */
struct metrics *metrics_create(const struct route_table *routes);
void metrics_destroy(struct metrics *m); /* NULL is fine */

/* An answer was sent whole, or given up; route NULL: an asset, or nothing was found.  status 0:
 * there was none. */
void metrics_note(struct metrics *m, const struct route *route, int status, int64_t ns);

/* Of answers that are kept (answers.h). */
enum answer_how { ANSWER_MADE, ANSWER_KEPT, ANSWER_SHARED, ANSWER_HOW_COUNT };
void metrics_note_kept(struct metrics *m, enum answer_how how);

/* Appends them in Prometheus' text form: those routes that were asked for. */
void metrics_print(const struct metrics *m, struct buf *out);

#endif
