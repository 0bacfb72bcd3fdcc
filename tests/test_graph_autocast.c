/* tests/test_graph_autocast.c -- the autocast classes of ops.def against PyTorch's lists.
 *
 * tests/oracle/autocast_ops.json was recorded on PyTorch (autocast_ops.py): what dtype
 * each op gives under autocast to bfloat16, and the names of torch's own lists.
 */
#include "tests/graph_help.h"
#include "tests/read_whole.h"

static const char *const devices[AUTOCAST_DEVICES] = { "\"cpu\": {", "\"cuda\": {" };
static const char *const lists[AUTOCAST_DEVICES] = { "\"AutocastCPU\": [", "\"AutocastCUDA\": [" };

struct seen { /* a call's dtype, where the operands were so */
	char floats[16], bfloats[16], mixed[16];
};

static bool recorded(const char *json, const char *id, int device, struct seen *out)
{
	char key[80];
	const char *at;

	snprintf(key, sizeof(key), "\n    \"%s\": {", id);
	at = strstr(json, key);
	if (!at)
		return false;
	at = strstr(at, devices[device]);
	assert_int_equal(sscanf(at + strlen(devices[device]),
				"\"float32\": \"%15[a-z0-9]\", \"bfloat16\": \"%15[a-z0-9]\", "
				"\"mixed\": \"%15[a-z0-9]\"",
				out->floats, out->bfloats, out->mixed),
			 3);
	return true;
}

static bool takes_a_tensor(const struct op_info *info)
{
	for (int i = 0; i < info->n_params; i++)
		if (info->params[i].kind == PARAM_TENSOR ||
		    info->params[i].kind == PARAM_TENSOR_SCALAR)
			return true;
	return false;
}

/* Whether torch's list of the device has an overload of that name. */
static bool listed(const char *json, int device, const char *name, size_t len)
{
	const char *at = strstr(json, lists[device]), *end = strchr(at, ']');
	char full[80];

	snprintf(full, sizeof(full), "\"aten::%.*s", (int)len, name);
	for (at = strstr(at, full); at && at < end; at = strstr(at + 1, full))
		if (at[strlen(full)] == '"' || at[strlen(full)] == '.')
			return true;
	return false;
}

static bool any_spelling_listed(const char *json, int device, const struct op_info *info)
{
	const char *at = info->spellings;

	while (*at) {
		size_t len = strcspn(at, " "), begin = len;

		while (begin > 0 && at[begin - 1] != '.' && at[begin - 1] != ':')
			begin--;
		if (listed(json, device, at + begin, len - begin))
			return true;
		at += len + strspn(at + len, " ");
	}
	return listed(json, device, info->id, strlen(info->id));
}

static enum autocast_class class_of(const struct seen *seen)
{
	if (strcmp(seen->floats, "banned") == 0)
		return AUTOCAST_BANNED;
	if (strcmp(seen->floats, "bfloat16") == 0)
		return AUTOCAST_LOWER;
	return strcmp(seen->bfloats, "float32") == 0 ? AUTOCAST_FLOAT32 : AUTOCAST_NONE;
}

/* What only widens its operands widens bfloat16 alone to nothing: the list says it. */
static bool agrees(const char *json, int device, const struct op_info *info)
{
	enum autocast_class c = info->autocast[device];
	struct seen seen;

	if (!takes_a_tensor(info))
		return c == AUTOCAST_NONE;
	if (!recorded(json, info->id, device, &seen))
		return (c != AUTOCAST_NONE) == any_spelling_listed(json, device, info);
	if (c == AUTOCAST_PROMOTE)
		return class_of(&seen) == AUTOCAST_NONE && strcmp(seen.mixed, "float32") == 0 &&
		       any_spelling_listed(json, device, info);
	return c == class_of(&seen);
}

static void every_row_has_the_class_that_torch_gives_it(void **state)
{
	char *json = read_whole("tests/oracle/autocast_ops.json");
	int n_classes[AUTOCAST_BANNED + 1] = { 0 };
	struct seen seen;

	(void)state;
	for (int op = 0; op < OP_COUNT; op++)
		for (int d = 0; d < AUTOCAST_DEVICES; d++) {
			const struct op_info *info = op_info((enum op)op);

			n_classes[info->autocast[d]]++;
			if (agrees(json, d, info))
				continue;
			if (!recorded(json, info->id, d, &seen))
				fail_msg(
				    "%s is on torch's list of %s but has no row of AUTOCAST in "
				    "ops.def, or the other way round",
				    info->id, devices[d]);
			fail_msg("%s is %s on %s; torch makes %s of float32, %s of bfloat16, %s of "
				 "both",
				 info->id, autocast_class_name(info->autocast[d]), devices[d],
				 seen.floats, seen.bfloats, seen.mixed);
		}
	for (int c = 0; c <= AUTOCAST_BANNED; c++)
		assert_true(n_classes[c] > 0);
	free(json);
}

