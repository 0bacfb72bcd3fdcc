/* fusion/graph/op.c -- reads ops.def into struct op_info, and finds ops by spelling.
 *
 * The columns are compile-time data.  Signatures and spellings are text; they
 * are cut up once, under pthread_once, and never change afterwards.
 */
#include "fusion/graph/op.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/nearest.h"
#include "fusion/graph/graph.h"

enum { SIGNATURE_BYTES = 256, MAX_SPELLINGS = 1024, SPELLING_BYTES = 64 };

#define HEAVY_H true
#define HEAVY_L false

enum { /* as the column of facts names them */
#define FACT(name, meaning) name = (int)FACT_##name,
#include "fusion/graph/ops_some.h"
#undef FACT
};

struct op_rows op_rows = { .at = {
#define ROW(name, ...) [OP_##name] = { .id = #name, .fx = #name, __VA_ARGS__ },
#define POINTWISE(id_, heavy_, rule_, spellings_, signature_, value_, doc_, facts_)                \
	ROW(id_, .kind = KIND_POINTWISE, .rule = RULE_##rule_, .signature = signature_,            \
	    .spellings = spellings_, .value = #value_, .doc = doc_,                                \
	    .transcendental = HEAVY_##heavy_, .facts = facts_)
#define OTHER(id_, kind_, spellings_, signature_, doc_, facts_)                                    \
	ROW(id_, .kind = KIND_##kind_, .signature = signature_, .spellings = spellings_,           \
	    .doc = doc_, .facts = facts_)
#define UNARY(id, heavy, rule, spellings, value, doc, simplify, range, facts)                      \
	POINTWISE(id, heavy, rule, spellings, "Tensor x", value, doc, facts)
#define BINARY(id, heavy, rule, spellings, value, doc, simplify, range, facts)                     \
	POINTWISE(id, heavy, rule, spellings, "Tensor|Scalar x, Tensor|Scalar other", value, doc,  \
		  facts)
#define TERNARY(id, heavy, spellings, signature, value, doc, infer, simplify, facts)               \
	POINTWISE(id, heavy, SAME, spellings, signature, value, doc, facts)
#define REDUCE(id_, rule_, spellings_, first_, step_, signature_, doc_, facts_)                    \
	ROW(id_, .kind = KIND_REDUCE, .rule = RULE_##rule_, .signature = signature_,               \
	    .spellings = spellings_, .value = #step_, .first = #first_, .doc = doc_,               \
	    .facts = facts_)
#define COMPOSITE(id, spellings, signature, doc, infer, file, facts)                               \
	OTHER(id, COMPOSITE, spellings, signature, doc, facts)
#define CAST(id, spellings, signature, doc, infer, simplify, facts)                                \
	OTHER(id, POINTWISE, spellings, signature, doc, facts)
#define CONSTANT(id, spellings, doc) OTHER(id, CONSTANT, spellings, "", doc, 0)
#define CREATE(id, spellings, signature, doc, infer, element, facts)                               \
	OTHER(id, CREATE, spellings, signature, doc, facts)
#define LIBRARY(id, spellings, signature, doc, infer, cuda, file, facts)                           \
	OTHER(id, LIBRARY, spellings, signature, doc, facts)
#define VIEW(id, spellings, signature, doc, infer, layout, simplify)                               \
	OTHER(id, VIEW, spellings, signature, doc, 0)
#define JOIN(id, spellings, signature, doc, infer) OTHER(id, JOIN, spellings, signature, doc, 0)
#define CONTROL(id, signature, doc, infer) OTHER(id, CONTROL, "", signature, doc, 0)
#define INTERNAL(id, kind, doc) OTHER(id, kind, "", "", doc, 0)
#include "fusion/graph/ops.def"
#undef UNARY
#undef BINARY
#undef TERNARY
#undef REDUCE
#undef COMPOSITE
#undef CAST
#undef CONSTANT
#undef CREATE
#undef LIBRARY
#undef VIEW
#undef JOIN
#undef CONTROL
#undef INTERNAL
			   } };

static const struct {
	enum op op;
	enum autocast_class on[AUTOCAST_DEVICES];
} autocast_rows[] = {
#define AUTOCAST(id, cpu, cuda) { OP_##id, { AUTOCAST_##cpu, AUTOCAST_##cuda } },
#include "fusion/graph/ops_some.h"
#undef AUTOCAST
};

struct spelling {
	char text[SPELLING_BYTES];
	enum op op;
};

static struct op_param params[OP_COUNT][MAX_ARGS];
static char texts[OP_COUNT][SIGNATURE_BYTES];
static struct spelling spellings[MAX_SPELLINGS]; /* sorted */
static int n_spellings;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct {
	const char *name;
	enum param_kind kind;
} types[] = {
	{ "Tensor", PARAM_TENSOR }, { "Tensor|Scalar", PARAM_TENSOR_SCALAR },
	{ "Scalar", PARAM_SCALAR }, { "int", PARAM_INT },
	{ "float", PARAM_FLOAT },   { "bool", PARAM_BOOL },
	{ "int[]", PARAM_INTS },    { "dtype", PARAM_DTYPE },
	{ "str", PARAM_STR },
};

/* -1: there is no such type. */
static int type_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].name, name))
			return (int)types[i].kind;
	return -1;
}

