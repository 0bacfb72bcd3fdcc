# torch.random: what torch has of it too.
import torch

manual_seed = torch.manual_seed
get_rng_state = torch.get_rng_state
set_rng_state = torch.set_rng_state
fork_rng = torch.fork_rng
initial_seed = torch.initial_seed
seed = torch.seed
default_generator = torch.default_generator
