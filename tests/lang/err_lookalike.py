x = “a”
