/* profiler/findings/guards.c -- what is said of a mode's guards: the verdict, and each compiled
 * version with the guards for which it was compiled, and what would make one version serve. */
#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <string.h>

#include "fusion/base/refused.h"
#include "profiler/findings/maker.h"

/* ---- the verdict ---- */

struct version_tally {
	int64_t versions, again, once, guards; /* again: older ones should have served */
	double compile_ms, again_ms;
};

static struct version_tally versions_of(const struct report_mode *at)
{
	struct version_tally t = { 0 };

	for (size_t i = 0; i < at->tree.n; i++)
		for (size_t k = 0; k < at->tree.at[i].entries.n; k++) {
			const struct report_entry *e = &at->tree.at[i].entries.at[k];
			double ms = e->has.compile_ms ? e->compile_ms : 0;
			bool again = *report_text(e->reason) != '\0';

			t.versions++;
			t.again += again;
			t.once += e->uses <= 1;
			t.guards += (int64_t)e->guards.n;
			t.compile_ms += ms;
			t.again_ms += again ? ms : 0;
		}
	return t;
}

static void say_guards(struct maker *m, struct sentence *s, const char *mode,
		       const struct version_tally *t)
{
	const char *versions = plural(m, t->versions, "cache entry", "cache entries");
	char took[NUMBER_BYTES];

	if (!t->again) {
		sentence_add(s, PART_CLAIM, "No guard failed in %s", mode);
		sentence_add(s, PART_PLAIN, ": %s %s every call.", versions,
			     t->versions == 1 ? "serves" : "serve");
		return;
	}
	number_duration(took, t->again_ms * 1e3);
	sentence_add(s, PART_CLAIM, "%s in %s took %s",
		     plural(m, t->again, "recompile", "recompiles"), mode, took);
	sentence_add(s, PART_PLAIN, ", %d %% of all compile time.",
		     t->compile_ms > 0 ? (int)round(100 * t->again_ms / t->compile_ms) : 0);
	if (t->once && t->once == t->versions)
		sentence_add(s, PART_PLAIN, " None of the %s served more than one call.", versions);
	else if (t->once)
		sentence_add(s, PART_PLAIN, " %lld of %s served at most one call.",
			     (long long)t->once, versions);
}

static const char *guards_method(struct maker *m, const struct report_mode *at,
				 const struct version_tally *t)
{
	const char *looking = "";
	bool timed = false;

	for (size_t i = 0; i < at->graphs.n; i++)
		timed = timed || at->graphs.at[i].later;
	if (at->split_us && at->split_us->has.guards)
		looking = maker_text(m, " Looking up a cache entry takes %s µs of a call.",
				     figure_text(m, at->split_us->guards));
	return maker_text(m,
			  "A cache entry is used where all its guards hold; where none matches, "
			  "the frame is recompiled. %s in all. Counts cover %s.%s",
			  plural(m, t->guards, "guard", "guards"),
			  timed ? "the calls that were timed, too" : "warm-up calls only", looking);
}

/* ---- why a version was compiled ---- */

/* The length of "0/1: " at the begin of a text; 0: there is none. */
static size_t version_head(const char *text)
{
	size_t n = strspn(text, "0123456789"), k;

	if (!n || text[n] != '/')
		return 0;
	k = strspn(text + n + 1, "0123456789");
	n += 1 + k;
	return k && text[n] == ':' && text[n + 1] == ' ' ? n + 2 : 0;
}

/* Where the reason goes on with another version: the ';' in front of it, or the end. */
static const char *part_end(const char *at)
{
	for (; *at; at++)
		if (*at == ';' && isspace((unsigned char)at[1]) &&
		    version_head(at + 1 + strspn(at + 1, " \t\n")))
			break;
	return at;
}

