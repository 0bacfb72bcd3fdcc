"""Layers, optimisers, schedulers and what has no row in tests/ops: an example of each.

A class of torch.nn without a row in LAYERS fails, as does an optimiser or a scheduler.
Of a layer are tried the parameters of its constructor, those of forward, and every
public attribute that the constructor sets: set to another value, it must change what
the layer does, be refused, or are in ATTRIBUTES.
"""
import ast

import examples
import signatures

_X = "x = torch.arange(24.0).reshape(2, 3, 4) / 7 - 1.3"
_ROWS = "x = torch.arange(12.0).reshape(4, 3) / 5 - 1"
_IMAGE = "x = torch.arange(50.0).reshape(1, 2, 5, 5) / 7 - 3"
_LINE = "x = torch.arange(20.0).reshape(2, 2, 5) / 7 - 1"
_PAIR = [_ROWS, "t = torch.arange(12.0).reshape(4, 3).flip(0) / 6"]
_SIGNS = ["x = torch.tensor([0.5, -0.3, 1.5, 2.0])", "t = torch.tensor([1.0, -1.0, 1.0, -1.0])"]
_TWO = ["x = torch.tensor([[0.5, 1.0], [-0.3, 2.0]])", "y = torch.tensor([[0.25, 3.0], [1.0, -1.0]])"]
_PROBS = ["x = torch.tensor([[0.2, 0.7], [0.9, 0.4]])", "t = torch.tensor([[0.0, 1.0], [1.0, 0.25]])"]
_CLASSES = ["x = torch.arange(12.0).reshape(4, 3) ** 2 / 50 - 1", "t = torch.tensor([0, 2, 1, 1])"]
_INDEX = ["x = torch.tensor([[0, 2], [1, 1]])"]
_SEQUENCE = "x = torch.arange(24.0).reshape(3, 2, 4) / 9 - 1"
_VOLUME = "x = torch.arange(16.0).reshape(1, 2, 2, 2, 2) ** 2 / 30"
_SOURCE = ["x = torch.arange(24.0).reshape(3, 2, 4) / 9 - 1", "y = torch.arange(16.0).reshape(2, 2, 4) / 7"]

