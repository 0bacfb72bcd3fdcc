y = [i for i in (n := x)]
