import sys, types
for n in ("setuptools", "setuptools.command", "setuptools.command.build_ext"):
    m = types.ModuleType(n); sys.modules[n] = m; m.build_ext = object; m.Extension = object
import pickle, torch
from torch.utils import benchmark
torch.set_num_threads(1)
ms=[]
for n in (8, 64):
    for sub in ("mul", "matmul"):
        x = torch.rand(n, n)
        t = benchmark.Timer(stmt={"mul":"x * x","matmul":"x @ x"}[sub], globals={"x": x}, label="square", sub_label=sub, description=str(n), env="main")
        ms.append(t.blocked_autorange(min_run_time=0.02))
x = torch.rand(32, 32)
ms.append(benchmark.Timer(stmt="torch.relu(x)", globals={"x": x, "torch": torch}, num_threads=2).timeit(200))
ms.append(benchmark.Timer(stmt="x.sum()", globals={"x": x}).adaptive_autorange(min_run_time=0.01, max_run_time=0.05))
torch.save(ms, "measurements.pt")
pickle.dump(ms, open("measurements.pkl","wb"))
pickle.dump(ms[0], open("one.pkl","wb"), protocol=4)
torch.save({"cpu": ms[:2]}, "dict.pt")
torch.save(ms, "old.pt", _use_new_zipfile_serialization=False)
