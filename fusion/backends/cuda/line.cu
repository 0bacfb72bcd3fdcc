// fusion/backends/cuda/line.cu -- along one dim: running sums, extremes, order.
// Order is torch's: NaN is above every number, sorting is stable.

static __device__ __noinline__ i64 far_in_line(const line_args &a, i64 i)
{
	i64 at = 0;

	for (int d = a.rank - 1; d >= 0; d--)
		at += take_index(i, a.size[d]) * a.stride[d];
	return at;
}
WORD i64 in_line(const line_args &a, i64 i)
{
	return a.rank == 1 ? i * a.stride[0] : far_in_line(a, i);
}
// Where line number `line` begins in the operand, and in the result.
WORD i64 line_start(const line_args &a, i64 line, i64 *to)
{
	i64 at[1], outer = line;

	seek(a.walk, line, at);
	*to = take_index(outer, a.inner);
	*to += outer * a.taken * a.inner;
	return at[0];
}

// What a scan keeps, S; how an element enters, how two are joined, the first being
// before the second, and what is written.
template <class X, class Y> WORD f64 wide_of(typename X::mem x)
{
	if constexpr (sizeof(typename Y::mem) == 8)
		return (f64)X::get(x);
	else
		return (f64)(f32)X::get(x);
}
template <class X, class Y, bool PRODUCT> struct sums {
	typedef f64 S;
	WORD S enter(typename X::mem x, i64) { return wide_of<X, Y>(x); }
	WORD S join(S a, S b) { return PRODUCT ? a * b : a + b; }
	WORD S first() { return PRODUCT ? 1 : 0; }
	WORD typename Y::mem leave(S s) { return put_f64<Y>(s); }
};
template <class X, class Y, bool PRODUCT> struct int_sums {
	typedef i64 S;
	WORD S enter(typename X::mem x, i64) { return get_i64<X>(x); }
	WORD S join(S a, S b)
	{
		const unsigned long long u = a, v = b;

		return (i64)(PRODUCT ? u * v : u + v);
	}
	WORD S first() { return PRODUCT; }
	WORD typename Y::mem leave(S s) { return Y::put(s); }
};
template <class X, class Y> struct log_sums {
	typedef f64 S;
	WORD S enter(typename X::mem x, i64) { return wide_of<X, Y>(x); }
	WORD S join(S a, S b)
	{
		const f64 most = a > b || a != a ? a : b;

		return fabs(most) == INF_f64 ? most : most + log(exp(a - most) + exp(b - most));
	}
	WORD S first() { return -INF_f64; }
	WORD typename Y::mem leave(S s) { return put_f64<Y>(s); }
};

template <class X> struct item {
	typename X::wide key;
	i64 index; // -1: none yet
};
template <class X> WORD bool is_nan(typename X::wide x)
{
	return X::floats && x != x;
}
template <class X> WORD bool is_less(typename X::wide a, typename X::wide b)
{
	return a < b || (is_nan<X>(b) && !is_nan<X>(a));
}
// The best so far; of equals the last one, and NaN once it was met.
template <class X, bool LARGEST, bool INDICES, class Y> struct best {
	typedef item<X> S;
	WORD S enter(typename X::mem x, i64 i) { return S{ X::get(x), i }; }
	WORD S first() { return S{ 0, -1 }; }
	WORD S join(S a, S b)
	{
		const bool before = LARGEST ? is_less<X>(b.key, a.key) : is_less<X>(a.key, b.key);

		if (a.index < 0 || b.index < 0)
			return a.index < 0 ? b : a;
		return is_nan<X>(b.key) || (!is_nan<X>(a.key) && !before) ? b : a;
	}
	WORD typename Y::mem leave(S s)
	{
		if constexpr (INDICES)
			return Y::put(s.index);
		else
			return Y::put((typename Y::wide)s.key);
	}
};
// The first of the largest (smallest), NaN before all.
template <class X, bool LARGEST, class Y> struct extreme {
	typedef item<X> S;
	WORD S enter(typename X::mem x, i64 i) { return S{ X::get(x), i }; }
	WORD S first() { return S{ 0, -1 }; }
	WORD S join(S a, S b)
	{
		if (a.index < 0 || b.index < 0)
			return a.index < 0 ? b : a;
		if (is_nan<X>(a.key) != is_nan<X>(b.key))
			return is_nan<X>(a.key) ? a : b;
		if (!is_nan<X>(a.key) && a.key != b.key)
			return (a.key > b.key) == LARGEST ? a : b;
		return a.index < b.index ? a : b;
	}
	WORD typename Y::mem leave(S s) { return Y::put(s.index); }
};

