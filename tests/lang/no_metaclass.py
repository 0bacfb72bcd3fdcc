class Net(Base, metaclass=Meta):
    pass
