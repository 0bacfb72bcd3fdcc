match x:
    case Point(0):
        pass
