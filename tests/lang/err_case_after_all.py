match x:
    case y:
        pass
    case 1:
        pass
