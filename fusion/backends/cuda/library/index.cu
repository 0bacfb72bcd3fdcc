// fusion/backends/cuda/library/index.cu -- reading and writing by index: gather, x[i], scatter.

// The place that N indices name at a point, in elements; LOWEST_i64: out of bounds.
template <class I, int N> WORD i64 named_at(const lookup_args &a, const i64 *at)
{
	i64 named = 0;
#pragma unroll
	for (int k = 0; k < N; k++) {
		i64 i = (i64)((const I *)a.index[k])[at[k]];

		if (i < a.least[k] || i >= a.size[k]) {
			out_of_bounds(a.fault, a.call, i, a.size[k]);
			return LOWEST_i64;
		}
		named += (i < 0 ? i + a.size[k] : i) * a.stride[k];
	}
	return named;
}

// The offsets of K operands at points [p, p + blockDim.x, ...), of a walk that is near.
template <int K> WORD void seek_near(const lookup_args &a, u32 (&p)[LOOKUP_STEPS], int (&at)[LOOKUP_STEPS][K])
{
#pragma unroll
	for (int s = 0; s < LOOKUP_STEPS; s++)
#pragma unroll
		for (int k = 0; k < K; k++)
			at[s][k] = 0;
#pragma unroll 1
	for (int d = a.walk.rank - 1; d >= 0; d--) {
		const u32 size = (u32)a.walk.size[d], magic = a.magic[d];
		const int shift = a.shift[d];

#pragma unroll
		for (int s = 0; s < LOOKUP_STEPS; s++) {
			const u32 rest = d > 0 ? (u32)((u64)p[s] * magic >> shift) : 0;
			const int i = (int)(p[s] - rest * size);
#pragma unroll
			for (int k = 0; k < K; k++)
				at[s][k] += i * (int)a.walk.stride[k][d];
			p[s] = rest;
		}
	}
}
// All indices first, then all elements, so that many loads are under way.
template <class T, class I, int N> WORD void look_up_near(const lookup_args &a)
{
	const u32 points = (u32)a.walk.points, step = blockDim.x * LOOKUP_STEPS;

	for (u32 first = blockIdx.x * step + threadIdx.x; first < points; first += gridDim.x * step) {
		u32 p[LOOKUP_STEPS];
		int at[LOOKUP_STEPS][2 + N];
		bool live[LOOKUP_STEPS];
		T x[LOOKUP_STEPS];

#pragma unroll
		for (int s = 0; s < LOOKUP_STEPS; s++) {
			p[s] = first + s * blockDim.x;
			live[s] = p[s] < points;
		}
		seek_near(a, p, at);
#pragma unroll
		for (int k = 0; k < N; k++) {
			i64 i[LOOKUP_STEPS];

#pragma unroll
			for (int s = 0; s < LOOKUP_STEPS; s++)
				i[s] = live[s] ? (i64)((const I *)a.index[k])[at[s][2 + k]] : 0;
#pragma unroll
			for (int s = 0; s < LOOKUP_STEPS; s++) {
				const bool inside = i[s] >= a.least[k] && i[s] < a.size[k];

				if (live[s] && !inside)
					out_of_bounds(a.fault, a.call, i[s], a.size[k]);
				live[s] &= inside;
				at[s][0] += (int)(i[s] < 0 ? i[s] + a.size[k] : i[s]) * (int)a.stride[k];
			}
		}
#pragma unroll
		for (int s = 0; s < LOOKUP_STEPS; s++)
			if (live[s])
				x[s] = ((const T *)a.from)[at[s][0]];
#pragma unroll
		for (int s = 0; s < LOOKUP_STEPS; s++)
			if (live[s])
				((T *)a.to)[at[s][1]] = x[s];
	}
}
// From the source to the target: N = 0 is a copy.
template <class T, class I, int N> WORD void look_up(const lookup_args &a)
{
	if (a.near) {
		look_up_near<T, I, N>(a);
		return;
	}
	EACH_POINT(p, a.walk.points) {
		i64 at[2 + N];

		seek(a.walk, p, at);
		const i64 named = named_at<I, N>(a, at + 2);
		if (named != LOWEST_i64)
			((T *)a.to)[at[1]] = ((const T *)a.from)[at[0] + named];
	}
}

