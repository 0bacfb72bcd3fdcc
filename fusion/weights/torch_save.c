/* fusion/weights/torch_save.c -- what torch.save wrote: an archive with a pickle and its storages.
 *
 *	NAME/data.pkl     the object; tensors name their storages by key
 *	NAME/data/KEY     the elements of a storage
 *	NAME/byteorder    "little" or "big"; little where it is not there
 *
 * The names that a state dict needs are in the table below; no other is known, whatever it is.
 */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "fusion/base/vec.h"
#include "fusion/tensor/view.h"
#include "fusion/weights/archive.h"
#include "fusion/weights/pickle.h"
#include "fusion/weights/weights.h"

enum { KEY_BYTES = 32, FOLDER_BYTES = 256 };

enum torch_name {
	NAME_ORDERED_DICT,
	NAME_SET,
	NAME_SIZE,
	NAME_DEVICE,
	NAME_REBUILD,      /* (storage, offset, size, stride, ...) */
	NAME_REBUILD_V3,   /* the same with a dtype at 6 */
	NAME_PARAMETER,    /* (tensor, requires_grad, hooks) and perhaps its attributes */
	NAME_WITH_TYPE,    /* (function, type, its arguments, attributes) */
	NAME_TENSOR_CLASS, /* types, for the last one */
	NAME_PARAMETER_CLASS,
	NAME_STORAGE, /* from here on: a row of the storages, by index */
};

static const struct {
	const char *module, *name;
	enum torch_name id;
} names[] = {
	{ "collections", "OrderedDict", NAME_ORDERED_DICT },
	{ "__builtin__", "set", NAME_SET },
	{ "builtins", "set", NAME_SET },
	{ "torch", "Size", NAME_SIZE },
	{ "torch", "device", NAME_DEVICE },
	{ "torch._utils", "_rebuild_tensor", NAME_REBUILD },
	{ "torch._utils", "_rebuild_tensor_v2", NAME_REBUILD },
	{ "torch._utils", "_rebuild_tensor_v3", NAME_REBUILD_V3 },
	{ "torch._utils", "_rebuild_parameter", NAME_PARAMETER },
	{ "torch._utils", "_rebuild_parameter_with_state", NAME_PARAMETER },
	{ "torch._tensor", "_rebuild_from_type_v2", NAME_WITH_TYPE },
	{ "torch", "Tensor", NAME_TENSOR_CLASS },
	{ "torch._tensor", "Tensor", NAME_TENSOR_CLASS },
	{ "torch.nn.parameter", "Parameter", NAME_PARAMETER_CLASS },
};

/* Types of storages: the dtype of their elements, "" where the tensor says it. */
static const struct {
	const char *name, *dtype;
} storage_types[] = {
	{ "FloatStorage", "float32" },
	{ "DoubleStorage", "float64" },
	{ "HalfStorage", "float16" },
	{ "BFloat16Storage", "bfloat16" },
	{ "LongStorage", "int64" },
	{ "IntStorage", "int32" },
	{ "ShortStorage", "int16" },
	{ "CharStorage", "int8" },
	{ "ByteStorage", "uint8" },
	{ "BoolStorage", "bool" },
	{ "UntypedStorage", "" },
	{ "ComplexFloatStorage", "complex64" },
	{ "ComplexDoubleStorage", "complex128" },
	{ "QInt8Storage", "qint8" },
	{ "QUInt8Storage", "quint8" },
	{ "QInt32Storage", "qint32" },
};
enum { COUNT_TYPES = sizeof(storage_types) / sizeof(storage_types[0]) };

/* dtypes of PyTorch that files have and perhaps not this engine. */
static const char *const more_dtypes[] = {
	"float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",
	"uint16",        "uint32",      "uint64",          "complex32",       "complex64",
	"complex128",    "qint8",       "quint8",          "qint32",          "quint4x2",
};

struct stored {
	char key[KEY_BYTES];
	int type;             /* of storage_types */
	int64_t numel;        /* of a type without a dtype: bytes */
	struct tensor *whole; /* all of it, in one dimension; NULL: no tensor was made of it */
};