/* "1/1: x is 3, was 2; 1/0: x is 3, was 1", or without the versions' names where there is one. */
static struct report_findings_cause_list causes_of(struct maker *m, const char *reason,
						   const char *previous)
{
	struct report_findings_cause_list causes = { NULL, 0 };
	size_t most = 1;

	for (const char *at = part_end(reason); *at; at = part_end(at + 1))
		most++;
	causes.at = report_new_findings_cause(most, m->wording.arena);
	m->wording.failed |= !causes.at;
	for (const char *at = reason, *end; !m->wording.failed && *at; at = end) {
		struct report_findings_cause *to = &causes.at[causes.n++];
		size_t named = version_head(at);

		end = part_end(at);
		REPORT_SET(to, version,
			   named ? maker_text(m, "%.*s", (int)named - 2, at) : previous);
		REPORT_SET(to, text,
			   maker_text(m, "%.*s", (int)(end - at - (ptrdiff_t)named), at + named));
		end += *end ? 1 + strspn(end + 1, " \t\n") : 0;
	}
	return causes;
}

/* What a reason speaks of: "x.size(0)" of "x.size(0) is 32, was 64". */
static const char *subject_of(struct maker *m, const char *text)
{
	const char *held = strstr(text, " no longer holds"), *is = strstr(text, " is ");

	if (held)
		return maker_text(m, "%.*s", (int)(held - text), text);
	if (is && strncmp(is, " is not contiguous", 18) == 0)
		return maker_text(m, "%.*s.is_contiguous()", (int)(is - text), text);
	return is ? maker_text(m, "%.*s", (int)(is - text), text) : text;
}

static bool speaks_of(const char *guard, const char *subject)
{
	size_t n = strlen(guard), k = strlen(subject);

	return strcmp(guard, subject) == 0 ||
	       (n > k && strncmp(guard, subject, k) == 0 && guard[k] == ' ') ||
	       (n > k && strcmp(guard + n - k, subject) == 0 && guard[n - k - 1] == ' ');
}

/* ---- what would fit ---- */

#define NUMBER "-?[0-9.e+-]+"

/* By what failed: the first that fits.  %s is the number in brackets. */
static const struct remedy {
	const char *pattern;
	const char *mode; /* that it is for, or "" */
	const char *text;
} remedies[] = {
	{ "\\.size\\([0-9]+\\) is [01], was 2 or more", "",
	  "Sizes 0 and 1 are specialized, as in torch.compile: one more cache entry serves all "
	  "others." },
	{ "\\.size\\([0-9]+\\) is [0-9]+, was equal to", "",
	  "Two sizes that were equal in the first call share a symbol. If they may differ, let "
	  "them differ in the first call." },
	{ "\\.size\\(([0-9]+)\\) is [0-9]+, was [0-9]+", "graphs",
	  "A recording has one size: pad to a few sizes that recur." },
	{ "\\.size\\(([0-9]+)\\) is [0-9]+, was [0-9]+", "static",
	  "The size was specialized. Mode auto makes a size that changes symbolic, mode dynamic "
	  "all sizes from the first call: one cache entry then serves all." },
	{ "\\.size\\(([0-9]+)\\) is [0-9]+, was [0-9]+", "",
	  "Give that input \"dynamic_dims\": [%s], so that its size is a symbol from the first "
	  "call." },
	{ "\\.dim\\(\\) is", "",
	  "The number of dimensions was specialized: reshape before the call." },
	{ "\\.dtype is", "",
	  "Cast to one dtype before the call; otherwise each dtype has its own cache entry." },
	{ "\\.stride\\([0-9]+\\) is|is not contiguous", "",
	  "Call .contiguous() before, so that all calls have one layout." },
	{ "requires_grad is|is_grad_enabled|autocast", "",
	  "Calls with and without it need one cache entry each: two serve all calls." },
	{ "^len\\(", "",
	  "The length was specialized. Stack the list into one tensor: its size can be a symbol." },
	{ "^list\\(", "",
	  "The keys were specialized: give the dict the same keys, in the same order, in every "
	  "call." },
	{ " is -?[0-9]+, was -?[0-9]+$", "static",
	  "The value was specialized. Mode auto makes an int that changes symbolic; a tensor's "
	  "value is not guarded." },
	{ " is -?[0-9]+, was -?[0-9]+$", "graphs",
	  "The value was specialized. Mode auto makes an int that changes symbolic; a tensor's "
	  "value is not guarded." },
	{ " is -?[0-9]+, was -?[0-9]+$", "",
	  "The value was specialized. Make it a tensor: a tensor's value is not guarded." },
	{ " is " NUMBER ", was " NUMBER "$", "",
	  "The value was specialized, so each new one is a recompile. Keep it a tensor (no "
	  ".item(), no float()): a tensor's value is not guarded." },
	{ " is (an?|the) [^,]*, was |is another ", "",
	  "The object's identity is guarded: keep one object, and pass what differs as an "
	  "argument." },
};