// Of the points that name one place the last one counts: first all make their claims ...
template <class I, int N> WORD void claim(const lookup_args &a)
{
	EACH_POINT(p, a.walk.points) {
		i64 at[2 + N];

		seek(a.walk, p, at);
		const i64 named = named_at<I, N>(a, at + 2);
		if (named != LOWEST_i64)
			a.fresh ? (void)(a.winner[at[1] + named] = 0)
				: (void)atomicMax(&a.winner[at[1] + named], (u32)p + 1);
	}
}
// ... then the winners write.
template <class T, class I, int N> WORD void put_claimed(const lookup_args &a)
{
	EACH_POINT(p, a.walk.points) {
		i64 at[2 + N];

		seek(a.walk, p, at);
		const i64 named = named_at<I, N>(a, at + 2), to = at[1] + named;
		if (named != LOWEST_i64 && (!a.winner || a.winner[to] == (u32)p + 1))
			((T *)a.to)[to] = a.from ? ((const T *)a.from)[at[0]] : *(const T *)&a.bits;
	}
}

template <class E> WORD typename E::mem add_element(typename E::mem a, typename E::wide b)
{
	if constexpr (E::floats)
		return E::put(E::get(a) + b);
	else
		return E::put((i64)((unsigned long long)E::get(a) + (unsigned long long)b));
}

