/* profiler/import/ledger.c -- counts of what was lost, mended or doubtful. */
#include "profiler/import/ledger.h"

void ledger_sums(const struct ledger *l, int64_t *dropped, int64_t *doubtful)
{
	int64_t kept = 0, repaired = 0, lost = 0, *const sums[] = { &kept, &repaired, &lost };
	enum { kept_ = 0, repaired_ = 1, dropped_ = 2 };

#define LEDGER(id, fate, name, what) *sums[fate##_] += l->n[LEDGER_##id];
#include "profiler/import/ledger.def"
#undef LEDGER
	*dropped = lost;
	*doubtful = kept - l->n[LEDGER_WINDOWS];
}

json_t *ledger_json(const struct ledger *l)
{
	static const struct {
		const char *fate, *name, *what;
	} rows[LEDGER_COUNT] = {
#define LEDGER(id, fate, name, what) { #fate, name, what },
#include "profiler/import/ledger.def"
#undef LEDGER
	};
	json_t *json = json_pack("{s:{}, s:{}, s:{}, s:{}}", "kept", "repaired", "dropped", "what");

	for (int i = 0; json && i < LEDGER_COUNT; i++) {
		json_object_set_new(json_object_get(json, rows[i].fate), rows[i].name,
				    json_integer(l->n[i]));
		if (l->n[i])
			json_object_set_new(json_object_get(json, "what"), rows[i].name,
					    json_string(rows[i].what));
	}
	return json;
}
