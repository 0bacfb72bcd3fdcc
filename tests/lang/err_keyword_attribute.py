y = x.if
