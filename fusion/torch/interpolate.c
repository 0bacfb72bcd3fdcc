/* fusion/torch/interpolate.c -- F.pad, F.interpolate and F.pixel_shuffle.
 *
 * Each is a few ops: what is read of a dim is an index_select by an index that is
 * made of arange.  The last op of a call bears its name.
 */
#include <math.h>
#include <string.h>

#include "fusion/torch/autocast.h"
#include "fusion/torch/natives.h"

enum { FIRST_SPATIAL = 2 }; /* dims of a batch of images: batch, channels, then these */

/* A value on its way through ops; owned. */
struct interpolate_line {
	const struct decomposer *c;
	const char *name; /* "fx:pad" */
	struct value at;
	struct err *err;
};

static bool make(const struct interpolate_line *l, enum op op, const struct value *values, int n,
		 struct value *out)
{
	return l->c->run(l->c->self, &(struct op_call){ op, "fx:", false, values, n, NULL }, out,
			 l->err);
}

/* The value through one more op, whose first operand it is. */
static bool through(struct interpolate_line *l, enum op op, const char *name,
		    const struct value *more, int n)
{
	struct value values[MAX_ARGS] = { l->at }, made;

	if (n > 0)
		memcpy(values + 1, more, sizeof(*more) * (size_t)n);
	if (!l->c->run(l->c->self, &(struct op_call){ op, name, false, values, 1 + n, NULL }, &made,
		       l->err))
		return false;
	value_unref(l->at);
	l->at = made;
	return true;
}

static bool with_number(struct interpolate_line *l, enum op op, struct value number)
{
	return through(l, op, "fx:", &number, 1);
}

static bool to_dtype(struct interpolate_line *l, enum dtype dtype)
{
	return with_number(l, OP_to, (struct value){ .kind = VALUE_DTYPE, .dtype = dtype });
}

/* The line of an index: 0, 1, ... from `start` on. */
static bool count_from(const struct interpolate_line *l, struct value start, struct value length,
		       enum dtype dtype, struct interpolate_line *out)
{
	struct value args[4] = {
		start, value_int(1), length, { .kind = VALUE_DTYPE, .dtype = dtype }
	};

	*out = (struct interpolate_line){ .c = l->c, .name = "fx:", .err = l->err };
	return make(l, OP_arange, args, 4, &out->at);
}

static bool select_by(struct interpolate_line *l, int dim, struct value index, const char *name)
{
	return through(l, OP_index_select, name, (struct value[]){ value_int(dim), index }, 2);
}

static bool given(struct value v)
{
	return v.kind != VALUE_UNSET && v.kind != VALUE_NONE;
}

static bool is_list(struct value v)
{
	return v.kind == VALUE_TUPLE || v.kind == VALUE_LIST;
}

/* ---- pad */

static bool add_sizes(const struct interpolate_line *l, struct value a, int64_t b,
		      struct value *out)
{
	return decompose_add(l->c, a, value_int(b), out, l->err);
}

/* So many places of the value, which are beside x along the dim. */
static bool border(const struct interpolate_line *l, int dim, int64_t width, struct value fill,
		   struct value *out)
{
	struct value size[MAX_RANK], sizes;
	enum dtype dtype;
	int rank;
	bool ok = l->c->type(l->c->self, l->at, &rank, &dtype, l->err);

	for (int d = 0; ok && d < rank; d++)
		ok = l->c->size(l->c->self, l->at, d, &size[d], l->err);
	if (!ok)
		return false;
	size[dim] = value_int(width);
	sizes = value_tuple(size, rank);
	if (sizes.kind == VALUE_UNSET)
		return torch_no_memory(l->err);
	ok = make(l, OP_new_full, (struct value[]){ l->at, sizes, fill }, 3, out);
	value_unref(sizes);
	return ok;
}

/* What is below 0 is cut off. */
static bool pad_constant(struct interpolate_line *l, int dim, int64_t low, int64_t high,
			 struct value fill, const char *name)
{
	struct value parts[4] = { value_int(dim) }, size, made;
	bool grows = low > 0 || high > 0, ok = true;
	int n = 1;

