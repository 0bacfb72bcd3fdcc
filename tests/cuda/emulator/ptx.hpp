// tests/cuda/emulator/ptx.hpp -- the steps of PTX that words.cu has in blocks, on the host.
//
// emulate.py turns "op.type to, from;" into ptx_op_type(to, from).
#include <cfenv>

#include "emulate.hpp"

static bool ptx_carry;

static inline unsigned long long ptx_pair(unsigned low, unsigned high) { return (unsigned long long)high << 32 | low; }
static inline void ptx_fma_rn_f32(float &to, float a, float b, float c) { to = fmaf(a, b, c); }
static inline void ptx_fma_rn_sat_f32(float &to, float a, float b, float c)
{
	const float x = fmaf(a, b, c);

	to = x > 0 ? x < 1 ? x : 1 : 0; // NaN: 0
}
static inline void ptx_fma_rm_f32(float &to, float a, float b, float c)
{
	volatile float x = a;

	fesetround(FE_DOWNWARD);
	to = fmaf(x, b, c);
	fesetround(FE_TONEAREST);
}
static inline void ptx_add_rn_f32(float &to, float a, float b) { to = a + b; }
static inline void ptx_mul_rn_f32(float &to, float a, float b) { to = a * b; }
static inline void ptx_mul_rn_f64(double &to, double a, double b) { to = a * b; }
static inline void ptx_neg_f32(float &to, float a) { to = -a; }
static inline void ptx_ex2_approx_ftz_f32(float &to, float a) { to = exp2f(a); }
static inline void ptx_cvt_rn_f64_s64(double &to, long long a) { to = (double)a; }
static inline void ptx_cvt_rn_f32_f64(float &to, double a) { to = (float)a; }
static inline void ptx_mov_f32(float &to, float a) { to = a; }
template <class To, class From> static inline void ptx_mov_b32(To &to, From a) { memcpy(&to, &a, 4); }
static inline void ptx_mov_u32(unsigned &to, unsigned a) { to = a; }
static inline void ptx_mov_b64(unsigned long long &to, unsigned long long a) { to = a; }
static inline void ptx_ld_b32(unsigned &to, unsigned long long at) { to = *(const unsigned *)at; }

static inline void ptx_and_b32(unsigned &to, unsigned a, unsigned b) { to = a & b; }
static inline void ptx_or_b32(unsigned &to, unsigned a, unsigned b) { to = a | b; }
static inline void ptx_xor_b32(unsigned &to, unsigned a, unsigned b) { to = a ^ b; }
static inline void ptx_shl_b32(unsigned &to, unsigned a, unsigned by) { to = by > 31 ? 0 : a << by; }
static inline void ptx_shr_u32(unsigned &to, unsigned a, unsigned by) { to = by > 31 ? 0 : a >> by; }
static inline void ptx_shf_l_wrap_b32(unsigned &to, unsigned low, unsigned high, unsigned by)
{
	to = __funnelshift_l(low, high, by);
}
static inline void ptx_bfe_u32(unsigned &to, unsigned a, unsigned from, unsigned bits) { to = a >> from & ((1u << bits) - 1); }
static inline void ptx_sub_u32(unsigned &to, unsigned a, unsigned b) { to = a - b; }
static inline void ptx_add_u64(unsigned long long &to, unsigned long long a, unsigned long long b) { to = a + b; }
static inline void ptx_mul_wide_u32(unsigned long long &to, unsigned a, unsigned b) { to = (unsigned long long)a * b; }
static inline void ptx_mul_lo_u32(unsigned &to, unsigned a, unsigned b) { to = a * b; }
static inline void ptx_mul_hi_u32(unsigned &to, unsigned a, unsigned b)
{
	to = (unsigned)((unsigned long long)a * b >> 32);
}
static inline void ptx_mad_lo_u32(unsigned &to, unsigned a, unsigned b, unsigned c) { to = a * b + c; }
static inline void ptx_mad_lo_cc_u32(unsigned &to, unsigned a, unsigned b, unsigned c)
{
	to = a * b + c;
	ptx_carry = to < c;
}
static inline void ptx_madc_hi_u32(unsigned &to, unsigned a, unsigned b, unsigned c)
{
	to = (unsigned)((unsigned long long)a * b >> 32) + c + ptx_carry;
}
static inline void ptx_setp_ne_s32(bool &to, int a, int b) { to = a != b; }
static inline void ptx_selp_b32(unsigned &to, unsigned yes, unsigned no, bool p) { to = p ? yes : no; }