// Sums in the order of the indices, so that a result can be repeated.  A thread has a line:
template <class E, class I> WORD void add_lines(const lookup_args &a)
{
	typedef typename E::mem T;

	EACH_POINT(line, a.walk.points) {
		i64 at[3];

		seek(a.walk, line, at);
		for (i64 j = 0; j < a.length; j++) {
			const i64 where = at[2] + j * a.along[2];
			const i64 named = named_at<I, 1>(a, &where);

			if (named == LOWEST_i64)
				continue;
			T *to = (T *)a.to + at[1] + named;
			*to = add_element<E>(*to, E::get(((const T *)a.from)[at[0] + j * a.along[0]]));
		}
	}
}
// Or a warp, 32 elements at a time, those that name one place by turns.  A block has
// ADD_LINES of them: HELD, all places of these lines are in its own memory meanwhile, once
// for each part of a line that has warps of its own.
template <class E, class I> struct __align__(16) add_stage {
	typename E::mem value[ADD_LINES][ADD_STAGE + 1];
	int place[ADD_LINES][ADD_STAGE + 1]; // -1: none
};
template <class E, class I>
WORD void take_stage(const lookup_args &a, const i64 (&at)[ADD_LINES][3], i64 first, i64 last,
		     typename E::mem (&value)[ADD_LINES], i64 (&index)[ADD_LINES])
{
#pragma unroll
	for (int k = 0; k < ADD_LINES; k++) {
		const u32 n = k * ADD_STAGE + threadIdx.x % ADD_STAGE;
		const u32 line = a.across ? n % ADD_LINES : n / ADD_STAGE;
		const i64 j = first + (a.across ? n / ADD_LINES : n % ADD_STAGE);
		const bool live = j < last && (i64)blockIdx.x * ADD_LINES + line < a.walk.points;

		index[k] = live ? (i64)((const I *)a.index[0])[at[line][2] + j * a.along[2]] : 0;
		value[k] = live ? ((const typename E::mem *)a.from)[at[line][0] + j * a.along[0]]
				: (typename E::mem)0;
	}
}
// The place that an index names; -1: none.
WORD i64 place_of(const lookup_args &a, bool live, i64 index)
{
	if (!live)
		return -1;
	if (index >= a.least[0] && index < a.size[0])
		return index < 0 ? index + a.size[0] : index;
	out_of_bounds(a.fault, a.call, index, a.size[0]);
	return -1;
}
// Of many places a warp mostly names 32 of its own: each lane leaves its number where its sum
// is, and one that finds another's there has no place of its own.  Then all sums are as before.
template <class T> WORD void leave(T *to, T number)
{
	if constexpr (sizeof(T) == 8)
		atomicExch((unsigned long long *)to, *(unsigned long long *)&number);
	else
		atomicExch((u32 *)to, *(u32 *)&number);
}
template <class E>
WORD bool add_apart(typename E::mem *sums, int place, typename E::wide value)
{
	typedef typename E::mem T;
	T *const to = sums + (place < 0 ? 0 : place);
	const T lane = (T)(threadIdx.x % 32), sum = *(volatile T *)to;

	__syncwarp();
	if (place >= 0)
		leave(to, lane);
	__syncwarp();
	const bool own = place >= 0 && *(volatile T *)to == lane;
	const bool apart = !__any_sync(0xffffffffu, place >= 0 && !own);
	__syncwarp();
	if (own)
		*to = apart ? add_element<E>(sum, value) : sum;
	__syncwarp();
	return apart;
}
template <class E, class I, bool HELD>
WORD void add_in_order(const add_stage<E, I> &s, u32 line, typename E::mem *sums, i64 step, bool many)
{
	const u32 lane = threadIdx.x % 32;

#pragma unroll
	for (int k = 0; k < ADD_STAGE / 32; k++) {
		const int place = s.place[line][k * 32 + lane];
		const typename E::wide value = E::get(s.value[line][k * 32 + lane]);

		if constexpr (HELD && sizeof(typename E::mem) >= 4)
			if (many && add_apart<E>(sums, place, value))
				continue;
		const u32 same = __match_any_sync(0xffffffffu, (u32)(place < 0 ? -1 - (int)lane : place));
		const u32 ahead = __popc(same & ((1u << lane) - 1));

		for (u32 turn = 0;; turn++) {
			if (place >= 0 && ahead == turn)
				sums[place * step] = add_element<E>(sums[place * step], value);
			__syncwarp();
			if (!__any_sync(0xffffffffu, ahead > turn))
				break;
		}
	}
}
template <class E, class I, bool HELD> WORD void add_warps(const lookup_args &a)
{
	typedef typename E::mem T;
	extern __shared__ __align__(16) char near_sums[];
	__shared__ i64 at[ADD_LINES][3];
	const i64 first_line = (i64)blockIdx.x * ADD_LINES, places = a.size[0], step = a.stride[0];
	const u32 part = threadIdx.x / ADD_STAGE, own = threadIdx.x % ADD_STAGE, warp = own / 32;
	const u32 held = (u32)places * ADD_LINES;
	add_stage<E, I> &stage = ((add_stage<E, I> *)near_sums)[part];
	T *const near = (T *)((add_stage<E, I> *)near_sums + a.parts), *const sums = near + part * held;
	const i64 share = (a.length + a.parts - 1) / a.parts, begin = part * share;
	const i64 last = begin + share < a.length ? begin + share : a.length;
	T value[ADD_LINES];
	i64 index[ADD_LINES];

	if (threadIdx.x < ADD_LINES && first_line + threadIdx.x < a.walk.points) {
		i64 found[3];

		seek(a.walk, first_line + threadIdx.x, found);
		for (int k = 0; k < 3; k++)
			at[threadIdx.x][k] = found[k];
	}
	__syncthreads();
#pragma unroll 4
	for (u32 n = own; HELD && n < held; n += ADD_STAGE) {
		const u32 line = a.across ? n % ADD_LINES : n / (u32)places;
		const u32 k = a.across ? n / ADD_LINES : n % (u32)places;

		if (part > 0) // what changes nothing that it is added to
			sums[line * places + k] = E::put(-(typename E::wide)0);
		else if (first_line + line < a.walk.points)
			sums[line * places + k] = ((const T *)a.base)[at[line][1] + k * step];
	}
	take_stage<E, I>(a, at, begin, last, value, index);
	for (i64 first = begin; first < begin + share; first += ADD_STAGE) {
		__syncthreads();
#pragma unroll
		for (int k = 0; k < ADD_LINES; k++) {
			const u32 n = k * ADD_STAGE + own;
			const u32 line = a.across ? n % ADD_LINES : n / ADD_STAGE;
			const u32 j = a.across ? n / ADD_LINES : n % ADD_STAGE;

			stage.place[line][j] = (int)place_of(
			    a, first + j < last && first_line + line < a.walk.points, index[k]);
			stage.value[line][j] = value[k];
		}
		__syncthreads();
		// On their way while these are added: nothing looks at them before.
		take_stage<E, I>(a, at, first + ADD_STAGE, last, value, index);
		if constexpr (HELD)
			add_in_order<E, I, true>(stage, warp, sums + warp * places, 1, places >= ADD_MANY);
		else
			add_in_order<E, I, false>(stage, warp, (T *)a.to + at[warp][1], step, false);
	}
	__syncthreads();
#pragma unroll 4
	for (u32 n = threadIdx.x; HELD && n < held; n += blockDim.x) {
		const u32 line = a.across ? n % ADD_LINES : n / (u32)places;
		const u32 k = a.across ? n / ADD_LINES : n % (u32)places;
		T sum = near[line * places + k];

		for (int p = 1; p < a.parts; p++)
			sum = add_element<E>(sum, E::get(near[p * held + line * places + k]));
		if (first_line + line < a.walk.points)
			((T *)a.to)[at[line][1] + k * step] = sum;
	}
}

