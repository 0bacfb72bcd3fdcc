/* profiler/import/model.c -- what the readers of logs fill in together. */
#include "profiler/import/model.h"

#include <string.h>

#include "fusion/base/hash.h"

bool model_init(struct model *m, struct timeline_writer *writer, struct err *err)
{
	*m = (struct model){ .writer = writer };
	m->regions.ledger = &m->ledger;
	m->heads = json_array();
	m->counters = json_array();
	m->graphs_called = json_object();
	return (compiles_init(&m->compiles, &m->ledger) && xla_init(&m->xla, &m->ledger) &&
		m->heads && m->counters && m->graphs_called) ||
	       err_set(err, ERR_MEMORY, "out of memory for an import");
}

void model_finish(struct model *m)
{
	names_finish(&m->names);
	regions_finish(&m->regions);
	compiles_finish(&m->compiles);
	xla_finish(&m->xla);
	json_decref(m->heads);
	json_decref(m->counters);
	json_decref(m->exported);
	json_decref(m->graphs_called);
}

uint32_t model_shape(struct model *m, const int32_t grid[3], const int32_t block[3],
		     int64_t registers, int64_t shared_bytes)
{
	struct model_shape key = { { grid[0], grid[1], grid[2] },
				   { block[0], block[1], block[2] },
				   registers,
				   shared_bytes,
				   0 };
	uint64_t at = hash_bytes(&key, offsetof(struct model_shape, number), 0);

	for (int tries = 0; tries < MODEL_SHAPES; tries++, at++) {
		struct model_shape *slot = &m->shapes[at % MODEL_SHAPES];

		if (slot->number && memcmp(slot, &key, offsetof(struct model_shape, number)) == 0)
			return slot->number;
		if (slot->number)
			continue;
		if (m->n_shapes >= MODEL_SHAPES / 2)
			return 0;
		key.number = timeline_writer_shape(
		    m->writer,
		    json_pack("{s:[i, i, i], s:[i, i, i], s:I, s:I}", "grid", grid[0], grid[1],
			      grid[2], "block", block[0], block[1], block[2], "registers",
			      (json_int_t)registers, "static_bytes", (json_int_t)shared_bytes));
		m->n_shapes += key.number != 0;
		*slot = key;
		return key.number;
	}
	return 0;
}

void model_graph_called(struct model *m, const char *hash, size_t len)
{
	char key[128];

	if (json_object_size(m->graphs_called) >= MODEL_MAX_GRAPHS)
		return;
	len = len < sizeof(key) - 1 ? len : sizeof(key) - 1;
	memcpy(key, hash, len);
	key[len] = '\0';
	json_object_set_new(
	    m->graphs_called, key,
	    json_integer(1 + json_integer_value(json_object_get(m->graphs_called, key))));
}
