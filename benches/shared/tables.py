"""Tables in Markdown, and the numbers that go into them."""
import math


def head(names):
    return "| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|"


def row(cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def table(names, rows):
    """Its lines, with an empty one at the end."""
    return [head(names), *map(row, rows), ""]


def geometric_mean(numbers):
    numbers = [max(number, 1e-9) for number in numbers]
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if numbers else float("nan")
