// fusion/backends/cuda/library/sort.cu -- order along one dim.  Comes after scan.cu.
//
// Order is torch's: NaN is above every number, -0 is 0, sorting is stable.  A warp sorts a
// short line in its registers (bitonic); a longer one is sorted digit by digit from the
// lowest on, 8 bits a pass, and read and written once a pass: a tile finds how many of each
// digit are before it in what the tiles before it have said (Merrill and Garland's
// decoupled look-back; Adinets and Merrill's "Onesweep", 2022).

// What a warp sorts: the key alone, the key before the place in one number, or both.
struct lone_key {
	static constexpr bool alone = true;
	u32 k;

	WORD lone_key make(u32 key, u32) { return lone_key{ key }; }
	__device__ __forceinline__ void turn(u32 bits) { k ^= bits; }
	__device__ __forceinline__ bool before(const lone_key &b) const { return k < b.k; }
};
template <int SHIFT, class U> struct placed_key {
	static constexpr bool alone = false;
	U k;

	WORD placed_key make(u32 key, u32 place) { return placed_key{ (U)key << SHIFT | place }; }
	__device__ __forceinline__ void turn(u32 bits) { k ^= (U)(i64)(int)bits; }
	__device__ __forceinline__ bool before(const placed_key &b) const { return k < b.k; }
	__device__ __forceinline__ u32 key() const { return (u32)(k >> SHIFT); }
	__device__ __forceinline__ u32 place() const { return (u32)k & (u32)(((U)1 << SHIFT) - 1); }
};
struct wide_key {
	static constexpr bool alone = false;
	u64 k;
	u32 at;

	WORD wide_key make(u64 key, u32 place) { return wide_key{ key, place }; }
	__device__ __forceinline__ void turn(u32 bits)
	{
		k ^= (u64)(i64)(int)bits;
		at ^= bits;
	}
	__device__ __forceinline__ bool before(const wide_key &b) const
	{
		return k < b.k || (k == b.k && at < b.at);
	}
	__device__ __forceinline__ u64 key() const { return k; }
	__device__ __forceinline__ u32 place() const { return at; }
};
template <int BYTES> struct warp_key {
	typedef placed_key<16, u32> T;
};
template <> struct warp_key<4> {
	typedef placed_key<32, u64> T;
};
template <> struct warp_key<8> {
	typedef wide_key T;
};
WORD lone_key from_lane_xor(lone_key x, int with)
{
	return lone_key{ __shfl_xor_sync(0xffffffffu, x.k, with) };
}
template <int SHIFT, class U>
WORD placed_key<SHIFT, U> from_lane_xor(placed_key<SHIFT, U> x, int with)
{
	return placed_key<SHIFT, U>{ __shfl_xor_sync(0xffffffffu, x.k, with) };
}
WORD wide_key from_lane_xor(wide_key x, int with)
{
	return wide_key{ __shfl_xor_sync(0xffffffffu, x.k, with),
			 __shfl_xor_sync(0xffffffffu, x.at, with) };
}

// 32 * N elements, N side by side of a lane; N a power of two.  Where a run is to go down
// its bits are turned over meanwhile, so that all go up, and the steps within a lane are
// one text for all sizes: a longer one runs out of the instruction cache.
template <int N, class T> WORD void sort_warp(T (&x)[N], int lane)
{
#pragma unroll 1
	for (int size = 2; size <= 32 * N; size *= 2) {
#pragma unroll
		for (int i = 0; i < N; i++) {
			const int at = lane * N + i, down = at & size, was = size > 2 ? at & size / 2 : 0;

			x[i].turn((down != 0) != (was != 0) ? ~0u : 0);
		}
#pragma unroll 1
		for (int step = size / 2 / N; step > 0; step /= 2) {
			const bool smaller = (lane & step) == 0;

#pragma unroll
			for (int i = 0; i < N; i++) {
				const T other = from_lane_xor(x[i], step);

				x[i] = other.before(x[i]) == smaller ? other : x[i];
			}
		}
#pragma unroll
		for (int step = N / 2; step > 0; step /= 2) {
			if (step >= size)
				continue;
#pragma unroll
			for (int i = 0; i < N; i++)
				if ((i & step) == 0) {
					const bool swap = x[i + step].before(x[i]);
					const T first = swap ? x[i + step] : x[i];

					x[i + step] = swap ? x[i] : x[i + step];
					x[i] = first;
				}
		}
	}
}