	if (low < 0 || high < 0) {
		if (!l->c->size(l->c->self, l->at, dim, &size, l->err) ||
		    !add_sizes(l, size, (low < 0 ? low : 0) + (high < 0 ? high : 0), &size) ||
		    !through(
			l, OP_narrow, grows ? "fx:" : name,
			(struct value[]){ value_int(dim), value_int(low < 0 ? -low : 0), size }, 3))
			return false;
	}
	if (!grows)
		return true;
	if (low > 0)
		ok = border(l, dim, low, fill, &parts[n]) && ++n;
	if (ok)
		parts[n++] = value_ref(l->at);
	if (ok && high > 0)
		ok = border(l, dim, high, fill, &parts[n]) && ++n;
	ok = ok && l->c->run(l->c->self, &(struct op_call){ OP_cat, name, false, parts, n, NULL },
			     &made, l->err);
	while (n > 1)
		value_unref(parts[--n]);
	if (!ok)
		return false;
	value_unref(l->at);
	l->at = made;
	return true;
}

/* Which place of x each place of the result shows. */
static bool pad_index(struct interpolate_line *l, int dim, const char *mode, int64_t low,
		      int64_t high, const char *name)
{
	struct value size, last, length;
	struct interpolate_line index;
	bool ok, inside;

	if (!l->c->size(l->c->self, l->at, dim, &size, l->err) || !add_sizes(l, size, -1, &last) ||
	    !add_sizes(l, size, low + high, &length))
		return false;
	if (!decompose_compare(l->c, CMP_LE,
			       value_int((low > high ? low : high) + (mode[2] == 'f')), size,
			       &inside, l->err))
		return false;
	if (!inside && mode[2] != 'p')
		return err_set(l->err, ERR_OP,
			       "pad: mode %s takes a width below the size of the dim", mode);
	if (!count_from(l, value_int(-low), length, DTYPE_I64, &index))
		return false;
	if (strcmp(mode, "replicate") == 0)
		ok = through(&index, OP_clamp, "fx:", (struct value[]){ value_int(0), last }, 2);
	else if (strcmp(mode, "circular") == 0)
		ok = with_number(&index, OP_mod, size);
	else /* reflect: last - |last - |i|| */
		ok = through(&index, OP_abs, "fx:", NULL, 0) && with_number(&index, OP_sub, last) &&
		     through(&index, OP_abs, "fx:", NULL, 0) &&
		     through(&index, OP_neg, "fx:", NULL, 0) && with_number(&index, OP_add, last);
	ok = ok && select_by(l, dim, index.at, name);
	value_unref(index.at);
	return ok;
}

static bool pad_widths(const struct interpolate_line *l, struct value pad, int rank,
		       int64_t widths[], int *n)
{
	if (!is_list(pad) || pad.list->len % 2 || pad.list->len > 2 * rank)
		return err_set(l->err, ERR_TYPE,
			       "pad: two ints for each dim from the last one on are needed");
	*n = pad.list->len;
	for (int i = 0; i < *n; i++)
		if (!decompose_number(l->c, pad.list->at[i], "a width of pad", &widths[i], l->err))
			return false;
	return true;
}

/* torch's reflection_pad1d and 2d and replication_pad1d to 3d are on autocast's list of
 * float32; padding by a number and around is not. */
static bool widens(const struct interpolate_line *l, const char *mode, int dims)
{
	return autocast_wants(*l->c->autocast) &&
	       ((strcmp(mode, "reflect") == 0 && dims < 3) || strcmp(mode, "replicate") == 0);
}

static bool pad(struct interpolate_line *l, const struct value *v, struct err *err)
{
	const char *mode = given(v[2]) && v[2].kind == VALUE_STR ? v[2].str->text : "constant";
	struct value fill = given(v[3]) ? v[3] : value_int(0);
	int64_t widths[2 * MAX_RANK];
	int rank, n = 0, left = 0;
	enum dtype dtype;

	if (strcmp(mode, "constant") != 0 && strcmp(mode, "reflect") != 0 &&
	    strcmp(mode, "replicate") != 0 && strcmp(mode, "circular") != 0)
		return err_set(err, ERR_OP,
			       "pad: mode is constant, reflect, replicate or circular, not %s",
			       mode);
	if (!l->c->type(l->c->self, l->at, &rank, &dtype, err) ||
	    !pad_widths(l, v[1], rank, widths, &n))
		return false;
	if (widens(l, mode, n / 2) && dtype_wide(dtype) == DTYPE_F32 && dtype != DTYPE_F32 &&
	    !through(l, OP_to,
		     "fx:", (struct value[]){ { .kind = VALUE_DTYPE, .dtype = DTYPE_F32 } }, 1))
		return false;
	for (int i = 0; i < n; i += 2)
		left += widths[i] != 0 || widths[i + 1] != 0;
	if (left == 0)
		return through(l, OP_clone, l->name, NULL, 0);
	for (int i = 0; i < n; i += 2) {
		int dim = rank - 1 - i / 2;
		const char *name;

		if (widths[i] == 0 && widths[i + 1] == 0)
			continue;
		name = --left == 0 ? l->name : "fx:";
		if (strcmp(mode, "constant") == 0
			? !pad_constant(l, dim, widths[i], widths[i + 1], fill, name)
			: !pad_index(l, dim, mode, widths[i], widths[i + 1], name))
			return false;
	}
	return true;
}

