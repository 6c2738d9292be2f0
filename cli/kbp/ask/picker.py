"""The picker: a few letters choose one of many prompts, which is shown beside the list."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kbp.ask.fuzzy import Entry, Finder
from kbp.display import fit, pad, safe, safe_line, width, wrapped

if TYPE_CHECKING:
    from prompt_toolkit.application import Application
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.formatted_text import StyleAndTextTuples as Fragments
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    from prompt_toolkit.layout import HSplit

_BESIDE_COLUMNS, _BELOW_ROWS = 90, 24
_NAME_CELLS, _MAX_LINE, _MAX_SHOWN = 40, 500, 10_000
_MOVE, _CHOOSE, _FILL, _EDIT, _LEAVE = "↑↓ move", "Enter choose", "Tab fill in", "^E edit", "Esc leave"


@dataclass(frozen=True)
class Item:
    """One prompt to pick: its name, what it says of itself, and a page about it, made when it is looked at.

    `can_edit` says whether it has a file that can be edited.
    """

    name: str
    description: str
    page: Callable[[], str]
    can_edit: bool = False


@dataclass
class Picker:
    """A list of prompts that a person types into.

    Args:
        items: the prompts, in the order that they have while nothing is typed.
        query: what is typed at first.
        start: the position of the prompt that stands out at first, by default the best one.
        can_edit: whether there is an editor, so that `^E` leaves with the prompt to be edited.
        has_preview: whether the prompt that stands out is shown.

    `is_edited` says whether the prompt that was picked is to be edited.
    """

    items: Sequence[Item]
    query: str = ""
    start: int | None = None
    can_edit: bool = True
    has_preview: bool = True
    is_edited: bool = False
    _found: Sequence[int] = ()
    _at: int = 0
    _pages: dict[tuple[int, int], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._finder = Finder([Entry(item.name, item.description[:_MAX_LINE]) for item in self.items])
        self._names = [safe_line(item.name) for item in self.items]
        self._room = min(max((width(name) for name in self._names), default=0), _NAME_CELLS)
        self._found = self._finder.rank(self.query)
        if self.start is not None and self.start in self._found:
            self._at = list(self._found).index(self.start)

    def run(self, io: Mapping[str, Any]) -> int | None:
        """Let the person pick, and give the position of the prompt; None when they leave with Ctrl-D.

        Args:
            io: the keywords of a terminal.

        Raises:
            KeyboardInterrupt: the person leaves.
        """
        chosen: int | None = self._application(io).run()
        return chosen

    # What is typed

    def retype(self, text: str) -> None:
        """Look for what is typed now."""
        self.query = text
        self._found = self._finder.rank(text)
        self._at = 0

    def move(self, steps: int) -> None:
        """Move among what was found, from the end to the start and back by single steps."""
        if self._found:
            wraps = abs(steps) == 1
            self._at = (
                (self._at + steps) % len(self._found) if wraps else min(max(self._at + steps, 0), len(self._found) - 1)
            )

    @property
    def current(self) -> int | None:
        """The position of the prompt that stands out, None when nothing fits."""
        return self._found[self._at] if self._found else None

    @property
    def _is_editable(self) -> bool:
        return self.can_edit and self.current is not None and self.items[self.current].can_edit

    # What is drawn

    def _rows(self, rows: int, columns: int) -> "Fragments":
        if not self._found:
            return [("class:none", "  nothing fits; Backspace widens the search")]
        first = max(0, min(self._at - rows // 2, len(self._found) - rows))
        fragments: Fragments = []
        for at in range(first, min(first + rows, len(self._found))):
            position = self._found[at]
            mark, style = ("›", "class:on") if at == self._at else (" ", "")
            name = pad(fit(self._names[position], self._room), self._room)
            said = fit(safe_line(self.items[position].description[:_MAX_LINE]), max(columns - self._room - 5, 0))
            fragments += [(style, f"{mark} {name}"), (f"class:faint {style}", f"  {said}\n")]
        return fragments

    def _page(self, columns: int) -> str:
        position = self.current
        if position is None:
            return ""
        if (position, columns) not in self._pages:
            text = self.items[position].page()[:_MAX_SHOWN].expandtabs(4)
            self._pages[position, columns] = wrapped(safe(text), columns)
        return self._pages[position, columns]

    def _status(self, columns: int) -> str:
        edit = (_EDIT,) if self._is_editable else ()
        kinds = ((_MOVE, _CHOOSE, _FILL, *edit, _LEAVE), (_CHOOSE, *edit, _LEAVE), (_CHOOSE, _LEAVE), (_LEAVE,))
        lines = [f"  {len(self._found)}/{len(self.items)}  {' · '.join(keys)}" for keys in kinds]
        return next((line for line in lines if width(line) <= columns), fit(lines[-1], columns))

    def _application(self, io: Mapping[str, Any]) -> "Application[int | None]":
        from prompt_toolkit.application import Application
        from prompt_toolkit.buffer import Buffer
        from prompt_toolkit.document import Document
        from prompt_toolkit.layout import Layout
        from prompt_toolkit.styles import Style

        typed = Buffer(
            on_text_changed=lambda buffer: self.retype(buffer.text),
            multiline=False,
            document=Document(self.query, len(self.query)),
        )
        styles = {"on": "reverse", "faint": "fg:ansibrightblack", "question": "bold", "none": "fg:ansired"}
        return Application(
            Layout(self._layout(typed)),
            key_bindings=self._keys(typed),
            style=Style(list(styles.items())),
            erase_when_done=True,
            mouse_support=False,
            **io,
        )

    def _layout(self, typed: "Buffer") -> "HSplit":
        from prompt_toolkit.filters import Condition
        from prompt_toolkit.layout import (
            BufferControl,
            ConditionalContainer,
            FormattedTextControl,
            HSplit,
            VSplit,
            Window,
        )
        from prompt_toolkit.layout.processors import BeforeInput

        def rows() -> "Fragments":
            return self._rows(_list_rows(), _size()[1] - _page_columns() - 1 if is_beside() else _size()[1])

        def status() -> "Fragments":
            return [("class:faint", self._status(_size()[1]))]

        page = FormattedTextControl(lambda: self._page(_page_columns()))
        question = BufferControl(typed, [BeforeInput("? prompt: ", "class:question")])

        def is_beside() -> bool:
            return self.has_preview and _is_beside()

        edge = Window(width=1, char="│", style="class:faint")
        beside = VSplit([edge, Window(page, width=_page_columns, height=_list_rows, wrap_lines=True)])
        line = Window(height=1, char="─", style="class:faint")
        below = HSplit([line, Window(page, height=lambda: max(1, _size()[0] - _list_rows() - 4), wrap_lines=True)])
        return HSplit(
            [
                Window(question, height=1),
                VSplit(
                    [
                        Window(FormattedTextControl(rows), height=_list_rows),
                        ConditionalContainer(beside, Condition(is_beside)),
                    ]
                ),
                ConditionalContainer(below, Condition(lambda: self.has_preview and _is_below())),
                Window(FormattedTextControl(status), height=1),
            ]
        )

    def _keys(self, typed: Any) -> "KeyBindings":
        from prompt_toolkit.key_binding import KeyBindings

        keys = KeyBindings()
        steps = {"up": -1, "c-p": -1, "down": 1, "c-n": 1}
        for key, step in steps.items():
            keys.add(key)(lambda event, step=step: self.move(step))
        keys.add("pageup")(lambda event: self.move(-max(_list_rows() - 1, 2)))
        keys.add("pagedown")(lambda event: self.move(max(_list_rows() - 1, 2)))

        @keys.add("tab")
        def fill(event: "KeyPressEvent") -> None:
            if self.current is not None:
                typed.text = self.items[self.current].name
                typed.cursor_position = len(typed.text)

        def leave_with(is_edited: bool) -> Callable[["KeyPressEvent"], None]:
            def leave(event: "KeyPressEvent") -> None:
                if self.current is not None and (self._is_editable or not is_edited):
                    self.is_edited = is_edited
                    event.app.exit(result=self.current)

            return leave

        keys.add("enter")(leave_with(False))
        keys.add("c-j")(leave_with(False))  # typed before the terminal was ready
        keys.add("c-e")(leave_with(True))

        @keys.add("c-d")
        def end(event: "KeyPressEvent") -> None:
            if not typed.text:
                event.app.exit(result=None)

        @keys.add("c-z")
        def suspend(event: "KeyPressEvent") -> None:
            event.app.suspend_to_background()

        @keys.add("c-c")
        @keys.add("<sigint>")
        @keys.add("escape", eager=True)
        def leave(event: "KeyPressEvent") -> None:
            event.app.exit(exception=KeyboardInterrupt)

        return keys


def _size() -> tuple[int, int]:
    """The rows and columns of the terminal, as they are now."""
    from prompt_toolkit.application.current import get_app

    found = get_app().output.get_size()
    return found.rows, found.columns


def _is_beside() -> bool:
    """Whether there is room for the page beside the list."""
    return _size()[1] >= _BESIDE_COLUMNS


def _is_below() -> bool:
    """Whether there is room for the page below the list, and none beside it."""
    return not _is_beside() and _size()[0] >= _BELOW_ROWS


def _page_columns() -> int:
    """The columns of the page."""
    return _size()[1] // 2 if _is_beside() else _size()[1]


def _list_rows() -> int:
    """The rows of the list: all but the question, the status, and a line of the shell; half of them above a page."""
    rows = max(1, _size()[0] - 3)
    return rows // 2 if _is_below() else rows