// In any order, by atomic additions, which are as fast as memory is; the sums of few bits would
// be rounded at each, so theirs have an order.
template <class E> WORD void join(typename E::mem *to, typename E::mem x)
{
	if constexpr (E::floats)
		atomicAdd(to, x);
	else if constexpr (sizeof(x) == 8)
		atomicAdd((u64 *)to, (u64)x);
	else
		atomicAdd((u32 *)to, (u32)x);
}
template <class E, int N> WORD void join_all(typename E::mem *to, const pack<typename E::mem, N> &x)
{
#if !defined(EMULATED) && __CUDA_ARCH__ >= 900
	if constexpr (E::floats && sizeof(typename E::mem) == 4 && N == 4) {
		asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
			     :
			     : "l"(to), "f"(x.v[0]), "f"(x.v[1]), "f"(x.v[2]), "f"(x.v[3])
			     : "memory");
		return;
	}
#endif
#pragma unroll
	for (int k = 0; k < N; k++)
		join<E>(to + k, x.v[k]);
}
// The sums of a block's lines are in its memory.  Where a line is shared by blocks they begin with
// nothing, and are added to the target.
template <class E, class I> WORD void add_near(const lookup_args &a)
{
	typedef typename E::mem T;
	extern __shared__ __align__(16) char near_sums[];
	const u32 lines = a.lines, line = threadIdx.x % lines, own = threadIdx.x / lines, step = blockDim.x / lines;
	const u32 group = blockIdx.x / a.parts, places = (u32)a.size[0];
	const bool alone = a.parts == 1, live = (i64)group * lines + line < a.walk.points;
	const i64 share = quotient(a.length + a.parts - 1, a.parts), begin = (blockIdx.x - group * a.parts) * share;
	const i64 last = begin + share < a.length ? begin + share : a.length;
	T *const sums = (T *)near_sums + line;
	i64 at[3];

	seek(a.walk, live ? (i64)group * lines + line : 0, at);
	T *const to = (T *)a.to + at[1];
	const T *const from = (const T *)a.from + at[0], *const base = (const T *)a.base + at[1];
	const I *const index = (const I *)a.index[0] + at[2];
	for (u32 k = own; k < places; k += step) // -0 changes nothing that it is added to
		sums[k * lines] = alone && live ? base[k * a.stride[0]] : E::put(-(typename E::wide)0);
	__syncthreads();
	for (i64 first = begin + own; live && first < last; first += step * NEAR_STEPS) {
		i64 named[NEAR_STEPS];
		T x[NEAR_STEPS];

#pragma unroll
		for (int s = 0; s < NEAR_STEPS; s++) {
			const i64 j = first + s * step;

			named[s] = j < last ? (i64)index[j * a.along[2]] : 0;
			x[s] = j < last ? from[j * a.along[0]] : (T)0;
		}
#pragma unroll
		for (int s = 0; s < NEAR_STEPS; s++) {
			const i64 place = place_of(a, first + s * step < last, named[s]);

			if (place >= 0)
				join<E>(sums + place * lines, x[s]);
		}
	}
	__syncthreads();
	for (u32 k = own; live && k < places; k += step) {
		const T sum = sums[k * lines];

		if (alone)
			to[k * a.stride[0]] = sum;
		else if (sum != (T)0 || (E::floats && copysign(1.0, (f64)sum) > 0))
			join<E>(to + k * a.stride[0], sum);
	}
}
// Or all add to the target: N elements that lie together where their index is one.
template <class E, class I, int N> WORD void add_far(const lookup_args &a)
{
	typedef pack<typename E::mem, N> M;
	const M *const from = (const M *)a.from;
	const I *const index = (const I *)a.index[0];

	if (!a.near) {
		EACH_POINT(p, a.walk.points) {
			i64 at[3];

			seek(a.walk, p, at);
			const i64 place = place_of(a, true, (i64)index[at[2]]);
			if (place >= 0)
				join_all<E, N>((typename E::mem *)a.to + (at[1] + place * a.stride[0]) * N, from[at[0]]);
		}
		return;
	}
	const u32 points = (u32)a.walk.points, step = blockDim.x * LOOKUP_STEPS;
	for (u32 first = blockIdx.x * step + threadIdx.x; first < points; first += gridDim.x * step) {
		u32 p[LOOKUP_STEPS];
		int at[LOOKUP_STEPS][3];
		i64 named[LOOKUP_STEPS];
		M x[LOOKUP_STEPS];

#pragma unroll
		for (int s = 0; s < LOOKUP_STEPS; s++)
			p[s] = first + s * blockDim.x;
		seek_near(a, p, at);
#pragma unroll
		for (int s = 0; s < LOOKUP_STEPS; s++)
			if (first + s * blockDim.x < points) {
				named[s] = (i64)index[at[s][2]];
				x[s] = from[at[s][0]];
			}
#pragma unroll
		for (int s = 0; s < LOOKUP_STEPS; s++) {
			const bool live = first + s * blockDim.x < points;
			const i64 place = place_of(a, live, live ? named[s] : 0);

			if (place >= 0)
				join_all<E, N>((typename E::mem *)a.to + (at[s][1] + place * a.stride[0]) * N, x[s]);
		}
	}
}

