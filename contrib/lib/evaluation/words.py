"""Figures as people read them."""


def span(seconds):
    if seconds < 90:
        return f"{seconds:.1f} s"
    if seconds < 5400:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.2f} h" if seconds < 86400 * 4 else f"{seconds / 86400:.1f} d"


def micros(value):
    return f"{value:.1f} µs" if value < 1000 else f"{value / 1000:.1f} ms"


def percent(part):
    return f"{100 * part:.0f} %"


def change(ratio, half):
    """A ratio as what it is more or less than 1: -3.1 % ±0.8."""
    return f"{round(100 * (ratio - 1), 1) or 0.0:+.1f} %" + ("" if half is None else f" ±{100 * half:.1f}")


def gap(closed):
    if closed is None:
        return "no gap"
    part, half = closed
    if part < -0.005:
        return "< 0"
    return f"{100 * part:.0f} %" + ("" if half is None else f" ±{100 * half:.0f}")


def with_half(mean, half):
    return span(mean) + ("" if half is None else f" ±{100 * half / mean:.1f} %")


def table(header, rows):
    """Markdown; the first column is text, the others are figures."""
    lines = ["| " + " | ".join(header) + " |", "| --- |" + " ---: |" * (len(header) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"
