"""Numbers given as options, with or without units."""

from pliant.core.errors import InputError


def positive(option: str, text: str, unit: str) -> float:
    """``text`` as a number of ``unit`` above zero."""
    from pliant.core.units import parse

    try:
        value = parse(float(text) if _plain(text) else text, unit)
    except ValueError as error:
        raise InputError(f"{option}: {error}.") from None
    if value <= 0:
        raise InputError(f"{option} {text}: it must be above 0.")
    return value


def _plain(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
