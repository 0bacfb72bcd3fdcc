// tests/cuda/emulator/emulate.hpp -- CUDA C as C++ of the host: the threads of a block take turns.
//
// Put in front of a module's text by emulate.py.  A thread runs until it waits for others
// (__syncthreads, a shuffle); blocks run one after another.  Each thread has a stack of its own, which the
// next block's thread of that number goes on with.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using std::isnan;
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__

struct dim3_ {
	unsigned x, y, z;
};
static dim3_ threadIdx, blockIdx, blockDim, gridDim;
static char *emulated_shared;

namespace emulated {
enum { STACK = 128 << 10, MOST = 1024 };
struct fiber {
	void *stack; // where it waits, NULL: it has none yet
	dim3_ index;
	bool done;
	int waits; // barriers that it has come to
};
static fiber fibers[MOST];
static char *stacks[MOST]; // kept from launch to launch, until the kernel is unloaded

__attribute__((destructor)) static void free_stacks()
{
	for (char *stack : stacks)
		free(stack);
}

static void *scheduler;
static fiber *now;
static int threads, block_waiting, block_round;
static int warp_waiting[MOST / 32 + 1], warp_round[MOST / 32 + 1];
static void (*body)(void **);
static void **params;

// Leaves a stack, whose place it keeps, for another (x86-64 System V: a call changes no other register that counts).
extern "C" void emulated_switch(void **from, void *to);
asm(".pushsection .text\n"
    ".local emulated_switch\n"
    ".type emulated_switch, @function\n"
    "emulated_switch:\n"
    "	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
    "	mov %rsp, (%rdi)\n"
    "	mov %rsi, %rsp\n"
    "	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	pop %rbp\n"
    "	ret\n"
    ".popsection\n");

static inline int number() { return int(now - fibers); }
static inline void yield()
{
	emulated_switch(&now->stack, scheduler);
	threadIdx = now->index;
}
static inline int live(int first, int last)
{
	int n = 0;

	for (int i = first; i < last && i < threads; i++)
		n += !fibers[i].done;
	return n;
}
static inline void barrier(int first, int last, int &waiting, int &round)
{
	const int mine = round;

	if (++waiting >= live(first, last)) {
		waiting = 0;
		round++;
		return;
	}
	while (round == mine) {
		if (waiting >= live(first, last)) { // others have ended meanwhile
			waiting = 0;
			round++;
			return;
		}
		yield();
	}
}
static inline void warp_barrier()
{
	const int w = number() / 32;

	barrier(32 * w, 32 * w + 32, warp_waiting[w], warp_round[w]);
}
// A thread, of one block after the other.
static void enter()
{
	for (;;) {
		body(params);
		now->done = true;
		yield();
	}
}
// What emulated_switch() finds on a stack that was never left: six registers, and enter() to return to.
static void begin_stack(int i)
{
	stacks[i] = (char *)aligned_alloc(16, STACK);
	void **top = (void **)(stacks[i] + STACK) - 1; // a function is entered 8 bytes off 16

	*top = nullptr;
	*--top = (void *)enter;
	for (int k = 0; k < 6; k++)
		*--top = nullptr;
	fibers[i].stack = top;
}
static void run_block()
{
	threads = int(blockDim.x * blockDim.y * blockDim.z);
	block_waiting = 0;
	memset(warp_waiting, 0, sizeof(warp_waiting));
	for (int i = 0; i < threads; i++) {
		fiber &f = fibers[i];

		if (!f.stack)
			begin_stack(i);
		f.done = false;
		f.index = { unsigned(i) % blockDim.x, unsigned(i) / blockDim.x % blockDim.y,
			    unsigned(i) / blockDim.x / blockDim.y };
	}
	for (bool left = true; left;) {
		left = false;
		for (int i = 0; i < threads; i++) {
			if (fibers[i].done)
				continue;
			left = true;
			now = &fibers[i];
			threadIdx = now->index;
			emulated_switch(&scheduler, now->stack);
		}
	}
}
static char exchanged[MOST][16];
template <class T> static inline T shuffle(T x, int from)
{
	const int n = number();
	T got;

	memcpy(exchanged[n], &x, sizeof(T));
	warp_barrier();
	memcpy(&got, exchanged[n / 32 * 32 + (from & 31)], sizeof(T));
	warp_barrier();
	return got;
}
// What f says of each lane's x, as a mask.
template <class T, class F> static inline unsigned lanes_where(T x, F f)
{
	const int n = number();
	unsigned those = 0;

	memcpy(exchanged[n], &x, sizeof(T));
	warp_barrier();
	for (int i = 0; i < 32; i++) {
		T other;

		memcpy(&other, exchanged[n / 32 * 32 + i], sizeof(T));
		those |= unsigned(f(other)) << i;
	}
	warp_barrier();
	return those;
}
} // namespace emulated

