# torch._C: what library files call as they are imported.


def _log_api_usage_once(event):
    pass