// What a lane has of its line, sorted: turned in shared memory, so that it is stored side
// by side.
template <class X, class Y, bool INDICES, class T, int N>
WORD void sort_keys(const line_args &a, const typename X::mem *in, typename Y::mem *out, int lane,
		    const typename ordered<X>::K (&keys)[N], T *room)
{
	typedef ordered<X> S;
	const bool descending = a.descending;
	typename Y::mem *to = out + lane * a.inner;
	T x[N];

#pragma unroll
	for (int i = 0; i < N; i++)
		x[i] = T::make(keys[i], (u32)(i * 32 + lane));
	sort_warp<N, T>(x, lane); // places break ties, so it does not count where elements begin
#pragma unroll
	for (int i = 0; i < N; i++)
		room[lane * N + i + lane * N / 32] = x[i];
	__syncwarp();
#pragma unroll
	for (int i = 0; i < N; i++, to += 32 * a.inner) {
		const int p = i * 32 + lane;
		const T found = room[p + p / 32];

		if (p >= a.taken)
			continue;
		if constexpr (INDICES)
			*to = Y::put((i64)found.place());
		else if constexpr (T::alone)
			*to = S::element(found.k, descending);
		else
			*to = S::shares(found.key(), descending) ? in[found.place() * a.stride[0]]
								 : S::element(found.key(), descending);
	}
}
// A line of up to 32 * N elements: a warp's.
template <class X, class Y, bool INDICES, int N> WORD void sort_short(const line_args &a)
{
	typedef ordered<X> S;
	typedef typename warp_key<S::bytes>::T T;
	constexpr int room_size = 32 * N + N;
	__shared__ __align__(16) char room[SORT_WARPS * room_size * sizeof(T)];
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const i64 line = (i64)blockIdx.x * SORT_WARPS + warp;
	typename S::K keys[N];
	bool alike = false;
	i64 to;

	if (line >= a.walk.points)
		return;
	const typename X::mem *in = (const typename X::mem *)a.in + line_start(a, line, &to);
	typename Y::mem *out = (typename Y::mem *)a.out + to;
	const typename X::mem *next = in + lane * a.stride[0]; // along a dim a line has one stride
#pragma unroll
	for (int i = 0; i < N; i++, next += 32 * a.stride[0]) {
		keys[i] = S::all;
		if (i * 32 + lane < a.length) {
			const typename X::mem x = *next;

			keys[i] = S::key(x, a.descending);
			alike |= S::shared(x);
		}
	}
	T *const mine = (T *)room + warp * room_size;
	// Values alone are half the work, where each has a key of its own.
	if constexpr (S::bytes == 4 && !INDICES)
		if (!__any_sync(0xffffffffu, alike)) {
			sort_keys<X, Y, INDICES, lone_key, N>(a, in, out, lane, keys,
							      (lone_key *)mine);
			return;
		}
	sort_keys<X, Y, INDICES, T, N>(a, in, out, lane, keys, mine);
}

