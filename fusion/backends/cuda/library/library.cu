// fusion/backends/cuda/library/library.cu -- what the kernels of ops with a function of their own
// have in common: elements, walks, faults.  Comes after intrinsics.cu and args.h.
#define ELEMENT(name, in_memory, in_register, is_float, from, to)                                  \
	struct name {                                                                              \
		typedef in_memory mem;                                                             \
		typedef in_register wide;                                                          \
		static constexpr bool floats = is_float;                                           \
		WORD wide get(mem x) { return from; }                                              \
		WORD mem put(wide x) { return to; }                                                \
	};
ELEMENT(E_f32, f32, f32, true, x, x)
ELEMENT(E_f64, f64, f64, true, x, x)
ELEMENT(E_f16, unsigned short, f32, true, half_to_f32(x), f32_to_half(x))
ELEMENT(E_bf16, unsigned short, f32, true, bfloat_to_f32(x), f32_to_bfloat(x))
ELEMENT(E_i64, i64, i64, false, x, x)
ELEMENT(E_i32, int, i64, false, x, (int)x)
ELEMENT(E_i16, short, i64, false, x, (short)x)
ELEMENT(E_i8, signed char, i64, false, x, (signed char)x)
ELEMENT(E_u8, unsigned char, i64, false, x, (unsigned char)x)
ELEMENT(E_bool, unsigned char, i64, false, x, (unsigned char)(x != 0))

// As C converts, but that a float out of the ints' range is the lowest.
template <class T> WORD f64 as_f64(T x) { return (f64)x; }
template <class E> WORD typename E::mem put_f64(f64 x)
{
	if constexpr (E::floats)
		return E::put((typename E::wide)x);
	else
		return E::put(to_i64(x));
}
template <class E> WORD i64 get_i64(typename E::mem x)
{
	return to_i64(E::get(x));
}

#define EACH_POINT(p, n)                                                                           \
	for (i64 p = (i64)blockIdx.x * blockDim.x + threadIdx.x; p < (n);                          \
	     p += (i64)gridDim.x * blockDim.x)

// Division of 64 bits is a page of code: it is one function, for operands that need it.
static __device__ __noinline__ i64 far_quotient(i64 a, i64 b)
{
	return a / b;
}
WORD i64 quotient(i64 a, i64 b) // of numbers that are not negative
{
	return (a | b) >> 32 ? far_quotient(a, b) : (i64)((u32)a / (u32)b);
}
// i as an index of a dim, and what is left for the dims before it.
WORD i64 take_index(i64 &i, i64 size)
{
	const i64 rest = quotient(i, size), index = i - rest * size;

	i = rest;
	return index;
}

// The offsets of K operands at a point.
template <int K> WORD void seek(const walk_args &w, i64 p, i64 (&at)[K])
{
#pragma unroll
	for (int k = 0; k < K; k++)
		at[k] = 0;
#pragma unroll 1
	for (int d = w.rank - 1; d > 0; d--) {
		const i64 i = take_index(p, w.size[d]);
#pragma unroll
		for (int k = 0; k < K; k++)
			at[k] += i * w.stride[k][d];
	}
#pragma unroll
	for (int k = 0; k < K; k++)
		at[k] += w.rank > 0 ? p * w.stride[k][0] : 0;
}

// Noted once; the host looks when the stream has come so far.
WORD void out_of_bounds(cuda_fault *fault, const void *call, i64 index, i64 size)
{
	if (atomicCAS(&fault->claimed, 0, 1) != 0)
		return;
	fault->call = call;
	fault->index = index;
	fault->size = size;
	__threadfence_system();
	*(volatile int *)&fault->raised = 1;
}
