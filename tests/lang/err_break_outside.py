for i in x:
    def f():
        break
