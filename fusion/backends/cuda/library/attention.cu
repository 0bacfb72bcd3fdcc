// fusion/backends/cuda/library/attention.cu -- softmax(scale * Q K^T + mask) V, whose scores never
// are in memory.
//
// A block has a tile of rows of Q and walks the keys, ATTEND_KEYS at a time.  Of each row it
// keeps the largest score so far, the sum of exp(score - largest) and the sum of these times
// V, and scales both sums down where a larger score comes (Milakov and Gimelshein,
// arXiv:1805.02867; Dao, arXiv:2307.08691).  All of that is float32.  Where the scores are
// made by ops of their own (ROUNDS), each of these rounds to its dtype, as they would.

enum { ATTEND_NO_MASK, ATTEND_ADDS, ATTEND_KEEPS, ATTEND_FILLS };

#ifdef EMULATED
WORD void copy_16(void *to, const void *from, bool there) { emulated_copy_16(to, from, there); }
WORD void copies_wait() {}
WORD void load_matrices(u32 (&to)[4], const void *row) { emulated_matrices(to, row, false); }
WORD void load_turned(u32 (&to)[4], const void *row) { emulated_matrices(to, row, true); }
WORD f32 power_of_2(f32 x) { return exp2f(x); }
template <class E> struct tensor {
	WORD u32 pack(f32 low, f32 high) { return (u32)E::put(low) | (u32)E::put(high) << 16; }
	WORD void add(f32 (&sum)[4], const u32 (&a)[4], u32 b0, u32 b1)
	{
		emulated_product(sum, a, b0, b1, [](unsigned short x) { return E::get(x); });
	}
};
#else
WORD u32 in_shared(const void *at)
{
	return (u32)__cvta_generic_to_shared(at);
}
// 16 bytes, or zeros; copies_wait() waits for the thread's own.
WORD void copy_16(void *to, const void *from, bool there)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(in_shared(to)), "l"(from),
		     "r"(there ? 16 : 0)
		     : "memory");
}
WORD void copies_wait()
{
	asm volatile("cp.async.wait_all;" ::: "memory");
}
// Four 8x8 matrices, whose rows begin where lanes 8i..8i+7 say.
WORD void load_matrices(u32 (&to)[4], const void *row)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
		     : "r"(in_shared(row))
		     : "memory");
}
WORD void load_turned(u32 (&to)[4], const void *row)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
		     : "r"(in_shared(row))
		     : "memory");
}
WORD f32 power_of_2(f32 x)
{
	f32 y;

	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}
// sum += a (16x16, row by row) * b (16x8, column by column).
#define TENSOR(E, name)                                                                            \
	template <> struct tensor<E> {                                                             \
		WORD u32 pack(f32 low, f32 high)                                                   \
		{                                                                                  \
			u32 both;                                                                  \
			asm("cvt.rn." name "x2.f32 %0, %1, %2;"                                    \
			    : "=r"(both)                                                           \
			    : "f"(high), "f"(low));                                                \
			return both;                                                               \
		}                                                                                  \
		WORD void add(f32(&sum)[4], const u32(&a)[4], u32 b0, u32 b1)                      \
		{                                                                                  \
			asm("mma.sync.aligned.m16n8k16.row.col.f32." name "." name ".f32 "         \
			    "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"      \
			    : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])               \
			    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));       \
		}                                                                                  \
	};
template <class E> struct tensor;
TENSOR(E_f16, "f16")
TENSOR(E_bf16, "bf16")
#endif

// Rows from `from` on to shared memory, PITCH elements apart there; what is after `rows` or
// after D columns is 0.
template <class T, int D, int ROWS, int COLUMNS, int PITCH>
WORD void load_tile(T *to, const T *from, const attention_operand &x, i64 rows, bool wide)
{
	constexpr int SIDE = 16 / sizeof(T), CHUNKS = COLUMNS / SIDE;

	if (!wide) {
#pragma unroll 1
		for (int i = threadIdx.x; i < ROWS * COLUMNS; i += ATTEND_THREADS) {
			const int row = i / COLUMNS, column = i % COLUMNS;

			to[row * PITCH + column] =
			    row < rows && column < D ? from[row * x.row + column * x.column] : (T)0;
		}
		return;
	}
#pragma unroll
	for (int i = threadIdx.x; i < ROWS * CHUNKS; i += ATTEND_THREADS) {
		const int row = i / CHUNKS, column = i % CHUNKS * SIDE;
		const bool there = row < rows && column < D;

		copy_16(to + row * PITCH + column, there ? from + row * x.row + column : from, there);
	}
}

// A score with its mask, and -inf where there is no key.
template <class E, int MASK, bool CAUSAL, bool ROUNDS>
WORD f32 masked(const attention_args &a, f32 score, i64 mask_at, i64 row, i64 key)
{
	if (row >= a.rows || key >= a.keys || (CAUSAL && key > row))
		return -INF_f32;
	mask_at += row * a.mask_row + key * a.mask_column;
	if (MASK == ATTEND_ADDS) {
		score += E::get(((const typename E::mem *)a.mask)[mask_at]);
		return ROUNDS ? E::get(E::put(score)) : score;
	}
	if (MASK == ATTEND_KEEPS || MASK == ATTEND_FILLS)
		return (((const unsigned char *)a.mask)[mask_at] != 0) == (MASK == ATTEND_KEEPS)
			   ? score
			   : a.fill;
	return score;
}

