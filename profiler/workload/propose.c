/* profiler/workload/propose.c -- inputs for a program that came without, where its text tells.
 *
 * Best is a call of the entry in the program itself, with the names that lead to it written out;
 * what such a call leaves open, or the whole where there is none, comes from hints.h.  Each is
 * checked as a workload that somebody posts; nothing runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/profiler.h"
#include "profiler/workload/hints.h"
#include "profiler/workload/workload.h"

struct proposed_call {
	char entry[HINT_BYTES]; /* "model", "Net(64)" */
	int line;               /* of the call that it is; 0: it is not one */
	json_t *inputs;         /* {"name", "text", "because"} */
	bool needed;            /* some parameter has no default */
	bool guess; /* what nothing tells is a tensor of floats, or as its name has it */
};

static bool add(struct proposed_call *p, const char *name, const char *text, const char *because)
{
	json_t *input = json_pack("{s:s, s:s, s:s}", "name", name, "text", text, "because",
				  because);

	return input && json_array_append_new(p->inputs, input) == 0;
}

/* ---- parameters that nothing gives ---- */

/* The text of a tensor that is in the proposal already; NULL. */
static const char *other_tensor(const struct proposed_call *p)
{
	json_t *input;
	size_t i;

	json_array_foreach(p->inputs, i, input)
	{
		const char *text = json_string_value(json_object_get(input, "text"));

		if (strncmp(text, "float32[", 8) == 0)
			return text;
	}
	return NULL;
}

static bool add_hint(struct proposed_call *p, const struct hints *h,
		     const struct lang_parameter *of)
{
	struct hint hint = { .sized = false };
	const char *other = other_tensor(p);
	bool found = hint_find(h, of, &hint);

	if (other && !h->guess &&
	    (!found || (!hint.sized && strncmp(hint.text, "float32[", 8) == 0)))
		return (of->annotation == NULL || strstr(of->annotation, "Tensor")) &&
		       add(p, of->name, other, "nothing tells; as the tensor before it");
	return found && add(p, of->name, hint.text, hint.because);
}

/* The text that a call gives a parameter; *given: whether it gives it anything. */
static const char *given_text(const struct lang_use *use, const struct lang_signature *f, int i,
			      bool *given)
{
	int place = i - (f->owner != NULL);

	*given = false;
	for (int k = 0; k < use->n; k++) {
		const struct lang_argument *a = &use->arguments[k];

		if (a->name ? strcmp(a->name, f->parameters[i].name) == 0 : k == place) {
			*given = true;
			return a->text;
		}
	}
	return NULL;
}

/* An input for each parameter that needs one. */
static bool fill(struct proposed_call *p, const struct hints *h, const struct lang_use *use)
{
	const struct lang_signature *f = h->function;

	for (int i = f->owner != NULL; i < f->n; i++) {
		const struct lang_parameter *of = &f->parameters[i];
		bool given;
		const char *text = given_text(use, f, i, &given);
		char because[60];

		if (of->kind >= PARAMETER_ARGS || (!given && of->otherwise))
			continue;
		p->needed |= !of->otherwise;
		snprintf(because, sizeof(because), "line %d gives it", use->line);
		if (text ? !add(p, of->name, text, because) : !add_hint(p, h, of))
			return false;
	}
	return true;
}

/* ---- the entry ---- */

/* What is called: a function, or the forward of a class of modules. */
static const struct lang_signature *called(const struct lang_outline *o, const char *of)
{
	const struct lang_signature *f = of ? lang_outline_function(o, NULL, of) : NULL;

	return f && f->is_class ? lang_outline_function(o, of, "forward") : f;
}

/* The entry; where nothing in the text makes a module, *made is how it could be made. */
static bool write_entry(struct proposed_call *p, struct lang_outline *o, const struct lang_use *use,
			struct hint_made *made)
{
	const struct lang_signature *class = lang_outline_function(o, NULL, use->of);
	const char *text = use->callee ? use->callee : use->of;

	if (!use->callee && class && class->is_class) {
		if (!hint_construct(o, use->of, made))
			return false;
		text = made->made.n ? made->text : use->of;
	}
	snprintf(p->entry, sizeof(p->entry), "%s", text);
	return strlen(text) < sizeof(p->entry);
}

