/* profiler/measure/wall.c -- what the wall time of a run goes to. */
#include "profiler/measure/wall.h"

#include <stddef.h>

#include "fusion/base/clock.h"

enum wall_part wall_to(struct wall *wall, enum wall_part part)
{
	enum wall_part was;
	int64_t now;

	if (!wall)
		return WALL_OTHER;
	now = clock_ns();
	was = wall->part;
	wall->ns[was] += now - wall->since_ns;
	wall->since_ns = now;
	wall->part = part;
	return was;
}

void wall_move(struct wall *wall, enum wall_part other, int64_t ns)
{
	int64_t *of;

	if (!wall)
		return;
	wall_to(wall, wall->part);
	of = &wall->ns[wall->part];
	ns = ns < 0 ? 0 : ns > *of ? *of : ns;
	*of -= ns;
	wall->ns[other] += ns;
}

void wall_report(struct wall *wall, struct report_wall *to)
{
	double ms[WALL_PARTS], total = 0;

	wall_to(wall, wall->part);
	for (int i = 0; i < WALL_PARTS; i++)
		total += ms[i] = (double)wall->ns[i] * 1e-6;
	REPORT_SET(to, setup, ms[WALL_SETUP]);
	REPORT_SET(to, compile, ms[WALL_COMPILE]);
	REPORT_SET(to, warm_up, ms[WALL_WARM_UP]);
	REPORT_SET(to, measuring, ms[WALL_MEASURING]);
	REPORT_SET(to, comparing, ms[WALL_COMPARING]);
	REPORT_SET(to, storing, ms[WALL_STORING]);
	REPORT_SET(to, other, ms[WALL_OTHER]);
	REPORT_SET(to, total, total);
}