struct load {
	const struct weights_reader *reader;
	struct mapping *file;
	struct archive archive;
	char folder[FOLDER_BYTES];
	const struct archive_entry *pickle;
	bool swapped; /* its elements have their first byte last for us */
	struct value ordered;
	struct value leaves; /* list of tensors that require gradients */
	VEC(struct stored) stored;
};

enum { FIRST_STORED = NAME_STORAGE + COUNT_TYPES }; /* marks from here on are storages */

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory for a file of weights");
}

/* ---- names ---- */

static bool find_dtype(const char *name, enum dtype *out, struct err *err)
{
	return dtype_from_name(name, out) ||
	       err_set(err, ERR_DTYPE,
		       "it has a tensor of dtype %s, which is not among those of this engine; "
		       "save it as float32 or bfloat16",
		       name);
}

static bool is_storage_module(const char *module)
{
	return strcmp(module, "torch") == 0 || strcmp(module, "torch.storage") == 0 ||
	       strcmp(module, "torch.cuda") == 0;
}

static bool refuse_name(const char *module, const char *name, struct err *err)
{
	return err_set(err, ERR_OP,
		       "Weights only load failed. GLOBAL %s.%s was not an allowed global; save "
		       "torch.save(model.state_dict(), path), or tensors, numbers, text, and lists "
		       "and dicts of them",
		       module, name);
}

static bool named(void *self, const char *module, const char *name, struct value *out,
		  struct err *err)
{
	enum dtype dtype;

	(void)self;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i].module, module) == 0 && strcmp(names[i].name, name) == 0) {
			*out = pickle_mark((int)names[i].id);
			return true;
		}
	for (int i = 0; is_storage_module(module) && i < COUNT_TYPES; i++)
		if (strcmp(storage_types[i].name, name) == 0) {
			*out = pickle_mark(NAME_STORAGE + i);
			return true;
		}
	if (strcmp(module, "torch") != 0)
		return refuse_name(module, name, err);
	for (size_t i = 0; i < sizeof(more_dtypes) / sizeof(more_dtypes[0]); i++)
		if (strcmp(more_dtypes[i], name) == 0 && !find_dtype(name, &dtype, err))
			return false;
	if (!dtype_from_name(name, &dtype))
		return refuse_name(module, name, err);
	*out = (struct value){ .kind = VALUE_DTYPE, .dtype = dtype };
	return true;
}

/* ---- storages ---- */

/* ("storage", type, key, device, number of elements) */
static bool stored(void *self, struct value id, struct value *out, struct err *err)
{
	struct load *l = self;
	const struct value *v = id.kind == VALUE_TUPLE ? id.list->at : NULL;
	struct stored s = { .numel = 0 };

	if (!v || id.list->len != 5 || v[0].kind != VALUE_STR ||
	    strcmp(v[0].str->text, "storage") != 0 || !pickle_is_mark(v[1]) ||
	    v[1].i < NAME_STORAGE || v[1].i >= FIRST_STORED || v[2].kind != VALUE_STR ||
	    v[2].str->len >= KEY_BYTES || v[4].kind != VALUE_INT || v[4].i < 0)
		return err_set(err, ERR_OP, "a storage of it is not described as torch.save does");
	s.type = (int)v[1].i - NAME_STORAGE;
	s.numel = v[4].i;
	snprintf(s.key, sizeof(s.key), "%s", v[2].str->text);
	for (size_t i = 0; i < l->stored.len; i++)
		if (strcmp(l->stored.at[i].key, s.key) == 0 && l->stored.at[i].type == s.type &&
		    l->stored.at[i].numel == s.numel) {
			*out = pickle_mark(FIRST_STORED + (int)i);
			return true;
		}
	*out = pickle_mark(FIRST_STORED + (int)l->stored.len);
	return VEC_PUSH(&l->stored, s) || no_memory(err);
}

static void swap_elements(struct tensor *t, int64_t n)
{
	size_t bytes = dtype_bytes(t->dtype);
	unsigned char *at = tensor_host_writes(t);

	for (int64_t i = 0; i < n; i++, at += bytes)
		for (size_t b = 0; b < bytes / 2; b++) {
			unsigned char first = at[b];

			at[b] = at[bytes - 1 - b];
			at[bytes - 1 - b] = first;
		}
}

