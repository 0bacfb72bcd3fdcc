// fusion/backends/cuda/library/window.cu -- windows over the last two dims: pools, columns,
// convolutions without cuDNN.

// The rows (or columns) of a window that lie in the input: [begin, end) by step.
struct window_range {
	i64 begin, end, step, padded; // padded: with those in the padding
};
WORD window_range range_of(const window_args &w, int axis, i64 index)
{
	window_range r = { 0, 0, w.dilation[axis], 0 };
	const i64 in = w.in_size[axis], out = w.out_size[axis];

	if (w.kernel[axis] == 0) {
		r.begin = quotient(index * in, out);
		r.end = quotient((index + 1) * in + out - 1, out);
		r.padded = r.end - r.begin;
		return r;
	}
	r.begin = index * w.stride[axis] - w.padding[axis];
	r.end = r.begin + (w.kernel[axis] - 1) * r.step + 1;
	r.padded = (r.end < in + w.padding[axis] ? r.end : in + w.padding[axis]) - r.begin;
	if (r.begin < 0)
		r.begin += quotient(-r.begin + r.step - 1, r.step) * r.step;
	r.end = r.end < in ? r.end : in;
	return r;
}

// The largest of windows of DOWN x ACROSS, where offsets are below 2^31: a thread has R windows, one
// below the other, and all its loads are under way at once.
template <class E, int DOWN, int ACROSS, int R> WORD void pool_near(const window_args &w)
{
	typedef typename E::wide X;
	const u32 across = (u32)w.out_size[1], groups = ((u32)w.out_size[0] + R - 1) / R;
	const u32 window = groups * across, points = (u32)w.planes.points * window;

	for (u32 p = blockIdx.x * blockDim.x + threadIdx.x; p < points; p += gridDim.x * blockDim.x) {
		const u32 plane = p / window, at = p - plane * window, down = at / across * R;
		const u32 column = at - at / across * across;
		const int c = (int)(column * (u32)w.stride[1]) - (int)w.padding[1];
		typename E::mem x[R][DOWN][ACROSS];
		bool inside[R][DOWN][ACROSS];
		i64 from[1];

		seek(w.planes, (i64)plane, from);
		const typename E::mem *in = (const typename E::mem *)w.in + from[0];
#pragma unroll
		for (int k = 0; k < R; k++)
#pragma unroll
			for (int i = 0; i < DOWN; i++)
#pragma unroll
				for (int j = 0; j < ACROSS; j++) {
					const int y = (int)((down + k) * (u32)w.stride[0]) - (int)w.padding[0] +
						      i * (int)w.dilation[0];
					const int z = c + j * (int)w.dilation[1];

					inside[k][i][j] = (u32)y < (u32)w.in_size[0] && (u32)z < (u32)w.in_size[1];
					if (inside[k][i][j])
						x[k][i][j] = in[y * (int)w.in_stride[0] + z * (int)w.in_stride[1]];
				}
#pragma unroll
		for (int k = 0; k < R; k++) {
			X most = E::floats ? (X)-INF_f32 : (X)LOWEST_i64;

#pragma unroll
			for (int i = 0; i < DOWN; i++)
#pragma unroll
				for (int j = 0; j < ACROSS; j++) {
					const X value = inside[k][i][j] ? E::get(x[k][i][j]) : most;

					most = value > most || value != value ? value : most;
				}
			if (R == 1 || down + k < (u32)w.out_size[0])
				((typename E::mem *)w.out)[(plane * (u32)w.out_size[0] + down + k) * across + column] =
				    E::put(most);
		}
	}
}