/* ---- a proposal as a workload ---- */

static json_t *call_of(const struct proposed_call *p, const char *source, struct err *err)
{
	const char *texts[WORKLOAD_MAX_ARGS];
	char *owned[WORKLOAD_MAX_ARGS];
	json_t *input, *json, *call = NULL;
	size_t i, n = 0;

	json_array_foreach(p->inputs, i, input)
	{
		struct buf text;

		if (n == WORKLOAD_MAX_ARGS)
			break;
		buf_init(&text, 0);
		buf_printf(&text, "%s=%s", json_string_value(json_object_get(input, "name")),
			   json_string_value(json_object_get(input, "text")));
		owned[n] = buf_steal(&text);
		texts[n] = owned[n] ? owned[n] : "";
		n++;
	}
	json = workload_from_python("", source, p->entry, texts, (int)n, err);
	for (i = 0; i < n; i++)
		free(owned[i]);
	call = json_incref(json_object_get(json, "calls"));
	json_decref(json);
	return call;
}

/* Adds the proposal where it is a workload that would be taken. */
static void offer(json_t *list, const struct proposed_call *p, const json_t *workload,
		  const struct registry *registry, const char *source)
{
	const char *entry = json_string_value(json_object_get(workload, "entry"));
	const char *colon = entry && workload_files(workload) ? strstr(entry, ".py:") : NULL;
	json_t *posted = json_copy((json_t *)workload), *calls;
	struct workload *w = NULL;
	struct err err = { 0 };
	char whole[HINT_BYTES + 200];

	snprintf(whole, sizeof(whole), "%.*s%s", colon ? (int)(colon + 4 - entry) : 0,
		 entry ? entry : "", p->entry);
	calls = call_of(p, source, &err);
	if (calls) {
		json_object_set(posted, "calls", calls);
		json_object_set_new(posted, "entry", json_string(whole));
		json_object_del(posted, "sweep");
		w = workload_parse_in(posted, registry, &err);
	}
	if (w)
		json_array_append_new(list, json_pack("{s:s, s:i, s:b, s:O, s:O}", "entry", whole,
						      "line", p->line, "needed", p->needed,
						      "inputs", p->inputs, "calls", calls));
	workload_destroy(w);
	json_decref(calls);
	json_decref(posted);
}

/* For whom proposals are made. */
struct proposing {
	json_t *list;
	const json_t *workload;
	const struct registry *registry;
	const char *source;
	bool guess;
};

static void propose(const struct proposing *to, struct lang_outline *o, const struct lang_use *use)
{
	struct proposed_call p = { .line = use->line, .inputs = json_array(), .guess = to->guess };
	struct hint_made made = { .made = { .n = 0 } };
	struct hints h = { .outline = o,
			   .function = called(o, use->of),
			   .module = use->made ? use->made : &made.made,
			   .guess = to->guess };

	if (h.function && write_entry(&p, o, use, &made) && fill(&p, &h, use) &&
	    json_array_size(p.inputs))
		offer(to->list, &p, to->workload, to->registry, to->source);
	json_decref(p.inputs);
}

json_t *workload_proposals(const json_t *workload, const struct registry *registry, bool guess)
{
	const char *source = workload_text(workload, "");
	const char *entry = json_string_value(json_object_get(workload, "entry"));
	const char *named = entry ? workload_text(workload, "entry") : "model";
	struct lang_outline *o = source ? lang_outline_create(source) : NULL;
	json_t *list = json_array();
	const struct proposing to = { list, workload, registry, source, guess };
	struct lang_use use = { .of = NULL };
	const char *of;
	char word[128];

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(named, "("), named);
	if (o && lang_outline_use(o, word, &use))
		propose(&to, o, &use);
	of = called(o, word) ? word : use.of;
	if (o && !of && strcmp(word, "model") == 0 && lang_outline_use(o, NULL, &use)) {
		propose(&to, o, &use);
		of = use.of;
	}
	if (o && of && !json_array_size(list))
		propose(&to, o, &(struct lang_use){ .of = of });
	lang_outline_destroy(o);
	return list;
}