# Class: (lines, the constructor's arguments, the call's), several where one cannot show all.
LAYERS = {
    "Identity": ([_X], "", "x"), "Linear": ([_X], "4, 2", "x"), "Bilinear": (_TWO, "2, 2, 3", "x, y"),
    "Embedding": [(_INDEX, "3, 2, max_norm=1.0", "x"), (_INDEX, "3, 2", "x")],
    "EmbeddingBag": [(_INDEX, "3, 2, max_norm=1.0", "x"), (["x = torch.tensor([0, 2, 1, 1])", "o = torch.tensor([0, 2, 4])"], "3, 2", "x, o"), (["x = torch.tensor([0, 2, 1, 1])"], "3, 2", "x"), (_INDEX, "3, 2, mode='sum'", "x")],
    "LayerNorm": ([_X], "4", "x"), "RMSNorm": ([_X], "4", "x"), "GroupNorm": ([_IMAGE], "1, 2", "x"),
    "BatchNorm1d": ([_ROWS], "3", "x"), "BatchNorm2d": ([_IMAGE], "2", "x"),
    "BatchNorm3d": (["x = torch.arange(16.0).reshape(1, 2, 2, 2, 2)"], "2", "x"), "SyncBatchNorm": ([_ROWS], "3", "x"),
    "DataParallel": ([_ROWS], "torch.nn.ReLU()", "x"),
    **{n: [(x, "2, track_running_stats=True, affine=True", "x"), (x, "2", "x")] for n, x in (("InstanceNorm1d", [_LINE]), ("InstanceNorm2d", [_IMAGE]))},
    "LocalResponseNorm": ([_IMAGE], "2", "x"),
    # As many channels as let one p differ from another.
    **{f"Dropout{n}": ([f"x = torch.arange(1.0, 65.0).reshape(1, 16, {sizes})"], "", "x") for n, sizes in (("", "4"), ("1d", "4"), ("2d", "2, 2"), ("3d", "2, 2, 1"))}, "AlphaDropout": ([_X], "", "x"),
    "Flatten": ([_X], "", "x"), "Unflatten": ([_X], "2, (2, 2)", "x"),
    **{n: ([_X], "", "x") for n in "ReLU GELU SiLU Mish Tanh Sigmoid LogSigmoid Softsign Tanhshrink Hardswish Hardsigmoid LeakyReLU ELU CELU SELU Softshrink Hardshrink RReLU".split()},
    "ReLU6": (["x = torch.tensor([[7.0, -1.0]])"], "", "x"), "Hardtanh": (["x = torch.tensor([[7.0, -1.5]])"], "", "x"),
    "Softplus": (["x = torch.tensor([[30.0, 1.0]])"], "", "x"), "GLU": ([_X], "", "x"), "PReLU": [([_ROWS], "", "x"), (_TWO, "", "x")],
    "Softmax": ([_X], "", "x"), "LogSoftmax": ([_X], "", "x"), "Softmin": ([_X], "", "x"), "Softmax2d": ([_IMAGE], "", "x"),
    "Threshold": ([_X], "0.5, 2.0", "x"), "PairwiseDistance": (_TWO, "", "x, y"), "CosineSimilarity": [(_TWO, "", "x, y"), (["x = torch.tensor([[0.1, 0.2]])"], "", "x, x")],
    "MarginRankingLoss": (["x = torch.tensor([0.5, -0.3])", "y = torch.tensor([0.7, -1.0])", "t = torch.tensor([1.0, -1.0])"], "", "x, y, t"),
    "CosineEmbeddingLoss": (_TWO + ["t = torch.tensor([-1, 1])"], "", "x, y, t"), "HingeEmbeddingLoss": (_SIGNS, "", "x, t"),
    "TripletMarginLoss": (_TWO + ["z = torch.tensor([[0.3, 2.9], [1.0, -0.5]])"], "", "x, y, z"), "SoftMarginLoss": (_SIGNS, "", "x, t"),
    "MultiLabelSoftMarginLoss": (_PROBS, "", "x, t"), "PoissonNLLLoss": [(["x = torch.tensor([[0.5, 1.0]])", "t = torch.tensor([[3.0, 2.0]])"], text, "x, t") for text in ("", "log_input=False")],
    "GaussianNLLLoss": (_TWO + ["v = torch.tensor([[0.1, 2.0], [1.0, 1e-9]])"], "", "x, y, v"),
    **{n: (_PAIR, "", "x, t") for n in "MSELoss L1Loss SmoothL1Loss HuberLoss".split()},
    "BCELoss": (_PROBS, "", "x, t"), "BCEWithLogitsLoss": (_PROBS, "", "x, t"), "KLDivLoss": (_PROBS, "", "x, t"),
    "NLLLoss": (_CLASSES, "", "x, t"), "CrossEntropyLoss": (_CLASSES, "", "x, t"),
    "Upsample": [([_IMAGE], "scale_factor=1.5, mode='bilinear'", "x"), ([_IMAGE], "", "x")],
    "UpsamplingNearest2d": ([_IMAGE], "", "x"), "UpsamplingBilinear2d": ([_IMAGE], "", "x"),
    "PixelShuffle": (["x = torch.arange(16.0).reshape(1, 4, 2, 2)"], "2", "x"), "PixelUnshuffle": (["x = torch.arange(16.0).reshape(1, 1, 4, 4)"], "2", "x"),
    **{f"{n}Pad1d": ([_LINE], "1", "x") for n in ("Zero", "Reflection", "Replication")},
    **{f"{n}Pad2d": ([_IMAGE], "1", "x") for n in ("Zero", "Reflection", "Replication")},
    "ConstantPad1d": ([_LINE], "1, 2.0", "x"), "ConstantPad2d": ([_IMAGE], "1, 2.0", "x"),
    "Conv1d": [([_LINE], "2, 4, 2, padding=1", "x"), ([_LINE], "2, 4, 2", "x")], "Conv2d": [([_IMAGE], "2, 4, 2, padding=1", "x"), ([_IMAGE], "2, 4, 2", "x")],
    "ConvTranspose1d": ([_LINE], "2, 4, 2, 2", "x"), "ConvTranspose2d": ([_IMAGE], "2, 4, 2, 2", "x"),
    **{n: ([_LINE], "2", "x") for n in ("MaxPool1d", "AvgPool1d")}, **{n: ([_IMAGE], "2", "x") for n in ("MaxPool2d", "AvgPool2d")},
    "AvgPool1d": [([_LINE], "2, padding=1", "x"), ([_LINE], "2", "x")], "AvgPool2d": [([_IMAGE], "2, padding=1", "x"), ([_IMAGE], "2", "x")],
    "LPPool2d": ([_IMAGE], "2, 2, 2", "x"),
    **{n: ([_LINE], "2", "x") for n in ("AdaptiveAvgPool1d", "AdaptiveMaxPool1d")}, **{n: ([_IMAGE], "2", "x") for n in ("AdaptiveAvgPool2d", "AdaptiveMaxPool2d")},
    "Unfold": ([_IMAGE], "2", "x"),
    "Fold": [(["x = torch.arange(4.0).reshape(1, 4, 1)"], "(4, 4), 2, stride=5", "x"), (["x = torch.arange(16.0).reshape(1, 4, 4)"], "(7, 7), 2, stride=3", "x"), (["x = torch.arange(36.0).reshape(1, 4, 9)"], "(5, 5), 2, 2", "x")],
    **{n: ([_ROWS], "3, 2", "x") for n in ("RNNCell", "GRUCell", "LSTMCell")},
    **{n: ([_SEQUENCE], "4, 3, 2", "x") for n in ("RNN", "GRU", "LSTM")},
    "MultiheadAttention": [([_SEQUENCE], "4, 2", "x, x, x"), ([_SEQUENCE, "y = torch.ones(3, 2, 3)"], "4, 2, vdim=4", "x, y, x"), ([_SEQUENCE, "y = torch.ones(3, 2, 3)"], "4, 2", "x, x, y")],
    "TransformerEncoderLayer": ([_SEQUENCE], "4, 2, 8", "x"), "TransformerDecoderLayer": [(_SOURCE, "4, 2, 8", call) for call in ("x, y", "x[:2] * 1, y", "x, y, torch.zeros(3, 3), torch.zeros(3, 2)")],
    "TransformerEncoder": ([_SEQUENCE], "nn.TransformerEncoderLayer(4, 2, 8), 1", "x"),
    "TransformerDecoder": [(_SOURCE, "nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0), 1", call) for call in ("x, y", "x, y, torch.zeros(3, 3), torch.zeros(3, 2)")],
    "Transformer": [(_SOURCE, "4, 2, 1, 1, 8", "x, y"), (_SOURCE, "4, 2, 1, 1, 8", "x[:2] * 1, y"), (_SOURCE, "4, 2, 1, 1, 8", "x, y, torch.zeros(3, 3), torch.zeros(2, 2), torch.zeros(2, 3)")],
    "Sequential": ([_X], "nn.ReLU()", "x"),
    "ChannelShuffle": (["x = torch.arange(16.0).reshape(1, 4, 2, 2)"], "2", "x"),
    "InstanceNorm3d": [([_VOLUME], "2, track_running_stats=True, affine=True", "x"), ([_VOLUME], "2", "x")],
    "LPPool1d": ([_LINE], "2, 2, 2", "x"),
    **{f"{n}Pad3d": ([_VOLUME], "1", "x") for n in ("Zero", "Reflection", "Replication", "Circular")}, "ConstantPad3d": ([_VOLUME], "1, 2.0", "x"),
    "CircularPad1d": ([_LINE], "1", "x"), "CircularPad2d": ([_IMAGE], "1", "x"),
    "MultiLabelMarginLoss": (["x = torch.tensor([[0.1, 0.2, 0.4, 0.8], [0.9, 0.2, 0.1, 0.3]])", "t = torch.tensor([[3, 0, -1, 1], [1, -1, 0, 0]])"], "", "x, t"),
    "MultiMarginLoss": (_CLASSES, "", "x, t"),
}
# Not called, or refused whole, with a reason.
APART = {
    "Module": "has no forward", "ModuleList": "has no forward", "ModuleDict": "has no forward", "ParameterList": "has no forward",
    "ParameterDict": "has no forward",
    **{n: "tests/oracle/training_programs.py tries it" for n in "CTCLoss TripletMarginWithDistanceLoss MaxUnpool2d SequentialLR CyclicLR OneCycleLR ChainedScheduler ReduceLROnPlateau".split()},
    **{n: "tests/prelude/python_library.py tries it; the layer it becomes has the arguments" for n in "LazyLinear LazyConv1d LazyConv2d LazyConvTranspose1d LazyConvTranspose2d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyInstanceNorm1d LazyInstanceNorm2d".split()},
    **{n: "tests/prelude/modules.py tries it" for n in "NLLLoss2d LPPool3d CrossMapLRN2d AdaptiveLogSoftmaxWithLoss LazyConv3d LazyConvTranspose3d LazyInstanceNorm3d".split()},
    "LazyModuleMixin": "tests/oracle/capture_programs.py tries it",
    "NonDynamicallyQuantizableLinear": "a Linear by another name",
    **{n: "tests/prelude/names.py tries it" for n in ("Adafactor", "SparseAdam")},
    "LBFGS": "tests/prelude/python_library.py tries it: a step needs a closure",
    "FeatureAlphaDropout": "which channels it drops is a draw", "RNNCellBase": "the base of the cells", "RNNBase": "the base of the recurrent layers",
    **{n: "tests/oracle/function_programs.py tries it" for n in "Conv3d ConvTranspose3d MaxPool3d AvgPool3d AdaptiveAvgPool3d AdaptiveMaxPool3d MaxUnpool1d MaxUnpool3d".split()},
}
# Attributes that PyTorch's forward does not read either: "Class.name" or "*.name".
ATTRIBUTES = {
    "Embedding.sparse": "the gradient is the same, dense", "EmbeddingBag.sparse": "the gradient is the same, dense",
    **{f"*.{n}": "a size that the weights have" for n in "in_features out_features in1_features in2_features num_embeddings embedding_dim num_channels num_features in_channels out_channels num_parameters d_model nhead kdim vdim input_size".split()},
    **{f"Conv{n}.kernel_size": "the weight has it" for n in ("1d", "2d", "Transpose1d", "Transpose2d")},
    **{f"ConvTranspose{n}.padding_mode": "only the constructor reads it" for n in ("1d", "2d")},
    **{f"{n}.bias": "the biases themselves say whether there are any" for n in ("RNNCell", "GRUCell", "LSTMCell")},
    "Conv1d.output_padding": "forward does not read it", "Conv2d.output_padding": "forward does not read it",
    "MultiheadAttention.head_dim": "forward divides embed_dim by num_heads",
    **{f"MultiheadAttention.{n}": "set together with others" for n in ("bias_k", "bias_v", "q_proj_weight", "k_proj_weight", "v_proj_weight")},
    "*.affine": "only the constructor reads it", "*.elementwise_affine": "only the constructor reads it",
    "LSTM.mode": "which layer it is", "*.num_layers": "how many layers there are",
}
VALUES = {
    "prefix": ["'a.'"], "etas": ["(0.3, 1.5)"], "step_sizes": ["(0.02, 1.0)"], "factor": ["0.25"], "destination": ["{'first': 1}"], "memo": ["set([m[0]])"], "sparsity": ["0.5"], "start_factor": ["0.25"],
    "activation": ["'gelu'"], "norm": ["nn.LayerNorm(4)", "1.0"], "nhead": ["1", "4"], "kdim": ["4", "3"], "vdim": ["3"], "_weight": ["torch.ones(3, 2)"], "nonlinearity": ["'relu'"],
    "padding_mode": ["'reflect'", "'circular'"], "mode": ["'sum'", "'nearest'"], "betas": ["(0.5, 0.9)"], "strict": ["False"], "lr": ["0.3"], "params": ["[]"],
    "size": ["(3, 4)", "7"], "scale_factor": ["2.0"], "hx": ["torch.ones(4, 2)", "torch.ones(2, 2, 3)", "(torch.ones(4, 2), torch.ones(4, 2))", "(torch.ones(2, 2, 3), torch.ones(2, 2, 3))"],
    "key_padding_mask": ["torch.tensor([[False, False, True], [True, False, False]])"],
    "attn_mask": ["torch.triu(torch.full((3, 3), float('-inf')), diagonal=1)"],
    **{n: ["torch.triu(torch.full((3, 3), float('-inf')), diagonal=1)"] for n in ("src_mask", "mask")},
    "memory_mask": ["torch.tensor([[0.0, float('-inf')]] * 3)", "torch.triu(torch.full((2, 3), float('-inf')), diagonal=1)"],
    **{n: ["torch.tensor([[False, False, True], [True, False, False]])", "torch.tensor([[False, True], [True, False]])"] for n in ("src_key_padding_mask", "tgt_key_padding_mask", "memory_key_padding_mask")},
    "offsets": ["torch.tensor([0, 1])", "torch.tensor([0, 3])"], "per_sample_weights": ["torch.ones(2, 2) * 3"],
    "custom_encoder": ["nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 1, 8), 1)"], "custom_decoder": ["nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 1, 8), 1)"], "dim_feedforward": ["6"], "tgt_mask": ["torch.triu(torch.full((3, 3), float('-inf')), diagonal=1)", "torch.tensor([[0.0, -9.0], [0.0, 0.0]])"], "num_heads": ["1"], "groups": ["2", "1"],
    "kernel_size": ["3", "(1, 2)"], "stride": ["1", "3", "4"], "padding": ["1", "(1, 1)", "'same'", "(2, 1)", "(0, 1, 2, 1)"], "dilation": ["2"], "output_padding": ["1"],
    "max_norm": ["0.5"], "normalized_shape": ["(3, 4)"], "output_size": ["(3, 4)", "3", "(11,)", "(11, 11)"],
    "reduction": ["'sum'", "'none'"], "unflattened_size": ["(4, 1)"], "start_dim": ["0"], "end_dim": ["1"], "dims": ["3"], "weight": ["torch.ones(3, 2, 2)", "torch.ones(2, 4, 2)", "torch.ones(2, 4, 2, 2)", "torch.ones(3, 4)", "torch.ones(4, 2, 2)", "torch.ones(4, 2, 2, 2)", "torch.tensor([0.5, 2.0, 3.0])", "torch.tensor([0.5, 2.0])"],
    "pos_weight": ["torch.tensor([0.5, 2.0])"], "approximate": ["'tanh'"], "bias": ["False"], "upscale_factor": ["1"], "downscale_factor": ["1"],
    "is_causal": ["True"], "tgt_is_causal": ["True"], "memory_is_causal": ["True"], "src_is_causal": ["True"],
    "training": ["False"], "hidden_size": ["5"], "head_dim": ["4"], "nesterov": ["True"], "last_epoch": ["2"], "end_factor": ["0.5"],
    "eta_min": ["0.1"], "gamma": ["0.7"], "ignore_index": ["1"], "value": ["5.0"], "threshold": ["0.1", "0.7"], "margin": ["0.7"], "p": ["0.25", "3.0"],
}