enum { REMEDIES = sizeof(remedies) / sizeof(remedies[0]) };

struct remedy_patterns {
	regex_t at[REMEDIES];
};

static bool compile_remedies(struct remedy_patterns *p)
{
	for (int i = 0; i < REMEDIES; i++)
		if (regcomp(&p->at[i], remedies[i].pattern, REG_EXTENDED) != 0) {
			memory_note_refused(); /* the patterns are right */
			while (i-- > 0)
				regfree(&p->at[i]);
			return false;
		}
	return true;
}

static void free_remedies(struct remedy_patterns *p)
{
	for (int i = 0; i < REMEDIES; i++)
		regfree(&p->at[i]);
}

struct frame_version {
	const char *mode;
	const struct report_entry *entry;
	const struct remedy_patterns *patterns;
};

/* "s0 = x.size(0), 2 <= s0" */
static const char *symbol_text(struct maker *m, const struct report_symbol *s)
{
	const char *range = report_text(s->range);

	return maker_text(m, "%s = %s%s%s", s->name, report_text(s->source), *range ? ", " : "",
			  range);
}

static const char *fit_of(struct maker *m, const struct frame_version *v, const char *text)
{
	const char *subject = maker_text(m, " = %s", subject_of(m, text));
	regmatch_t found[2];

	for (size_t i = 0; i < v->entry->symbols.n; i++) {
		const char *symbol = symbol_text(m, &v->entry->symbols.at[i]);

		if (strstr(symbol, subject))
			return maker_text(m,
					  "It is a symbol from this cache entry on (%s): such "
					  "calls do not recompile.",
					  symbol);
	}
	for (int i = 0; i < REMEDIES; i++) {
		const struct remedy *r = &remedies[i];
		int answer;

		if (*r->mode && strcmp(r->mode, v->mode) != 0)
			continue;
		answer = regexec(&v->patterns->at[i], text, 2, found, 0);
		if (answer == REG_ESPACE)
			memory_note_refused();
		if (answer != 0)
			continue;
		if (!strstr(r->text, "%s"))
			return r->text;
		return maker_text(m, "%.*s%.*s%s", (int)strcspn(r->text, "%"), r->text,
				  (int)(found[1].rm_eo - found[1].rm_so), text + found[1].rm_so,
				  strstr(r->text, "%s") + 2);
	}
	return "";
}

/* One remedy for several guards that failed alike. */
static struct report_texts fits_of(struct maker *m, const struct frame_version *v,
				   const struct report_findings_cause_list *causes)
{
	struct report_texts fits = { ARENA_ARRAY(m->wording.arena, const char *, causes->n + 1),
				     0 };
	size_t k;

	m->wording.failed |= !fits.at;
	for (size_t i = 0; !m->wording.failed && i < causes->n; i++) {
		const char *fit = fit_of(m, v, causes->at[i].text);

		for (k = 0; k < fits.n && strcmp(fits.at[k], fit) != 0; k++)
			;
		if (*fit && k == fits.n)
			fits.at[fits.n++] = fit;
	}
	return fits;
}

/* ---- each version ---- */