// What the sum of powers divides by: a row without any key is 0 where EMPTY is, else NaN.
template <bool EMPTY> WORD f32 share_of(const attention_args &a, f32 sum)
{
	return sum == 0 && (EMPTY || a.keys == 0) ? 0.0f : 1.0f / sum;
}

// The keys that any row of the tile sees.
template <bool CAUSAL> WORD i64 last_key(const attention_args &a, i64 first, int rows)
{
	return CAUSAL && first + rows < a.keys ? first + rows : a.keys;
}

// What a block leaves of its part of the keys: for each row its sums, then the largest score (a
// power of 2) and the sum of powers.
WORD f32 *left_of(const attention_args &a, u32 tile, u32 part, int rows, int columns)
{
	return a.left + ((i64)tile * a.parts + part) * rows * (columns + 2);
}
// The weights of a row's parts, and what all their powers sum up to.  A warp has a row.
WORD f32 weigh_parts(const volatile f32 *tops, i64 step, u32 parts, f32 *weight)
{
	const u32 lane = threadIdx.x % 32;
	f32 top = -INF_f32, total = 0;

	for (u32 part = lane; part < parts; part += 32)
		top = fmaxf(top, tops[part * step]);
#pragma unroll
	for (int w = 16; w > 0; w /= 2)
		top = fmaxf(top, __shfl_xor_sync(~0u, top, w));
	const f32 base = top == -INF_f32 ? 0.0f : top;
	for (u32 part = lane; part < parts; part += 32) {
		weight[part] = power_of_2(tops[part * step] - base);
		total = __fmaf_rn(tops[part * step + 1], weight[part], total);
	}
#pragma unroll
	for (int w = 16; w > 0; w /= 2)
		total += __shfl_xor_sync(~0u, total, w);
	return total;
}
// The last block of a tile puts the parts together.
template <class E, int D, int ROWS, bool EMPTY>
WORD void attend_parts(const attention_args &a, u32 tile, int held, int rows, typename E::mem *to)
{
	__shared__ bool last;
	__shared__ f32 weight[ROWS][ATTEND_PARTS], share[ROWS];
	const volatile f32 *const left = left_of(a, tile, 0, held, D);
	const i64 step = (i64)held * (D + 2);

	__threadfence();
	__syncthreads();
	if (threadIdx.x == 0)
		last = atomicInc(&a.arrived[tile], a.parts - 1) == a.parts - 1;
	__syncthreads();
	if (!last)
		return;
	__threadfence();
	for (int row = threadIdx.x / 32; row < rows; row += ATTEND_THREADS / 32) {
		const f32 total = weigh_parts(left + held * D + 2 * row, step, a.parts, weight[row]);

		if (threadIdx.x % 32 == 0)
			share[row] = share_of<EMPTY>(a, total);
	}
	__syncthreads();
	for (int i = threadIdx.x; i < rows * D; i += ATTEND_THREADS) {
		const int row = i / D;
		f32 sum = 0;

#pragma unroll 8
		for (u32 part = 0; part < a.parts; part++)
			sum = __fmaf_rn(left[part * step + i], weight[row][part], sum);
		to[row * a.out.row + i % D] = E::put(sum * share[row]);
	}
}
// Puts what the warps of a block have of the same rows together, as one part.
template <int D>
WORD void join_warps(const f32 *near, f32 *left, int held, int rows)
{
	constexpr int WARPS = ATTEND_THREADS / 32, STEP = 16 * (D + 2);

	for (int i = threadIdx.x; i < rows * D; i += ATTEND_THREADS) {
		const int row = i / D;
		const f32 *const tops = near + 16 * D + 2 * row;
		f32 top = tops[0], sum = 0, total = 0;

#pragma unroll
		for (int w = 1; w < WARPS; w++)
			top = fmaxf(top, tops[w * STEP]);
		const f32 base = top == -INF_f32 ? 0.0f : top;
#pragma unroll
		for (int w = 0; w < WARPS; w++) {
			const f32 weight = power_of_2(tops[w * STEP] - base);

			sum = __fmaf_rn(near[w * STEP + i], weight, sum);
			total = __fmaf_rn(tops[w * STEP + 1], weight, total);
		}
		left[i] = sum;
		if (i % D == 0) {
			left[held * D + 2 * row] = top;
			left[held * D + 2 * row + 1] = total;
		}
	}
}
// float16 and bfloat16, by tensor cores: four warps, each with MT times 16 rows.  K of the
// next keys comes while the powers are summed, V while the scores are made.  MT 0: of 16 rows a warp
// has each fourth 16 keys.  SPLIT: keys are shared by blocks.  COUNT: there are so few keys, all of
// which are one tile; 0: any number.
template <class E, int D, int MT, int MASK, bool CAUSAL, bool ROUNDS, bool EMPTY, bool SPLIT, int COUNT>
WORD void attend_tiles(const attention_args &a)
{
	typedef typename E::mem mem;
	constexpr int COLUMNS = (D + 15) / 16 * 16, PITCH = COLUMNS + 8, ROWS = MT ? 64 * MT : 16;
	constexpr int GROUPS = MT ? MT : 1, KEYS = COUNT ? (COUNT + 15) / 16 * 16 : ATTEND_KEYS;
	constexpr int OWN_KEYS = MT ? KEYS : 16, SCORES = OWN_KEYS / 8, SUMS = COLUMNS / 8;
	constexpr bool PLAIN = MASK == ATTEND_NO_MASK && !ROUNDS, WHOLE = COUNT && PLAIN && !CAUSAL;
	extern __shared__ __align__(16) char attended[];
	mem *const q = (mem *)attended, *const k = q + ROWS * PITCH, *const v = k + KEYS * PITCH;
	const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, own = warp * 16 * MT;
	const int own_key = MT ? 0 : warp * OWN_KEYS;
	const u32 all_tiles = SPLIT ? blockIdx.x / a.parts : blockIdx.x, part = SPLIT ? blockIdx.x % a.parts : 0;
	const u32 tile = all_tiles % a.tiles;
	const i64 first = (i64)(CAUSAL ? a.tiles - 1 - tile : tile) * ROWS;
	const i64 begin = SPLIT ? part * a.span : 0;
	const i64 last = SPLIT && begin + a.span < a.keys ? begin + a.span : last_key<CAUSAL>(a, first, ROWS);
	const bool busy = first + own < a.rows; // has rows at all
	const f32 log2_e = 1.44269504f, factor = PLAIN ? a.scale * log2_e : log2_e;
	f32 sum[GROUPS][SUMS][4] = {}, most[GROUPS][2], total[GROUPS][2] = {};
	i64 at[5];

	seek(a.batch, all_tiles / a.tiles, at);
	const mem *const q_from = (const mem *)a.q.at + at[0] + first * a.q.row;
	const mem *const k_from = (const mem *)a.k.at + at[1];
	const mem *const v_from = (const mem *)a.v.at + at[2];
#pragma unroll
	for (int t = 0; t < GROUPS; t++)
		most[t][0] = most[t][1] = -INF_f32;
	load_tile<mem, D, ROWS, COLUMNS, PITCH>(q, q_from, a.q, a.rows - first, a.wide);
	if (last > begin)
		load_tile<mem, D, KEYS, COLUMNS, PITCH>(k, k_from + begin * a.k.row, a.k, a.keys - begin,
							a.wide);
#pragma unroll 1
	for (i64 key = begin; key < last; key += KEYS) {
		f32 score[GROUPS][SCORES][4] = {};

		copies_wait();
		__syncthreads();
		load_tile<mem, D, KEYS, COLUMNS, PITCH>(v, v_from + key * a.v.row, a.v, a.keys - key,
							a.wide);
#pragma unroll
		for (int c = 0; c < COLUMNS && busy; c += 16) {
			u32 left[GROUPS][4];
#pragma unroll
			for (int t = 0; t < GROUPS; t++)
				load_matrices(left[t], q + (own + 16 * t + lane % 16) * PITCH + c +
							   lane / 16 * 8);
#pragma unroll
			for (int n = 0; n < SCORES; n += 2) {
				u32 right[4];

				load_matrices(right, k + (own_key + 8 * n + lane / 16 * 8 + lane % 8) * PITCH +
							 c + lane / 8 % 2 * 8);
#pragma unroll
				for (int t = 0; t < GROUPS; t++) {
					tensor<E>::add(score[t][n], left[t], right[0], right[1]);
					tensor<E>::add(score[t][n + 1], left[t], right[2], right[3]);
				}
			}
		}
		copies_wait();
		__syncthreads();
		if (key + KEYS < last)
			load_tile<mem, D, KEYS, COLUMNS, PITCH>(k, k_from + (key + KEYS) * a.k.row, a.k,
								a.keys - key - KEYS, a.wide);
		if (!busy)
			continue;
		const bool cut = !WHOLE && (!PLAIN || key + KEYS > a.keys || (CAUSAL && key + KEYS > first));
#pragma unroll
		for (int t = 0; t < GROUPS; t++) {
			if (ROUNDS) {
#pragma unroll
				for (int n = 0; n < SCORES; n++)
#pragma unroll
					for (int i = 0; i < 4; i += 2) {
						u32 both = tensor<E>::pack(score[t][n][i],
									   score[t][n][i + 1]);
						both = tensor<E>::pack(
						    E::get((mem)both) * a.scale,
						    E::get((mem)(both >> 16)) * a.scale);
						score[t][n][i] = E::get((mem)both);
						score[t][n][i + 1] = E::get((mem)(both >> 16));
					}
			}
			if (WHOLE) {
#pragma unroll
				for (int n = COUNT / 8; n < SCORES; n++)
#pragma unroll
					for (int i = 0; i < 4; i++)
						if (8 * n + lane % 4 * 2 + i % 2 >= COUNT)
							score[t][n][i] = -INF_f32;
			}
			if (cut) {
#pragma unroll
				for (int n = 0; n < SCORES; n++)
#pragma unroll
					for (int i = 0; i < 4; i++)
						score[t][n][i] = masked<E, MASK, CAUSAL, ROUNDS>(
						    a, PLAIN || ROUNDS ? score[t][n][i]
								       : score[t][n][i] * a.scale,
						    at[3],
						    first + own + 16 * t + lane / 4 + i / 2 * 8,
						    key + own_key + 8 * n + lane % 4 * 2 + i % 2);
			}
#pragma unroll
			for (int r = 0; r < 2; r++) {
				f32 top = most[t][r], part = 0;
#pragma unroll
				for (int n = 0; n < SCORES; n++)
					top = fmaxf(top, fmaxf(score[t][n][2 * r], score[t][n][2 * r + 1]));
				top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
				top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
				const f32 base = top == -INF_f32 ? 0.0f : top * factor;
				const f32 shrink = power_of_2(most[t][r] * factor - base);
#pragma unroll
				for (int n = 0; n < SCORES; n++)
#pragma unroll
					for (int i = 2 * r; i < 2 * r + 2; i++) {
						score[t][n][i] = power_of_2(
						    __fmaf_rn(score[t][n][i], factor, -base));
						part += score[t][n][i];
					}
				most[t][r] = top;
				total[t][r] = __fmaf_rn(total[t][r], shrink, part);
#pragma unroll
				for (int n = 0; n < SUMS; n++) {
					sum[t][n][2 * r] *= shrink;
					sum[t][n][2 * r + 1] *= shrink;
				}
			}
		}
#pragma unroll
		for (int n = 0; n < SCORES; n += 2) {
			u32 left[GROUPS][4];
#pragma unroll
			for (int t = 0; t < GROUPS; t++)
#pragma unroll
				for (int i = 0; i < 4; i++)
					left[t][i] = tensor<E>::pack(score[t][n + i / 2][i % 2 * 2],
								     score[t][n + i / 2][i % 2 * 2 + 1]);
#pragma unroll
			for (int c = 0; c < SUMS; c += 2) {
				u32 right[4];

				load_turned(right, v + (own_key + 8 * n + lane / 8 % 2 * 8 + lane % 8) * PITCH + 8 * c +
						       lane / 16 * 8);
#pragma unroll
				for (int t = 0; t < GROUPS; t++) {
					tensor<E>::add(sum[t][c], left[t], right[0], right[1]);
					tensor<E>::add(sum[t][c + 1], left[t], right[2], right[3]);
				}
			}
		}
	}
	copies_wait();
	__syncthreads();
	if (SPLIT && (MT == 0 || a.parts > 1)) {
		const int held = a.rows < ROWS ? (int)a.rows : ROWS;
		const int rows = a.rows - first < ROWS ? (int)(a.rows - first) : ROWS;
		f32 *const left = left_of(a, all_tiles, part, held, D), *const near = (f32 *)k;
		f32 *const mine = MT ? left : near + warp * 16 * (D + 2);
		f32 *const tops = mine + (MT ? held : 16) * D;

#pragma unroll
		for (int t = 0; t < GROUPS; t++)
#pragma unroll
			for (int r = 0; r < 2; r++) {
				const int row = own + 16 * t + 8 * r + lane / 4;
				f32 all = total[t][r];

				all += __shfl_xor_sync(~0u, all, 1);
				all += __shfl_xor_sync(~0u, all, 2);
				if (first + row >= a.rows)
					continue;
				tops[2 * row] = most[t][r] * factor;
				tops[2 * row + 1] = all;
#pragma unroll
				for (int n = 0; n < SUMS; n++)
#pragma unroll
					for (int i = 0; i < 2; i++)
						if (8 * n + lane % 4 * 2 + i < D)
							mine[row * D + 8 * n + lane % 4 * 2 + i] =
							    sum[t][n][2 * r + i];
			}
		if (MT == 0) {
			__syncthreads();
			join_warps<D>(near, left, held, rows);
		}
		attend_parts<E, D, ROWS, EMPTY>(a, all_tiles, held, rows,
						(mem *)a.out.at + at[4] + first * a.out.row);
		return;
	}
	// By way of the warp's own rows of Q, so that rows are written 16 bytes at a time.
#pragma unroll
	for (int t = 0; t < GROUPS; t++)
#pragma unroll
		for (int r = 0; r < 2; r++) {
			f32 all = total[t][r];

			all += __shfl_xor_sync(~0u, all, 1);
			all += __shfl_xor_sync(~0u, all, 2);
			const f32 share = share_of<EMPTY>(a, all);
#pragma unroll
			for (int n = 0; n < SUMS; n++)
				*(u32 *)(q + (own + 16 * t + 8 * r + lane / 4) * PITCH + 8 * n + lane % 4 * 2) =
				    tensor<E>::pack(sum[t][n][2 * r] * share, sum[t][n][2 * r + 1] * share);
		}
	__syncwarp();
	mem *const to = (mem *)a.out.at + at[4] + (first + own) * a.out.row;
	const i64 rows = a.rows - first - own;
	if (!a.wide) {
#pragma unroll 1
		for (int i = lane; i < 16 * GROUPS * D; i += 32)
			if (i / D < rows)
				to[i / D * a.out.row + i % D] = q[(own + i / D) * PITCH + i % D];
		return;
	}
#pragma unroll
	for (int i = lane; i < 16 * GROUPS * (COLUMNS / 8); i += 32) {
		const int row = i / (COLUMNS / 8), column = i % (COLUMNS / 8) * 8;

		if (row < rows && column < D)
			*(pack<u32, 4> *)(to + row * a.out.row + column) =
			    *(const pack<u32, 4> *)(q + (own + row) * PITCH + column);
	}
}