/* ---- interpolate */

/* Sizes are numbers, or symbols of a capture: the graph is for all of them. */
struct scale {
	struct value from, to;
	struct value step; /* from place to place of the result: a float, or a symbol */
};

static bool is_symbolic(struct value v)
{
	return v.kind == VALUE_SYMINT || v.kind == VALUE_SYMREAL || v.kind == VALUE_SYMFLOAT;
}

/* A number that capture did not fix is fixed here: the graph is for this factor. */
static bool number_of(const struct interpolate_line *l, struct value v, double *out)
{
	struct value number = v;

	if (is_symbolic(v) &&
	    !l->c->host->to_number(l->c->host->self,
				   v.kind == VALUE_SYMINT ? VALUE_INT : VALUE_FLOAT, v, &number,
				   l->err))
		return false;
	*out = number.kind == VALUE_INT ? (double)number.i : number.f;
	return number.kind == VALUE_INT || number.kind == VALUE_FLOAT;
}

static bool combined(const struct interpolate_line *l, enum binop op, struct value a,
		     struct value b, struct value *out)
{
	return l->c->host->binary(l->c->host->self, &(struct binary){ op, false, a, b }, out,
				  l->err);
}

/* floor(from * factor): a symbol where the factor or its inverse is whole. */
static bool scaled_size(const struct interpolate_line *l, struct scale *s, double factor)
{
	double inverse = 1 / factor;
	int64_t from;

	if (is_symbolic(s->from) && factor == floor(factor) && factor <= INT32_MAX)
		return combined(l, BIN_MUL, s->from, value_int((int64_t)factor), &s->to);
	if (is_symbolic(s->from) && inverse == floor(inverse) && inverse <= INT32_MAX)
		return combined(l, BIN_FLOORDIV, s->from, value_int((int64_t)inverse), &s->to);
	if (!decompose_number(l->c, s->from, "the size that interpolate scales", &from, l->err))
		return false;
	s->from = value_int(from);
	s->to = value_int((int64_t)floor((double)from * factor));
	return true;
}

/* A size that may be 0 or less is known, and refused. */
static bool check_size(const struct interpolate_line *l, struct value *v)
{
	int64_t n;

	if (v->kind == VALUE_SYMINT && v->sym->lower >= 1)
		return true;
	if (!decompose_number(l->c, *v, "a size of interpolate", &n, l->err))
		return false;
	*v = value_int(n);
	return n >= 1 || err_set(l->err, ERR_OP, "interpolate: sizes must be above 0");
}

/* a / b */
static bool ratio(const struct interpolate_line *l, struct value a, struct value b,
		  struct value *out)
{
	if (is_symbolic(a) || is_symbolic(b))
		return combined(l, BIN_TRUEDIV, a, b, out);
	*out = value_float((double)a.i / (double)b.i);
	return true;
}

static bool scale_of(const struct interpolate_line *l, const struct value *v, int dim,
		     struct scale *s)
{
	struct value size = given(v[1]) ? v[1] : v[2];
	double factor = 0;

	if (is_list(size))
		size = dim - FIRST_SPATIAL < size.list->len ? size.list->at[dim - FIRST_SPATIAL]
							    : value_none();
	if (!l->c->size(l->c->self, l->at, dim, &s->from, l->err))
		return false;
	s->to = size;
	if (!given(v[1])) {
		if (!number_of(l, size, &factor) || !(factor > 0))
			return err_set(l->err, ERR_TYPE,
				       "interpolate: size or scale_factor is needed, one number or "
				       "one for each dim after the second");
		if (!scaled_size(l, s, factor))
			return false;
	}
	if (!check_size(l, &s->to) || !check_size(l, &s->from))
		return false;
	s->step = value_float(1 / factor);
	return (factor > 0 && !(v[5].kind == VALUE_BOOL && v[5].b)) ||
	       ratio(l, s->from, s->to, &s->step);
}