// Whole rows are added where an index has one number for each: then the rows of a place are
// listed, put in the order of the indices, and added by a warp.
struct row_lists {
	u32 *tops; // how much of `list` is taken, how many crowds there are, and places with rows
	u32 *count, *start; // of each place
	u32 *slot, *list;   // of each index: its place in the list of its place; the rows of all lists
	u32 *named;         // places with rows
	u32 *crowds;        // and those of more than ROWS_FEW
};
WORD row_lists lists_of(const lookup_args &a)
{
	row_lists l;

	l.tops = a.winner;
	l.count = l.tops + 4;
	l.start = l.count + a.size[0];
	l.slot = l.start + a.size[0];
	l.list = l.slot + a.length;
	l.named = l.list + a.length;
	l.crowds = l.named + a.size[0];
	return l;
}
template <class I> WORD i64 index_of_row(const lookup_args &a, i64 row)
{
	return (i64)((const I *)a.index[0])[row * a.along[2]];
}
template <class I> WORD void count_rows(const lookup_args &a)
{
	const row_lists l = lists_of(a);

	EACH_POINT(row, a.length) {
		const i64 place = place_of(a, true, index_of_row<I>(a, row));

		l.slot[row] = place < 0 ? 0xffffffffu : atomicAdd(&l.count[place], 1u);
	}
}
// Where each list begins: anywhere, as long as they lie apart.
WORD void start_rows(const lookup_args &a)
{
	const row_lists l = lists_of(a);
	const u32 lane = threadIdx.x % 32;

	for (i64 first = (i64)blockIdx.x * blockDim.x; first < a.size[0]; first += (i64)gridDim.x * blockDim.x) {
		const i64 place = first + threadIdx.x;
		const u32 count = place < a.size[0] ? l.count[place] : 0;
		u32 sum = count, begin = 0;

		for (u32 d = 1; d < 32; d *= 2) {
			const u32 before = __shfl_sync(0xffffffffu, sum, lane >= d ? lane - d : lane);

			sum += lane >= d ? before : 0;
		}
		if (lane == 31)
			begin = atomicAdd(&l.tops[0], sum);
		begin = __shfl_sync(0xffffffffu, begin, 31) + sum - count;
		if (place < a.size[0])
			l.start[place] = begin;
		if (count > ROWS_FEW)
			l.crowds[atomicAdd(&l.tops[1], 1u)] = (u32)place;
		const u32 some = __ballot_sync(0xffffffffu, count > 0);
		u32 at = lane == 0 && some ? atomicAdd(&l.tops[2], (u32)__popc(some)) : 0;

		at = __shfl_sync(0xffffffffu, at, 0);
		if (count > 0)
			l.named[at + __popc(some & ((1u << lane) - 1))] = (u32)place;
	}
}
template <class I> WORD void list_rows(const lookup_args &a)
{
	const row_lists l = lists_of(a);

	EACH_POINT(row, a.length) {
		i64 place = index_of_row<I>(a, row);

		if (l.slot[row] == 0xffffffffu)
			continue;
		place += place < 0 ? a.size[0] : 0;
		l.list[l.start[place] + l.slot[row]] = (u32)row;
	}
}
// A thread's elements of a row: 32 apart, from `first` on.
template <class E> struct row_part {
	i64 from[ROWS_LANES], to[ROWS_LANES];
	bool live[ROWS_LANES];
	typename E::wide sum[ROWS_LANES];
};
template <class E> WORD void seek_part(const lookup_args &a, i64 first, u32 place, row_part<E> &part)
{
#pragma unroll
	for (int k = 0; k < ROWS_LANES; k++) {
		const i64 line = first + k * 32;
		i64 at[3];

		part.live[k] = line < a.walk.points;
		seek(a.walk, part.live[k] ? line : 0, at);
		part.from[k] = at[0];
		part.to[k] = at[1] + place * a.stride[0];
	}
}
template <class E> WORD void begin_part(const lookup_args &a, bool base, row_part<E> &part)
{
#pragma unroll
	for (int k = 0; k < ROWS_LANES; k++)
		part.sum[k] = base && part.live[k] ? E::get(((const typename E::mem *)a.base)[part.to[k]])
						   : -(typename E::wide)0; // changes nothing
}
template <class E> WORD typename E::wide plus(typename E::wide a, typename E::wide b)
{
	if constexpr (E::floats)
		return a + b;
	else
		return (i64)((unsigned long long)a + (unsigned long long)b);
}
// The rows of a list in its order; the loads of four are under way at once.
template <class E> WORD void add_listed(const lookup_args &a, const u32 *rows, u32 n, row_part<E> &part)
{
	typedef typename E::mem T;

	for (u32 r = 0; r < n; r += 4) {
		T x[4][ROWS_LANES];

#pragma unroll
		for (int i = 0; i < 4; i++)
#pragma unroll
			for (int k = 0; k < ROWS_LANES; k++)
				if (r + i < n && part.live[k])
					x[i][k] = ((const T *)a.from)[part.from[k] + rows[r + i] * a.along[0]];
#pragma unroll
		for (int i = 0; i < 4; i++)
#pragma unroll
			for (int k = 0; k < ROWS_LANES; k++)
				if (r + i < n && part.live[k])
					part.sum[k] = plus<E>(part.sum[k], E::get(x[i][k]));
	}
}
template <class E> WORD void end_part(const lookup_args &a, const row_part<E> &part)
{
#pragma unroll
	for (int k = 0; k < ROWS_LANES; k++)
		if (part.live[k])
			((typename E::mem *)a.to)[part.to[k]] = E::put(part.sum[k]);
}
// A warp has a place and a tile of its row: rows of few lists are put in order by counting.
template <class E> WORD void add_rows(const lookup_args &a)
{
	__shared__ u32 given[ROWS_WARPS][ROWS_FEW], sorted[ROWS_WARPS][ROWS_FEW];
	const row_lists l = lists_of(a);
	const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	const i64 warps = (i64)gridDim.x * ROWS_WARPS, step = (i64)32 * ROWS_LANES;

	for (i64 at = (i64)blockIdx.x * ROWS_WARPS + warp; at < a.size[0] * a.tiles; at += warps) {
		const u32 place = (u32)quotient(at, a.tiles), tile = (u32)(at - (i64)place * a.tiles);
		const u32 count = l.count[place];
		row_part<E> part;

		if (count > ROWS_FEW || (count == 0 && a.base == a.to))
			continue;
		for (u32 n = lane; n < count; n += 32)
			given[warp][n] = l.list[l.start[place] + n];
		__syncwarp();
		for (u32 n = lane; n < count; n += 32) {
			const u32 row = given[warp][n];
			u32 before = 0;

			for (u32 k = 0; k < count; k++)
				before += given[warp][k] < row;
			sorted[warp][before] = row;
		}
		__syncwarp();
		for (i64 first = tile * step + lane; first - lane < a.walk.points; first += a.tiles * step) {
			seek_part<E>(a, first, place, part);
			begin_part<E>(a, true, part);
			add_listed<E>(a, sorted[warp], count, part);
			end_part<E>(a, part);
		}
		__syncwarp();
	}
}
// The same of rows that lie together, where few rows are one place's: `team` lanes have a place
// and a tile of its row, 16 bytes each, and the rows of its list in their registers.  All lanes of
// a warp take each step.
template <class E> struct wide_part {
	static constexpr int N = 16 / sizeof(typename E::mem);
	typedef pack<typename E::mem, N> mem;
	typename E::wide sum[N];

	__device__ __forceinline__ void begin(const mem *base)
	{
#pragma unroll
		for (int k = 0; k < N; k++)
			sum[k] = E::get(base->v[k]);
	}
	__device__ __forceinline__ void add(const mem &x)
	{
#pragma unroll
		for (int k = 0; k < N; k++)
			sum[k] = plus<E>(sum[k], E::get(x.v[k]));
	}
	__device__ __forceinline__ void end(mem *to) const
	{
		mem all;

#pragma unroll
		for (int k = 0; k < N; k++)
			all.v[k] = E::put(sum[k]);
		*to = all;
	}
};
// The smallest row of a list that is above `last`; ~0: none is.
WORD u32 next_row(const u32 *list, u32 n, u32 last, u32 own, u32 team)
{
	u32 next = 0xffffffffu;

	for (u32 k = own; k < n; k += team) {
		const u32 row = list[k];

		next = row + 1 > last && row < next ? row : next;
	}
	for (u32 d = team / 2; d > 0; d /= 2) {
		const u32 other = __shfl_xor_sync(0xffffffffu, next, d);

		next = other < next ? other : next;
	}
	return next;
}
template <class E> WORD void add_rows_wide(const lookup_args &a)
{
	typedef typename wide_part<E>::mem M;
	constexpr int N = wide_part<E>::N, AHEAD = 4;
	const row_lists l = lists_of(a);
	const u32 team = a.team, lane = threadIdx.x % 32, own = lane % team, first = lane - own;
	const bool here = a.base == a.to; // places without rows stay as they are
	const u32 all = (here ? l.tops[2] : (u32)a.size[0]) * a.tiles, width = (u32)a.walk.points / N;
	const u32 step = gridDim.x * blockDim.x / team;

	for (u32 begin = (blockIdx.x * blockDim.x + threadIdx.x - lane) / team; begin < all; begin += step) {
		const u32 at = begin + lane / team, nth = at / a.tiles, part = (at - nth * a.tiles) * 32 + own;
		const u32 place = at < all ? here ? l.named[nth] : nth : 0, count = at < all ? l.count[place] : 0;
		const bool writes = at < all && part < width && count <= ROWS_FEW;
		const u32 n = count <= ROWS_FEW ? count : 0, *const list = l.list + (n ? l.start[place] : 0);
		const i64 to = (i64)place * a.stride[0] + part * N;
		const typename E::mem *const from = (const typename E::mem *)a.from + part * N;
		wide_part<E> sum = {};
		u32 most = n, row = own < n ? list[own] : 0xffffffffu, rank = 0, last = 0;

		for (u32 d = 16; d > 0; d /= 2) {
			const u32 other = __shfl_xor_sync(0xffffffffu, most, d);

			most = other > most ? other : most;
		}
		if (writes)
			sum.begin((const M *)((const typename E::mem *)a.base + to));
		if (most <= team) { // each lane has a row, and knows how many come before it
			for (u32 k = 0; k < most; k++)
				rank += __shfl_sync(0xffffffffu, row, first + k) < row;
			for (u32 r = 0; r < most; r += AHEAD) {
				M x[AHEAD];

#pragma unroll
				for (u32 i = 0; i < AHEAD; i++) {
					const u32 having = __ballot_sync(0xffffffffu, own < n && rank == r + i);
					const u32 mine = having >> first & (team == 32 ? 0xffffffffu : (1u << team) - 1);
					const u32 next = __shfl_sync(0xffffffffu, row, first + (mine ? __popc((mine & (0 - mine)) - 1) : 0));

					if (writes && r + i < n)
						x[i] = *(const M *)(from + next * a.along[0]);
				}
#pragma unroll
				for (u32 i = 0; i < AHEAD; i++)
					if (writes && r + i < n)
						sum.add(x[i]);
			}
		} else {
			for (u32 r = 0; r < most; r++) {
				const u32 next = next_row(list, n, last, own, team);

				last = next + 1;
				if (writes && r < n)
					sum.add(*(const M *)(from + next * a.along[0]));
			}
		}
		if (writes)
			sum.end((M *)((typename E::mem *)a.to + to));
	}
}