// The largest of windows where channels lie last, in both: a thread has 16 bytes of them.  DOWN 0: of
// any size.
template <class E, class I, int DOWN, int ACROSS> WORD void pool_lanes(const window_args &w)
{
	constexpr int LANES = 16 / sizeof(typename E::mem);
	typedef pack<typename E::mem, LANES> lanes;
	const I groups = (I)w.in_stride[1] / LANES, across = (I)w.out_size[1], down = (I)w.out_size[0];
	const I points = (I)(w.planes.points / LANES) * down * across;
	const int high = DOWN ? DOWN : (int)w.kernel[0], wide = DOWN ? ACROSS : (int)w.kernel[1];

	for (I p = (I)blockIdx.x * blockDim.x + threadIdx.x; p < points; p += (I)gridDim.x * blockDim.x) {
		const I place = p / groups, line = place / across, picture = line / down;
		const i64 r = (i64)(line % down) * w.stride[0] - w.padding[0];
		const i64 s = (i64)(place % across) * w.stride[1] - w.padding[1];
		const typename E::mem *const in = (const typename E::mem *)w.in +
						  (i64)picture * w.in_size[0] * w.in_stride[0] +
						  (i64)(p % groups) * LANES;
		typename E::wide most[LANES];
		lanes out;

#pragma unroll
		for (int k = 0; k < LANES; k++)
			most[k] = (typename E::wide)-INF_f32;
#pragma unroll
		for (int i = 0; i < high; i++)
#pragma unroll
			for (int j = 0; j < wide; j++) {
				const i64 y = r + i * w.dilation[0], z = s + j * w.dilation[1];

				if (y < 0 || y >= w.in_size[0] || z < 0 || z >= w.in_size[1])
					continue;
				const lanes x = *(const lanes *)(in + y * w.in_stride[0] + z * w.in_stride[1]);
#pragma unroll
				for (int k = 0; k < LANES; k++) {
					const typename E::wide value = E::get(x.v[k]);

					most[k] = value > most[k] || value != value ? value : most[k];
				}
			}
#pragma unroll
		for (int k = 0; k < LANES; k++)
			out.v[k] = E::put(most[k]);
		((lanes *)w.out)[p] = out;
	}
}

template <class E, int DOWN, int ACROSS> WORD void pool_channels_last(const window_args &w)
{
	if (w.near)
		pool_lanes<E, u32, DOWN, ACROSS>(w);
	else
		pool_lanes<E, i64, DOWN, ACROSS>(w);
}

// DOWN 0: a window of any size.
template <class E, bool LARGEST, int DOWN, int ACROSS> WORD void pool(const window_args &w)
{
	const i64 across = w.out_size[1], window = w.out_size[0] * across;

	if constexpr (LARGEST && DOWN > 0)
		if (w.near) {
			if (w.near > 1)
				pool_near<E, DOWN, ACROSS, DOWN * ACROSS <= 9 ? POOL_ROWS : 1>(w);
			else
				pool_near<E, DOWN, ACROSS, 1>(w);
			return;
		}
	EACH_POINT(p, w.planes.points * window) {
		i64 plane = p, at = take_index(plane, window);
		const i64 column = take_index(at, across);
		const window_range r = range_of(w, 0, at), c = range_of(w, 1, column);
		i64 from[1], count = 0, most = LOWEST_i64;
		f64 sum = LARGEST ? -INF_f64 : 0;

		seek(w.planes, plane, from);
		const typename E::mem *in = (const typename E::mem *)w.in + from[0];
		for (i64 i = r.begin; i < r.end; i += r.step)
			for (i64 j = c.begin; j < c.end; j += c.step, count++) {
				const typename E::wide x =
				    E::get(in[i * w.in_stride[0] + j * w.in_stride[1]]);

				if constexpr (!E::floats)
					most = x > most ? x : most;
				else if (!LARGEST)
					sum += (f64)x;
				else if ((f64)x > sum || x != x)
					sum = (f64)x;
			}
		if constexpr (!E::floats)
			((typename E::mem *)w.out)[p] = E::put(most);
		else
			((typename E::mem *)w.out)[p] = put_f64<E>(
			    LARGEST ? sum : sum / (f64)(w.all ? r.padded * c.padded : count));
	}
}

