# The distributions of numpy.random of old, for a seed.
import numpy as np
def model():
    np.random.seed(5)
    print(np.random.beta(0.4, 0.4), np.random.beta(2.0, 3.0), np.random.beta(0.5, 2, size=3).round(6))
    print(np.random.gamma(0.5), np.random.gamma(2.5, 2.0, size=2).round(6), np.random.standard_gamma(1.0), np.random.chisquare(3), np.random.standard_t(4), np.random.poisson(3.0, 5), np.random.standard_exponential(), np.random.dirichlet([1.0, 2.0, 0.5]).round(6), np.random.dirichlet((1, 1), 2).round(6))
    r = np.random.RandomState(1)
    print(r.beta(1, 1), r.poisson(), r.exponential(2.0), r.gamma(3, size=(2, 2)).round(6))
    print(type(r.beta(1, 1)).__name__, type(r.poisson()).__name__)