// float32, by plain products: half a warp shares RM rows, a thread has every sixteenth key and
// column of them.
template <int D, int RM, int MASK, bool CAUSAL, bool EMPTY>
WORD void attend_rows(const attention_args &a)
{
	constexpr int COLUMNS = (D + 15) / 16 * 16, PITCH = COLUMNS + 4, ROWS = ATTEND_THREADS / 16 * RM;
	constexpr int KEYS = ATTEND_KEYS, SCORES = KEYS / 16, SUMS = COLUMNS / 16, P = KEYS + 4;
	extern __shared__ __align__(16) char attended[];
	f32 *const q = (f32 *)attended, *const k = q + ROWS * PITCH, *const v = k + KEYS * PITCH;
	const int x = threadIdx.x % 16, own = threadIdx.x / 16 * RM;
	f32 *const p = v + KEYS * PITCH + own * P;
	const u32 tile = blockIdx.x % a.tiles;
	const i64 first = (i64)(CAUSAL ? a.tiles - 1 - tile : tile) * ROWS;
	const i64 last = last_key<CAUSAL>(a, first, ROWS);
	f32 sum[RM][SUMS] = {}, most[RM], total[RM] = {};
	i64 at[5];

	seek(a.batch, blockIdx.x / a.tiles, at);
#pragma unroll
	for (int r = 0; r < RM; r++)
		most[r] = -INF_f32;
	load_tile<f32, D, ROWS, COLUMNS, PITCH>(q, (const f32 *)a.q.at + at[0] + first * a.q.row, a.q,
						a.rows - first, a.wide);
#pragma unroll 1
	for (i64 key = 0; key < last; key += KEYS) {
		f32 score[RM][SCORES] = {};

		__syncthreads();
		load_tile<f32, D, KEYS, COLUMNS, PITCH>(k, (const f32 *)a.k.at + at[1] + key * a.k.row, a.k,
							a.keys - key, a.wide);
		load_tile<f32, D, KEYS, COLUMNS, PITCH>(v, (const f32 *)a.v.at + at[2] + key * a.v.row, a.v,
							a.keys - key, a.wide);
		copies_wait();
		__syncthreads();
#pragma unroll 4
		for (int c = 0; c < COLUMNS; c += 4) {
			pack<f32, 4> left[RM];
#pragma unroll
			for (int r = 0; r < RM; r++)
				left[r] = *(const pack<f32, 4> *)(q + (own + r) * PITCH + c);
#pragma unroll
			for (int n = 0; n < SCORES; n++) {
				const pack<f32, 4> right = *(const pack<f32, 4> *)(k + (x + 16 * n) * PITCH + c);
#pragma unroll
				for (int r = 0; r < RM; r++)
#pragma unroll
					for (int i = 0; i < 4; i++)
						score[r][n] = __fmaf_rn(left[r].v[i], right.v[i], score[r][n]);
			}
		}
#pragma unroll
		for (int r = 0; r < RM; r++) {
			f32 top = most[r], part = 0;
#pragma unroll
			for (int n = 0; n < SCORES; n++) {
				score[r][n] = masked<E_f32, MASK, CAUSAL, false>(a, score[r][n] * a.scale, at[3],
										 first + own + r, key + x + 16 * n);
				top = fmaxf(top, score[r][n]);
			}
#pragma unroll
			for (int i = 1; i < 16; i *= 2)
				top = fmaxf(top, __shfl_xor_sync(~0u, top, i));
			const f32 base = top == -INF_f32 ? 0.0f : top;
			const f32 shrink = v_exp_f32(most[r] - base);
#pragma unroll
			for (int n = 0; n < SCORES; n++) {
				score[r][n] = v_exp_f32(score[r][n] - base);
				part += score[r][n];
				p[r * P + x + 16 * n] = score[r][n];
			}
			most[r] = top;
			total[r] = __fmaf_rn(total[r], shrink, part);
#pragma unroll
			for (int n = 0; n < SUMS; n++)
				sum[r][n] *= shrink;
		}
		__syncwarp();
#pragma unroll 4
		for (int c = 0; c < KEYS; c += 4) {
			pack<f32, 4> left[RM];
#pragma unroll
			for (int r = 0; r < RM; r++)
				left[r] = *(const pack<f32, 4> *)(p + r * P + c);
#pragma unroll
			for (int i = 0; i < 4; i++)
#pragma unroll
				for (int n = 0; n < SUMS; n++) {
					const f32 right = v[(c + i) * PITCH + x + 16 * n];
#pragma unroll
					for (int r = 0; r < RM; r++)
						sum[r][n] = __fmaf_rn(left[r].v[i], right, sum[r][n]);
				}
		}
		__syncwarp();
	}
	copies_wait();
	f32 *const to = (f32 *)a.out.at + at[4];
#pragma unroll
	for (int r = 0; r < RM; r++) {
		f32 all = total[r];

#pragma unroll
		for (int i = 1; i < 16; i *= 2)
			all += __shfl_xor_sync(~0u, all, i);
		const f32 share = share_of<EMPTY>(a, all);
#pragma unroll
		for (int n = 0; n < SUMS; n++)
			if (first + own + r < a.rows && x + 16 * n < D)
				to[(first + own + r) * a.out.row + x + 16 * n] = sum[r][n] * share;
	}
}

