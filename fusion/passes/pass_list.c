/* fusion/passes/pass_list.c -- passes.def as data, and what makes an order right.
 *
 * A walk over the list keeps the set of properties that hold: none at first, a
 * pass adds what it makes and takes away what it breaks.  An order is right when
 * every pass finds what it needs, and the lowering after the last one too.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "fusion/base/nearest.h"
#include "fusion/base/words.h"
#include "fusion/passes/pass.h"

enum {
	NONE = 0,
#define PROPERTY(id, text) BIT_##id = 1 << PROPERTY_##id,
#define PASS(...)
#include "fusion/passes/passes.def"
#undef PROPERTY
#undef PASS
	PRIMITIVE = BIT_primitive,
	LIVE = BIT_live,
	STRIDED = BIT_strided,
	APART = BIT_apart,
	LOWERABLE = PRIMITIVE | STRIDED | APART, /* what lower_graph() takes for granted */
};

static const struct pass_property properties[PROPERTY_COUNT] = {
#define PROPERTY(id, text) { #id, text },
#define PASS(...)
#include "fusion/passes/passes.def"
#undef PROPERTY
#undef PASS
};

static struct pass_list default_list = {
	.passes = {
#define PROPERTY(id, text)
#define PASS(id, needs_, makes_, breaks_, after_, purpose_)                                        \
	{ .name = #id,                                                                             \
	  .purpose = purpose_,                                                                     \
	  .needs = needs_,                                                                         \
	  .makes = makes_,                                                                         \
	  .breaks = breaks_,                                                                       \
	  .after = after_,                                                                         \
	  .run = pass_##id },
#include "fusion/passes/passes.def"
#undef PROPERTY
#undef PASS
	},
};

const struct pass_property *pass_property(int index)
{
	return &properties[index];
}

static int find_exact(const struct pass_list *list, const char *name)
{
	for (int i = 0; i < list->n; i++)
		if (strcmp(list->passes[i].name, name) == 0)
			return i;
	return -1;
}

static const struct {
	const char *was, *is;
} renamed[] = {
#define PROPERTY(id, text)
#define PASS(...)
#define RENAMED(was, is) { #was, #is },
#include "fusion/passes/passes.def"
#undef PROPERTY
#undef PASS
#undef RENAMED
};

int pass_list_find(const struct pass_list *list, const char *name)
{
	int found = find_exact(list, name);

	for (size_t i = 0; found < 0 && i < sizeof(renamed) / sizeof(renamed[0]); i++)
		if (strcmp(renamed[i].was, name) == 0)
			found = find_exact(list, renamed[i].is);
	return found;
}

/* A pass that is switched off; fuse then groups every node alone. */
static bool is_off(const struct pass_list *list, uint64_t disabled, int i)
{
	return (disabled >> i & 1) != 0 && list->passes[i].run != pass_fuse;
}

/* Who makes the property: a name, for messages. */
static const char *maker_of(const struct pass_list *list, unsigned bit)
{
	for (int i = 0; i < list->n; i++)
		if (list->passes[i].makes & bit)
			return list->passes[i].name;
	return "no pass";
}

/* The pass that has broken it, looking back from `at`; -1: it was never made. */
static int breaker_of(const struct pass_list *list, uint64_t disabled, unsigned bit, int at)
{
	for (int i = at - 1; i >= 0; i--) {
		if (is_off(list, disabled, i))
			continue;
		if (list->passes[i].breaks & bit)
			return i;
		if (list->passes[i].makes & bit)
			return -1;
	}
	return -1;
}

static bool made_before(const struct pass_list *list, uint64_t disabled, unsigned bit, int at)
{
	for (int i = 0; i < at; i++)
		if (!is_off(list, disabled, i) && (list->passes[i].makes & bit))
			return true;
	return false;
}

/* `who` at `at` does not find what it needs. */
static bool lacks(const struct pass_list *list, uint64_t disabled, unsigned missing,
		  const char *who, int at, struct err *err)
{
	int property = __builtin_ctz(missing);
	unsigned bit = 1u << property;
	const char *maker = maker_of(list, bit);
	int breaker = breaker_of(list, disabled, bit, at);

	if (breaker >= 0 && made_before(list, disabled, bit, at))
		return err_set(err, ERR_VALUE,
			       "%s needs a graph in which %s ('%s'), but pass %s, which breaks "
			       "that, is between %s and it",
			       who, properties[property].text, properties[property].name,
			       list->passes[breaker].name, maker);
	return err_set(err, ERR_VALUE,
		       "%s needs a graph in which %s ('%s'), which pass %s makes: %s has to run "
		       "before it",
		       who, properties[property].text, properties[property].name, maker, maker);
}

/* Whether a pass is among the names in `text`, by its own or one that it had. */
static bool names_pass(const char *text, const char *name)
{
	bool found = words_have(text, name);

	for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++)
		found |= strcmp(renamed[i].is, name) == 0 && words_have(text, renamed[i].was);
	return found;
}

