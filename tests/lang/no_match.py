match x:
    case 1:
        y = 2