static const struct archive_entry *find_record(const struct load *l, const char *name)
{
	char full[FOLDER_BYTES + KEY_BYTES + 16];

	snprintf(full, sizeof(full), "%s%s", l->folder, name);
	return archive_find(&l->archive, full);
}

/* Makes the tensor over all of it. */
static bool open_storage(struct load *l, struct stored *s, enum dtype dtype, struct err *err)
{
	char record[KEY_BYTES + 8];
	const struct archive_entry *entry;
	int64_t bytes = s->numel, numel = s->numel;
	struct mapped where = { .dtype = dtype, .rank = 1, .size = &numel };

	if (s->whole)
		return s->whole->dtype == dtype ||
		       err_set(err, ERR_OP, "tensors of two dtypes lie in its storage %s", s->key);
	snprintf(record, sizeof(record), "data/%s", s->key);
	entry = find_record(l, record);
	if (!storage_types[s->type].dtype[0])
		numel /= (int64_t)dtype_bytes(dtype);
	else if (__builtin_mul_overflow(bytes, (int64_t)dtype_bytes(dtype), &bytes))
		return err_set(err, ERR_OP, "its storage %s is too large", s->key);
	if (!entry)
		return err_set(err, ERR_OP, "it has no record %s; it is damaged", record);
	if (!archive_place(&l->archive, entry, &where.at, err))
		return false;
	if (entry->bytes < (uint64_t)bytes)
		return err_set(err, ERR_OP,
			       "its record %s has %llu bytes, and %lld are needed; it is damaged",
			       record, (unsigned long long)entry->bytes, (long long)bytes);
	s->whole = tensor_mapped(l->reader->allocator, l->file, &where, err);
	if (s->whole && l->swapped && dtype_bytes(dtype) > 1)
		swap_elements(s->whole, numel);
	return s->whole != NULL;
}

/* ---- tensors ---- */

static bool wrong_call(const char *what, struct err *err)
{
	return err_set(err, ERR_OP, "%s of it is not called as torch.save does", what);
}

static bool read_sizes(struct value v, int64_t *out, int *n)
{
	if (v.kind != VALUE_TUPLE || v.list->len > MAX_RANK)
		return false;
	*n = v.list->len;
	for (int i = 0; i < *n; i++) {
		out[i] = v.list->at[i].i;
		if (v.list->at[i].kind != VALUE_INT || out[i] < 0)
			return false;
	}
	return true;
}

/* Whether all elements are among `numel`. */
static bool fits(int rank, const int64_t *size, const int64_t *stride, int64_t offset,
		 int64_t numel)
{
	int64_t last = offset, reach;

	for (int d = 0; d < rank; d++)
		if (size[d] == 0)
			return offset <= numel;
	for (int d = 0; d < rank; d++)
		if (__builtin_mul_overflow(size[d] - 1, stride[d], &reach) ||
		    __builtin_add_overflow(last, reach, &last))
			return false;
	return last < numel;
}

static bool mark_leaf(struct load *l, struct value t, struct value requires_grad, struct err *err)
{
	if (requires_grad.kind != VALUE_BOOL)
		return wrong_call("a tensor", err);
	return !requires_grad.b || value_list_push(l->leaves.list, t) || no_memory(err);
}

/* Whether the elements of a tensor of these sizes can be counted. */
static bool countable(int rank, const int64_t *size)
{
	int64_t n = 1;

	for (int d = 0; d < rank; d++)
		if (__builtin_mul_overflow(n, size[d] > 1 ? size[d] : 1, &n) ||
		    n > (int64_t)1 << TENSOR_MAX_LOG2)
			return false;
	return true;
}

static bool rebuild(struct load *l, enum torch_name id, const struct list *args, struct value *out,
		    struct err *err)
{
	int least = id == NAME_REBUILD_V3 ? 7 : 4, rank, strides;
	int64_t size[MAX_RANK], stride[MAX_RANK], offset;
	const struct value *v = args->at;
	struct stored *s;
	enum dtype dtype;
	struct tensor *t;

