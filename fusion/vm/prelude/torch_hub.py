# torch.hub and torch.utils.model_zoo: files mention them for weights that are fetched.  Nothing here
# reaches the network: where the run was given a file of that name, it is read.
import _weights

_ADVICE = "nothing here reaches the network; give the run the file as weights"


def load_state_dict_from_url(url, *args, file_name=None, **keywords):
    path = file_name or url.split("?")[0].rstrip("/").split("/")[-1]
    if _weights.exists(path):
        return _weights.load(path)
    raise RuntimeError(f"load_state_dict_from_url('{url}'): {_ADVICE}, {path}")


load_url = load_state_dict_from_url


def download_url_to_file(url, *args, **keywords):
    raise RuntimeError(f"download_url_to_file('{url}'): {_ADVICE}")


def load(repo, *args, **keywords):
    raise RuntimeError(f"torch.hub.load('{repo}'): {_ADVICE}")


def set_dir(path):
    pass


def get_dir():
    return ""


def _get_torch_home():
    return ""