// ---- its gradients: of q, k and v, one below the other
//
// No score is in memory here either.  A block with a tile of rows walks the keys twice: for the
// largest score and the sum of powers of each row, which it leaves as one number (`shift`: a power
// less it is its share), then for the rows' gradient.  A block with a tile of keys walks the rows
// for the gradients of both keys and values.  So sums come in one order, and no two blocks add to
// one place.  `slope` of a row is the sum of gradient times result.

// Scores of 16 rows of `own` with KEYS rows of `other`, both in shared memory.
template <class E, int COLUMNS, int PITCH, int KEYS>
WORD void meet(f32 (&score)[KEYS / 8][4], const typename E::mem *own, const typename E::mem *other)
{
	const int lane = threadIdx.x & 31;

#pragma unroll
	for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
		for (int i = 0; i < 4; i++)
			score[n][i] = 0;
#pragma unroll
	for (int c = 0; c < COLUMNS; c += 16) {
		u32 left[4];

		load_matrices(left, own + lane % 16 * PITCH + c + lane / 16 * 8);
#pragma unroll
		for (int n = 0; n < KEYS / 8; n += 2) {
			u32 right[4];

			load_matrices(right, other + (8 * n + lane / 16 * 8 + lane % 8) * PITCH + c +
						 lane / 8 % 2 * 8);
			tensor<E>::add(score[n], left, right[0], right[1]);
			tensor<E>::add(score[n + 1], left, right[2], right[3]);
		}
	}
}

