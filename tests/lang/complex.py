x = 2j