WORD f64 from_lane(f64 x, int lane) { return __shfl_sync(0xffffffffu, x, lane); }
WORD i64 from_lane(i64 x, int lane) { return __shfl_sync(0xffffffffu, x, lane); }
template <class X> WORD item<X> from_lane(item<X> x, int lane)
{
	return item<X>{ __shfl_sync(0xffffffffu, x.key, lane), __shfl_sync(0xffffffffu, x.index, lane) };
}

// What the threads before this one have; *all: what all of the block have.
template <class J> WORD typename J::S scan_block(typename J::S x, typename J::S *all)
{
	typedef typename J::S S;
	__shared__ __align__(16) char room[32 * sizeof(S)];
	S *const warps = (S *)room, before = J::first();
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

#pragma unroll 1
	for (int o = 1; o < 32; o *= 2) {
		const S other = from_lane(x, lane - o < 0 ? lane : lane - o);

		if (lane >= o)
			x = J::join(other, x);
	}
	if (lane == 31)
		warps[warp] = x;
	__syncthreads();
	S sum = before, mine = before;
#pragma unroll 1
	for (int w = 0; w < blockDim.x / 32; w++) {
		if (w == warp)
			mine = sum;
		sum = J::join(sum, warps[w]);
	}
	*all = sum;
	x = from_lane(x, lane == 0 ? 0 : lane - 1);
	__syncthreads();
	return lane == 0 ? mine : J::join(mine, x);
}

// A block has a line, SCAN_ITEMS elements a thread at a time.
template <class X, class Y, class J> WORD void scan(const line_args &a)
{
	typedef typename J::S S;
	i64 to;
	const i64 line = blockIdx.x, from = line_start(a, line, &to);
	const typename X::mem *in = (const typename X::mem *)a.in + from;
	typename Y::mem *out = (typename Y::mem *)a.out + to;
	S carry = J::first(), all;

	for (i64 begin = 0; begin < a.length; begin += (i64)blockDim.x * SCAN_ITEMS) {
		const i64 i = begin + (i64)threadIdx.x * SCAN_ITEMS;
		S mine[SCAN_ITEMS], sum = J::first();

#pragma unroll
		for (int k = 0; k < SCAN_ITEMS; k++)
			mine[k] = i + k < a.length ? J::enter(in[in_line(a, i + k)], i + k) : J::first();
#pragma unroll
		for (int k = 0; k < SCAN_ITEMS; k++)
			sum = J::join(sum, mine[k]);
		S before = J::join(carry, scan_block<J>(sum, &all));
#pragma unroll
		for (int k = 0; k < SCAN_ITEMS; k++) {
			before = J::join(before, mine[k]);
			if (i + k < a.length)
				out[(i + k) * a.inner] = J::leave(before);
		}
		carry = J::join(carry, all);
	}
}
// Or a thread, where there are many lines and they lie side by side.
template <class X, class Y, class J> WORD void scan_lines(const line_args &a)
{
	EACH_POINT(line, a.walk.points) {
		i64 to;
		const typename X::mem *in = (const typename X::mem *)a.in + line_start(a, line, &to);
		typename J::S sum = J::first();

#pragma unroll 2
		for (i64 i = 0; i < a.length; i++) {
			sum = J::join(sum, J::enter(in[in_line(a, i)], i));
			((typename Y::mem *)a.out)[to + i * a.inner] = J::leave(sum);
		}
	}
}