// sum += weight (16 x KEYS, rounded to E) times KEYS rows of `other`.
template <class E, int COLUMNS, int PITCH, int KEYS>
WORD void weigh(f32 (&sum)[COLUMNS / 8][4], const f32 (&weight)[KEYS / 8][4], const typename E::mem *other)
{
	const int lane = threadIdx.x & 31;

#pragma unroll
	for (int n = 0; n < KEYS / 8; n += 2) {
		u32 left[4];
#pragma unroll
		for (int i = 0; i < 4; i++)
			left[i] = tensor<E>::pack(weight[n + i / 2][i % 2 * 2], weight[n + i / 2][i % 2 * 2 + 1]);
#pragma unroll
		for (int c = 0; c < COLUMNS / 8; c += 2) {
			u32 right[4];

			load_turned(right, other + (8 * n + lane / 8 % 2 * 8 + lane % 8) * PITCH + 8 * c +
					       lane / 16 * 8);
			tensor<E>::add(sum[c], left, right[0], right[1]);
			tensor<E>::add(sum[c + 1], left, right[2], right[3]);
		}
	}
}

// A power of 2: the score of a row and a key.
template <class E, int MASK, bool CAUSAL>
WORD f32 power_at(const attention_args &a, f32 score, bool cut, i64 mask_at, i64 row, i64 key)
{
	const f32 log2_e = 1.44269504f;

	return cut ? log2_e * masked<E, MASK, CAUSAL, false>(a, score * a.scale, mask_at, row, key)
		   : score * (a.scale * log2_e);
}

