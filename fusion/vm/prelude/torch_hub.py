# torch.hub and torch.utils.model_zoo: files mention them for weights that are fetched; nothing
# here reaches the network.

_ADVICE = "nothing here reaches the network; give the parameters as params of the workload"


def load_state_dict_from_url(url, *args, **keywords):
    raise RuntimeError(f"load_state_dict_from_url('{url}'): {_ADVICE}")


def load_url(url, *args, **keywords):
    raise RuntimeError(f"load_url('{url}'): {_ADVICE}")


def download_url_to_file(url, *args, **keywords):
    raise RuntimeError(f"download_url_to_file('{url}'): {_ADVICE}")


def load(repo, *args, **keywords):
    raise RuntimeError(f"torch.hub.load('{repo}'): {_ADVICE}")


def set_dir(path):
    pass


def get_dir():
    return ""