// ---- few of a longer line: a block's
//
// Each thread has every TOP_THREADS-th element and finds its best.  Of these bests the one
// that is last wanted is a bound: so many are not after it, and few others.  Those are
// collected and sorted.  Keys are before places in one number, so that no two are alike.
// Where more come than there is room for, they are taken one at a time.
WORD void sort_block(u64 *x, u32 n) // n: a power of two
{
	for (u32 size = 2; size <= n; size *= 2)
		for (u32 step = size / 2; step > 0; step /= 2) {
			__syncthreads();
			for (u32 i = threadIdx.x; i < n / 2; i += TOP_THREADS) {
				const u32 at = 2 * i - (i & (step - 1)), with = at + step;
				const u64 a = x[at], b = x[with];

				if ((a > b) == ((at & size) == 0)) {
					x[at] = b;
					x[with] = a;
				}
			}
		}
	__syncthreads();
}
template <class X> WORD u64 top_item(const line_args &a, const typename X::mem *in, i64 i)
{
	return (u64)ordered<X>::key(in[i * a.stride[0]], a.descending) << 32 | (u32)i;
}
// The least of the line that comes after `last`, by all threads.
template <class X> WORD u64 next_item(const line_args &a, const typename X::mem *in, u64 last, bool any, u64 *warps)
{
	u64 best = ~(u64)0;

	for (i64 i = threadIdx.x; i < a.length; i += TOP_THREADS) {
		const u64 item = top_item<X>(a, in, i);

		if ((any || item > last) && item < best)
			best = item;
	}
#pragma unroll
	for (int o = 16; o > 0; o /= 2) {
		const u64 other = __shfl_xor_sync(0xffffffffu, best, o);

		best = other < best ? other : best;
	}
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		warps[threadIdx.x / 32] = best;
	__syncthreads();
	for (int w = 0; w < TOP_THREADS / 32; w++)
		best = warps[w] < best ? warps[w] : best;
	return best;
}
template <class X, class Y, bool INDICES> WORD void top_long(const line_args &a)
{
	__shared__ u64 items[TOP_ROOM];
	__shared__ u32 count;
	const u32 wanted = (u32)a.taken;
	i64 to;
	const typename X::mem *in = (const typename X::mem *)a.in + line_start(a, blockIdx.x, &to);
	typename Y::mem *out = (typename Y::mem *)a.out + to;
	u64 best = ~(u64)0;

#pragma unroll 4
	for (i64 i = threadIdx.x; i < a.length; i += TOP_THREADS) {
		const u64 item = top_item<X>(a, in, i);

		best = item < best ? item : best;
	}
	items[threadIdx.x] = best;
	if (threadIdx.x == 0)
		count = 0;
	sort_block(items, TOP_THREADS);
	const u64 bound = items[wanted - 1];

	__syncthreads();
#pragma unroll 4
	for (i64 i = threadIdx.x; i < a.length; i += TOP_THREADS) {
		const u64 item = top_item<X>(a, in, i);

		if (item <= bound) {
			const u32 slot = atomicAdd(&count, 1u);

			if (slot < TOP_ROOM)
				items[slot] = item;
		}
	}
	__syncthreads();
	const u32 found = count;

	if (found <= TOP_ROOM) {
		u32 n = 2;

		while (n < found)
			n *= 2;
		for (u32 i = found + threadIdx.x; i < n; i += TOP_THREADS)
			items[i] = ~(u64)0;
		sort_block(items, n);
	} else {
		__shared__ u64 warps[TOP_THREADS / 32];
		u64 last = 0;

		for (u32 k = 0; k < wanted; k++) {
			last = next_item<X>(a, in, last, k == 0, warps);
			if (threadIdx.x == 0)
				items[k] = last;
		}
		__syncthreads();
	}
	for (u32 i = threadIdx.x; i < wanted; i += TOP_THREADS) {
		const u32 place = (u32)items[i];

		if constexpr (INDICES)
			out[i * a.inner] = Y::put((i64)place);
		else
			out[i * a.inner] = in[place * a.stride[0]];
	}
}

// ---- longer lines: how often each digit is in a line ...
template <class X> WORD void sort_count(const line_args &a)
{
	typedef ordered<X> S;
	__shared__ u32 counts[S::bytes][SORT_RADIX];
	const i64 chunks = quotient(a.tiles + SORT_CHUNK - 1, SORT_CHUNK);
	const i64 line = quotient(blockIdx.x, chunks), chunk = blockIdx.x - line * chunks;
	const i64 begin = chunk * SORT_CHUNK * SORT_TILE;
	const i64 end = min(begin + (i64)SORT_CHUNK * SORT_TILE, (i64)a.length);
	u32 *const found = a.counts + line * S::bytes * SORT_RADIX;
	i64 to;
	const typename X::mem *in = (const typename X::mem *)a.in + line_start(a, line, &to);

	for (u32 i = threadIdx.x; i < S::bytes * SORT_RADIX; i += blockDim.x)
		(&counts[0][0])[i] = 0;
	__syncthreads();
#pragma unroll 4
	for (i64 i = begin + threadIdx.x; i < end; i += blockDim.x) {
		const typename S::K key = S::key(in[i * a.stride[0]], a.descending);

#pragma unroll
		for (int d = 0; d < S::bytes; d++)
			atomicAdd(&counts[d][(u32)(key >> 8 * d) & 255], 1u);
	}
	__syncthreads();
	for (u32 i = threadIdx.x; i < S::bytes * SORT_RADIX; i += blockDim.x)
		if ((&counts[0][0])[i])
			atomicAdd(&found[i], (&counts[0][0])[i]);
}

