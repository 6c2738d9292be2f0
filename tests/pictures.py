"""Pictures of terminals, made of what is really on them."""

import io
import re

# No fonts of other hosts, no class names that differ from run to run.
_FORMAT = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix" xml:space="preserve">{matrix}</g>
</g>
</svg>
"""


def svg_of(screen: str, columns: int, title: str) -> str:
    """The picture of a screen with its colours, as tmux captures it."""
    from rich.console import Console
    from rich.terminal_theme import SVG_EXPORT_THEME
    from rich.text import Text

    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(screen.rstrip()), soft_wrap=True)
    svg = console.export_svg(title=title, theme=SVG_EXPORT_THEME, code_format=_FORMAT, unique_id="kbp")
    return re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE)