OPTIMIZERS = {"SGD": "lr=0.1, momentum=0.9", "RMSprop": "momentum=0.5", **{n: "" for n in "Adam AdamW Adagrad Adadelta Adamax ASGD Rprop".split()}, "NAdam": "weight_decay=0.1", "RAdam": "weight_decay=0.1"}
SCHEDULERS = {
    "StepLR": "o, 2", "MultiStepLR": "o, [1, 3]", "ExponentialLR": "o, 0.8", "LambdaLR": "o, lambda n: 1 / (n + 1)",
    "MultiplicativeLR": "o, lambda n: 1 / (n + 1)", "ConstantLR": "o", "PolynomialLR": "o", "CosineAnnealingWarmRestarts": "o, 2",
    "LinearLR": "o", "CosineAnnealingLR": "o, 4",
}
_T = "t = torch.zeros(3, 4)"
FUNCTIONS = {
    **{f"torch.nn.init.{n}": ([_T], "t") for n in "uniform_ normal_ trunc_normal_ zeros_ ones_ eye_ orthogonal_ xavier_uniform_ xavier_normal_".split()},
    "torch.nn.init.sparse_": ([_T], "t, 0.5"), "torch.nn.init.constant_": ([_T], "t, 2.0"), "torch.nn.init.dirac_": (["t = torch.zeros(4, 2, 3)"], "t"), 
    **{f"torch.nn.init.kaiming_{n}_": [([_T], "t"), ([_T], "t, a=2.0")] for n in ("uniform", "normal")},
    "torch.nn.init.calculate_gain": ([], "'leaky_relu'"),
    "torch.nn.utils.clip_grad_norm_": [(["p = with_grads()"], "p, 1.0"), (["p = with_grads()", "p[0].grad[0] = float('nan')"], "p, 1.0")], "torch.nn.utils.clip_grad_value_": (["p = with_grads()"], "p, 1.0"),
    "torch.nn.utils.get_total_norm": [(["p = [torch.tensor([3.0, 4.0]), torch.tensor([12.0, 1.0])]"], "p"), (["p = [torch.tensor([3.0, float('inf')])]"], "p")],
    "torch.nn.utils.fuse_conv_bn_weights": (["w = torch.tensor([[[1.0], [2.0]], [[3.0], [4.0]]])", "v = torch.tensor([1.0, 2.0])"], "w, v, v, v * 3, 0.5, v, v"),
    "torch.nn.utils.fuse_linear_bn_weights": (["w = torch.tensor([[1.0, 2.0], [3.0, 4.0]])", "v = torch.tensor([1.0, 2.0])"], "w, v, v, v * 3, 0.5, v, v"),
    "torch.nn.utils.fuse_conv_bn_eval": (["c = torch.nn.Conv2d(2, 2, 1).eval()", "b = torch.nn.BatchNorm2d(2).eval()", "b.running_var[0] = 3.0"], "c, b", "torch.nn.utils.fuse_conv_bn_eval({}).weight"),
    "torch.nn.utils.fuse_linear_bn_eval": (["c = torch.nn.Linear(2, 2).eval()", "b = torch.nn.BatchNorm1d(2).eval()", "b.running_var[0] = 3.0"], "c, b"),
    "torch.nn.utils.skip_init": ([], "torch.nn.Linear, 2, 3"),
    "torch.nn.utils.parameters_to_vector": (["p = with_grads()"], "p"),
    "torch.nn.utils.vector_to_parameters": (["p = with_grads()"], "torch.ones(3), p"),
    "torch.nn.utils.weight_norm": (["m = torch.nn.Bilinear(2, 2, 2)"], "m"), "torch.nn.utils.remove_weight_norm": (["m = torch.nn.utils.weight_norm(torch.nn.Linear(2, 2))"], "m"),
    "torch.nn.utils.spectral_norm": (["m = torch.nn.Bilinear(2, 2, 2)"], "m"), "torch.nn.utils.remove_spectral_norm": (["m = torch.nn.utils.spectral_norm(torch.nn.Linear(2, 2))"], "m"),
    "torch.bernoulli": (["t = torch.tensor([0.5, 0.1, 0.9, 0.4])"], "t"), "torch.multinomial": (["t = torch.tensor([0.5, 0.1, 0.9, 0.4])"], "t, 3"),
    "torch.normal": (["t = torch.zeros(4)"], "t"), "torch.as_tensor": ([], "[1, 2]"), "torch.asarray": (["t = torch.ones(2)"], "t"),
    "torch.inference_mode": ([], ""), "torch.complex": (["t = torch.ones(2)"], "t, t"), "torch.polar": (["t = torch.ones(2)"], "t, t"),
    "torch.autograd.Variable": (["t = torch.ones(2)"], "t"), "torch.Tensor.normal_": (["t = torch.ones(5)"], ""), "torch.Tensor.uniform_": (["t = torch.ones(5)"], ""),
    "torch.Tensor.bernoulli_": (["t = torch.ones(9)"], ""), "torch.Tensor.exponential_": (["t = torch.ones(5)"], ""), "torch.Tensor.bernoulli": (["t = torch.ones(9) / 2"], ""),
    "torch.Tensor.multinomial": (["t = torch.tensor([0.5, 0.1, 0.9, 0.4])"], "3"), "torch.Tensor.new_tensor": (["t = torch.ones(2)"], "[1.0, 2.0]"),
    "torch.Tensor.fill_diagonal_": (["t = torch.zeros(5, 2)"], "2.0"), "torch.Tensor.index_put_": (["t = torch.zeros(5)"], "(torch.tensor([1, 1]),), torch.tensor([2.0, 3.0])"),
    "torch.Tensor.requires_grad_": (["t = torch.zeros(5)"], ""),
}
_MODEL = ["m = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))", "m.append(m[0])", "m.append(m[1])"]
METHODS = {  # of nn.Module: (lines, arguments, what is seen of the result {})
    "state_dict": ("", "{}"), "named_parameters": ("", "list({})"), "parameters": ("", "list({})"), "named_buffers": ("", "list({})"),
    "buffers": ("", "list({})"), "named_modules": ("", "[n for n, _ in {}]"), "train": ("", "[k.training for k in {}.modules()]"),
    "requires_grad_": ("", "[p.requires_grad for p in {}.parameters()]"), "load_state_dict": [("{'0.weight': torch.zeros(2, 2)}, assign=False", "{}"), ("{k: v.double() for k, v in m.state_dict().items()}, strict=True", "({}, m[0].weight.dtype)")],
    "register_buffer": ("'b', torch.ones(1)", "({}, list(m.state_dict()))"), "to": ("", "{}.state_dict()"), "type": ("torch.float64", "{}.state_dict()"),
}


