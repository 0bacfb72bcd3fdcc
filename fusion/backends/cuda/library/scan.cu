// fusion/backends/cuda/library/scan.cu -- along one dim: running sums and extremes.
// NaN is above every number, as torch has it.

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

// A number in the order of its elements, and the number of its bytes.
template <int BYTES> struct key_bits {
	typedef u32 K;
};
template <> struct key_bits<8> {
	typedef u64 K;
};
template <class X> struct ordered {
	static constexpr int bytes = sizeof(typename X::mem);
	typedef typename key_bits<bytes>::K K;
	static constexpr K top = (K)1 << (8 * bytes - 1), all = top | (top - 1);
	static constexpr K sign = (typename X::mem)-1 < (typename X::mem)0 ? top : 0; // of ints

	WORD K bits(typename X::mem x)
	{
		if constexpr (bytes == 8 && X::floats)
			return (K)__double_as_longlong(x);
		else if constexpr (bytes == 4 && X::floats)
			return __float_as_uint(x);
		else
			return (K)x & all;
	}
	WORD typename X::mem from_bits(K bits)
	{
		if constexpr (bytes == 8 && X::floats)
			return __longlong_as_double((i64)bits);
		else if constexpr (bytes == 4 && X::floats)
			return __uint_as_float(bits);
		else
			return (typename X::mem)bits;
	}
	WORD K key(typename X::mem memory, bool descending)
	{
		K k = bits(memory);

		if constexpr (X::floats) {
			const typename X::wide x = X::get(memory);

			k = k & top ? k ^ all : k | top;
			k = x == 0 ? top : x != x ? all : k;
		} else {
			k ^= sign;
		}
		return descending ? k ^ all : k;
	}
	// Whether other elements have this one's key.
	WORD bool shared(typename X::mem memory)
	{
		const K k = bits(memory);

		if constexpr (X::floats)
			return k == top || X::get(memory) != X::get(memory);
		return false;
	}
	WORD bool shares(K key, bool descending)
	{
		key = descending ? key ^ all : key;
		return X::floats && (key == all || key == top);
	}
	// Of a key that no other elements have.
	WORD typename X::mem element(K key, bool descending)
	{
		key = descending ? key ^ all : key;
		if constexpr (X::floats)
			return from_bits(key & top ? key ^ top : key ^ all);
		return from_bits(key ^ sign);
	}
};