template <class E> WORD void columns(const window_args &w)
{
	const i64 across = w.out_size[1], count = w.out_size[0] * across;
	const i64 taps = w.kernel[0] * w.kernel[1];

	EACH_POINT(p, w.planes.points * taps * count) {
		i64 plane = p;
		i64 down = take_index(plane, count), across_at = take_index(down, across);
		i64 tap = take_index(plane, taps), beside = take_index(tap, w.kernel[1]);
		const i64 r = down * w.stride[0] - w.padding[0] + tap * w.dilation[0];
		const i64 c = across_at * w.stride[1] - w.padding[1] + beside * w.dilation[1];
		i64 from[1];

		seek(w.planes, plane, from);
		((typename E::mem *)w.out)[p] =
		    r < 0 || r >= w.in_size[0] || c < 0 || c >= w.in_size[1]
			? (typename E::mem)0
			: ((const typename E::mem *)
			       w.in)[from[0] + r * w.in_stride[0] + c * w.in_stride[1]];
	}
}

// A thread has an element of the result.  Slow beside cuDNN, and right.
template <class E> WORD void convolve(const conv_args &c)
{
	const i64 window = c.out_size[0] * c.out_size[1];
	const i64 of_group = quotient(c.out_channels, c.groups);

	EACH_POINT(p, c.batch * c.out_channels * window) {
		i64 n = p, down = take_index(n, window);
		const i64 o = take_index(n, c.out_channels), across = take_index(down, c.out_size[1]);
		const i64 r = down * c.stride[0] - c.padding[0];
		const i64 s = across * c.stride[1] - c.padding[1];
		const typename E::mem *x = (const typename E::mem *)c.x + n * c.x_stride[0] +
					   quotient(o, of_group) * c.channels * c.x_stride[1];
		const typename E::mem *w = (const typename E::mem *)c.w + o * c.w_stride[0];
		typename E::wide sum = 0;

		for (i64 k = 0; k < c.channels; k++)
			for (i64 i = 0; i < c.kernel[0]; i++)
				for (i64 j = 0; j < c.kernel[1]; j++) {
					const i64 y = r + i * c.dilation[0], z = s + j * c.dilation[1];

					if (y < 0 || y >= c.in_size[0] || z < 0 || z >= c.in_size[1])
						continue;
					sum += E::get(x[k * c.x_stride[1] + y * c.x_stride[2] +
							z * c.x_stride[3]]) *
					       E::get(w[k * c.w_stride[1] + i * c.w_stride[2] +
							j * c.w_stride[3]]);
				}
		((typename E::mem *)c.out)[n * c.y_stride[0] + o * c.y_stride[1] + down * c.y_stride[2] +
					   across * c.y_stride[3]] = E::put(sum);
	}
}

// The gradient of x: an element is in the windows from which its own place is a whole step.
template <class E> WORD void convolve_x(const conv_args &c)
{
	const i64 of_group = quotient(c.out_channels, c.groups), all = c.channels * c.groups;

	EACH_POINT(p, c.batch * all * c.in_size[0] * c.in_size[1]) {
		i64 n = p, across = take_index(n, c.in_size[1]), down = take_index(n, c.in_size[0]);
		const i64 channel = take_index(n, all), group = quotient(channel, c.channels);
		const typename E::mem *y = (const typename E::mem *)c.y + n * c.y_stride[0] +
					   group * of_group * c.y_stride[1];
		const typename E::mem *w = (const typename E::mem *)c.w +
					   group * of_group * c.w_stride[0] +
					   (channel - group * c.channels) * c.w_stride[1];
		typename E::wide sum = 0;

		for (i64 i = 0; i < c.kernel[0]; i++)
			for (i64 j = 0; j < c.kernel[1]; j++) {
				const i64 r = down + c.padding[0] - i * c.dilation[0];
				const i64 s = across + c.padding[1] - j * c.dilation[1];

				if (r < 0 || s < 0 || r % c.stride[0] != 0 || s % c.stride[1] != 0 ||
				    r >= c.out_size[0] * c.stride[0] || s >= c.out_size[1] * c.stride[1])
					continue;
				for (i64 o = 0; o < of_group; o++)
					sum += E::get(y[o * c.y_stride[1] +
							r / c.stride[0] * c.y_stride[2] +
							s / c.stride[1] * c.y_stride[3]]) *
					       E::get(w[o * c.w_stride[0] + i * c.w_stride[2] +
							j * c.w_stride[3]]);
			}
		((typename E::mem *)c.out)[p] = E::put(sum);
	}
}