def assigned(lines):
    return [line.split(" = ")[0] for line in lines if " = " in line]


class Finder:
    def __init__(self, plan):
        self.plan, self.found, self.faults = plan, [], []
        _, self.classes = signatures.prelude({"torch.nn", "torch.optim", "torch.optim.lr_scheduler"})

    def method(self, owner, name):
        node = signatures.method_of(self.classes, owner, name)
        return signatures.of_arguments(node.args, True) if node else None

    def add(self, name, signature, examples_of_it):
        self.found.append(self.plan(name, signature, examples_of_it))

    def of_modules(self):
        for full, owner in self.classes.items():
            name = full.split(".")[-1]
            if owner.module != "torch.nn" or not signatures.public(name) or name in APART:
                continue
            if name not in LAYERS:
                self.faults.append(f"{full}: no example")
                continue
            some = LAYERS[name] if isinstance(LAYERS[name], list) else [LAYERS[name]]
            self.of_module(full, name, owner, some)

    def of_module(self, full, name, owner, some):
        made = self.method(owner, "__init__") or signatures.Signature([], binds=False)
        if made.varargs and made.keywords and owner.bases[0] != "Module":  # passes them on
            base = self.method(self.classes[f"torch.nn.{owner.bases[0]}"], "__init__")
            made = signatures.Signature(base.parameters + made.parameters)
        self.add(full, made, [(lines, f"used(nn.{name}({{}}), {call})", text, assigned(lines)) for lines, text, call in some])
        self.add(full + ".forward", self.method(owner, "forward"), [(lines, f"ran(nn.{name}({text}), {{}})", call, []) for lines, text, call in some])
        names = [n for n in self.attributes(owner) if f"{name}.{n}" not in ATTRIBUTES and f"*.{n}" not in ATTRIBUTES]
        for n in names:
            parameter = signatures.Parameter(n, "None", True)
            tries = [(lines, f"set_and_used(nn.{name}({text}), ({call},), {{}})", "", assigned(lines)) for lines, text, call in some]
            self.add(f"{full}().{n}", signatures.Signature([parameter], keywords="names"), tries)

    def attributes(self, owner):
        """Public names that the constructor sets on self."""
        node, found = signatures.method_of(self.classes, owner, "__init__"), []
        helper = signatures.method_of(self.classes, owner, "_init")
        for at in [n for tree in (node, helper) if tree for n in ast.walk(tree)]:
            if isinstance(at, ast.Attribute) and isinstance(at.ctx, ast.Store) and ast.unparse(at.value) == "self":
                found.append(at.attr)
        return sorted({n for n in found if signatures.public(n)})

    def of_optimizers(self):
        for full, owner in self.classes.items():
            name = full.split(".")[-1]
            if owner.module == "torch.optim" and name != "Optimizer" and name not in APART:
                if name not in OPTIMIZERS:
                    self.faults.append(f"{full}: no example")
                    continue
                made, text = self.method(owner, "__init__"), OPTIMIZERS[name]
                rest = signatures.Signature([signatures.Parameter(p.name, p.default, True) for p in made.parameters])
                self.add(full, rest, [([], f"stepped(lambda params: torch.optim.{name}(params, {{}}))", text, [])])
                for p in rest.parameters:
                    if p.default is signatures.REQUIRED or f"{name}.{p.name}" in examples.IGNORED or f"*.{p.name}" in examples.IGNORED:
                        continue
                    one = signatures.Signature([p], keywords="names")
                    call = f"stepped_with(lambda params: torch.optim.{name}(params, {text}), {{}})"
                    self.add(f"{full}.param_groups.{p.name}", one, [([], call, "", [])])
            elif owner.module == "torch.optim.lr_scheduler" and name != "LRScheduler" and name not in APART:
                if name not in SCHEDULERS:
                    self.faults.append(f"{full}: no example")
                    continue
                self.add(full, self.method(owner, "__init__"), [([], f"scheduled(lambda o: torch.optim.lr_scheduler.{name}({{}}))", SCHEDULERS[name], [])])

    def of_functions(self):
        functions, classes = signatures.prelude({"torch.nn.init", "torch.nn.utils", "torch", "torch.autograd", "torch.Tensor"})
        for full, signature in functions.items():
            if full.startswith(("torch.nn.init.", "torch.nn.utils.")) and full not in FUNCTIONS:
                self.faults.append(f"{full}: no example")
        variable = classes["torch.autograd.Variable"]
        functions["torch.autograd.Variable"] = signatures.of_arguments(variable.methods["__new__"].args, True)
        functions["torch.Tensor.requires_grad_"] = signatures.of_text(examples.NATIVES["torch.Tensor.requires_grad_"])
        for full, some in FUNCTIONS.items():
            tries = []
            for lines, text, *seen in some if isinstance(some, list) else [some]:
                called = f"t.{full[13:]}({{}})" if full.startswith("torch.Tensor.") else full + "({})"
                called = seen[0] if seen else called
                tries.append((lines, called, text, assigned(lines)))
            self.add(full, functions[full], tries)
        module = self.classes["torch.nn.Module"]
        for name, some in METHODS.items():
            tries = [(_MODEL, seen.replace("{}", f"m.{name}({{}})"), text, []) for text, seen in (some if isinstance(some, list) else [some])]
            self.add(f"torch.nn.Module.{name}", self.method(module, name), tries)


def plans(plan):
    finder = Finder(plan)
    finder.of_modules()
    finder.of_optimizers()
    finder.of_functions()
    return finder.found, finder.faults