static const char *symbols_text(struct maker *m, const struct report_symbol_list *symbols)
{
	const char *text = "";

	for (size_t i = 0; i < symbols->n; i++)
		text = maker_text(m, "%s%s%s", text, i ? "; " : "",
				  symbol_text(m, &symbols->at[i]));
	return text;
}

static void put_version(struct maker *m, const struct frame_version *v, const char *previous,
			struct report_findings_version *to)
{
	const struct report_entry *e = v->entry;
	const char *reason = report_text(e->reason);
	struct report_findings_cause_list causes = { NULL, 0 };
	char took[NUMBER_BYTES];

	if (*reason)
		causes = causes_of(m, reason, previous);
	number_duration(took, e->has.compile_ms ? e->compile_ms * 1e3 : 0);
	REPORT_SET(to, causes, causes);
	REPORT_SET(to, fits, fits_of(m, v, &causes));
	REPORT_SET_IF(to, symbols, e->symbols.n > 0, symbols_text(m, &e->symbols));
	REPORT_SET(to, compile, maker_text(m, "%s", took));
	REPORT_SET(to, used, plural(m, e->uses, "call", "calls"));
	if (e->bail_outs > 0)
		REPORT_SET(to, bailed,
			   maker_text(m, "fell back to eager %s: an assertion failed",
				      plural(m, e->bail_outs, "time", "times")));
	REPORT_SET(to, failed, (struct report_findings_failed_list){ 0 });
}

/* Which guard of `e` a cause speaks of; -1: none. */
static int64_t guard_of(struct maker *m, const struct report_entry *e, const char *text)
{
	const char *subject = subject_of(m, text);

	for (size_t i = 0; i < e->guards.n; i++)
		if (speaks_of(e->guards.at[i], subject))
			return (int64_t)i;
	return -1;
}

/* Adds to the i-th version its guards that other versions failed at. */
static void put_failed(struct maker *m, const struct report_entry_list *entries, size_t i,
		       const struct report_findings_version_list *versions)
{
	const struct report_entry *e = &entries->at[i];
	struct report_findings_failed_list failed = { NULL, 0 };
	size_t most = 0;

	for (size_t k = 0; k < versions->n; k++)
		most += versions->at[k].causes.n;
	failed.at = report_new_findings_failed(most, m->wording.arena);
	m->wording.failed |= !failed.at;
	for (size_t k = 0; !m->wording.failed && k < versions->n; k++)
		for (size_t c = 0; c < versions->at[k].causes.n; c++) {
			const struct report_findings_cause *cause = &versions->at[k].causes.at[c];
			int64_t guard = same_text(cause->version, e->compile)
					    ? guard_of(m, e, cause->text)
					    : -1;

			if (guard < 0)
				continue;
			REPORT_SET(&failed.at[failed.n], guard, guard);
			REPORT_SET(&failed.at[failed.n], call, entries->at[k].call);
			REPORT_SET(&failed.at[failed.n], by, report_text(entries->at[k].compile));
			failed.n++;
		}
	versions->at[i].failed = failed;
}

/* What is said above its entries; "" where calls are compiled as they come. */
static const char *notice_of(struct maker *m, const struct report_frame *f)
{
	if (f->skipped)
		return "This frame runs in eager.";
	return f->run_only ? maker_text(m,
					"`%s` hit the recompile limit (%zu). Calls matching no "
					"cache entry run in eager.",
					f->frame, f->entries.n)
			   : "";
}

static const char *facts_of(struct maker *m, const struct report_frame *f)
{
	double ms = 0;
	int64_t uses = 0;
	char took[NUMBER_BYTES];

	if (!f->entries.n)
		return f->skipped ? "runs in eager" : "nothing to compile";
	for (size_t i = 0; i < f->entries.n; i++) {
		ms += f->entries.at[i].has.compile_ms ? f->entries.at[i].compile_ms : 0;
		uses += f->entries.at[i].uses;
	}
	number_duration(took, ms * 1e3);
	return maker_text(m, "%s · %s · %s",
			  plural(m, (int64_t)f->entries.n, "cache entry", "cache entries"), took,
			  plural(m, uses, "use", "uses"));
}

