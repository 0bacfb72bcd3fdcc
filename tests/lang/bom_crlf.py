def model(λ):
    s = """a
b"""
    return λ