/* The index held within the dim that it is of. */
static bool within(struct interpolate_line *index, const struct scale *s)
{
	struct value most;

	return add_sizes(index, s->from, -1, &most) &&
	       through(index, OP_clamp, "fx:", (struct value[]){ value_int(0), most }, 2);
}

static bool interpolate_nearest(struct interpolate_line *l, int dim, const struct scale *s,
				bool exact, const char *name)
{
	struct interpolate_line index;
	struct value step = s->step;
	bool ok = count_from(l, value_int(0), s->to, DTYPE_F32, &index);

	if (!ok)
		return false;
	if (step.kind == VALUE_FLOAT)
		step = value_float((double)(float)step.f);
	ok = (!exact || with_number(&index, OP_add, value_float(0.5))) &&
	     with_number(&index, OP_mul, step) && through(&index, OP_floor, "fx:", NULL, 0) &&
	     to_dtype(&index, DTYPE_I64) && within(&index, s) && select_by(l, dim, index.at, name);
	value_unref(index.at);
	return ok;
}

/* (from - 1) / (to - 1); 0 where there is one place. */
static bool step_of_corners(const struct interpolate_line *l, const struct scale *s,
			    struct value *out)
{
	struct value to = s->to, last, most;
	int64_t n;

	if (is_symbolic(to) && to.sym->lower < 2) {
		if (!decompose_number(l->c, to, "a size of interpolate", &n, l->err))
			return false;
		to = value_int(n);
	}
	*out = value_float(0);
	if (!is_symbolic(to) && to.i < 2)
		return true;
	return add_sizes(l, s->from, -1, &last) && add_sizes(l, to, -1, &most) &&
	       ratio(l, last, most, out);
}

/* Where each place of the result lies in x, as a number with a fraction. */
static bool places(const struct interpolate_line *l, const struct scale *s, bool corners,
		   enum dtype dtype, struct interpolate_line *out)
{
	struct value step = s->step;
	bool ok;

	if ((corners && !step_of_corners(l, s, &step)) ||
	    !count_from(l, value_int(0), s->to, dtype, out))
		return false;
	ok = corners
		 ? with_number(out, OP_mul, step)
		 : with_number(out, OP_add, value_float(0.5)) && with_number(out, OP_mul, step) &&
		       with_number(out, OP_sub, value_float(0.5)) &&
		       with_number(out, OP_clamp, value_int(0));
	if (!ok)
		value_unref(out->at);
	return ok;
}

/* A dim that is scaled. */
struct interpolate_axis {
	int rank, dim;
	const struct scale *scale;
	bool corners;     /* align_corners */
	enum dtype dtype; /* that is computed in */
	const char *name; /* of the last op */
};

/* l * weight, and both added up: x between two neighbours. */
static bool blend(struct interpolate_line *l, const struct interpolate_axis *axis,
		  struct interpolate_line *low, struct interpolate_line *weight)
{
	const struct scale *s = axis->scale;
	int dim = axis->dim;
	struct interpolate_line next = *low, near = *l, far = *l, rest;
	bool ok;

	value_ref(l->at), value_ref(l->at), value_ref(low->at), value_ref(weight->at);
	rest = *weight;
	ok = through(&next, OP_add, "fx:", (struct value[]){ value_int(1) }, 1) && within(&next, s);
	for (int d = dim + 1; ok && d < axis->rank; d++) /* is beside the dims after */
		ok = through(&rest, OP_unsqueeze, "fx:", (struct value[]){ value_int(-1) }, 1);
	ok = ok && select_by(&near, dim, low->at, "fx:") && select_by(&far, dim, next.at, "fx:") &&
	     through(&far, OP_mul, "fx:", &rest.at, 1) &&
	     through(&rest, OP_rsub, "fx:", (struct value[]){ value_int(1) }, 1) &&
	     through(&near, OP_mul, "fx:", &rest.at, 1) &&
	     through(&near, OP_add, axis->name, &far.at, 1);
	value_unref(next.at), value_unref(far.at), value_unref(rest.at);
	value_unref(ok ? l->at : near.at);
	if (ok)
		l->at = near.at;
	return ok;
}

static bool interpolate_linear(struct interpolate_line *l, const struct interpolate_axis *axis)
{
	const struct scale *s = axis->scale;
	struct interpolate_line weight, low;
	bool ok;

	if (!places(l, s, axis->corners, axis->dtype, &weight))
		return false;
	low = weight;
	value_ref(low.at);
	ok = through(&low, OP_floor, "fx:", NULL, 0) &&
	     through(&weight, OP_sub, "fx:", &low.at, 1) && to_dtype(&low, DTYPE_I64) &&
	     within(&low, s) && blend(l, axis, &low, &weight);
	value_unref(low.at);
	value_unref(weight.at);
	return ok;
}