// One result a line.
template <class X, class Y, class J> WORD void reduce(const line_args &a)
{
	typedef typename J::S S;
	__shared__ __align__(16) char room[32 * sizeof(S)];
	S *const warps = (S *)room, best = J::first();
	i64 to;
	const typename X::mem *in = (const typename X::mem *)a.in + line_start(a, blockIdx.x, &to);
	S x = best;

#pragma unroll 2
	for (i64 i = threadIdx.x; i < a.length; i += blockDim.x)
		x = J::join(x, J::enter(in[in_line(a, i)], i));
#pragma unroll 1
	for (int o = 16; o > 0; o /= 2)
		x = J::join(x, from_lane(x, threadIdx.x % 32 ^ o));
	if (threadIdx.x % 32 == 0)
		warps[threadIdx.x / 32] = x;
	__syncthreads();
#pragma unroll 1
	for (int w = 1; w < blockDim.x / 32 && threadIdx.x == 0; w++)
		x = J::join(x, warps[w]);
	if (threadIdx.x == 0)
		((typename Y::mem *)a.out)[to] = J::leave(x);
}
template <class X, class Y, class J> WORD void reduce_lines(const line_args &a)
{
	EACH_POINT(line, a.walk.points) {
		i64 to;
		const typename X::mem *in = (const typename X::mem *)a.in + line_start(a, line, &to);
		typename J::S x = J::first();

		for (i64 i = 0; i < a.length; i++)
			x = J::join(x, J::enter(in[in_line(a, i)], i));
		((typename Y::mem *)a.out)[to] = J::leave(x);
	}
}

