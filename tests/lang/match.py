match x:
    case 1:
        y = 2


def model(x, mode):
    match x, mode:
        case [] | (_,):
            return 0
        case "relu" | torch.pi as which if which:
            return 1
        case (-1, None, *rest), [*_, last]:
            return rest
        case Tensor():
            return 2
        case first, second if first:
            return 3
        case _:
            return match


match = case = 1
match(x)
match[x]
