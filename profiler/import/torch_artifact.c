/* profiler/import/torch_artifact.c -- artifacts of a TORCH_TRACE: breaks, reasons, caches, kernels.
 */
#include <string.h>

#include "profiler/import/repair.h"
#include "profiler/import/torch_trace.h"

/* A JSON list, or -- since 2.11 or so -- one bare reason. */
static void take_recompile_reasons(struct told *told)
{
	const struct torch_record *r = told->record;
	json_t *list = r->payload_len && r->payload[0] == '['
			   ? json_of_log(r->payload, r->payload_len, NULL)
			   : NULL,
	       *reason;
	size_t i;

	if (!told->row)
		told->t->m->ledger.n[LEDGER_NO_COMPILE]++;
	if (json_is_array(list)) {
		json_array_foreach(list, i, reason)
		{
			compiles_append(&told->t->m->compiles, told->row, "recompile_reasons",
					json_incref(reason));
		}
	} else {
		bool bad = false;

		compiles_append(&told->t->m->compiles, told->row, "recompile_reasons",
				json_of_text(r->payload, r->payload_len, &bad));
	}
	json_decref(list);
}

/* {"triton_poi_fused_0": {"compile_time_us": 137496, ...}} */
static void take_kernel_info(struct told *told)
{
	json_t *kernels = json_of_log(told->record->payload, told->record->payload_len,
				      &told->t->m->ledger);
	const char *name;
	json_t *info;

	if (!json_is_object(kernels))
		told->t->m->ledger.n[LEDGER_BROKEN_PAYLOAD]++;
	json_object_foreach(kernels, name, info)
	    compiles_append(&told->t->m->compiles, told->row, "generated_kernels",
			    json_pack("{s:s, s:O?}", "name", name, "compile_us",
				      json_object_get(info, "compile_time_us")));
	json_decref(kernels);
}

static void take_version(struct told *told)
{
	json_t *version = json_of_log(told->record->payload, told->record->payload_len,
				      &told->t->m->ledger);
	json_t *process = json_array_get(told->t->m->compiles.processes,
					 (size_t)told->t->now->process);

	if (json_is_string(json_object_get(version, "pytorch_version")))
		json_object_set(process, "version", json_object_get(version, "pytorch_version"));
	json_decref(version);
}

bool torch_artifact_take(struct told *told, struct err *err)
{
	const char *name = json_string_value(json_object_get(told->meta, "name"));
	struct compiles *c = &told->t->m->compiles;
	const char *payload = told->record->payload;
	struct torch_break b;

	(void)err;
	if (!name)
		return true;
	if (strstr(name, "cache_hit") || strstr(name, "cache_miss") || strstr(name, "cache_bypass"))
		compiles_add_in(told->row, "caches", name, 1);
	if (!payload)
		return true;
	if (strcmp(name, "dynamo_graph_break_reason") == 0) {
		torch_break_read(payload, &b);
		compiles_break(c, told->row, &b);
	} else if (strcmp(name, "recompile_reasons") == 0) {
		take_recompile_reasons(told);
	} else if (strcmp(name, "dynamo_error") == 0) {
		compiles_text(c, told->row, "error", payload, told->record->payload_len);
	} else if (strcmp(name, "triton_kernel_info") == 0) {
		take_kernel_info(told);
	} else if (strcmp(name, "torch_version") == 0) {
		take_version(told);
	}
	return true;
}
