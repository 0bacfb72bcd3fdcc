# torch.onnx: files ask whether a model is being exported, and say how it would be.  Nothing is.


def is_in_onnx_export():
    return False


def register_custom_op_symbolic(symbolic_name, symbolic_fn, opset_version):
    pass


def unregister_custom_op_symbolic(symbolic_name, opset_version):
    pass


def export(model, *args, **keywords):
    raise RuntimeError("torch.onnx.export(): nothing here writes files; leave it out")