// The rows of a crowd, sorted by its block: each round makes runs that rise and runs that fall.
WORD void sort_rows(u32 *rows, u32 count)
{
	u32 size = 32;

	while (size < count)
		size *= 2;
	for (u32 n = count + threadIdx.x; n < size; n += blockDim.x)
		rows[n] = 0xffffffffu;
	__syncthreads();
	for (u32 run = 2; run <= size; run *= 2)
		for (u32 apart = run / 2; apart > 0; apart /= 2) {
			for (u32 n = threadIdx.x; n < size / 2; n += blockDim.x) {
				const u32 low = 2 * n - (n & (apart - 1)), high = low + apart;
				const u32 x = rows[low], y = rows[high];

				if ((x > y) == ((low & run) == 0)) {
					rows[low] = y;
					rows[high] = x;
				}
			}
			__syncthreads();
		}
}
// A block has a crowd and a tile of its row: its warps add parts of the list, which then come
// together in order.
template <class E, class I> WORD void add_crowds(const lookup_args &a)
{
	__shared__ u32 rows[ROWS_MANY];
	__shared__ typename E::wide sums[ROWS_WARPS][32 * ROWS_LANES];
	const row_lists l = lists_of(a);
	const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, own = ROWS_MANY / ROWS_WARPS;
	const i64 step = (i64)32 * ROWS_LANES, tiles = quotient(a.walk.points + step - 1, step);

	for (i64 at = blockIdx.x; at < l.tops[1] * tiles; at += gridDim.x) {
		const u32 place = l.crowds[quotient(at, tiles)], count = l.count[place];
		const i64 first = (at - quotient(at, tiles) * tiles) * step + lane;
		row_part<E> part;

		seek_part<E>(a, first, place, part);
		begin_part<E>(a, warp == 0, part);
		if (count <= ROWS_MANY) {
			const u32 share = (count + ROWS_WARPS - 1) / ROWS_WARPS, begin = warp * share;

			for (u32 n = threadIdx.x; n < count; n += blockDim.x)
				rows[n] = l.list[l.start[place] + n];
			sort_rows(rows, count);
			if (begin < count)
				add_listed<E>(a, rows + begin, begin + share < count ? share : count - begin, part);
		} else {
			const i64 share = quotient(a.length + ROWS_WARPS - 1, ROWS_WARPS);
			const i64 last = (warp + 1) * share < a.length ? (warp + 1) * share : a.length;
			u32 n = 0;

			for (i64 row = warp * share; row < last; row += 32) {
				i64 named = row + lane < last ? index_of_row<I>(a, row + lane) : LOWEST_i64;
				u32 hits;

				named += named < 0 && named != LOWEST_i64 ? a.size[0] : 0;
				hits = __ballot_sync(0xffffffffu, named == place);
				if (named == place)
					rows[warp * own + n + __popc(hits & ((1u << lane) - 1))] = (u32)(row + lane);
				n += __popc(hits);
				if (n + 32 > own || row + 32 >= last) {
					__syncwarp();
					add_listed<E>(a, rows + warp * own, n, part);
					__syncwarp();
					n = 0;
				}
			}
		}
#pragma unroll
		for (int k = 0; k < ROWS_LANES; k++)
			sums[warp][k * 32 + lane] = part.sum[k];
		__syncthreads();
		if (warp == 0) {
			for (u32 w = 1; w < ROWS_WARPS; w++)
#pragma unroll
				for (int k = 0; k < ROWS_LANES; k++)
					part.sum[k] = plus<E>(part.sum[k], sums[w][k * 32 + lane]);
			end_part<E>(a, part);
		}
		__syncthreads();
	}
}
