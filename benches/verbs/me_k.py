"""Bingham's family ME-k as a .spec on stdout.

So many TOKENS (1 if not said) may be behind the door at once; the target is two at the end of a corridor of length K.
Safe with one token, and not with two."""
from shared.commands import arguments


def main(words):
    options = arguments(__name__)
    options.add_argument("k", type=int)
    options.add_argument("tokens", type=int, nargs="?", default=1)
    options = options.parse_args(words)
    if options.k < 1 or options.tokens < 0:
        return "a corridor has at least one place, and nobody has fewer than no tokens"
    print(net(options.k, options.tokens), end="")


def net(k, tokens):
    corridor = [f"x{i}" for i in range(k + 1)]
    rules = [rule(["notin", "x0"], ["in_", "x1"]), rule(["notin", "x1"], ["in_", "x0"])]
    for i in range(1, k + 1):
        if i < k:
            rules.append(rule([f"x{i}"], [f"x{i + 1}"]))
        rules.append(rule(["in_", f"x{i}"], ["notin", "x0"]))
    empty = ", ".join(f"{place} = 0" for place in corridor[1:])
    return "\n".join([
        f"# Bingham's family ME-k for k = {k}: the section behind the door holds {tokens} of any number of tokens.",
        f"# expect: {'safe' if tokens < 2 else 'unsafe'}",
        "",
        "vars",
        f"  notin in_ {' '.join(corridor)}",
        "",
        "rules",
        *rules,
        "",
        "init",
        f"  notin = {tokens}, in_ = 0, x0 >= 1, {empty}",
        "",
        "target",
        f"  x{k} >= 2",
        "",
    ])


def rule(takes, gives):
    guards = ", ".join(f"{place} >= 1" for place in takes)
    effects = [f"{place}' = {place} - 1" for place in takes] + [f"{place}' = {place} + 1" for place in gives]
    return f"  {guards} -> {', '.join(effects)};"