	if (args->len < least || !pickle_is_mark(v[0]) || v[0].i < FIRST_STORED ||
	    v[1].kind != VALUE_INT || v[1].i < 0 || v[2].kind != VALUE_TUPLE ||
	    (least == 7 && v[6].kind != VALUE_DTYPE))
		return wrong_call("a tensor", err);
	if (v[2].list->len > MAX_RANK)
		return err_set(err, ERR_BOUND, "it has a tensor of %d dimensions; the limit is %d",
			       v[2].list->len, MAX_RANK);
	offset = v[1].i;
	if (!read_sizes(v[2], size, &rank) || !read_sizes(v[3], stride, &strides) ||
	    rank != strides)
		return wrong_call("a tensor", err);
	s = &l->stored.at[v[0].i - FIRST_STORED];
	if (least == 7)
		dtype = v[6].dtype;
	else if (!find_dtype(storage_types[s->type].dtype, &dtype, err))
		return false;
	if (!open_storage(l, s, dtype, err))
		return false;
	if (!fits(rank, size, stride, offset, s->whole->size[0]) || !countable(rank, size))
		return err_set(err, ERR_OP, "a tensor of it reaches beyond its storage %s", s->key);
	t = tensor_view(s->whole, rank, size, stride, offset, err);
	if (!t)
		return false;
	*out = tensor_wrap(t);
	if (out->kind == VALUE_UNSET)
		return no_memory(err);
	if (args->len < 5 || mark_leaf(l, *out, v[4], err))
		return true;
	value_unref(*out);
	return false;
}

/* Attributes that the program had set on a tensor. */
static bool set_attributes(struct value t, struct value attributes, struct err *err)
{
	if (attributes.kind == VALUE_NONE)
		return true;
	if (attributes.kind != VALUE_DICT)
		return wrong_call("a tensor with attributes", err);
	for (int i = 0; i < attributes.dict->len; i++)
		if (attributes.dict->keys[i].kind != VALUE_STR)
			return wrong_call("a tensor with attributes", err);
	if (attributes.dict->len == 0)
		return true;
	if (!t.tensor->attributes) {
		t.tensor->attributes = value_ref(attributes).dict;
		return true;
	}
	return wrong_call("a tensor with attributes", err);
}

static bool parameter(struct load *l, const struct list *args, struct value *out, struct err *err)
{
	const struct value *v = args->at;

	if (args->len < 2 || v[0].kind != VALUE_TENSOR)
		return wrong_call("a Parameter", err);
	v[0].tensor->is_parameter = true;
	if (!mark_leaf(l, v[0], v[1], err) || (args->len > 3 && !set_attributes(v[0], v[3], err)))
		return false;
	*out = value_ref(v[0]);
	return true;
}

static bool call(void *self, struct value callee, struct value args, struct value *out,
		 struct err *err);

/* A tensor with attributes: function(*arguments), then they are set. */
static bool with_type(struct load *l, const struct list *args, struct value *out, struct err *err)
{
	const struct value *v = args->at;

	if (args->len != 4 || !pickle_is_mark(v[0]) ||
	    (v[0].i != NAME_REBUILD && v[0].i != NAME_REBUILD_V3 && v[0].i != NAME_PARAMETER) ||
	    !pickle_is_mark(v[1]) ||
	    (v[1].i != NAME_TENSOR_CLASS && v[1].i != NAME_PARAMETER_CLASS) ||
	    v[2].kind != VALUE_TUPLE)
		return wrong_call("a tensor with attributes", err);
	if (!call(l, v[0], v[2], out, err))
		return false;
	if (set_attributes(*out, v[3], err))
		return true;
	value_unref(*out);
	return false;
}

/* ---- other objects ---- */

/* As its class makes one: see Dict in prelude/bases.py. */
static bool ordered_dict(struct load *l, const struct list *args, struct value *out,
			 struct err *err)
{
	struct value items = value_dict(), attributes = value_dict(),
		     name = value_str("_plain", strlen("_plain"));
	bool ok;