/* "`gate` from line 6 on" of torch_dynamo_resume_in_gate_at_6. */
static const char *frame_words(struct maker *m, const char *name)
{
	static const char resumed[] = "torch_dynamo_resume_in_";
	const char *at = NULL;

	if (strncmp(name, resumed, strlen(resumed)) != 0)
		return maker_text(m, "`%s`", name);
	name += strlen(resumed);
	for (const char *next = strstr(name, "_at_"); next; next = strstr(next + 1, "_at_"))
		at = next;
	return at ? maker_text(m, "`%.*s` from line %s on", (int)(at - name), name, at + 4)
		  : maker_text(m, "`%s`", name);
}

/* That its lines run in eager, when, and why. */
static const char *eager_of(struct maker *m, const struct report_mode *at,
			    const struct report_frame *f)
{
	const char *name = frame_words(m, f->frame), *why = NULL;
	bool told = f->has.broke && f->broke >= 0 && (size_t)f->broke < at->breaks.n;

	if (!f->skipped)
		return maker_text(m,
				  "%s runs in eager where no cache entry matches: it hit the "
				  "recompile limit.",
				  name);
	if (told && at->breaks.at[f->broke].because)
		why = strstr(report_text(at->breaks.at[f->broke].because->message), ", because ");
	return maker_text(m, "%s runs in eager in every call, op by op%s.", name, why ? why : "");
}

static void put_frame(struct maker *m, const char *mode, const struct report_frame *f,
		      const struct remedy_patterns *patterns, struct report_findings_frame *to)
{
	const char *notice = notice_of(m, f);
	size_t n = f->entries.n;
	struct report_findings_version_list versions = {
		report_new_findings_version(n, m->wording.arena), n
	};

	m->wording.failed |= !versions.at;
	REPORT_SET(to, facts, facts_of(m, f));
	if (n && *notice)
		REPORT_SET(to, notice, notice);
	for (size_t i = 0; !m->wording.failed && i < n; i++)
		put_version(m, &(struct frame_version){ mode, &f->entries.at[i], patterns },
			    i ? report_text(f->entries.at[i - 1].compile) : "", &versions.at[i]);
	for (size_t i = 0; !m->wording.failed && i < n; i++)
		put_failed(m, &f->entries, i, &versions);
	REPORT_SET(to, versions, versions);
}

static void put_frames(struct maker *m, const char *mode, const struct report_mode *at,
		       struct report_findings_mode *to)
{
	const struct report_frame_list *tree = &at->tree;
	struct report_findings_frame_list frames = {
		report_new_findings_frame(tree->n, m->wording.arena), tree->n
	};
	struct remedy_patterns patterns;

	if (!frames.at || !compile_remedies(&patterns)) {
		m->wording.failed = true;
		return;
	}
	for (size_t i = 0; !m->wording.failed && i < tree->n; i++) {
		put_frame(m, mode, &tree->at[i], &patterns, &frames.at[i]);
		REPORT_SET_IF(&frames.at[i], eager, tree->at[i].lines.n > 0,
			      eager_of(m, at, &tree->at[i]));
	}
	free_remedies(&patterns);
	REPORT_SET(to, frames, frames);
}

void put_guards(struct maker *m, const char *mode, const struct report_mode *at,
		struct report_findings_mode *to)
{
	struct version_tally t = versions_of(at);
	struct report_findings_verdict *verdict;
	struct sentence s;

	if (!at->tree.n || strcmp(mode, "lazy") == 0 || !(verdict = maker_verdict(m, &s)))
		return;
	say_guards(m, &s, mode, &t);
	REPORT_SET(verdict, how, guards_method(m, at, &t));
	REPORT_SET(to, guards, verdict);
	put_frames(m, mode, at, to);
}
