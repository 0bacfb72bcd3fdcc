# torch.nn.utils.rnn: packed sequences, the steps of several sequences one after the other.
import torch
from torch.nn.utils.rnn import pad_sequence
from typing import NamedTuple


class PackedSequence(NamedTuple):
    data: torch.Tensor
    batch_sizes: torch.Tensor
    sorted_indices: torch.Tensor = None
    unsorted_indices: torch.Tensor = None

    def to(self, *args, **keywords):
        return self._replace(data=self.data.to(*args, **keywords))

    def cpu(self):
        return self

    def cuda(self):
        return self._replace(data=self.data.cuda())

    @property
    def is_cuda(self):
        return self.data.is_cuda


def invert_permutation(permutation):
    if permutation is None:
        return None
    made = torch.empty_like(permutation)
    made.scatter_(0, permutation, torch.arange(0, permutation.numel()))
    return made


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    counts = lengths.tolist() if isinstance(lengths, torch.Tensor) else list(lengths)
    if batch_first:
        input = input.transpose(0, 1)
    if len(counts) != input.size(1):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={input.size(1)})"
        )
    if any([n <= 0 for n in counts]):
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    order = None
    if enforce_sorted:
        if any([a < b for a, b in zip(counts, counts[1:])]):
            raise RuntimeError(
                "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can "
                "pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
                "requirement if you do not need ONNX exportability."
            )
    else:
        order = torch.sort(torch.tensor(counts), descending=True, stable=True)[1]
        input = input.index_select(1, order)
        counts = [counts[i] for i in order.tolist()]
    sizes = [sum([1 for n in counts if n > step]) for step in range(counts[0])]
    data = torch.cat([input[step, :n] for step, n in enumerate(sizes)])
    return PackedSequence(data, torch.tensor(sizes), order, invert_permutation(order))


def pack_sequence(sequences, enforce_sorted=True):
    return pack_padded_sequence(pad_sequence(sequences), [s.size(0) for s in sequences], enforce_sorted=enforce_sorted)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    sizes = sequence.batch_sizes.tolist()
    longest = len(sizes)
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {longest}"
            )
    rest = sequence.data.shape[1:]
    steps = []
    for step in sequence.data.split(sizes):
        missing = sizes[0] - step.size(0)
        steps.append(torch.cat([step, step.new_full((missing, *rest), padding_value)]) if missing else step)
    for _ in range(0 if total_length is None else total_length - longest):
        steps.append(sequence.data.new_full((sizes[0], *rest), padding_value))
    padded = torch.stack(steps)
    lengths = torch.tensor([sum([1 for n in sizes if n > k]) for k in range(sizes[0])])
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return (padded.transpose(0, 1) if batch_first else padded), lengths


def unpack_sequence(packed_sequences):
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return [padded[i, :n] for i, n in enumerate(lengths.tolist())]
