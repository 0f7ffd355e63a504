"""Everything that can go wrong for a user, as one tree.

PliantError                  anything below; the command line prints it and exits with ``exit_code``
├── InputError        (2)    bad input; says what, where and what to try
│   ├── MeshError            a mesh file, a shape or a fill that failed
│   ├── SceneError           a scene file: file, line, key
│   ├── ParameterError       a value given from Python to one of our classes; also a ValueError
│   ├── MaterialError        a value outside the physical range
│   ├── SelectionError       a selection that is empty or names something unknown
│   ├── IncompatibleError    a combination that is not supported: which capability is missing
│   ├── RunError             a run folder that is missing, damaged, foreign or in the way
│   ├── StorageError         the disk is full or the place cannot be written
│   └── MissingExtra         an optional dependency; says what to install
├── Diverged          (3)    the watchdog stopped a run; body, element, time, stable step
└── Interrupted       (130)  the user stopped a run; it can be resumed
"""


class PliantError(Exception):
    """Base of every error that a user may see; ``hint`` says what to try."""

    exit_code = 2

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}" if self.hint else self.message


class InputError(PliantError):
    """Bad input."""


class MeshError(InputError):
    """A mesh could not be read, made, filled or written."""


class SceneError(InputError):
    """A scene file is wrong at ``path:line``, in the entry ``key``."""

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        line: int | None = None,
        key: str | None = None,
        hint: str | None = None,
    ) -> None:
        place = f"{path}:{line}" if path and line else path
        text = ": ".join(part for part in (place, key, message) if part)
        super().__init__(text, hint=hint)
        self.path, self.line, self.key = path, line, key


class ParameterError(InputError, ValueError):
    """A value given from Python to a shape, material, model, action, measure or scene is not one it takes."""


class MaterialError(InputError):
    """A material constant is outside its physical range."""


class SelectionError(InputError):
    """A selection is empty or names something that does not exist."""


class IncompatibleError(InputError):
    """A combination that is not supported."""


class RunError(InputError):
    """A run folder is missing, damaged, foreign or in the way."""


class StorageError(InputError):
    """Something could not be written."""


class MissingExtra(InputError):
    """An optional dependency is not installed."""


class Diverged(PliantError):
    """The watchdog stopped the run; earlier frames are kept."""

    exit_code = 3


class Interrupted(PliantError):
    """The user stopped the run; it can be resumed."""

    exit_code = 130
