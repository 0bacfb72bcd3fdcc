class Net(Base, **options):
    pass