// 16 rows of a warp from registers to memory, by way of `own` rows of shared memory.
template <class E, int D, int COLUMNS, int PITCH>
WORD void store_rows(const attention_back_args &b, const f32 (&sum)[COLUMNS / 8][4], f32 scale,
		     typename E::mem *own, typename E::mem *to, i64 rows)
{
	const int lane = threadIdx.x & 31;

#pragma unroll
	for (int r = 0; r < 2; r++)
#pragma unroll
		for (int n = 0; n < COLUMNS / 8; n++)
			*(u32 *)(own + (8 * r + lane / 4) * PITCH + 8 * n + lane % 4 * 2) =
			    tensor<E>::pack(sum[n][2 * r] * scale, sum[n][2 * r + 1] * scale);
	__syncwarp();
	if (!b.out_wide) {
#pragma unroll 1
		for (int i = lane; i < 16 * D; i += 32)
			if (i / D < rows)
				to[i / D * D + i % D] = own[i / D * PITCH + i % D];
		return;
	}
#pragma unroll
	for (int i = lane; i < 16 * (COLUMNS / 8); i += 32) {
		const int row = i / (COLUMNS / 8), column = i % (COLUMNS / 8) * 8;

		if (row < rows && column < D)
			*(pack<u32, 4> *)(to + row * D + column) = *(const pack<u32, 4> *)(own + row * PITCH + column);
	}
}