/* "int[]? dim=None" -> a parameter; cuts `text` up. */
static bool parse_param(char *text, bool keyword_only, struct op_param *out)
{
	char *name = strchr(text, ' ');
	char *fallback, *mark;
	int kind;

	if (!name)
		return false;
	*name++ = 0;
	fallback = strchr(name, '=');
	if (fallback)
		*fallback++ = 0;
	if (fallback && fallback[0] == '\'' && fallback[1]) { /* 'none' -> none */
		fallback++;
		fallback[strlen(fallback) - 1] = 0;
	}
	mark = strchr(text, '?');
	if (mark)
		*mark = 0;
	kind = type_kind(text);
	*out = (struct op_param){ .name = name,
				  .kind = (enum param_kind)kind,
				  .optional = fallback != NULL,
				  .nullable = mark != NULL,
				  .keyword_only = keyword_only,
				  .fallback = fallback };
	return kind >= 0;
}

int op_parse_signature(char *text, struct op_param *out)
{
	bool keyword_only = false;
	char *at = text, *end;
	int n = 0;

	for (; at && *at; at = end) {
		end = strstr(at, ", ");
		if (end) {
			*end = 0;
			end += 2;
		}
		if (!strcmp(at, "*")) {
			keyword_only = true;
			continue;
		}
		if (n == MAX_ARGS || !parse_param(at, keyword_only, &out[n++]))
			return -1;
	}
	return n;
}

static void parse_signature(enum op op)
{
	struct op_info *info = &op_rows.at[op];

	assert(strlen(info->signature) < SIGNATURE_BYTES);
	strcpy(texts[op], info->signature);
	info->n_params = op_parse_signature(texts[op], params[op]);
	assert(info->n_params >= 0);
	info->params = params[op];
}

static void index_spellings(enum op op)
{
	const char *at = op_rows.at[op].spellings;
	size_t len;

	for (; *at; at += len) {
		at += strspn(at, " ");
		len = strcspn(at, " ");
		assert(len > 0 && len < SPELLING_BYTES && n_spellings < MAX_SPELLINGS);
		memcpy(spellings[n_spellings].text, at, len);
		spellings[n_spellings++].op = op;
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct spelling *)a)->text, ((const struct spelling *)b)->text);
}

static void read_table(void)
{
	for (int op = 0; op < OP_COUNT; op++) {
		parse_signature((enum op)op);
		index_spellings((enum op)op);
	}
	for (size_t i = 0; i < sizeof(autocast_rows) / sizeof(autocast_rows[0]); i++)
		memcpy(op_rows.at[autocast_rows[i].op].autocast, autocast_rows[i].on,
		       sizeof(autocast_rows[i].on));
	op_rows.at[OP_add_alpha].fx = op_rows.at[OP_add].id;
	op_rows.at[OP_sub_alpha].fx = op_rows.at[OP_sub].id;
	op_rows.at[OP_item_of].fx = "getitem";
	op_rows.at[OP_xor_].fx = "xor";
	qsort(spellings, (size_t)n_spellings, sizeof(spellings[0]), by_text);
	__atomic_store_n(&op_rows.ready, true, __ATOMIC_RELEASE);
}

void op_rows_read(void)
{
	pthread_once(&once, read_table);
}

bool op_has_fx(const char *name, size_t len)
{
	pthread_once(&once, read_table);
	for (int op = 0; op < OP_COUNT; op++)
		if (op_rows.at[op].fx[0] == name[0] && strlen(op_rows.at[op].fx) == len &&
		    memcmp(op_rows.at[op].fx, name, len) == 0)
			return true;
	return false;
}

static int against_text(const void *key, const void *row)
{
	return strcmp(key, ((const struct spelling *)row)->text);
}

