@dataclass
class Config:
    layers: int = 12
    names: typing.Optional[str] = None
    width: "torch.Tensor"
    (depth): int = 1
    kind: list[int]
    if layers:
        bias: None = True