	if (args->len != 0) {
		ok = wrong_call("an OrderedDict", err);
	} else {
		*out = value_instance(l->ordered.class);
		ok = (out->kind != VALUE_UNSET && items.kind != VALUE_UNSET &&
		      attributes.kind != VALUE_UNSET && name.kind != VALUE_UNSET &&
		      value_dict_set(attributes.dict, name, items)) ||
		     no_memory(err);
		if (ok)
			out->instance->attributes = value_ref(attributes).dict;
		else
			value_unref(*out);
	}
	value_unref(items);
	value_unref(attributes);
	value_unref(name);
	return ok;
}

static struct dict *items_of(void *self, struct value made)
{
	struct value *items = value_dict_find(made.instance->attributes, "_plain");

	(void)self;
	return items && items->kind == VALUE_DICT ? items->dict : NULL;
}

/* An OrderedDict's attributes: _metadata, as state_dict() sets it. */
static bool set_state(void *self, struct value made, struct value state, struct err *err)
{
	(void)self;
	if (made.kind != VALUE_INSTANCE || state.kind != VALUE_DICT)
		return err_set(err, ERR_OP, "an object of it has a state that no dict is");
	for (int i = 0; i < state.dict->len; i++) {
		struct value key = state.dict->keys[i];

		if (key.kind != VALUE_STR || strcmp(key.str->text, "_metadata") != 0)
			return err_set(err, ERR_OP,
				       "an OrderedDict of it has other attributes than _metadata");
		if (!value_dict_set(made.instance->attributes, key, state.dict->values[i]))
			return no_memory(err);
	}
	return true;
}

static bool size(const struct list *args, struct value *out, struct err *err)
{
	int64_t sizes[MAX_RANK];
	int n;

	if (args->len != 1 || !read_sizes(args->at[0], sizes, &n))
		return wrong_call("a torch.Size", err);
	*out = value_tuple(args->at[0].list->at, n);
	if (out->kind == VALUE_UNSET)
		return no_memory(err);
	out->list->is_size = true;
	return true;
}

static bool device(const struct list *args, struct value *out, struct err *err)
{
	char text[64];

	if (args->len < 1 || args->len > 2 || args->at[0].kind != VALUE_STR ||
	    (args->len == 2 && args->at[1].kind != VALUE_INT))
		return wrong_call("a torch.device", err);
	if (args->len == 2)
		snprintf(text, sizeof(text), "%.40s:%lld", args->at[0].str->text,
			 (long long)args->at[1].i);
	else
		snprintf(text, sizeof(text), "%.60s", args->at[0].str->text);
	*out = value_str(text, strlen(text));
	return out->kind != VALUE_UNSET || no_memory(err);
}

static bool set(const struct list *args, struct value *out, struct err *err)
{
	const struct list *items = args->len == 1 && args->at[0].kind == VALUE_LIST
				       ? args->at[0].list
				       : NULL;

	if (!items)
		return wrong_call("a set", err);
	*out = value_set(false);
	if (out->kind == VALUE_UNSET)
		return no_memory(err);
	for (int i = 0; i < items->len; i++) {
		bool hashable = value_hashable(items->at[i]) && items->at[i].kind != VALUE_INSTANCE;

		if (hashable && value_dict_set(out->dict, items->at[i], value_none()))
			continue;
		value_unref(*out);
		return hashable ? no_memory(err) : wrong_call("a set", err);
	}
	return true;
}

static bool call(void *self, struct value callee, struct value args, struct value *out,
		 struct err *err)
{
	struct load *l = self;
	const struct list *list = args.list;

	switch (callee.i) {
	case NAME_ORDERED_DICT:
		return ordered_dict(l, list, out, err);
	case NAME_SET:
		return set(list, out, err);
	case NAME_SIZE:
		return size(list, out, err);
	case NAME_DEVICE:
		return device(list, out, err);
	case NAME_REBUILD:
	case NAME_REBUILD_V3:
		return rebuild(l, (enum torch_name)callee.i, list, out, err);
	case NAME_PARAMETER:
		return parameter(l, list, out, err);
	case NAME_WITH_TYPE:
		return with_type(l, list, out, err);
	default:
		return err_set(err, ERR_OP, "it calls what is no function");
	}
}

