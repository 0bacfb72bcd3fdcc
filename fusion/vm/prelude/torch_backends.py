# torch.backends.*: switches of libraries that are not here; they may be set.


class _Switches:
    enabled = False
    benchmark = False
    deterministic = False
    algorithms_deterministic = False
    algorithms_warn_only = False
    allow_tf32 = False

    def is_available(self):
        return False

    def is_built(self):
        return False

    def enable_flash_sdp(self, enabled):
        pass

    def enable_math_sdp(self, enabled):
        pass

    def enable_mem_efficient_sdp(self, enabled):
        pass

    def flash_sdp_enabled(self):
        return False

    def mem_efficient_sdp_enabled(self):
        return False

    def math_sdp_enabled(self):
        return True


cudnn = _Switches()
mps = _Switches()
mkldnn = _Switches()
openmp = _Switches()
cuda = _Switches()
cuda.matmul = _Switches()