// The sum of what the threads before this one have; of SORT_RADIX threads.
WORD u64 sum_before(u64 x, u64 *warps)
{
	const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	u64 sum = x, before = 0;

#pragma unroll
	for (int o = 1; o < 32; o *= 2) {
		const u64 other = __shfl_sync(0xffffffffu, sum, lane < o ? lane : lane - o);

		sum += lane < o ? 0 : other;
	}
	if (lane == 31)
		warps[warp] = sum;
	__syncthreads();
	for (u32 w = 0; w < warp; w++)
		before += warps[w];
	return before + sum - x;
}
// Those of the tiles before this one in its line that have a digit; each tile has said how
// many it has, or how many there are up to its end.
WORD u32 digits_before(u32 *said, i64 tile, i64 within, u32 own)
{
	volatile u32 *const mine = said + tile * SORT_RADIX + threadIdx.x;
	u32 before = 0;

	*mine = own << 2 | (within == 0 ? SORT_UP_TO : SORT_OWN);
	for (i64 left = within; left > 0;) {
		// Several at a time, for each look takes as long as a trip to memory.
		u32 what[SORT_LOOKS];

#pragma unroll
		for (int k = 0; k < SORT_LOOKS; k++)
			what[k] = k < left ? mine[(left - 1 - k - within) * SORT_RADIX] : SORT_UP_TO;
#pragma unroll
		for (int k = 0; k < SORT_LOOKS; k++) {
			if (left <= 0 || what[k] == 0)
				break; // it is on its way: tiles begin in order
			before += what[k] >> 2;
			left = what[k] & SORT_UP_TO ? 0 : left - 1;
		}
	}
	if (within > 0)
		*mine = (before + own) << 2 | SORT_UP_TO;
	return before;
}
// Lanes with the same digit.
WORD u32 same_digit(u32 digit)
{
	u32 same = 0xffffffffu;

#pragma unroll
	for (int b = 0; b < 8; b++) {
		const bool set = digit >> b & 1;
		const u32 those = __ballot_sync(0xffffffffu, set);

		same &= set ? those : ~those;
	}
	return same;
}
template <class X> struct tile_items {
	u64 key[SORT_ITEMS];
	u32 place[sizeof(typename X::mem) == 8 ? SORT_ITEMS : 1];
};
// A tile's elements as a key and a place, those of up to 4 bytes as one number; `room` is
// where the line is between passes.
template <class X>
WORD void take_tile(const line_args &a, const typename X::mem *in, i64 room, i64 first, tile_items<X> &x)
{
	typedef ordered<X> S;
	const u64 *keys = a.keys[a.digit & 1] + room;
	const u32 *places = a.places[a.digit & 1] + (S::bytes == 8 ? room : 0);
	const i64 stride = a.stride[0], left = a.length - first;

#pragma unroll
	for (int i = 0; i < SORT_ITEMS; i++) {
		x.key[i] = ~0ull;
		if (i * 32 >= left)
			continue;
		if (a.digit > 0) {
			x.key[i] = keys[first + i * 32];
			if constexpr (S::bytes == 8)
				x.place[i] = places[first + i * 32];
		} else {
			const typename S::K key = S::key(in[(first + i * 32) * stride], a.descending);

			if constexpr (S::bytes == 8) {
				x.key[i] = key;
				x.place[i] = (u32)first + i * 32;
			} else {
				x.key[i] = (u64)key << 32 | ((u32)first + i * 32);
			}
		}
	}
}
// An element of the result.
template <class X, class Y, bool INDICES>
WORD void put_sorted(const line_args &a, const typename X::mem *in, typename Y::mem *out, u64 key, u32 place)
{
	typedef ordered<X> S;

	if constexpr (S::bytes < 8) {
		place = (u32)key;
		key >>= 32;
	}
	if constexpr (INDICES)
		*out = Y::put((i64)place);
	else if (S::shares((typename S::K)key, a.descending))
		*out = in[place * a.stride[0]];
	else
		*out = S::element((typename S::K)key, a.descending);
}
// ... then, for each digit, a tile sorts its elements in its own memory and writes them
// where they belong.
template <class X, class Y, bool INDICES> WORD void sort_pass(const line_args &a)
{
	typedef ordered<X> S;
	constexpr bool placed = S::bytes == 8;
	__shared__ u64 keys[SORT_TILE], sums[SORT_RADIX / 32];
	__shared__ u32 places[placed ? SORT_TILE : 1], counts[SORT_RADIX / 32][SORT_RADIX];
	__shared__ u32 start[SORT_RADIX], ticket;
	const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, digit = threadIdx.x;
	const int shift = 8 * a.digit + (placed ? 0 : 32);
	tile_items<X> x;
	u32 rank[SORT_ITEMS];

	if (threadIdx.x == 0)
		ticket = atomicAdd(&a.tickets[a.digit], 1u);
	for (int w = 0; w < SORT_RADIX / 32; w++)
		counts[w][digit] = 0;
	__syncthreads();
	const i64 tile = ticket, line = quotient(tile, a.tiles), within = tile - line * a.tiles;
	const u32 inside = (u32)min((i64)SORT_TILE, a.length - within * SORT_TILE);

	i64 to;
	const i64 room = line * a.length;
	const typename X::mem *in = (const typename X::mem *)a.in + line_start(a, line, &to);
	typename Y::mem *out = (typename Y::mem *)a.out + to;
	take_tile<X>(a, in, room, within * SORT_TILE + warp * 32 * SORT_ITEMS + lane, x);
#pragma unroll
	for (int i = 0; i < SORT_ITEMS; i++) {
		const u32 d = (u32)(x.key[i] >> shift) & 255, same = same_digit(d);
		const u32 before = counts[warp][d], ahead = __popc(same & ((1u << lane) - 1));

		__syncwarp();
		if (ahead == 0)
			counts[warp][d] = before + __popc(same);
		__syncwarp();
		rank[i] = before + ahead;
	}
	__syncthreads();
	u32 own = 0;
	for (int w = 0; w < SORT_RADIX / 32; w++) {
		const u32 those = counts[w][digit];

		counts[w][digit] = own;
		own += those;
	}
	// What is beyond the line has the last digit, and is last of the tile.
	const u32 real = digit == 255 ? own - (SORT_TILE - inside) : own;
	const u32 in_line_ = a.counts[(line * S::bytes + a.digit) * SORT_RADIX + digit];
	const u64 both = sum_before((u64)in_line_ << 32 | own, sums);
	const u32 local = (u32)both;

	for (int w = 0; w < SORT_RADIX / 32; w++)
		counts[w][digit] += local;
	__syncthreads();
#pragma unroll
	for (int i = 0; i < SORT_ITEMS; i++) {
		const u32 at = counts[warp][(u32)(x.key[i] >> shift) & 255] + rank[i];

		keys[at] = x.key[i];
		if constexpr (placed)
			places[at] = x.place[i];
	}
	start[digit] = (u32)(both >> 32) - local +
		       digits_before(a.said + (i64)a.digit * a.walk.points * a.tiles * SORT_RADIX,
				     tile, within, real);
	__syncthreads();
	const bool last = a.digit + 1 == S::bytes;
	u64 *const to_keys = a.keys[1 - (a.digit & 1)] + room;
	u32 *const to_places = a.places[1 - (a.digit & 1)] + (placed ? room : 0);
#pragma unroll 2
	for (u32 at = threadIdx.x; at < inside; at += SORT_RADIX) {
		const u64 key = keys[at];
		const i64 where = start[(u32)(key >> shift) & 255] + at;
		const u32 place = placed ? places[placed ? at : 0] : 0;

		if (!last) {
			to_keys[where] = key;
			if constexpr (placed)
				to_places[where] = place;
		} else if (where < a.taken) {
			put_sorted<X, Y, INDICES>(a, in, out + where * a.inner, key, place);
		}
	}
}