/* ---- the file ---- */

static bool of_another_kind(const struct mapping *m, struct err *err)
{
	const unsigned char *first = (const unsigned char *)m->data;

	if (m->bytes >= 2 && first[0] == 0x80 && first[1] <= 5)
		return err_set(
		    err, ERR_OP,
		    "it is in the format that torch.save had before PyTorch 1.6; load it "
		    "with PyTorch and save it again");
	if (m->bytes > 8 && first[8] == '{')
		return err_set(err, ERR_OP,
			       "it looks like safetensors: safetensors.torch.load_file(path) reads "
			       "it");
	return err_set(err, ERR_OP, "it is no file that torch.save wrote");
}

/* The folder that data.pkl is in: with its slash. */
static bool find_folder(struct load *l, struct err *err)
{
	static const char pickle[] = "/data.pkl";
	size_t len = strlen(pickle);

	for (size_t i = 0; i < l->archive.n; i++) {
		const struct archive_entry *e = &l->archive.entries[i];

		if (e->name_len < len || e->name_len >= FOLDER_BYTES ||
		    memcmp(e->name + e->name_len - len, pickle, len) != 0 ||
		    memchr(e->name, '/', e->name_len - len))
			continue;
		l->pickle = e;
		snprintf(l->folder, sizeof(l->folder), "%.*s/", (int)(e->name_len - len), e->name);
		if (find_record(l, "constants.pkl"))
			return err_set(err, ERR_OP,
				       "it is a program of TorchScript, not a state dict; save "
				       "module.state_dict() in PyTorch");
		return true;
	}
	return err_set(err, ERR_OP,
		       "it is an archive, but none that torch.save wrote: it has no "
		       "data.pkl");
}

static bool read_order(struct load *l, struct err *err)
{
	const struct archive_entry *e = find_record(l, "byteorder");
	size_t at;

	if (!e)
		return true;
	if (!archive_place(&l->archive, e, &at, err))
		return false;
	l->swapped = e->bytes == 3 && memcmp(l->file->data + at, "big", 3) == 0;
	return l->swapped || (e->bytes == 6 && memcmp(l->file->data + at, "little", 6) == 0) ||
	       err_set(err, ERR_OP, "its record byteorder is neither little nor big");
}

static bool read_object(struct load *l, struct value *out, struct err *err)
{
	const struct pickle_reader reader = {
		.self = l,
		.name = named,
		.call = call,
		.persistent = stored,
		.build = set_state,
		.items = items_of,
	};
	size_t at;

	if (l->file->bytes < 2 || memcmp(l->file->data, "PK", 2) != 0)
		return of_another_kind(l->file, err);
	if (!archive_open(&l->archive, l->file->data, l->file->bytes, err) ||
	    !find_folder(l, err) || !read_order(l, err))
		return false;
	return archive_place(&l->archive, l->pickle, &at, err) &&
	       pickle_read(&reader, l->file->data + at, l->pickle->bytes, out, err);
}

bool weights_torch(const struct weights_reader *r, const char *path, struct value ordered,
		   struct value *out, struct err *err)
{
	const struct fusion_data *file = weights_find(r->files, path);
	struct load l = { .reader = r, .ordered = ordered };
	struct value object;
	struct err why = { 0 };
	bool ok = false;

	if (!file)
		return err_set(err, ERR_IO, "the run has no file %.200s", path);
	l.leaves = value_list(NULL, 0);
	if (l.leaves.kind == VALUE_UNSET)
		return no_memory(err);
	l.file = mapping_open(file->path, &why);
	if (l.file && read_object(&l, &object, &why)) {
		*out = value_tuple((struct value[]){ object, l.leaves }, 2);
		ok = out->kind != VALUE_UNSET || no_memory(&why);
		value_unref(object);
	}
	if (!ok)
		err_set(err, why.code, "%.120s: %s", path, why.message);
	for (size_t i = 0; i < l.stored.len; i++)
		tensor_unref(l.stored.at[i].whole);
	VEC_FREE(&l.stored);
	archive_close(&l.archive);
	mapping_unref(l.file);
	value_unref(l.leaves);
	return ok;
}
