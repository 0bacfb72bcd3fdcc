/* profiler/measure/wall.c -- what the wall time of a run goes to. */
#include "profiler/measure/wall.h"

#include <stddef.h>

#include "fusion/base/clock.h"

static const char *const names[WALL_PARTS] = {
	[WALL_OTHER] = "other",     [WALL_SETUP] = "setup",         [WALL_COMPILE] = "compile",
	[WALL_WARM_UP] = "warm_up", [WALL_MEASURING] = "measuring", [WALL_COMPARING] = "comparing",
	[WALL_STORING] = "storing",
};

void wall_begin(struct wall *wall)
{
	*wall = (struct wall){ .since_ns = clock_ns() };
}

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

json_t *wall_json(struct wall *wall)
{
	json_t *json = json_object();
	double total = 0;

	wall_to(wall, wall->part);
	for (int i = WALL_SETUP; i <= WALL_PARTS; i++) {
		int part = i % WALL_PARTS; /* the rest comes last */

		json_object_set_new(json, names[part], json_real((double)wall->ns[part] * 1e-6));
		total += (double)wall->ns[part] * 1e-6;
	}
	json_object_set_new(json, "total", json_real(total));
	return json;
}
