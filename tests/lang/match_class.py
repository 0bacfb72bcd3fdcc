match x:
    case Point(0, y=int() as n):
        pass