static void expect(enum op op, enum autocast_device device, enum dtype lower, enum dtype a,
		   enum dtype b, enum dtype want)
{
	enum dtype operands[2] = { a, b }, to = DTYPE_COUNT;
	struct err err = { 0 };
	bool changes = autocast_target(
	    op, device, &(struct autocast_operands){ lower, operands, 2 }, &to, &err);

	assert_int_equal(err.code, ERR_NONE);
	assert_int_equal(changes, want != DTYPE_COUNT);
	if (changes)
		assert_int_equal(to, want);
}

static void operands_are_cast_by_the_class(void **state)
{
	const enum dtype none = DTYPE_COUNT;

	(void)state;
	expect(OP_matmul, AUTOCAST_CPU, DTYPE_BF16, DTYPE_F32, DTYPE_F32, DTYPE_BF16);
	expect(OP_matmul, AUTOCAST_CPU, DTYPE_F16, DTYPE_BF16, DTYPE_F16, DTYPE_F16);
	expect(OP_matmul, AUTOCAST_CPU, DTYPE_BF16, DTYPE_BF16, DTYPE_BF16, none);
	expect(OP_matmul, AUTOCAST_CPU, DTYPE_BF16, DTYPE_F64, DTYPE_F64, none);
	expect(OP_matmul, AUTOCAST_CPU, DTYPE_BF16, DTYPE_I64, DTYPE_BOOL, none);
	expect(OP_add, AUTOCAST_CPU, DTYPE_BF16, DTYPE_F32, DTYPE_BF16, none);
	expect(OP_mse_loss, AUTOCAST_CPU, DTYPE_BF16, DTYPE_BF16, DTYPE_F32, DTYPE_F32);
	expect(OP_mse_loss, AUTOCAST_CPU, DTYPE_BF16, DTYPE_F32, DTYPE_F32, none);
	expect(OP_exp, AUTOCAST_CUDA, DTYPE_F16, DTYPE_F16, DTYPE_F16, DTYPE_F32);
	expect(OP_atan2, AUTOCAST_CUDA, DTYPE_F16, DTYPE_F16, DTYPE_F32, DTYPE_F32);
	expect(OP_atan2, AUTOCAST_CUDA, DTYPE_F16, DTYPE_F16, DTYPE_F16, none);
	expect(OP_cat, AUTOCAST_CPU, DTYPE_BF16, DTYPE_F32, DTYPE_BF16, DTYPE_F32);
}

static void a_banned_op_is_refused_where_it_is(void **state)
{
	const enum dtype operands[2] = { DTYPE_F32, DTYPE_F32 };
	struct err err = { 0 };
	enum dtype to;

	(void)state;
	assert_false(autocast_target(OP_binary_cross_entropy, AUTOCAST_CUDA,
				     &(struct autocast_operands){ DTYPE_F16, operands, 2 }, &to,
				     &err));
	assert_int_equal(err.code, ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message, "binary_cross_entropy_with_logits"));
	err = (struct err){ 0 };
	assert_false(autocast_target(OP_binary_cross_entropy, AUTOCAST_CPU,
				     &(struct autocast_operands){ DTYPE_BF16, operands, 2 }, &to,
				     &err));
	assert_int_equal(err.code, ERR_NONE);
}

static void an_equation_that_only_multiplies_sums_nothing(void **state)
{
	static const struct {
		const char *equation;
		bool sums;
	} rows[] = {
		{ "ij,jk->ik", true },          { "ij,jk", true },        { "i,j->ij", false },
		{ "ij,ij->ij", false },         { "ij,ij->", true },      { "ii->i", false },
		{ "ij,kl->ik", false },         { "bij,bjk->bik", true }, { "", false },
		{ "...ij,...jk->...ik", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (autocast_sums(rows[i].equation) != rows[i].sums)
			fail_msg("%s", rows[i].equation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_has_the_class_that_torch_gives_it),
		cmocka_unit_test(operands_are_cast_by_the_class),
		cmocka_unit_test(a_banned_op_is_refused_where_it_is),
		cmocka_unit_test(an_equation_that_only_multiplies_sums_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
