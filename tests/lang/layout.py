# a comment
def model(x): # another

    # deeper than its block
  # less
    y = [1,   # in brackets
2,
         3]; z = x + \
        y
    if y: z = 1; x = 2

    """in the
middle"""; ...
    return (

        z)
	
# the end
