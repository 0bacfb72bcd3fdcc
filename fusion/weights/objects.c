/* fusion/weights/objects.c -- what Python saved beside weights: objects of known classes, as dicts.
 */
#include <string.h>

#include "fusion/data.h"
#include "fusion/weights/archive.h"
#include "fusion/weights/pickle.h"

struct objects {
	const char *const *classes;
};

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory for objects");
}

/* Its mark is the place in the list. */
static bool named(void *self, const char *module, const char *name, struct value *out,
		  struct err *err)
{
	const struct objects *o = self;
	size_t len = strlen(module);

	for (int i = 0; o->classes[i]; i++)
		if (strncmp(o->classes[i], module, len) == 0 && o->classes[i][len] == '.' &&
		    strcmp(o->classes[i] + len + 1, name) == 0) {
			*out = pickle_mark(i);
			return true;
		}
	return err_set(err, ERR_OP, "it holds a %.150s.%.100s, which is not read", module, name);
}

static bool put(struct dict *dict, const char *key, const char *text)
{
	struct value k = value_str(key, strlen(key)), v = value_str(text, strlen(text));
	bool ok = k.kind != VALUE_UNSET && v.kind != VALUE_UNSET && value_dict_set(dict, k, v);

	value_unref(k);
	value_unref(v);
	return ok;
}

static bool make(void *self, struct value callee, struct value args, struct value *out,
		 struct err *err)
{
	const struct objects *o = self;

	if (value_length(args) != 0)
		return err_set(err, ERR_OP, "a %.200s of it is not made as pickle does",
			       o->classes[callee.i]);
	*out = value_dict();
	if (out->kind != VALUE_UNSET && put(out->dict, "", o->classes[callee.i]))
		return true;
	value_unref(*out);
	return no_memory(err);
}

static bool no_tensor(void *self, struct value id, struct value *out, struct err *err)
{
	(void)self;
	(void)id;
	(void)out;
	return err_set(err, ERR_OP, "it holds tensors, which are not read here");
}

static bool set_state(void *self, struct value made, struct value state, struct err *err)
{
	size_t len;

	(void)self;
	if (made.kind != VALUE_DICT || state.kind != VALUE_DICT)
		return err_set(err, ERR_OP, "an object of it has a state that no dict is");
	for (int i = 0; i < value_length(state); i++) {
		struct value key = value_key(state, i);

		if (key.kind != VALUE_STR || !*value_text(key, &len))
			return err_set(err, ERR_OP, "an attribute of an object has no name");
		if (!value_dict_set(made.dict, key, value_item(state, i)))
			return no_memory(err);
	}
	return true;
}

/* The objects of an archive of torch.save. */
static bool find_pickle(struct archive *a, const unsigned char **bytes, size_t *len,
			struct err *err)
{
	static const char pickle[] = "/data.pkl";
	size_t n = strlen(pickle), at;

	for (size_t i = 0; i < a->n; i++) {
		const struct archive_entry *e = &a->entries[i];

		if (e->name_len < n || memcmp(e->name + e->name_len - n, pickle, n) != 0)
			continue;
		if (!archive_place(a, e, &at, err))
			return false;
		*bytes = a->data + at;
		*len = e->bytes;
		return true;
	}
	return err_set(err, ERR_OP,
		       "it is an archive without data.pkl: torch.save wrote none such");
}

bool fusion_data_objects(const void *bytes, size_t len, const char *const *classes,
			 struct value *out, struct err *err)
{
	/* The number that torch.save began with before PyTorch 1.6. */
	static const char before_1_6[] = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9";
	struct objects o = { classes };
	const struct pickle_reader reader = {
		.self = &o, .name = named, .call = make, .persistent = no_tensor, .build = set_state
	};
	const unsigned char *at = bytes;
	struct archive a = { 0 };
	bool ok = true;

	if (len > 9 && memcmp(bytes, before_1_6, 9) == 0)
		return err_set(
		    err, ERR_OP,
		    "it is in the format that torch.save had before PyTorch 1.6: load it "
		    "with PyTorch and save it again");
	if (len >= 2 && memcmp(bytes, "PK", 2) == 0)
		ok = archive_open(&a, bytes, len, err) && find_pickle(&a, &at, &len, err);
	ok = ok && pickle_read(&reader, at, len, out, err);
	archive_close(&a);
	return ok;
}
