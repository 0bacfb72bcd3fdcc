"""Programs that differed from CPython once, and what is known of messages."""
import re

# Messages that say what the language leaves out.
REFUSALS = [r"64 bits"]

PROGRAMS = []


def normal(text):
    return text
