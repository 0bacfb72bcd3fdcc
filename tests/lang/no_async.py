async def model(x):
    return x