static bool check_after(const struct pass_list *list, uint64_t disabled, int i, struct err *err)
{
	const struct pass_info *pass = &list->passes[i];

	for (int k = i + 1; k < list->n; k++)
		if (!is_off(list, disabled, k) && names_pass(pass->after, list->passes[k].name))
			return err_set(err, ERR_VALUE,
				       "pass %s has to run after pass %s, and is before it",
				       pass->name, list->passes[k].name);
	return true;
}

bool pass_list_check(const struct pass_list *list, uint64_t disabled, struct err *err)
{
	unsigned hold = 0;
	char who[96];

	for (int i = 0; i < list->n; i++) {
		const struct pass_info *pass = &list->passes[i];

		if (is_off(list, disabled, i))
			continue;
		snprintf(who, sizeof(who), "pass %.64s", pass->name);
		if (pass->needs & ~hold)
			return lacks(list, disabled, pass->needs & ~hold, who, i, err);
		if (!check_after(list, disabled, i, err))
			return false;
		hold = (hold & ~pass->breaks) | pass->makes;
	}
	if (LOWERABLE & ~hold)
		return lacks(list, disabled, LOWERABLE & ~hold, "the lowering", list->n, err);
	return true;
}

static void find_required(struct pass_list *list)
{
	list->required = 0;
	for (int i = 0; i < list->n; i++)
		if (!pass_list_check(list, (uint64_t)1 << i, NULL))
			list->required |= (uint64_t)1 << i;
}

static void complete_default(void)
{
	while (default_list.passes[default_list.n].name)
		default_list.n++;
	find_required(&default_list);
}

const struct pass_list *pass_list_default(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, complete_default);
	return &default_list;
}

/* "there is no pass x; did you mean 'y'?" */
static bool no_such_pass(const struct pass_list *list, const char *name, struct err *err)
{
	struct nearest near = nearest_to(name);
	char all[256] = "";

	for (int i = 0; i < list->n; i++) {
		size_t len = strlen(all);

		nearest_offer(&near, list->passes[i].name);
		snprintf(all + len, sizeof(all) - len, "%s%s", i ? ", " : "", list->passes[i].name);
	}
	if (near.best)
		return err_set(err, ERR_NAME, "there is no pass '%.64s'; did you mean '%s'?", name,
			       near.best);
	return err_set(err, ERR_NAME, "there is no pass '%.64s'; there are %s", name, all);
}

bool pass_list_insert(struct pass_list *list, const struct pass_info *pass, const char *place,
		      bool after, struct err *err)
{
	struct pass_list longer = *list;
	int at = pass_list_find(list, place);

	if (find_exact(list, pass->name) >= 0)
		return err_set(err, ERR_NAME, "there is a pass '%.64s' already", pass->name);
	if (at < 0)
		return no_such_pass(list, place, err);
	if (list->n == MAX_PASSES)
		return err_set(err, ERR_BOUND, "there are %d passes, the limit", MAX_PASSES);
	at += after;
	memmove(&longer.passes[at + 1], &longer.passes[at], sizeof(*pass) * (size_t)(list->n - at));
	longer.passes[at] = *pass;
	longer.n++;
	if (!pass_list_check(&longer, 0, err))
		return false;
	find_required(&longer);
	*list = longer;
	return true;
}

bool pass_list_disable(const struct pass_list *list, const char *name, uint64_t *disabled,
		       struct err *err)
{
	int i = pass_list_find(list, name);
	struct err why = { 0 };

	if (i < 0)
		return no_such_pass(list, name, err);
	if (!(list->required >> i & 1)) {
		*disabled |= (uint64_t)1 << i;
		return true;
	}
	pass_list_check(list, (uint64_t)1 << i, &why);
	return err_set(err, ERR_VALUE, "pass %s cannot be switched off: %.400s", name, why.message);
}
