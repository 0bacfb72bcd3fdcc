a, *rest = x
