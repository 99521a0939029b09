"""Where the ADKs differ: each rule once, with its source. Pure functions, no input or output."""