static bool mode_fits(const char *mode, int rank, struct err *err)
{
	static const char *const linear[] = { "linear", "bilinear", "trilinear" };

	if (strcmp(mode, "nearest") == 0 || strcmp(mode, "nearest-exact") == 0)
		return rank > FIRST_SPATIAL ||
		       err_set(err, ERR_SHAPE, "interpolate takes 3 to 5 dims, not %d", rank);
	for (int i = 0; i < 3; i++)
		if (strcmp(mode, linear[i]) == 0)
			return rank == i + 3 ||
			       err_set(err, ERR_SHAPE, "interpolate: mode %s takes %d dims, not %d",
				       mode, i + 3, rank);
	return err_set(
	    err, ERR_UNSUPPORTED,
	    "interpolate: mode %s is not in the language so far; nearest, nearest-exact, "
	    "linear, bilinear and trilinear are",
	    mode);
}

static bool interpolate(struct interpolate_line *l, const struct value *v, struct err *err)
{
	const char *mode = given(v[3]) && v[3].kind == VALUE_STR ? v[3].str->text : "nearest";
	bool corners = v[4].kind == VALUE_BOOL && v[4].b, nearest = mode[0] == 'n';
	enum dtype dtype, work;
	int rank;

	if (!l->c->type(l->c->self, l->at, &rank, &dtype, err) || !mode_fits(mode, rank, err))
		return false;
	work = dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
	for (int dim = rank - 1; dim >= FIRST_SPATIAL; dim--) {
		const char *name = dim == FIRST_SPATIAL && (nearest || dtype == work) ? l->name
										      : "fx:";
		struct scale s;

		if (!scale_of(l, v, dim, &s))
			return false;
		if (nearest ? !interpolate_nearest(l, dim, &s, mode[7] == '-', name)
			    : !interpolate_linear(l, &(struct interpolate_axis){
							 rank, dim, &s, corners, work, name }))
			return false;
	}
	return nearest || dtype == work ||
	       with_number(l, OP_to, (struct value){ .kind = VALUE_DTYPE, .dtype = dtype });
}

/* ---- pixel_shuffle */

static bool reshape_to(struct interpolate_line *l, const struct value *size, int n,
		       const char *name)
{
	struct value sizes = value_tuple(size, n);
	bool ok;

	if (sizes.kind == VALUE_UNSET)
		return torch_no_memory(l->err);
	ok = through(l, OP_reshape, name, &sizes, 1);
	value_unref(sizes);
	return ok;
}

static bool times(const struct interpolate_line *l, struct value a, int64_t b, struct value *out)
{
	if (a.kind == VALUE_INT) {
		*out = value_int(a.i * b);
		return true;
	}
	return l->c->host->binary(l->c->host->self,
				  &(struct binary){ BIN_MUL, false, a, value_int(b) }, out, l->err);
}

/* The five dims that the last three are seen as, and their order then. */
struct shuffle {
	int64_t r, channels, high, wide;
	struct value apart[5];
	int order[5];
};

static bool shuffle_apart(const struct interpolate_line *l, const struct value *size, bool back,
			  struct shuffle *s)
{
	if (!decompose_number(l->c, size[0], "the channels of pixel_shuffle", &s->channels, l->err))
		return false;
	if (!back) { /* c, r, r, h, w -> c, h, r, w, r */
		*s = (struct shuffle){ .r = s->r,
				       .channels = s->channels,
				       .apart = { value_int(s->channels / (s->r * s->r)),
						  value_int(s->r), value_int(s->r), size[1],
						  size[2] },
				       .order = { 0, 3, 1, 4, 2 } };
		return s->channels % (s->r * s->r) == 0 ||
		       err_set(l->err, ERR_SHAPE,
			       "pixel_shuffle: %lld channels are no multiple of %lld squared",
			       (long long)s->channels, (long long)s->r);
	}
	if (!decompose_number(l->c, size[1], "a size of pixel_unshuffle", &s->high, l->err) ||
	    !decompose_number(l->c, size[2], "a size of pixel_unshuffle", &s->wide, l->err))
		return false;
	*s = (struct shuffle){ .r = s->r, /* c, h, r, w, r -> c, r, r, h, w */
			       .channels = s->channels,
			       .high = s->high,
			       .wide = s->wide,
			       .apart = { value_int(s->channels), value_int(s->high / s->r),
					  value_int(s->r), value_int(s->wide / s->r),
					  value_int(s->r) },
			       .order = { 0, 2, 4, 1, 3 } };
	return (s->high % s->r == 0 && s->wide % s->r == 0) ||
	       err_set(l->err, ERR_SHAPE,
		       "pixel_unshuffle: sizes %lld and %lld are no multiples "
		       "of %lld",
		       (long long)s->high, (long long)s->wide, (long long)s->r);
}