// The first of the largest (smallest), NaN before all: the largest of the keys in that order.
template <class X> struct found {
	typename ordered<X>::K key;
	i64 at;

	WORD found first() { return found{ 0, HIGHEST_i64 }; }
	WORD found join(const found &a, const found &b)
	{
		return b.key > a.key || (b.key == a.key && b.at < a.at) ? b : a;
	}
};
template <class X, bool LARGEST> WORD typename ordered<X>::K extreme_key(typename X::mem x)
{
	const typename ordered<X>::K key = ordered<X>::key(x, false);

	return LARGEST || (X::floats && key == ordered<X>::all) ? key : key ^ ordered<X>::all;
}
// Shares of a line: each begins where its neighbours lie side by side.
WORD i64 share_begin(const line_args &a, i64 share)
{
	const i64 each = (quotient(a.length + a.tiles - 1, a.tiles) + 63) / 64 * 64;

	return min(share * each, (i64)a.length);
}
// What all threads of a block have found, in its first thread.
template <class X> WORD found<X> join_found(found<X> x)
{
	__shared__ __align__(16) char room[32 * sizeof(found<X>)];
	found<X> *const warps = (found<X> *)room;

#pragma unroll
	for (int o = 16; o > 0; o /= 2)
		x = found<X>::join(x, found<X>{ __shfl_xor_sync(0xffffffffu, x.key, o),
						__shfl_xor_sync(0xffffffffu, x.at, o) });
	if (threadIdx.x % 32 == 0)
		warps[threadIdx.x / 32] = x;
	__syncthreads();
	for (u32 w = 1; w < blockDim.x / 32 && threadIdx.x == 0; w++)
		x = found<X>::join(x, warps[w]);
	return x;
}
template <class X, class Y> WORD void put_found(const line_args &a, i64 line, i64 share, found<X> x)
{
	if (a.tiles > 1) {
		a.keys[0][line * a.tiles + share] = x.key;
		a.keys[1][line * a.tiles + share] = (u64)x.at;
		return;
	}
	i64 to;

	line_start(a, line, &to);
	((typename Y::mem *)a.out)[to] = Y::put(x.at);
}
// A block has a share of a line.
template <class X, class Y, bool LARGEST> WORD void extreme(const line_args &a)
{
	typedef typename X::mem M;
	constexpr int lanes = 16 / sizeof(M);
	const i64 line = quotient(blockIdx.x, a.tiles), share = blockIdx.x - line * a.tiles;
	const i64 begin = share_begin(a, share);
	const u32 n = (u32)(share_begin(a, share + 1) - begin);
	i64 to;
	const M *in = (const M *)a.in + line_start(a, line, &to);
	const bool wide = a.rank == 1 && a.stride[0] == 1 && (u64)(in + begin) % 16 == 0;
	const u32 packs = wide ? n / lanes : 0, rest = packs * lanes + threadIdx.x;
	typename ordered<X>::K best = 0;
	// Where no key is above 0 the first one is it.
	u32 at = threadIdx.x < packs ? threadIdx.x * lanes : rest;

#pragma unroll 4
	for (u32 p = threadIdx.x; p < packs; p += blockDim.x) {
		M x[lanes];

		get(x, in + begin + (i64)p * lanes);
#pragma unroll
		for (int j = 0; j < lanes; j++) {
			const typename ordered<X>::K key = extreme_key<X, LARGEST>(x[j]);

			at = key > best ? p * lanes + j : at;
			best = key > best ? key : best;
		}
	}
#pragma unroll 4
	for (u32 i = rest; i < n; i += blockDim.x) {
		const typename ordered<X>::K key =
		    extreme_key<X, LARGEST>(in[in_line(a, begin + i)]);

		at = key > best ? i : at;
		best = key > best ? key : best;
	}
	const found<X> x = join_found<X>(at < n ? found<X>{ best, begin + at } : found<X>::first());
	if (threadIdx.x == 0)
		put_found<X, Y>(a, line, share, x);
}
// Or a thread, where lines lie side by side or are short.
template <class X, class Y, bool LARGEST> WORD void extreme_lines(const line_args &a)
{
	EACH_POINT(p, a.walk.points * a.tiles) {
		const i64 share = quotient(p, a.walk.points), line = p - share * a.walk.points;
		const i64 begin = share_begin(a, share), end = share_begin(a, share + 1);
		i64 to;
		const typename X::mem *in = (const typename X::mem *)a.in + line_start(a, line, &to);
		found<X> x = found<X>::first();

#pragma unroll 4
		for (i64 i = begin; i < end; i++) {
			const typename ordered<X>::K key =
			    extreme_key<X, LARGEST>(in[in_line(a, i)]);

			if (key > x.key || i == begin)
				x = found<X>{ key, i };
		}
		put_found<X, Y>(a, line, share, x);
	}
}
// What the shares of a line have found: a block's.
template <class X, class Y> WORD void join_shares(const line_args &a)
{
	found<X> x = found<X>::first();

	for (i64 s = threadIdx.x; s < a.tiles; s += blockDim.x) {
		const i64 at = blockIdx.x * a.tiles + s;

		x = found<X>::join(x, found<X>{ (typename ordered<X>::K)a.keys[0][at],
						(i64)a.keys[1][at] });
	}
	x = join_found<X>(x);
	if (threadIdx.x == 0) {
		i64 to;

		line_start(a, blockIdx.x, &to);
		((typename Y::mem *)a.out)[to] = Y::put(x.at);
	}
}
