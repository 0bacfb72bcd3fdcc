// fusion/backends/cuda/library/create.cu -- elements by their place; sums of products of any
// layout, and a bias; the loss of classes.

template <class E> WORD typename E::mem put_i64(i64 x)
{
	return E::put((typename E::wide)x);
}

template <class E> WORD void count_up(const create_args &a)
{
	EACH_POINT(i, a.points)
		((typename E::mem *)a.out)[i] =
		    a.exact ? put_i64<E>((i64)((unsigned long long)a.start_int +
					       (unsigned long long)a.by_int * (unsigned long long)i))
			    : put_f64<E>(a.start + a.by * (f64)i);
}
// From both ends: the last element is the end itself.
template <class E> WORD void count_between(const create_args &a)
{
	EACH_POINT(i, a.points)
		((typename E::mem *)a.out)[i] =
		    put_f64<E>(i < (a.points + 1) / 2 ? a.start + a.by * (f64)i
						      : a.end - a.by * (f64)(a.points - 1 - i));
}
template <class E> WORD void diagonal_ones(const create_args &a)
{
	EACH_POINT(i, a.points)
		((typename E::mem *)a.out)[i] = put_i64<E>(quotient(i, a.columns) * (a.columns + 1) == i);
}
template <class T, bool LOWER> WORD void triangle(const create_args &a)
{
	EACH_POINT(i, a.points) {
		i64 row = i, above;
		const i64 column = take_index(row, a.columns);
		above = row;
		const i64 last = take_index(above, a.height) + a.diagonal;
		i64 from[1];

		seek(a.rows, row, from);
		((T *)a.out)[i] = (LOWER ? column <= last : column >= last)
				      ? ((const T *)a.in)[from[0] + column * a.step]
				      : (T)0;
	}
}

// What a product of rows has written, and a bias for each column.
template <class E> WORD void add_bias(const create_args &a)
{
	EACH_POINT(i, a.points) {
		i64 rest = i;
		const i64 column = take_index(rest, a.columns);
		typename E::mem &at = ((typename E::mem *)a.out)[rest * a.height + column];

		at = E::put(E::get(at) + E::get(((const typename E::mem *)a.in)[column * a.step]));
	}
}

// C is the type that products are added in.
template <class A, class B, class Y, class C> WORD void add_products(const sum_args &s)
{
	EACH_POINT(p, s.points) {
		i64 at[3] = { 0, 0, 0 }, rest = p;
		C sum = 0;

		for (int d = s.rank - 1; d >= 0; d--) {
			const i64 i = take_index(rest, s.size[d]);

			for (int k = 0; k < 3; k++)
				at[k] += i * s.stride[k][d];
		}
		for (i64 t = 0; t < s.terms; t++) {
			i64 a = at[0], b = at[1], left = t;

			for (int d = s.summed - 1; d >= 0; d--) {
				const i64 i = take_index(left, s.sum_size[d]);

				a += i * s.sum_stride[0][d];
				b += i * s.sum_stride[1][d];
			}
			sum += (C)A::get(((const typename A::mem *)s.a)[a]) *
			       (s.b ? (C)B::get(((const typename B::mem *)s.b)[b]) : (C)1);
		}
		((typename Y::mem *)s.out)[at[2]] = Y::put((typename Y::wide)sum);
	}
}

// X, W, B, V: of scores, weights, bases and even parts.
template <class E> WORD f64 element(const void *from, i64 at)
{
	return (f64)E::get(((const typename E::mem *)from)[at]);
}
template <class X, class W, class B, class V>
WORD f64 loss_of(const loss_args &a, i64 i, f64 *weight)
{
	i64 at[4];

	seek(a.targets, i, at);
	const i64 target = a.target[at[1]];
	*weight = 0;
	if (target == a.ignored)
		return 0;
	if (target < 0 || target >= a.classes) {
		out_of_bounds(a.fault, a.call, target, a.classes);
		return 0;
	}
	*weight = a.weight ? element<W>(a.weight, target * a.weight_step) : 1;
	const f64 score = element<X>(a.scores, at[0] + target * a.step) -
			  (a.base ? element<B>(a.base, at[2]) : 0);
	return *weight * a.share * -score + (a.even ? element<V>(a.even, at[3]) : 0);
}
struct loss_sum {
	static __device__ f64 join(f64 a, f64 b) { return a + b; }
};
// What blocks have found is joined by the last one to finish, in their order.
WORD bool join_blocks(const loss_args &a, f64 *loss, f64 *weights)
{
	__shared__ bool last;

	if (threadIdx.x == 0) {
		a.left[2 * blockIdx.x] = *loss;
		a.left[2 * blockIdx.x + 1] = *weights;
		__threadfence();
		last = atomicInc(a.arrived, gridDim.x - 1) == gridDim.x - 1;
	}
	__syncthreads();
	if (!last)
		return false;
	__threadfence();
	*loss = *weights = 0;
	for (u32 i = threadIdx.x; i < gridDim.x; i += LOSS_THREADS) {
		*loss += *(volatile f64 *)&a.left[2 * i];
		*weights += *(volatile f64 *)&a.left[2 * i + 1];
	}
	*loss = join_row<LOSS_THREADS, 1, loss_sum>(*loss);
	__syncthreads();
	*weights = join_row<LOSS_THREADS, 1, loss_sum>(*weights);
	return true;
}
template <class X, class W, class B, class V, class Y> WORD void add_losses(const loss_args &a)
{
	f64 loss = 0, weights = 0;

	for (i64 i = blockIdx.x * LOSS_THREADS + threadIdx.x; i < a.targets.points;
	     i += (i64)gridDim.x * LOSS_THREADS) {
		f64 weight;

		loss += loss_of<X, W, B, V>(a, i, &weight);
		weights += weight;
	}
	loss = join_row<LOSS_THREADS, 1, loss_sum>(loss);
	__syncthreads();
	weights = join_row<LOSS_THREADS, 1, loss_sum>(weights);
	if (gridDim.x > 1 && !join_blocks(a, &loss, &weights))
		return;
	if (threadIdx.x == 0)
		((typename Y::mem *)a.out)[0] = put_f64<Y>(a.reduction == 's' ? loss : loss / weights);
}
template <class X, class W, class B, class V, class Y> WORD void each_loss(const loss_args &a)
{
	EACH_POINT(i, a.targets.points) {
		f64 weight;
		((typename Y::mem *)a.out)[i] = put_f64<Y>(loss_of<X, W, B, V>(a, i, &weight));
	}
}
