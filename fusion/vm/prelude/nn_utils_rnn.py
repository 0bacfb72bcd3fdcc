# torch.nn.utils.rnn: sequences of several lengths.
import torch


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    longest = max([s.size(0) for s in sequences])
    rest = sequences[0].shape[1:]
    rows = []
    for s in sequences:
        missing = longest - s.size(0)
        if missing > 0:
            filler = s.new_full((missing, *rest), padding_value)
            s = torch.cat([s, filler] if padding_side == "right" else [filler, s])
        rows.append(s)
    return torch.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [padded_sequences[i, : int(lengths[i])] for i in range(padded_sequences.size(0))]
