// fusion/backends/cuda/library/random.cu -- numbers of PyTorch's generator of a GPU: the same words,
// and of them the same numbers to the bit, with the fast functions that cuRAND takes.
struct words {
	u32 at[4];
};

WORD words philox(u64 key, u64 low, u64 high)
{
	u32 c0 = (u32)low, c1 = (u32)(low >> 32), c2 = (u32)high, c3 = (u32)(high >> 32);
	u32 k0 = (u32)key, k1 = (u32)(key >> 32);

	for (int round = 0; round < 10; round++) {
		const u64 p0 = (u64)0xD2511F53u * c0, p1 = (u64)0xCD9E8D57u * c2;

		c0 = (u32)(p1 >> 32) ^ c1 ^ k0;
		c2 = (u32)(p0 >> 32) ^ c3 ^ k1;
		c1 = (u32)p1;
		c3 = (u32)p0;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	return words{ { c0, c1, c2, c3 } };
}

// Above 0 and up to 1.
WORD f32 open_unit(u32 x)
{
	return __fmaf_rn((f32)x, 2.3283064e-10f, 2.3283064e-10f / 2);
}
WORD f64 open_unit_wide(u32 x, u32 y)
{
	return (f64)((u64)x ^ (u64)y << 21) * 0x1p-53 + 0x1p-54;
}

// Two normal numbers.
WORD void box_muller(u32 x, u32 y, f32 *out)
{
	const f32 turn = 2.3283064e-10f * 6.2831855f;
	const f32 v = __fmaf_rn((f32)y, turn, turn / 2), s = sqrtf(-2.0f * logf(open_unit(x)));

	__sincosf(v, &out[0], &out[1]);
	out[0] *= s;
	out[1] *= s;
}
WORD void box_muller_wide(const words &w, f64 *out)
{
	const f64 v = (f64)((u64)w.at[2] ^ (u64)w.at[3] << 21) * 0x1p-52 + 0x1p-53;
	const f64 s = sqrt(-2.0 * log(open_unit_wide(w.at[0], w.at[1])));

	sincospi(v, &out[0], &out[1]);
	out[0] *= s;
	out[1] *= s;
}

// 1 and what is next to it have a logarithm, too: exponential_() is never 0.
WORD f32 log_of(f32 x)
{
	return x >= 1.0f - 0x1p-24f ? -0x1p-24f : __logf(x);
}
WORD f64 log_of(f64 x)
{
	return x >= 1.0 - 0x1p-53 ? -0x1p-53 : log(x);
}
// Where a tangent is finite.
WORD f32 tangent_of(f32 x)
{
	const f32 least = 0x1p-23f, most = 1.0f - least;

	x = x > most ? most : x;
	x = x < least ? least : x;
	return __tanf(3.14159265358979323846f * (x - 0.5f));
}
WORD f64 tangent_of(f64 x)
{
	return tan(3.14159265358979323846 * (x - 0.5));
}
WORD f32 geometric_of(f32 x, f32 p)
{
	return ceilf(__logf(x) / __logf(1.0f - p));
}
WORD f64 geometric_of(f64 x, f64 p)
{
	return ceil(log(x) / log1p(-p));
}
WORD f32 exp_of(f32 x)
{
	return __expf(x);
}
WORD f64 exp_of(f64 x)
{
	return exp(x);
}
WORD f32 scaled(const draw_args &a, f32 x)
{
	return __fmaf_rn(x, (f32)a.b, (f32)a.a);
}
WORD f64 scaled(const draw_args &a, f64 x)
{
	return fma(x, a.b, a.a);
}

// T: f32, four numbers of a call, or f64, two of them.
template <class T, int HOW> WORD void numbers(const draw_args &a, const words &w, T *out)
{
	constexpr bool WIDE = sizeof(T) == 8;

	constexpr bool NORMAL = HOW == DRAW_NORMAL || HOW == DRAW_EXP;

	if constexpr (NORMAL && WIDE) {
		box_muller_wide(w, out);
	} else if constexpr (NORMAL) {
		box_muller(w.at[0], w.at[1], out);
		box_muller(w.at[2], w.at[3], out + 2);
	} else if constexpr (WIDE) {
		out[0] = open_unit_wide(w.at[0], w.at[1]);
		out[1] = open_unit_wide(w.at[2], w.at[3]);
	} else {
		for (int i = 0; i < 4; i++)
			out[i] = open_unit(w.at[i]);
	}
	for (int i = 0; i < (WIDE ? 2 : 4); i++) {
		if constexpr (HOW == DRAW_LOG)
			out[i] = scaled(a, log_of(out[i]));
		else if constexpr (HOW == DRAW_CAUCHY)
			out[i] = scaled(a, tangent_of(out[i]));
		else if constexpr (HOW == DRAW_GEOMETRIC)
			out[i] = geometric_of(out[i], (T)a.a);
		else if constexpr (HOW == DRAW_EXP)
			out[i] = exp_of(scaled(a, out[i]));
		else if constexpr (HOW != DRAW_OPEN && HOW != DRAW_KEEP && HOW != DRAW_DROP)
			out[i] = scaled(a, out[i]);
	}
}

// Which element value `lane` of a call is; -1: none.
WORD i64 draw_place(const draw_args &a, int values, i64 call, i64 round, i64 thread, int lane)
{
	if (a.row)
		return lane == 0 ? call : -1;
	if (a.side == 0)
		return (round * values + lane) * a.threads + thread;
	if (a.side < 4)
		return lane < a.side ? (round * a.threads + thread) * a.side + lane : -1;
	const int parts = a.side / 4;

	return (round / parts * a.threads + thread) * a.side + round % parts * 4 + lane;
}

template <class E, class T, int HOW>
WORD void draw_store(const draw_args &a, i64 i, const words &w, const T *values, int lane)
{
	typename E::mem *out = (typename E::mem *)a.out;

	if constexpr (HOW == DRAW_INTS) {
		const u64 x = sizeof(T) == 8 ? (u64)w.at[2 * lane] << 32 | w.at[2 * lane + 1] : w.at[lane];
		const u64 rest = !a.range	   ? x
				 : a.range >> 32 ? x % a.range
				 : x >> 32	   ? x % a.range
						   : (u32)x % (u32)a.range;

		out[i] = E::put((typename E::wide)(i64)((u64)a.low + rest));
	} else if constexpr (HOW == DRAW_KEEP) {
		out[i] = put_f64<E>((f64)values[lane] < a.a ? a.b : 0.0);
	} else if constexpr (HOW == DRAW_DROP) {
		const typename E::mem *x = (const typename E::mem *)a.x;

		out[i] = E::put(E::get(x[i]) * (typename E::wide)((f64)values[lane] < a.a ? a.b : 0.0));
	} else {
		out[i] = E::put((typename E::wide)values[lane]);
		if constexpr (HOW == DRAW_UNIT)
			if (E::get(out[i]) == (typename E::wide)a.end)
				out[i] = put_f64<E>(a.start);
	}
}

template <class E, class T, int HOW> WORD void draw(const draw_args &a)
{
	constexpr int VALUES = sizeof(T) == 8 ? 2 : 4;

	EACH_POINT(call, a.calls) {
		const i64 round = a.row ? 0 : quotient(call, a.threads);
		const i64 thread = a.row ? call / a.row * a.pitch + call % a.row : call - round * a.threads;
		const words w = philox(a.key, a.first + (u64)round, (u64)thread);
		T values[VALUES] = {};

		if constexpr (HOW != DRAW_INTS)
			numbers<T, HOW>(a, w, values);
		for (int lane = 0; lane < VALUES; lane++) {
			const i64 i = draw_place(a, VALUES, call, round, thread, lane);

			if (i >= 0 && i < a.points)
				draw_store<E, T, HOW>(a, i, w, values, lane);
		}
	}
}