template <class E, int D, int MASK, bool CAUSAL> WORD void attend_back_rows(const attention_back_args &b)
{
	typedef typename E::mem mem;
	constexpr int COLUMNS = (D + 15) / 16 * 16, PITCH = COLUMNS + 8, KEYS = ATTEND_KEYS, ROWS = 64;
	extern __shared__ __align__(16) char attended[];
	mem *const q = (mem *)attended, *const g = q + ROWS * PITCH, *const k = g + ROWS * PITCH;
	mem *const v = k + KEYS * PITCH;
	const attention_args &a = b.a;
	const int lane = threadIdx.x & 31, own = threadIdx.x / 32 * 16;
	const u32 tile = blockIdx.x % a.tiles, matrix = blockIdx.x / a.tiles;
	const i64 first = (i64)(CAUSAL ? a.tiles - 1 - tile : tile) * ROWS;
	const i64 last = last_key<CAUSAL>(a, first, ROWS);
	f32 score[KEYS / 8][4], sum[COLUMNS / 8][4] = {}, most[2] = { -INF_f32, -INF_f32 }, total[2] = {};
	f32 shift[2], slope[2] = {};
	i64 at[5], more[2];

	seek(a.batch, matrix, at);
	seek(b.more, matrix, more);
	const mem *const k_from = (const mem *)a.k.at + at[1], *const v_from = (const mem *)a.v.at + at[2];
	load_tile<mem, D, ROWS, COLUMNS, PITCH>(q, (const mem *)a.q.at + at[0] + first * a.q.row, a.q,
						a.rows - first, a.wide);
	load_tile<mem, D, ROWS, COLUMNS, PITCH>(g, (const mem *)b.g.at + more[0] + first * b.g.row, b.g,
						a.rows - first, a.wide);
#pragma unroll 1
	for (i64 key = 0; key < last; key += KEYS) {
		const bool cut = MASK != ATTEND_NO_MASK || key + KEYS > a.keys || (CAUSAL && key + KEYS > first);

		__syncthreads();
		load_tile<mem, D, KEYS, COLUMNS, PITCH>(k, k_from + key * a.k.row, a.k, a.keys - key, a.wide);
		copies_wait();
		__syncthreads();
		meet<E, COLUMNS, PITCH, KEYS>(score, q + own * PITCH, k);
#pragma unroll
		for (int r = 0; r < 2; r++) {
			f32 top = most[r], part = 0;
#pragma unroll
			for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
				for (int i = 2 * r; i < 2 * r + 2; i++) {
					score[n][i] = power_at<E, MASK, CAUSAL>(
					    a, score[n][i], cut, at[3], first + own + lane / 4 + 8 * r,
					    key + 8 * n + lane % 4 * 2 + i % 2);
					top = fmaxf(top, score[n][i]);
				}
			top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
			top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
			const f32 base = top == -INF_f32 ? 0.0f : top;
#pragma unroll
			for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
				for (int i = 2 * r; i < 2 * r + 2; i++)
					part += power_of_2(score[n][i] - base);
			total[r] = __fmaf_rn(total[r], power_of_2(most[r] - base), part);
			most[r] = top;
		}
	}
	copies_wait();
	__syncthreads(); // of a tile without keys: its rows are there
#pragma unroll
	for (int r = 0; r < 2; r++) {
		const int row = own + 8 * r + lane / 4;
		const mem *const o = (const mem *)b.o.at + more[1] + (first + row) * b.o.row;

		total[r] += __shfl_xor_sync(~0u, total[r], 1);
		total[r] += __shfl_xor_sync(~0u, total[r], 2);
		for (int c = lane % 4; c < D && first + row < a.rows; c += 4)
			slope[r] = __fmaf_rn(E::get(g[row * PITCH + c]), E::get(o[c * b.o.column]), slope[r]);
		slope[r] += __shfl_xor_sync(~0u, slope[r], 1);
		slope[r] += __shfl_xor_sync(~0u, slope[r], 2);
		// Of a row without a key no power is left.
		shift[r] = total[r] > 0 ? most[r] + log2f(total[r]) : total[r] == 0 ? INF_f32 : total[r];
		if (lane % 4 == 0 && first + row < a.rows) {
			b.shift[matrix * a.rows + first + row] = shift[r];
			b.slope[matrix * a.rows + first + row] = slope[r];
		}
	}
#pragma unroll 1
	for (i64 key = 0; key < last; key += KEYS) {
		const bool cut = MASK != ATTEND_NO_MASK || key + KEYS > a.keys || (CAUSAL && key + KEYS > first);
		f32 change[KEYS / 8][4];

		__syncthreads();
		load_tile<mem, D, KEYS, COLUMNS, PITCH>(k, k_from + key * a.k.row, a.k, a.keys - key, a.wide);
		load_tile<mem, D, KEYS, COLUMNS, PITCH>(v, v_from + key * a.v.row, a.v, a.keys - key, a.wide);
		copies_wait();
		__syncthreads();
		meet<E, COLUMNS, PITCH, KEYS>(score, q + own * PITCH, k);
		meet<E, COLUMNS, PITCH, KEYS>(change, g + own * PITCH, v);
#pragma unroll
		for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
			for (int i = 0; i < 4; i++) {
				const f32 power = power_at<E, MASK, CAUSAL>(
				    a, score[n][i], cut, at[3], first + own + lane / 4 + i / 2 * 8,
				    key + 8 * n + lane % 4 * 2 + i % 2);

				score[n][i] = power_of_2(power - shift[i / 2]) * (change[n][i] - slope[i / 2]);
			}
		weigh<E, COLUMNS, PITCH, KEYS>(sum, score, k);
	}
	__syncthreads();
	store_rows<E, D, COLUMNS, PITCH>(b, sum, a.scale, q + own * PITCH,
					 (mem *)a.out.at + at[4] + (first + own) * D, a.rows - first - own);
}

