def model(x):
    return x


if __name__ == "__main__":
    print(model(1))
