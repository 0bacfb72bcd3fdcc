log = []


def step(n):
    log.append(n)
    if n == 3:
        raise ValueError("three")
    return n


def run(limit):
    out = []
    for i in range(limit):
        try:
            out.append(step(i))
        except TypeError:
            out.append("type")
        except (KeyError, ValueError) as e:
            out.append(str(e))
        else:
            out.append("else")
        finally:
            out.append("finally")
    return out


def way_out(how):
    for i in range(3):
        try:
            if how == "return":
                return "returned"
            if how == "break":
                break
            if how == "continue":
                continue
            raise RuntimeError(how)
        except RuntimeError as e:
            log.append(e.args)
        finally:
            log.append((how, i))
    return "end"


def nested():
    try:
        try:
            raise KeyError("a")
        finally:
            log.append("inner")
    except KeyError as e:
        return repr(e), str(e)


def again():
    try:
        try:
            1 // 0
        except ZeroDivisionError:
            log.append("seen")
            raise
    except ArithmeticError as e:
        return type(e).__name__


def replaced():
    try:
        try:
            raise ValueError("first")
        except ValueError as e:
            raise TypeError("second") from e
    except TypeError as e:
        return str(e), str(e.__cause__)


def unset():
    e = 1
    try:
        raise ValueError("x")
    except ValueError as e:
        pass
    try:
        return e
    except UnboundLocalError as why:
        return "unset"


def model():
    return (
        run(5),
        [way_out(how) for how in ("return", "break", "continue", "raise")],
        nested(),
        again(),
        replaced(),
        unset(),
        log,
    )