// That of the filters: an element is in all windows of its channel.
template <class E> WORD void convolve_weight(const conv_args &c)
{
	const i64 of_group = quotient(c.out_channels, c.groups);

	EACH_POINT(p, c.out_channels * c.channels * c.kernel[0] * c.kernel[1]) {
		i64 o = p;
		const i64 j = take_index(o, c.kernel[1]), i = take_index(o, c.kernel[0]);
		const i64 of = take_index(o, c.channels), k = quotient(o, of_group) * c.channels + of;
		typename E::wide sum = 0;

		for (i64 n = 0; n < c.batch; n++)
			for (i64 r = 0; r < c.out_size[0]; r++)
				for (i64 s = 0; s < c.out_size[1]; s++) {
					const i64 y = r * c.stride[0] - c.padding[0] + i * c.dilation[0];
					const i64 z = s * c.stride[1] - c.padding[1] + j * c.dilation[1];

					if (y < 0 || y >= c.in_size[0] || z < 0 || z >= c.in_size[1])
						continue;
					sum += E::get(((const typename E::mem *)
							   c.x)[n * c.x_stride[0] + k * c.x_stride[1] +
								y * c.x_stride[2] + z * c.x_stride[3]]) *
					       E::get(((const typename E::mem *)
							   c.y)[n * c.y_stride[0] + o * c.y_stride[1] +
								r * c.y_stride[2] + s * c.y_stride[3]]);
				}
		((typename E::mem *)c.out)[p] = E::put(sum);
	}
}

// Filters that lie otherwise, row by row.
template <class T> WORD void pack_filters(const conv_args &c)
{
	EACH_POINT(p, c.out_channels * c.channels * c.kernel[0] * c.kernel[1]) {
		i64 o = p;
		const i64 j = take_index(o, c.kernel[1]), i = take_index(o, c.kernel[0]);
		const i64 k = take_index(o, c.channels);

		((T *)c.packed)[p] = ((const T *)c.w)[o * c.w_stride[0] + k * c.w_stride[1] +
						      i * c.w_stride[2] + j * c.w_stride[3]];
	}
}

// Filters of TAPS with their channels last: a block turns those of some channels at a time, so that
// it reads and writes what lies side by side.
template <class T, int TAPS, int ACROSS> WORD void pack_channels_last(const conv_args &c)
{
	constexpr u32 FIT = 4096 / TAPS, ROOM = FIT >= 64 ? FIT / 64 * 64 : FIT;
	__shared__ T tile[TAPS * ROOM];
	const u32 parts = ((u32)c.channels + ROOM - 1) / ROOM;

	for (i64 unit = blockIdx.x; unit < c.out_channels * parts; unit += gridDim.x) {
		const i64 o = unit / parts, first = unit % parts * ROOM;
		const u32 n = c.channels - first < ROOM ? (u32)(c.channels - first) : ROOM;
		const T *const from = (const T *)c.w + o * c.w_stride[0] + first * c.w_stride[1];
		T *const to = (T *)c.packed + o * TAPS * c.channels + first;

		__syncthreads();
		for (u32 i = threadIdx.x; i < n * TAPS; i += blockDim.x) {
			const u32 k = i / TAPS, t = i % TAPS;

			tile[t * ROOM + k] = from[k * c.w_stride[1] + t / ACROSS * c.w_stride[2] +
						  t % ACROSS * c.w_stride[3]];
		}
		__syncthreads();
		for (u32 i = threadIdx.x; i < TAPS * ROOM; i += blockDim.x)
			if (i % ROOM < n)
				to[i / ROOM * c.channels + i % ROOM] = tile[i];
	}
}

