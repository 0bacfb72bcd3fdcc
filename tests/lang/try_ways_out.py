def model(x):
    for i in x:
        try:
            if i:
                return i + 1
            if x:
                break
            continue
        except KeyError as error:
            return error
        except:
            if i:
                continue
            raise
        finally:
            x = done(i)
    try:
        pass
    finally:
        return x


def finally_returns(x):
    while x:
        try:
            try:
                return 1
            finally:
                if x:
                    break
        finally:
            x = 2


def finally_raises():
    with enter():
        try:
            return 1
        finally:
            raise ValueError
