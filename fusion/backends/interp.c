/* fusion/backends/interp.c -- the backend that compiles nothing.
 *
 * A part of a kernel becomes a program: a list of steps, each a ready-made loop
 * (simd/kernels.h) over tiles in the first cache.  Loads and stores are no
 * steps where the neighbouring loop can use the caller's memory itself, so a
 * kernel of one op is that op's loop and nothing else.
 */
#include "fusion/backends/interp.h"

#include <stdlib.h>

#include "fusion/backends/recording.h"

static bool available(const struct backend_env *env, char *why, size_t why_bytes)
{
	(void)env;
	(void)why;
	(void)why_bytes;
	return true;
}

/* Locations: the part's places, then the registers that it names, then scratch. */
static void run(const void *code, const struct tile *t)
{
	const struct program *p = code;
	void *loc[MAX_LOCATIONS];
	int n = p->n_places;

	for (int i = 0; i < n; i++)
		loc[i] = t->at[i];
	for (int i = 0; i < p->n_regs; i++)
		loc[n + i] = t->reg[p->regs[i]];
	n += p->n_regs;
	for (int i = 0; i < p->n_temps; i++)
		loc[n + i] = (char *)t->scratch + i * TEMP_BYTES;
	for (int i = 0; i < p->n_steps; i++) {
		const struct step *s = &p->steps[i];

		switch (s->kind) {
		case STEP_POINT:
			s->point(loc[s->dst], loc[s->src[0]], loc[s->src[1]], loc[s->src[2]], t->n,
				 s->splat);
			break;
		case STEP_REDUCE:
			s->reduce(t->acc[s->dst], loc[s->src[0]], t->n);
			break;
		case STEP_FOLD:
			s->fold(t->acc[s->dst], loc[s->src[0]], t->n, t->width);
			break;
		case STEP_SPLAT:
			s->spread(loc[s->dst], loc[s->dst], s->splat);
			break;
		}
	}
}

bool interp_prepare(struct executable *exe, struct err *err)
{
	int n = 0;

	for (int k = 0; k < exe->lowered->n_kernels; k++)
		n += exe->plans[k] ? exe->plans[k]->n_parts : 0;
	exe->programs = calloc((size_t)n + 1, sizeof(*exe->programs));
	if (!exe->programs)
		return err_set(err, ERR_MEMORY, "The system has no memory left for a program.");
	for (int k = 0; k < exe->lowered->n_kernels; k++) {
		struct plan *plan = exe->plans[k];

		for (int i = 0; plan && i < plan->n_parts; i++) {
			struct program *program = program_create(plan, i, exe->kernels, err);

			if (!program)
				return false;
			exe->programs[exe->n_programs++] = program;
			plan->code[i] = (struct tile_code){
				.run = run,
				.code = program,
				.scratch_bytes = (size_t)program->n_temps * TEMP_BYTES,
			};
		}
	}
	return true;
}

static struct executable *compile(const struct backend_env *env, const struct lowered *l,
				  struct compile_stats *stats, struct err *err)
{
	struct executable *exe = executable_create(env, l, err);

	if (stats)
		*stats = (struct compile_stats){ 0 };
	if (exe && !interp_prepare(exe, err)) {
		executable_destroy(exe);
		return NULL;
	}
	return exe;
}

const struct backend backend_interp = {
	.name = "interp",
	.purpose = "loops that are built in: compiles nothing, always there",
	.available = available,
	.can_lower = executable_lowers,
	.compile = compile,
	.bind = executable_bind,
	.launch = executable_launch,
	.fault = executable_fault,
	.destroy = executable_destroy,
	.record = recording_create,
	.point = recording_point,
	.replay = recording_replay,
	.erase = recording_destroy,
};
