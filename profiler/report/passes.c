/* profiler/report/passes.c -- what each pass did to each graph. */
#include "profiler/report/passes.h"

#include <string.h>

/* The entry for the rule, made where it is new; there is room for it. */
static struct report_rule *rule_of(struct report_rule_list *rules, const char *name,
				   struct report_draft *draft)
{
	struct report_rule *rule = rules->at;

	for (; rule < rules->at + rules->n; rule++)
		if (rule->rule && strcmp(rule->rule, name) == 0)
			return rule;
	rules->n++;
	REPORT_SET(rule, rule, report_draft_text(draft, name));
	REPORT_SET(rule, count, 0);
	REPORT_SET(rule, at,
		   (struct report_rule_place_list){
		       report_new_rule_place(PASSES_PLACES, &draft->arena), 0 });
	return rule;
}

static void add_place(struct report_rule *rule, const struct fusion_firing *f,
		      struct report_draft *draft)
{
	struct report_rule_place *place;

	if (!rule->at.at || rule->at.n == PASSES_PLACES)
		return;
	place = &rule->at.at[rule->at.n++];
	REPORT_SET(place, node, report_draft_text(draft, f->node));
	REPORT_SET_OR_NULL(place, with, f->with, report_draft_text(draft, f->with));
	REPORT_SET(place, line, f->line);
	REPORT_SET(place, column, f->column);
}

static struct report_rule_list rules_of(const struct fusion_watched_step *step,
					struct report_draft *draft)
{
	int n = step->n_firings;
	struct report_rule_list rules = { report_new_rule((size_t)n, &draft->arena), 0 };

	if (!rules.at)
		return (struct report_rule_list){ NULL, (size_t)n };
	for (int i = 0; i < n; i++) {
		const struct fusion_firing *f = &step->firings[i];
		struct report_rule *rule = rule_of(&rules, f->rule, draft);

		rule->count++;
		add_place(rule, f, draft);
	}
	return rules;
}

static void fill_step(struct report_pass_step *to, const struct fusion_watched_step *step,
		      struct report_draft *draft)
{
	REPORT_SET(to, pass, report_draft_text(draft, step->name));
	REPORT_SET_OR_NULL(to, plugin, step->plugin, report_draft_text(draft, step->plugin));
	REPORT_SET(to, off, step->off);
	REPORT_SET(to, changed, step->changed);
	REPORT_SET(to, nodes, step->n_nodes);
	REPORT_SET(to, us, (double)step->ns / 1000);
	REPORT_SET(to, rules, rules_of(step, draft));
	REPORT_SET(to, rules_left_out, step->firings_left_out);
	REPORT_SET_OR_NULL(to, after, step->after, report_draft_text(draft, step->after));
}

static void fill_part(struct report_pass_part *to, const struct fusion_watched_part *part,
		      struct report_draft *draft)
{
	struct report_pass_step *steps = report_new_pass_step((size_t)part->n_steps, &draft->arena);

	for (int i = 0; steps && i < part->n_steps; i++)
		fill_step(&steps[i], &part->steps[i], draft);
	REPORT_SET(to, part, report_draft_text(draft, part->name));
	REPORT_SET_OR_NULL(to, loop, part->loop, report_draft_text(draft, part->loop));
	REPORT_SET(to, takes, report_draft_texts(draft, part->takes, part->n_takes));
	REPORT_SET(to, gives, report_draft_texts(draft, part->gives, part->n_gives));
	REPORT_SET(to, first_kernel, part->first_kernel);
	REPORT_SET(to, n_kernels, part->n_kernels);
	REPORT_SET(to, nodes, part->n_nodes);
	REPORT_SET_OR_NULL(to, before, part->before, report_draft_text(draft, part->before));
	REPORT_SET(to, steps, (struct report_pass_step_list){ steps, (size_t)part->n_steps });
	REPORT_SET(to, left_out_bytes, (int64_t)part->left_out_bytes);
}

static void set_passes(struct report_graph *graph, int index, const struct candidate *candidate,
		       size_t *left_bytes, struct report_draft *draft)
{
	size_t bytes = PASSES_GRAPH_BYTES < *left_bytes ? PASSES_GRAPH_BYTES : *left_bytes;
	struct err err = { 0 };
	struct fusion_watched *w = fusion_watch_passes(candidate->session, index, &bytes, &err);
	int n = w ? w->n_parts : 1;
	struct report_pass_part *parts = report_new_pass_part((size_t)n, &draft->arena);

	if (parts && !w) {
		REPORT_SET(&parts[0], part, "");
		REPORT_SET(&parts[0], error, report_draft_text(draft, err.message));
	}
	for (int k = 0; parts && w && k < n; k++)
		fill_part(&parts[k], &w->parts[k], draft);
	*left_bytes -= bytes;
	REPORT_SET(graph, passes, (struct report_pass_part_list){ parts, (size_t)n });
	fusion_watched_destroy(w);
}

void report_passes(struct report_graph_list graphs, const struct candidate *candidate,
		   size_t *left_bytes, struct report_draft *draft)
{
	for (size_t i = 0; i < graphs.n; i++)
		if (!graphs.at[i].has.passes)
			set_passes(&graphs.at[i], (int)i, candidate, left_bytes, draft);
}
