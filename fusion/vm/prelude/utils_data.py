# torch.utils.data: data sets and loaders, in the program's one process.
import math
import random

import torch


class Dataset:
    def __class_getitem__(cls, item):
        return cls

    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    pass


class TensorDataset(Dataset):
    @torch._C._skip
    def __init__(self, *tensors):
        if any([tensors[0].size(0) != t.size(0) for t in tensors]):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    @torch._C._skip
    def __getitem__(self, index):
        return tuple([t[index] for t in self.tensors])

    @torch._C._skip
    def __len__(self):
        return self.tensors[0].size(0)


class ConcatDataset(Dataset):
    @torch._C._skip
    def __init__(self, datasets):
        self.datasets = list(datasets)
        assert len(self.datasets) > 0, "datasets should not be an empty iterable"
        self.cumulative_sizes = []
        total = 0
        for d in self.datasets:
            total += len(d)
            self.cumulative_sizes.append(total)

    @torch._C._skip
    def __len__(self):
        return self.cumulative_sizes[-1]

    @torch._C._skip
    def __getitem__(self, idx):
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        before = 0
        for d, end in zip(self.datasets, self.cumulative_sizes):
            if idx < end:
                return d[idx - before]
            before = end
        raise IndexError("list index out of range")


class Subset(Dataset):
    @torch._C._skip
    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices

    @torch._C._skip
    def __getitem__(self, idx):
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    @torch._C._skip
    def __len__(self):
        return len(self.indices)


@torch._C._skip
def random_split(dataset, lengths, generator=None):
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        sizes = [int(math.floor(len(dataset) * part)) for part in lengths]
        for i in range(len(dataset) - sum(sizes)):
            sizes[i % len(sizes)] += 1
        lengths = sizes
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    indices = torch.randperm(sum(lengths), generator=generator).tolist()
    parts = []
    at = 0
    for length in lengths:
        parts.append(Subset(dataset, indices[at : at + length]))
        at += length
    return parts


class Sampler:
    def __class_getitem__(cls, item):
        return cls

    def __init__(self, data_source=None):
        pass


class SequentialSampler(Sampler):
    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


# A sampler without a generator draws a seed, and gives it to a generator of its own.
def _begin(generator):
    if generator is None:
        return torch.Generator().manual_seed(torch.empty((), dtype=torch.int64).random_().item())
    return generator


class RandomSampler(Sampler):
    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator

    @property
    def num_samples(self):
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        n = len(self.data_source)
        generator = _begin(self.generator)
        if self.replacement:
            for _ in range(self.num_samples // 32):
                yield from torch.randint(high=n, size=(32,), dtype=torch.int64, generator=generator).tolist()
            yield from torch.randint(high=n, size=(self.num_samples % 32,), dtype=torch.int64, generator=generator).tolist()
        else:
            for _ in range(self.num_samples // n):
                yield from torch.randperm(n, generator=generator).tolist()
            yield from torch.randperm(n, generator=generator).tolist()[: self.num_samples % n]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        for i in torch.randperm(len(self.indices), generator=self.generator):
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        self.weights = torch.as_tensor(weights, dtype=torch.double)
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        yield from iter(torch.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist())

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    def __init__(self, sampler, batch_size, drop_last):
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        batch = []
        for i in self.sampler:
            batch.append(i)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self):
        n = len(self.sampler)
        return n // self.batch_size if self.drop_last else (n + self.batch_size - 1) // self.batch_size


class DistributedSampler(Sampler):
    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        if num_replicas not in (None, 1) or rank not in (None, 0):
            raise ValueError("a run is one process: num_replicas is 1 and rank is 0")
        self.dataset = dataset
        self.shuffle = shuffle
        self.epoch = 0

    def __iter__(self):
        if not self.shuffle:
            return iter(range(len(self.dataset)))
        return iter(torch.randperm(len(self.dataset)).tolist())

    def __len__(self):
        return len(self.dataset)

    def set_epoch(self, epoch):
        self.epoch = epoch


@torch._C._skip
def default_collate(batch):
    first = batch[0]
    if isinstance(first, torch.Tensor):
        return torch.stack(batch, 0)
    if isinstance(first, float):
        return torch.tensor(batch, dtype=torch.float64)
    if isinstance(first, int):
        return torch.tensor(batch)
    if isinstance(first, str):
        return batch
    if isinstance(first, dict):
        return {key: default_collate([d[key] for d in batch]) for key in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*[default_collate(list(samples)) for samples in zip(*batch)])
    if isinstance(first, (tuple, list)):
        if any([len(one) != len(first) for one in batch]):
            raise RuntimeError("each element in list of batch should be of equal size")
        return [default_collate(list(samples)) for samples in zip(*batch)]
    if hasattr(first, "_tensor"):
        return torch.stack([torch.from_numpy(a) for a in batch], 0)
    raise TypeError(f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}")


class DataLoader:
    def __class_getitem__(cls, item):
        return cls

    @torch._C._skip
    def __init__(
        self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None, pin_memory=False,
        drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None, generator=None, *, prefetch_factor=None,
        persistent_workers=False, pin_memory_device="",
    ):
        self.dataset = dataset
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.num_workers = num_workers
        self.generator = generator
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
        self._streams = isinstance(dataset, IterableDataset)
        if sampler is None and not self._streams:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        self.sampler = sampler
        if batch_sampler is None and batch_size is not None and not self._streams:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler
        self.collate_fn = default_collate if collate_fn is None else collate_fn
        self._collates = collate_fn is not None or batch_sampler is not None or batch_size is not None

    @torch._C._skip
    def __iter__(self):
        torch.empty((), dtype=torch.int64).random_(generator=self.generator)
        if self._streams:
            batch = []
            for item in self.dataset:
                if self.batch_size is None:
                    yield item
                    continue
                batch.append(item)
                if len(batch) == self.batch_size:
                    yield self.collate_fn(batch)
                    batch = []
            if batch and not self.drop_last:
                yield self.collate_fn(batch)
        elif self.batch_sampler is not None:
            for indices in self.batch_sampler:
                yield self.collate_fn([self.dataset[i] for i in indices])
        else:
            for i in self.sampler:
                yield self.dataset[i]

    @torch._C._skip
    def __len__(self):
        if self._streams:
            n = len(self.dataset)
            return n if self.batch_size is None else -(-n // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)


def get_worker_info():
    return None


class ChainDataset(IterableDataset):
    @torch._C._skip
    def __init__(self, datasets):
        self.datasets = datasets

    @torch._C._skip
    def __iter__(self):
        for dataset in self.datasets:
            yield from dataset

    @torch._C._skip
    def __len__(self):
        return sum([len(dataset) for dataset in self.datasets])


class StackDataset(Dataset):
    @torch._C._skip
    def __init__(self, *args, **kwargs):
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        every = args or list(kwargs.values())
        if any([len(d) != len(every[0]) for d in every]):
            raise ValueError("Size mismatch between datasets")
        self._length = len(every[0])

    @torch._C._skip
    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {k: d[index] for k, d in self.datasets.items()}
        return tuple([d[index] for d in self.datasets])

    @torch._C._skip
    def __len__(self):
        return self._length


def default_convert(data):
    if isinstance(data, dict):
        return {k: default_convert(v) for k, v in data.items()}
    if isinstance(data, (list, tuple)):
        return [default_convert(v) for v in data]
    return torch.as_tensor(data) if hasattr(data, "__array__") or hasattr(data, "_as_argument") else data
