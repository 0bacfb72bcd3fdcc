match x:
    case {"a": 1, **rest}:
        pass
