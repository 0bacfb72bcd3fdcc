// fusion/backends/cuda/index.cu -- reading and writing by index: gather, x[i], scatter.

// The place that N indices name at a point, in elements; LOWEST_i64: out of bounds.
template <class I, int N> WORD i64 named_at(const lookup_args &a, const i64 *at)
{
	i64 named = 0;
#pragma unroll
	for (int k = 0; k < N; k++) {
		i64 i = (i64)((const I *)a.index[k])[at[k]];

		if (i < -a.size[k] || i >= a.size[k]) {
			out_of_bounds(a.fault, a.kernel, i, a.size[k]);
			return LOWEST_i64;
		}
		named += (i < 0 ? i + a.size[k] : i) * a.stride[k];
	}
	return named;
}

// From the source to the target: N = 0 is a copy.
template <class T, class I, int N> WORD void look_up(const lookup_args &a)
{
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
			atomicMax(&a.winner[at[1] + named], (u32)p + 1);
	}
}
// ... then the winners write.
template <class T, class I, int N> WORD void put_claimed(const lookup_args &a)
{
	EACH_POINT(p, a.walk.points) {
		i64 at[2 + N];

		seek(a.walk, p, at);
		const i64 named = named_at<I, N>(a, at + 2), to = at[1] + named;
		if (named != LOWEST_i64 && a.winner[to] == (u32)p + 1)
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
// Or, where lines are few, a warp: 32 elements at a time, those of one place joined first.
template <class E, class I> WORD void add_warps(const lookup_args &a)
{
	typedef typename E::mem T;
	const u32 lane = threadIdx.x % 32;

	for (i64 line = blockIdx.x; line < a.walk.points; line += gridDim.x) {
		i64 at[3];

		seek(a.walk, line, at);
		for (i64 first = 0; first < a.length; first += 32) {
			const i64 j = first + lane, where = at[2] + j * a.along[2];
			const i64 named = j < a.length ? named_at<I, 1>(a, &where) : LOWEST_i64;
			const bool live = named != LOWEST_i64;
			const i64 place = live ? at[1] + named : -1 - (i64)lane;
			typename E::wide value =
			    live ? E::get(((const T *)a.from)[at[0] + j * a.along[0]]) : 0;
			const u32 same = __match_any_sync(0xffffffffu, (unsigned long long)place);
			const bool leads = live && (same & ((1u << lane) - 1)) == 0;
			T sum = leads ? ((T *)a.to)[place] : (T)0;

			for (int k = 0; k < 32; k++) {
				const typename E::wide other = __shfl_sync(0xffffffffu, value, k);

				if (same >> k & 1)
					sum = add_element<E>(sum, other);
			}
			if (leads)
				((T *)a.to)[place] = sum;
			__syncwarp();
		}
	}
}