bool op_find(const char *spelling, enum op *out)
{
	const struct spelling *found;

	pthread_once(&once, read_table);
	found = bsearch(spelling, spellings, (size_t)n_spellings, sizeof(spellings[0]),
			against_text);
	if (found)
		*out = found->op;
	return found != NULL;
}

const char *op_fx_name(const char *spelling, enum op op)
{
	const char *dot = strncmp(spelling, "op:", 3) ? strrchr(spelling, '.') : NULL;

	static const char linalg[] = "torch.linalg.";

	if (strcmp(spelling, "op:==") == 0) /* TorchDynamo calls the method */
		return "__eq__";
	if (strncmp(spelling, linalg, strlen(linalg)) == 0) /* torch._C._linalg.linalg_norm */
		return op == OP_linalg_norm ? "linalg_norm" : "linalg_vector_norm";
	if (op == OP_logsigmoid) /* torch._C._nn.log_sigmoid */
		return "log_sigmoid";
	return dot ? dot + 1 : op_info(op)->fx;
}

void op_offer(const char *module, size_t len, struct nearest *n)
{
	pthread_once(&once, read_table);
	for (int i = 0; i < n_spellings; i++) {
		const char *text = spellings[i].text;

		if (strncmp(text, module, len) == 0 && text[len] == '.' &&
		    !strchr(text + len + 1, '.'))
			nearest_offer(n, text + len + 1);
	}
}

const char *op_nearest(const char *spelling)
{
	const char *dot = strrchr(spelling, '.');
	size_t len = dot ? (size_t)(dot - spelling) : 0;
	struct nearest n = nearest_to(dot ? dot + 1 : "");

	if (!dot || !dot[1])
		return NULL;
	op_offer(spelling, len, &n);
	return n.best ? n.best - len - 1 : NULL;
}

/* ---- what the autocast classes mean */

const char *autocast_class_name(enum autocast_class c)
{
	static const char *const names[] = { "none", "lower", "float32", "promote", "banned" };

	return names[c];
}

static bool floats(enum dtype dtype)
{
	return dtype_category(dtype) == CATEGORY_FLOAT && dtype != DTYPE_F64;
}

/* The widest among those that float; float64 promotes by itself. */
static enum dtype widest(enum dtype lower, const enum dtype *operands, int n)
{
	for (int i = 0; i < n; i++)
		if (floats(operands[i]) && operands[i] != lower)
			return DTYPE_F32;
	return lower;
}

bool autocast_sums(const char *equation)
{
	const char *comma = strchr(equation, ','), *arrow = strstr(equation, "->");
	const char *end = arrow ? arrow : equation + strlen(equation);

	for (const char *c = equation; comma && c < comma; c++)
		if (((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z')) &&
		    memchr(comma, *c, (size_t)(end - comma)) && !(arrow && strchr(arrow, *c)))
			return true;
	return false;
}

/* PyTorch goes from left to right: what is neither float32 nor autocast's own dtype comes after a
 * float32 operand, or is refused. */
static bool promotes(enum dtype lower, const enum dtype *operands, int n)
{
	for (int i = 0; i < n && operands[i] != DTYPE_F32; i++)
		if (floats(operands[i]) && operands[i] != lower)
			return false;
	return true;
}

bool autocast_target(enum op op, enum autocast_device device, const struct autocast_operands *of,
		     enum dtype *to, struct err *err)
{
	const enum dtype *operands = of->dtypes;
	enum dtype lower = of->lower;
	int n = of->n;
	enum autocast_class c = op_info(op)->autocast[device];

	if (c == AUTOCAST_NONE)
		return false;
	if (c == AUTOCAST_BANNED) {
		err_set(err, ERR_UNSUPPORTED,
			"torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe "
			"to autocast; take binary_cross_entropy_with_logits or BCEWithLogitsLoss, "
			"which are safe, and leave the sigmoid before it out");
		return false;
	}
	if (c == AUTOCAST_PROMOTE && !promotes(lower, operands, n)) {
		err_set(err, ERR_OP,
			"Unexpected floating ScalarType in at::autocast::prioritize: the operands "
			"of this op are of a low precision that is not autocast's, %s; cast them",
			dtype_name(lower));
		return false;
	}
	*to = c == AUTOCAST_FLOAT32 ? DTYPE_F32
	      : c == AUTOCAST_LOWER ? lower
				    : widest(lower, operands, n);
	for (int i = 0; i < n; i++)
		if (floats(operands[i]) && operands[i] != *to)
			return true;
	return false;
}