// A number in the order of its elements: unsigned, NaN last, -0 as 0.
template <class X> WORD unsigned long long sort_key(typename X::mem memory, bool descending)
{
	const typename X::wide x = X::get(memory);
	unsigned long long key;

	if constexpr (X::floats) {
		const f64 value = x == 0 ? 0 : (f64)x;
		const unsigned long long bits = (unsigned long long)__double_as_longlong(value);

		key = value != value ? ~0ull : bits >> 63 ? ~bits : bits | 1ull << 63;
	} else {
		key = (unsigned long long)x ^ 1ull << 63;
	}
	return descending ? ~key : key;
}
// The same of elements of up to 32 bits: with its place behind it, it is one number.
template <class X> WORD u32 short_key(typename X::mem memory, bool descending)
{
	const typename X::wide x = X::get(memory);
	u32 key;

	if constexpr (X::floats) {
		const f32 value = x == 0 ? 0 : (f32)x;
		const u32 bits = __float_as_uint(value);

		key = value != value ? ~0u : bits >> 31 ? ~bits : bits | 1u << 31;
	} else {
		key = (u32)x ^ 1u << 31;
	}
	return descending ? ~key : key;
}
WORD bool goes_first(unsigned long long key, u32 place, unsigned long long other, u32 there)
{
	return key < other || (key == other && place < there);
}
// The `taken` first of a line that is in order.
template <class X, class Y, bool INDICES>
WORD void put_sorted(const line_args &a, i64 from, i64 to, i64 i, u32 place)
{
	if (i >= a.taken)
		return;
	if constexpr (INDICES)
		((typename Y::mem *)a.out)[to + i * a.inner] = Y::put((i64)place);
	else
		((typename Y::mem *)a.out)[to + i * a.inner] =
		    ((const typename X::mem *)a.in)[from + in_line(a, place)];
}
// Sorts elements [first, first + n) of a line in shared memory (bitonic; n is a power of
// two); what is beyond the line goes last.
template <class X>
WORD void sort_run(const line_args &a, i64 from, i64 first, u32 n, unsigned long long *keys, u32 *places)
{
	const typename X::mem *in = (const typename X::mem *)a.in + from;
	constexpr bool together = sizeof(typename X::mem) <= 4; // key and place are one number

	for (u32 i = threadIdx.x; i < n; i += blockDim.x) {
		const bool inside = first + i < a.length;

		if constexpr (together) {
			keys[i] = inside ? (unsigned long long)short_key<X>(in[in_line(a, first + i)], a.descending) << 32 |
					       (u32)(first + i)
					 : ~0ull;
		} else {
			keys[i] = inside ? sort_key<X>(in[in_line(a, first + i)], a.descending) : ~0ull;
			places[i] = inside ? (u32)(first + i) : 0xffffffffu;
		}
	}
#pragma unroll 1
	for (u32 size = 2; size <= n; size *= 2)
#pragma unroll 1
		for (u32 step = size / 2; step > 0; step /= 2) {
			__syncthreads();
			for (u32 t = threadIdx.x; t < n / 2; t += blockDim.x) {
				const u32 i = 2 * t - (t & (step - 1)), j = i + step;
				const unsigned long long mine = keys[i], other = keys[j];
				const bool up = (i & size) == 0;

				if (together ? (other < mine) != up
					     : goes_first(other, places[j], mine, places[i]) != up)
					continue;
				keys[i] = other;
				keys[j] = mine;
				if constexpr (!together) {
					const u32 place = places[i];

					places[i] = places[j];
					places[j] = place;
				}
			}
		}
	__syncthreads();
	if constexpr (together) {
		for (u32 i = threadIdx.x; i < n; i += blockDim.x) {
			places[i] = (u32)keys[i];
			keys[i] >>= 32;
		}
		__syncthreads();
	}
}
// Lines of up to SORT_RUN elements: a block each.
template <class X, class Y, bool INDICES> WORD void sort_short(const line_args &a)
{
	__shared__ unsigned long long keys[SORT_RUN];
	__shared__ u32 places[SORT_RUN];
	i64 to;
	const i64 from = line_start(a, blockIdx.x, &to);

	sort_run<X>(a, from, 0, (u32)a.width, keys, places);
	for (i64 i = threadIdx.x; i < a.length; i += blockDim.x)
		put_sorted<X, Y, INDICES>(a, from, to, i, places[i]);
}
// Longer ones: runs first ...
template <class X> WORD void sort_runs(const line_args &a)
{
	__shared__ unsigned long long keys[SORT_RUN];
	__shared__ u32 places[SORT_RUN];
	const u32 runs = (u32)((a.length + SORT_RUN - 1) / SORT_RUN), line = blockIdx.x / runs;
	const i64 first = (i64)(blockIdx.x % runs) * SORT_RUN;
	i64 to;
	const i64 from = line_start(a, line, &to);

	sort_run<X>(a, from, first, SORT_RUN, keys, places);
	for (i64 i = threadIdx.x; i < SORT_RUN && first + i < a.length; i += blockDim.x) {
		a.keys[0][line * a.length + first + i] = keys[i];
		a.places[0][line * a.length + first + i] = places[i];
	}
}
// ... then each element finds its place in two runs that are neighbours ...
WORD void merge_runs(const line_args &a)
{
	EACH_POINT(p, a.walk.points * a.length) {
		const i64 line = quotient(p, a.length), i = p - line * a.length;
		const i64 pair = i & -(2 * a.width), middle = pair + a.width;
		const bool left = i < middle;
		const unsigned long long *keys = a.keys[a.room] + line * a.length;
		const u32 *places = a.places[a.room] + line * a.length;
		i64 low = left ? middle : pair, high = left ? middle + a.width : middle;
		const i64 other = low;

		if (high > a.length)
			high = a.length;
		if (low > high)
			low = high;
		while (low < high) {
			const i64 half = (low + high) / 2;

			if (goes_first(keys[half], places[half], keys[i], places[i]))
				low = half + 1;
			else
				high = half;
		}
		// Those before it in its own run, and in the other.
		const i64 at = left ? i + (low - (other < low ? other : low)) : i - middle + low;

		a.keys[1 - a.room][line * a.length + at] = keys[i];
		a.places[1 - a.room][line * a.length + at] = places[i];
	}
}
// ... and the first of each line are the result.
template <class X, class Y, bool INDICES> WORD void take_sorted(const line_args &a)
{
	EACH_POINT(p, a.walk.points * a.taken) {
		const i64 line = quotient(p, a.taken), i = p - line * a.taken;
		i64 to;
		const i64 from = line_start(a, line, &to);

		put_sorted<X, Y, INDICES>(a, from, to, i, a.places[a.room][line * a.length + i]);
	}
}