template <class E, int D, int MASK, bool CAUSAL> WORD void attend_back_keys(const attention_back_args &b)
{
	typedef typename E::mem mem;
	constexpr int COLUMNS = (D + 15) / 16 * 16, PITCH = COLUMNS + 8, KEYS = ATTEND_KEYS, ROWS = 64;
	extern __shared__ __align__(16) char attended[];
	__shared__ f32 shift[ROWS], slope[ROWS];
	mem *const q = (mem *)attended, *const g = q + ROWS * PITCH, *const k = g + ROWS * PITCH;
	mem *const v = k + KEYS * PITCH;
	const attention_args &a = b.a;
	const int lane = threadIdx.x & 31, own = threadIdx.x / 32 * 16;
	const u32 matrix = blockIdx.x / b.key_tiles;
	const i64 first = (i64)(blockIdx.x % b.key_tiles) * KEYS;
	f32 score[ROWS / 8][4], change[ROWS / 8][4], keys[COLUMNS / 8][4] = {}, values[COLUMNS / 8][4] = {};
	i64 at[5], more[2];

	seek(a.batch, matrix, at);
	seek(b.more, matrix, more);
	const mem *const q_from = (const mem *)a.q.at + at[0], *const g_from = (const mem *)b.g.at + more[0];
	load_tile<mem, D, KEYS, COLUMNS, PITCH>(k, (const mem *)a.k.at + at[1] + first * a.k.row, a.k,
						a.keys - first, a.wide);
	load_tile<mem, D, KEYS, COLUMNS, PITCH>(v, (const mem *)a.v.at + at[2] + first * a.v.row, a.v,
						a.keys - first, a.wide);
#pragma unroll 1
	for (i64 row = CAUSAL ? first / ROWS * ROWS : 0; row < a.rows; row += ROWS) {
		const bool cut = MASK != ATTEND_NO_MASK || first + KEYS > a.keys || row + ROWS > a.rows ||
				 (CAUSAL && first + KEYS > row);

		__syncthreads();
		load_tile<mem, D, ROWS, COLUMNS, PITCH>(q, q_from + row * a.q.row, a.q, a.rows - row, a.wide);
		load_tile<mem, D, ROWS, COLUMNS, PITCH>(g, g_from + row * b.g.row, b.g, a.rows - row, a.wide);
		if (threadIdx.x < ROWS) {
			const bool there = row + threadIdx.x < a.rows;

			shift[threadIdx.x] = there ? b.shift[matrix * a.rows + row + threadIdx.x] : INF_f32;
			slope[threadIdx.x] = there ? b.slope[matrix * a.rows + row + threadIdx.x] : 0.0f;
		}
		copies_wait();
		__syncthreads();
		meet<E, COLUMNS, PITCH, ROWS>(score, k + own * PITCH, q);
#pragma unroll
		for (int n = 0; n < ROWS / 8; n++)
#pragma unroll
			for (int i = 0; i < 4; i++) {
				const int of = 8 * n + lane % 4 * 2 + i % 2;
				const f32 power = power_at<E, MASK, CAUSAL>(
				    a, score[n][i], cut, at[3], row + of, first + own + lane / 4 + i / 2 * 8);

				score[n][i] = power_of_2(power - shift[of]);
			}
		weigh<E, COLUMNS, PITCH, ROWS>(values, score, g);
		meet<E, COLUMNS, PITCH, ROWS>(change, v + own * PITCH, g);
#pragma unroll
		for (int n = 0; n < ROWS / 8; n++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				score[n][i] *= change[n][i] - slope[8 * n + lane % 4 * 2 + i % 2];
		weigh<E, COLUMNS, PITCH, ROWS>(keys, score, q);
	}
	copies_wait();
	__syncthreads();
	mem *const to = (mem *)a.out.at + at[4] + (a.rows + first + own) * D;
	store_rows<E, D, COLUMNS, PITCH>(b, keys, a.scale, k + own * PITCH, to, a.keys - first - own);
	store_rows<E, D, COLUMNS, PITCH>(b, values, 1, v + own * PITCH, to + a.keys * D, a.keys - first - own);
}