static bool shuffle_dims(struct interpolate_line *l, const struct shuffle *s, struct value *size,
			 int lead)
{
	struct value order[MAX_RANK + 2], dims;
	bool ok;

	memcpy(size + lead, s->apart, sizeof(s->apart));
	for (int d = 0; d < lead; d++)
		order[d] = value_int(d);
	for (int i = 0; i < 5; i++)
		order[lead + i] = value_int(lead + s->order[i]);
	dims = value_tuple(order, lead + 5);
	if (dims.kind == VALUE_UNSET)
		return torch_no_memory(l->err);
	ok = reshape_to(l, size, lead + 5, "fx:") && through(l, OP_permute, "fx:", &dims, 1);
	value_unref(dims);
	return ok;
}

/* Channels become places: [.., c * r * r, h, w] as [.., c, h * r, w * r]; `back`: the
 * other way round. */
static bool pixel_shuffle(struct interpolate_line *l, const struct value *v, bool back,
			  struct err *err)
{
	struct value size[MAX_RANK + 2], *last;
	struct shuffle s = { 0 };
	int rank, lead;
	enum dtype dtype;

	if (!l->c->type(l->c->self, l->at, &rank, &dtype, err) ||
	    !decompose_number(l->c, v[1], "the factor of pixel_shuffle", &s.r, err))
		return false;
	lead = rank - 3;
	if (lead < 0 || rank + 2 > MAX_RANK || s.r < 1 || s.r > 1 << 16)
		return err_set(err, ERR_SHAPE,
			       "pixel_shuffle takes 3 dims or more and a factor above 0");
	for (int d = 0; d < rank; d++)
		if (!l->c->size(l->c->self, l->at, d, &size[d], err))
			return false;
	if (!shuffle_apart(l, size + lead, back, &s) || !shuffle_dims(l, &s, size, lead))
		return false;
	last = size + lead;
	last[0] = value_int(back ? s.channels * s.r * s.r : s.channels / (s.r * s.r));
	last[1] = s.apart[back ? 1 : 3];
	last[2] = s.apart[back ? 3 : 4];
	if (!back && (!times(l, last[1], s.r, &last[1]) || !times(l, last[2], s.r, &last[2])))
		return false;
	return reshape_to(l, size, rank, l->name);
}

bool interpolate_call(const struct decomposer *c, int id, const char *name,
		      const struct arguments *args, struct value *out, struct err *err)
{
	static const char *const pad_names[] = { "input", "pad", "mode", "value" };
	static const char *const shuffle_names[] = { "input", "upscale_factor" };
	static const char *const scale_names[] = { "input",         "size",
						   "scale_factor",  "mode",
						   "align_corners", "recompute_scale_factor",
						   "antialias" };
	struct interpolate_line l = { .c = c, .name = name, .err = err };
	struct value v[7];
	bool ok;

	if (id == MORE_PAD)
		ok = decompose_args(name + 3, &(struct parameter_names){ pad_names, 4, 2 }, args, v,
				    err);
	else if (id == MORE_INTERPOLATE)
		ok = decompose_args(name + 3, &(struct parameter_names){ scale_names, 7, 1 }, args,
				    v, err);
	else
		ok = decompose_args(name + 3, &(struct parameter_names){ shuffle_names, 2, 2 },
				    args, v, err);
	if (!ok)
		return false;
	if (v[0].kind != VALUE_TENSOR)
		return err_set(err, ERR_TYPE, "%s takes a tensor, not %s", name + 3,
			       value_type_name(v[0]));
	l.at = value_ref(v[0]);
	if (id == MORE_PAD)
		ok = pad(&l, v, err);
	else if (id == MORE_INTERPOLATE)
		ok = interpolate(&l, v, err);
	else
		ok = pixel_shuffle(&l, v, id == MORE_PIXEL_UNSHUFFLE, err);
	if (!ok) {
		value_unref(l.at);
		return false;
	}
	*out = l.at;
	return true;
}
