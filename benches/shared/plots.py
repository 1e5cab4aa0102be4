"""Plots as SVG, with logarithmic axes."""
import math

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 80, 190, 40, 60
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999"]


def lines(path, title, x_name, y_name, series):
    """Each series is a list of (bound, value). A bound of 0 stands to the left of 1, where a logarithm has no place."""
    bounds = sorted({x for points in series.values() for x, _ in points})
    values = [y for points in series.values() for _, y in points if y > 0]
    if not bounds or not values:
        return
    place = {bound: LEFT + (WIDTH - LEFT - RIGHT) * i / max(1, len(bounds) - 1) for i, bound in enumerate(bounds)}
    scale = Scale(values)
    out = frame(title, y_name, scale)
    for bound, x in place.items():
        out.append(f'<line x1="{x:.1f}" y1="{HEIGHT - BOTTOM}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM + 5}" stroke="#333"/>')
        out.append(text(x, HEIGHT - BOTTOM + 20, str(bound), "middle"))
    out.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 15, x_name, "middle"))
    for i, (name, points) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        dash = ' stroke-dasharray="6 3"' if i % 2 else ""
        spots = [(place[x], scale.y(y)) for x, y in points if y > 0]
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        out.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in spots]
        out += legend(i, name, colour)
    write(path, out)


def bars(path, title, y_name, groups):
    """Each group has a value, or none, for each name."""
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    values = [value for group in groups.values() for value in group.values() if value]
    if not values:
        return
    scale = Scale(values)
    out = frame(title, y_name, scale)
    room = (WIDTH - LEFT - RIGHT) / len(groups)
    width = room * 0.85 / len(names)
    for g, (group, members) in enumerate(groups.items()):
        start = LEFT + room * (g + 0.075)
        for i, name in enumerate(names):
            value = members.get(name)
            if value is None:
                continue
            x, base = start + i * width, HEIGHT - BOTTOM
            # Something is to be seen also of the least value.
            y = min(scale.y(max(value, scale.low)), base - 3)
            out.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{width * 0.9:.1f}" height="{base - y:.1f}" '
                f'fill="{COLOURS[i % len(COLOURS)]}"/>'
            )
            out.append(text(x + width * 0.45, y - 3, str(value), "middle", 8))
        out.append(text(start + room * 0.425, HEIGHT - BOTTOM + 18 + 14 * (g % 2), group, "middle", 11))
    for i, name in enumerate(names):
        out += legend(i, name, COLOURS[i % len(COLOURS)])
    write(path, out)


def scatter(path, title, x_name, y_name, series):
    """Each series is a list of (x, y, what is written beside the dot); a dashed line where both are equal."""
    values = [value for points in series.values() for x, y, _ in points for value in (x, y)]
    if not values:
        return
    scale = Scale(values)
    across = (WIDTH - LEFT - RIGHT) / (HEIGHT - TOP - BOTTOM)
    place = lambda value: LEFT + (HEIGHT - BOTTOM - scale.y(value)) * across
    out = frame(title, y_name, scale)
    for power in range(scale.first, scale.last + 1):
        label = f"{10**power:,}" if power >= 0 else f"{10.0**power:g}"
        out.append(text(place(10.0**power), HEIGHT - BOTTOM + 20, label, "middle"))
    out.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 15, x_name, "middle"))
    out.append(f'<line x1="{LEFT}" y1="{HEIGHT - BOTTOM}" x2="{WIDTH - RIGHT}" y2="{TOP}" stroke="#333" stroke-dasharray="6 3"/>')
    for i, (name, points) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        for x, y, words in points:
            out.append(f'<circle cx="{place(x):.1f}" cy="{scale.y(y):.1f}" r="4" fill="{colour}" fill-opacity="0.7"/>')
            out.append(text(place(x) + 6, scale.y(y) - 4, words, "start", 9))
        out += legend(i, name, colour)
    write(path, out)


class Scale:
    """Powers of ten from below the least value to above the greatest."""

    def __init__(self, values):
        self.first = math.floor(math.log10(min(values)))
        self.last = max(self.first + 1, math.ceil(math.log10(max(values))))
        self.low = 10.0**self.first

    def y(self, value):
        share = (math.log10(value) - self.first) / (self.last - self.first)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def frame(title, y_name, scale):
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text(LEFT, 22, title, "start", 15),
        f'<g transform="translate(18 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)">{text(0, 0, y_name, "middle")}</g>',
    ]
    for power in range(scale.first, scale.last + 1):
        y = scale.y(10.0**power)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>')
        label = f"{10**power:,}" if power >= 0 else f"{10.0**power:g}"
        out.append(text(LEFT - 6, y + 4, label, "end"))
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    out.append(f'<path d="M{LEFT} {TOP} V{bottom} H{right}" fill="none" stroke="#333"/>')
    return out


def legend(i, name, colour):
    x, y = WIDTH - RIGHT + 16, TOP + 10 + 20 * i
    return [f'<rect x="{x}" y="{y - 9}" width="12" height="12" fill="{colour}"/>', text(x + 18, y + 1, name, "start")]


def text(x, y, words, anchor, size=12):
    words = words.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="#222">{words}</text>'


def write(path, out):
    with open(path, "w") as file:
        file.write("\n".join([*out, "</svg>", ""]))
