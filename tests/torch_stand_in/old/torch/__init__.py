"""A stand-in for a release of torch that is too old."""
__version__ = "2.4.1"
