class Net(*bases):
    pass
