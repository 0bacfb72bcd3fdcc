/* fusion/session/fusion_recording.c -- what became of recording a graph's launches. */
#include "fusion/fusion.h"
#include "fusion/session/fusion_private.h"

static struct fusion_recording recording_of(const struct exec *x, const struct recorded *r)
{
	struct record_totals sum = { 0 };

	if (!x || !r->tried)
		return (struct fusion_recording){ 0 };
	exec_record_totals(x, &sum);
	return (struct fusion_recording){ .tried = true,
					  .made = r->made,
					  .refused = r->refused,
					  .why_not = r->refused ? r->why : NULL,
					  .direct = sum.direct,
					  .why_direct = sum.why_direct,
					  .record_ns = r->record_ns,
					  .replays = sum.replays,
					  .pointed = sum.pointed,
					  .held_bytes = sum.temp_bytes + sum.kept_bytes };
}

struct fusion_recording recording_of_graph(const struct fusion_session *s, int index)
{
	const struct session_report *report = &s->session.report;
	const struct entry *e = s->session.graphs.at[index];
	struct fusion_recording r = recording_of(e->exec, &e->recorded);

	r.left_out = e->replay.left_out;
	r.why_guards = replay_why_not(e);
	for (size_t i = 0; i < report->entries.len; i++)
		if (report->entries.at[i].graph == index)
			r.because = report->entries.at[i].reason;
	return r;
}

struct fusion_recording recording_of_backward(const struct fusion_session *s, int index)
{
	const struct entry_grad *grad = s->session.graphs.at[index]->grad;

	return grad ? recording_of(grad->exec, &grad->recorded) : (struct fusion_recording){ 0 };
}
