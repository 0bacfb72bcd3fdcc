raise ValueError("x") from None