extern "C" void emulated_launch(void (*body)(void **), void **params, const unsigned *grid,
				const unsigned *block, unsigned shared)
{
	emulated::body = body;
	emulated::params = params;
	gridDim = { grid[0], grid[1], grid[2] };
	blockDim = { block[0], block[1], block[2] };
	emulated_shared = (char *)aligned_alloc(64, (shared + 127) / 64 * 64);
	for (blockIdx.z = 0; blockIdx.z < grid[2]; blockIdx.z++)
		for (blockIdx.y = 0; blockIdx.y < grid[1]; blockIdx.y++)
			for (blockIdx.x = 0; blockIdx.x < grid[0]; blockIdx.x++)
				emulated::run_block();
	free(emulated_shared);
}

static inline void __syncthreads()
{
	emulated::barrier(0, emulated::threads, emulated::block_waiting, emulated::block_round);
}
static inline void __syncwarp(unsigned = ~0u) { emulated::warp_barrier(); }
static inline void __threadfence() {}
static inline void __threadfence_system() {}
template <class T> static inline T __shfl_sync(unsigned, T x, int from) { return emulated::shuffle(x, from); }
template <class T> static inline T __shfl_xor_sync(unsigned, T x, int with)
{
	return emulated::shuffle(x, (emulated::number() & 31) ^ with);
}
static inline unsigned __match_any_sync(unsigned, unsigned long long x)
{
	return emulated::lanes_where(x, [=](unsigned long long other) { return other == x; });
}
static inline unsigned __ballot_sync(unsigned, bool x)
{
	return emulated::lanes_where(x, [](bool other) { return other; });
}
static inline bool __any_sync(unsigned lanes, bool x) { return __ballot_sync(lanes, x) != 0; }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
template <class T> static inline T atomicAdd(T *at, T value)
{
	const T old = *at;

	*at = old + value;
	return old;
}
// What attention.cu has of tensor cores and asynchronous copies.
#define EMULATED
static inline void emulated_copy_16(void *to, const void *from, bool there)
{
	static const char zeros[16] = {};

	memcpy(to, there ? from : zeros, 16);
}
// What all lanes of a warp show, until all have looked.
template <class T, class F> static inline void emulated_together(const T &mine, F look)
{
	static T shown[emulated::MOST];
	const int n = emulated::number();

	shown[n] = mine;
	emulated::warp_barrier();
	look(shown + n / 32 * 32, n & 31);
	emulated::warp_barrier();
}
static inline void emulated_matrices(unsigned (&to)[4], const void *row, bool turned)
{
	emulated_together(row, [&](const void *const *rows, int lane) {
		for (int i = 0; i < 4; i++) {
			unsigned pair[2];

			for (int j = 0; j < 2; j++) {
				const int down = turned ? lane % 4 * 2 + j : lane / 4;
				const int across = turned ? lane / 4 : lane % 4 * 2 + j;

				pair[j] = ((const unsigned short *)rows[8 * i + down])[across];
			}
			to[i] = pair[0] | pair[1] << 16;
		}
	});
}
// The layout of mma.m16n8k16: lane l has rows l / 4 and l / 4 + 8 of a, column l / 4 of b.
struct emulated_fragments {
	unsigned a[4], b[2];
};
template <class G>
static inline void emulated_product(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, G get)
{
	const emulated_fragments mine = { { a[0], a[1], a[2], a[3] }, { b0, b1 } };

	emulated_together(mine, [&](const emulated_fragments *all, int lane) {
		for (int i = 0; i < 4; i++) {
			const int column = lane % 4 * 2 + i % 2;
			float add = 0;

			for (int k = 0; k < 16; k++) {
				const int owner = k % 8 / 2, high = k % 2 * 16;

				add += get((unsigned short)(all[lane / 4 * 4 + owner].a[i / 2 + k / 8 * 2] >> high)) *
				       get((unsigned short)(all[column * 4 + owner].b[k / 8] >> high));
			}
			sum[i] += add;
		}
	});
}
template <class T> static inline T atomicCAS(T *at, T expected, T value)
{
	const T old = *at;

	if (old == expected)
		*at = value;
	return old;
}
template <class T> static inline T atomicExch(T *at, T value)
{
	const T old = *at;

	*at = value;
	return old;
}
static inline unsigned atomicMax(unsigned *at, unsigned value)
{
	const unsigned old = *at;

	*at = old > value ? old : value;
	return old;
}
static inline unsigned atomicInc(unsigned *at, unsigned most)
{
	const unsigned old = *at;

	*at = old >= most ? 0 : old + 1;
	return old;
}
template <class T, class F> static inline T same_bits(F x)
{
	T y;

	static_assert(sizeof(T) == sizeof(F), "bits");
	memcpy(&y, &x, sizeof(y));
	return y;
}
struct uint4 {
	unsigned x, y, z, w;
};
static inline float __int_as_float(int x) { return same_bits<float>(x); }
static inline float __uint_as_float(unsigned x) { return same_bits<float>(x); }
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by)
{
	return (unsigned)(((unsigned long long)high << 32 | low) << (by & 31) >> 32);
}
static inline unsigned __float_as_uint(float x) { return same_bits<unsigned>(x); }
static inline double __longlong_as_double(long long x) { return same_bits<double>(x); }
static inline long long __double_as_longlong(double x) { return same_bits<long long>(x); }
/* The host's library has functions of these names. */
#define __sincosf fast_sincosf
#define __logf fast_logf
#define __expf fast_expf
#define __tanf fast_tanf
#define sincospi both_of_pi
static inline void __sincosf(float x, float *s, float *c)
{
	*s = sinf(x);
	*c = cosf(x);
}
static inline float __logf(float x) { return logf(x); }
static inline float __expf(float x) { return expf(x); }
static inline float __tanf(float x) { return tanf(x); }
static inline void sincospi(double x, double *s, double *c)
{
	*s = sin(3.14159265358979323846 * x);
	*c = cos(3.14159265358979323846 * x);
}
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
template <class T> static inline T min(T a, T b) { return a < b ? a : b; }
template <class T> static inline T max(T a, T b) { return a > b ? a : b; }

// float16, to nearest, ties to even (what cvt of PTX does).
static inline float emulated_half_to_f32(unsigned short h)
{
	const int exponent = h >> 10 & 31, fraction = h & 1023;
	const float sign = h >> 15 ? -1.0f : 1.0f;

	if (exponent == 31)
		return fraction ? NAN : sign * INFINITY;
	return sign * (exponent ? ldexpf(float(1024 + fraction), exponent - 25) : ldexpf(float(fraction), -24));
}
static inline unsigned short emulated_f32_to_half(float x)
{
	const unsigned short sign = std::signbit(x) ? 0x8000 : 0;
	int exponent;

	x = fabsf(x);
	if (x != x)
		return 0x7fff;
	if (x >= 65520.0f)
		return sign | 0x7c00;
	if (x < 6.103515625e-05f)
		return sign | (unsigned short)lrint(ldexp(double(x), 24));
	frexpf(x, &exponent);
	const unsigned fraction = unsigned(lrint(ldexp(double(x), 11 - exponent)));
	return sign | (unsigned short)((unsigned(exponent + 14) << 10) + fraction - 1024);
}