// A filter of each channel's own, KH by KW, S apart both ways: a block has 64 by 16 windows of a
// plane, whose elements are in shared memory; a thread has four side by side, twice.
template <class E, int KH, int KW, int S> WORD void depthwise(const conv_args &c)
{
	typedef typename E::mem mem;
	constexpr int ACROSS = 16, READS = (3 * S + KW + 3) / 4, PITCH = 4 * (S * (ACROSS - 1) + READS);
	constexpr int HALF = DEPTHWISE_THREADS / ACROSS, HIGH = (2 * HALF - 1) * S + KH;
	__shared__ __align__(16) f32 tile[HIGH * PITCH];
	__shared__ f32 taps[KH * KW];
	const u32 tiles = (u32)(c.out_size[1] + 4 * ACROSS - 1) / (4 * ACROSS);
	const u32 lines = (u32)(c.out_size[0] + 2 * HALF - 1) / (2 * HALF);
	const u32 plane = blockIdx.x / (tiles * lines), o = plane % (u32)c.out_channels;
	const i64 first_across = (i64)(blockIdx.x % tiles) * (4 * ACROSS);
	const i64 first_down = (i64)(blockIdx.x / tiles % lines) * (2 * HALF);
	const mem *const x = (const mem *)c.x + plane / (u32)c.out_channels * c.x_stride[0] +
			     o / (u32)(c.out_channels / c.groups) * c.x_stride[1];
	const mem *const w = (const mem *)c.w + o * c.w_stride[0];
	mem *const out = (mem *)c.out + (i64)plane * c.out_size[0] * c.out_size[1];
	const int own = threadIdx.x % ACROSS, line = threadIdx.x / ACROSS;
	f32 sum[2][4] = {};

	for (int i = threadIdx.x; i < KH * KW; i += DEPTHWISE_THREADS)
		taps[i] = E::get(w[i / KW * c.w_stride[2] + i % KW * c.w_stride[3]]);
	for (int i = threadIdx.x; i < HIGH * PITCH; i += DEPTHWISE_THREADS) {
		const i64 y = first_down * S - c.padding[0] + i / PITCH;
		const i64 z = first_across * S - c.padding[1] + i % PITCH;

		tile[i] = y < 0 || y >= c.in_size[0] || z < 0 || z >= c.in_size[1]
			      ? 0.0f
			      : E::get(x[y * c.x_stride[2] + z * c.x_stride[3]]);
	}
	__syncthreads();
#pragma unroll
	for (int i = 0; i < KH; i++)
#pragma unroll
		for (int r = 0; r < 2; r++) {
			pack<f32, 4> from[READS];
#pragma unroll
			for (int k = 0; k < READS; k++)
				from[k] = *(const pack<f32, 4> *)(tile + ((line + r * HALF) * S + i) * PITCH +
								  4 * (S * own + k));
#pragma unroll
			for (int j = 0; j < KW; j++)
#pragma unroll
				for (int k = 0; k < 4; k++)
					sum[r][k] = __fmaf_rn(from[(k * S + j) / 4].v[(k * S + j) % 4],
							      taps[i * KW + j], sum[r][k]);
		}
#pragma unroll
	for (int r = 0; r < 2; r++) {
		const i64 down = first_down + line + r * HALF, across = first_across + 4 * own;

		if (down >= c.out_size[0] || across >= c.out_size[1])
			continue;
		mem *const to = out + down * c.out_size[1] + across;
		if (c.out_size[1] % 4 == 0) {
			pack<mem, 4> all;
#pragma unroll
			for (int k = 0; k < 4; k++)
				all.v[k] = E::put(sum[r][k]);
			*(pack<mem, 4> *)to = all;
			continue;
		}
#pragma unroll
		for (int k = 0; k < 4; k++)
			if (across + k < c.out_size[1])
				to[k] = E::put(sum[r][k]);
	}
}
