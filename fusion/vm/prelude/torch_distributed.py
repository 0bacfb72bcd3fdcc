# torch.distributed: a world of one process, in which each collective is its own input.


class ReduceOp:
    SUM = "sum"
    AVG = "avg"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"
    BAND = "band"
    BOR = "bor"
    BXOR = "bxor"


class ProcessGroup:
    def rank(self):
        return 0

    def size(self):
        return 1


class group:
    WORLD = ProcessGroup()


class _Done:
    def wait(self, timeout=None):
        return True

    def is_completed(self):
        return True


_begun = [False]


def _work(async_op):
    return _Done() if async_op else None


def is_available():
    return True


def is_initialized():
    return _begun[0]


def is_nccl_available():
    return False


def is_gloo_available():
    return True


def is_torchelastic_launched():
    return False


def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="", pg_options=None, device_id=None):
    if world_size not in (-1, 1) or rank not in (-1, 0):
        raise ValueError("torch.distributed: a run is one process; world_size is 1 and rank is 0")
    _begun[0] = True


def destroy_process_group(group=None):
    _begun[0] = False


def get_rank(group=None):
    return 0


def get_world_size(group=None):
    return 1


def get_backend(group=None):
    return "gloo"


def new_group(ranks=None, *args, **keywords):
    return ProcessGroup()


def barrier(group=None, async_op=False, device_ids=None):
    return _work(async_op)


def all_reduce(tensor, op="sum", group=None, async_op=False):
    return _work(async_op)


def reduce(tensor, dst=0, op="sum", group=None, async_op=False):
    return _work(async_op)


def broadcast(tensor, src=0, group=None, async_op=False):
    return _work(async_op)


def all_gather(tensor_list, tensor, group=None, async_op=False):
    tensor_list[0].copy_(tensor)
    return _work(async_op)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    output_tensor.copy_(input_tensor.reshape(output_tensor.shape))
    return _work(async_op)


def reduce_scatter(output, input_list, op="sum", group=None, async_op=False):
    output.copy_(input_list[0])
    return _work(async_op)


def reduce_scatter_tensor(output, input, op="sum", group=None, async_op=False):
    output.copy_(input.reshape(output.shape))
    return _work(async_op)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    output.copy_(input)
    return _work(async_op)


def gather(tensor, gather_list=None, dst=0, group=None, async_op=False):
    if gather_list:
        gather_list[0].copy_(tensor)
    return _work(async_op)


def scatter(tensor, scatter_list=None, src=0, group=None, async_op=False):
    if scatter_list:
        tensor.copy_(scatter_list[0])
    return _work(async_op)


def all_gather_object(object_list, obj, group=None):
    object_list[0] = obj


def broadcast_object_list(object_list, src=0, group=None, device=None):
    pass
