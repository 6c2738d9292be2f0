"""Rules about names, over one file and over all of them."""

import json
import re
from collections.abc import Iterator, Sequence

from kbp.diagnostics import Finding, Severity
from kbp.dialects import SKILL
from kbp.files import PromptFile
from kbp.library import colliding
from kbp.linter.rules.base import found_in_reading, found_in_search, rule, rule_across, rule_of_others
from kbp.search import PROMPT_FOLDERS
from kbp.text import Span
from kbp.walk import Skipped


@rule_across(Severity.ERROR)
def name_collision(files: Sequence[PromptFile]) -> Iterator[tuple[PromptFile, Finding]]:
    """Two files must not give one name.

    The name of a prompt is its file's, folders are no part of it. Within one plugin, one project or one library a
    client merges equal names, and one of the two prompts is simply not there: kbp serves the first path in sorted
    order.

    Bad `commands/git/release.md`:

        ---
        description: Cut a release
        ---
        Cut release $ARGUMENTS.

    Bad `commands/npm/release.md`:

        ---
        description: Publish a package
        ---
        Publish $ARGUMENTS.

    Good `commands/git/release.md`:

        ---
        description: Cut a release
        ---
        Cut release $ARGUMENTS.

    Good `commands/npm/publish.md`:

        ---
        description: Publish a package
        ---
        Publish $ARGUMENTS.
    """
    for group in colliding(files):
        served, *others = group
        for file in group:
            rivals = ", ".join(other.path for other in others)
            taken = f"taken by {served.path}, which is served"
            if file is served:
                taken = f"also given by {rivals}: this one is served"
            first = file.document.lines.span(1)
            yield file, Finding(first, f"the name `{file.name}` is {taken}", "rename one of them")


@found_in_reading(Severity.WARNING, refusal="an empty name is an error, refused")
def unusable_name(file: PromptFile) -> Iterator[Finding]:
    """The name of a file must be one that a person can type as a command.

    The name of a prompt is its file's without the ending: a file called `.md` or `.prompt.md` leaves none and is
    refused. White space ends a command's name in Claude Code, VS Code turns most signs into dashes, and a colon cannot
    be checked out on Windows. Letters of any script, digits, `_`, `-` and `.` are fine.

    Bad `prompts/.prompt.md`:

        ---
        description: Nameless
        ---
        Go to ${input:place}.

    Bad `prompts/go there.prompt.md`:

        ---
        description: Go there
        ---
        Go to ${input:place}.

    Good `prompts/go.prompt.md`:

        ---
        description: Go somewhere
        ---
        Go to ${input:place}.
    """
    name = file.stem
    odd = sorted(set(re.sub(r"[\w.-]", "", name)))
    if odd and file.template is not None and not has_own_folder(file):  # a `skill-name`
        signs = (
            "white space"
            if all(sign.isspace() for sign in odd)
            else " ".join(f"`{sign}`" for sign in odd if not sign.isspace())
        )
        message = f"the name `{name}` holds {signs}, which not every client can type"
        first = file.document.lines.span(1)
        yield Finding(first, message, "use letters, digits, `_`, `-` and `.`")


_SKILL_NAME = re.compile(r"[a-z0-9-]{1,64}")
_MAX_DESCRIPTION = 1024


def has_own_folder(file: PromptFile) -> bool:
    """Whether the file is called like its folder, as a skill is."""
    return file.dialect is not None and "own folder" in file.dialect.expresses


@rule(Severity.ERROR, needs="own folder")
def skill_name(file: PromptFile) -> Iterator[Finding]:
    """A skill is called like its folder, and has a description.

    Its `name` is lower-case letters, digits and dashes, 64 at most, and that of its folder; its `description` has at
    most 1,024 characters. The clients that read skills skip one without them.

    Bad `.claude/skills/deploy/SKILL.md`:

        ---
        name: rollout
        description: Deploy a service
        ---
        Deploy $ARGUMENTS.

    Good `.claude/skills/deploy/SKILL.md`:

        ---
        name: deploy
        description: Deploy a service
        ---
        Deploy $ARGUMENTS.
    """
    if file.template is None:
        return
    document, folder = file.document, file.stem
    entry = document.frontmatter.get("name")
    name = entry.value.text if entry else None
    place = entry.key_span if entry else document.lines.span(1)
    if name is None:
        yield Finding(place, "a skill without a `name`", f"add `name: {folder}`")
    elif name != folder:
        yield Finding(place, f"`name` is `{name}`, and the folder is called `{folder}`", "make them equal")
    if name is not None and not _SKILL_NAME.fullmatch(name):
        yield Finding(place, f"`{name}` is no name of a skill", "use lower-case letters, digits and dashes, 64 at most")
    description = file.template.description
    entry = document.frontmatter.get("description")
    place = entry.key_span if entry else document.lines.span(1)
    if description is None:
        yield Finding(place, "a skill without a description", "add `description: …`: what it does, and when to use it")
    elif len(description) > _MAX_DESCRIPTION:
        message = f"a description of {len(description)} characters"
        yield Finding(place, message, f"shorten it to {_MAX_DESCRIPTION}")


DOCUMENTS = frozenset(
    {"README", "Readme", "readme", "CHANGELOG", "Changelog", "LICENSE", "License", "CLAUDE", "AGENTS"}
)


def is_document(file: PromptFile) -> bool:
    """Whether the file is called like a document that repositories keep in any folder."""
    among_prompts = PROMPT_FOLDERS.intersection(file.place.relative.parts[:-1])
    return bool(among_prompts) and file.place.path.name.removesuffix(".md") in DOCUMENTS


@rule(Severity.WARNING)
def document_in_prompts(file: PromptFile) -> Iterator[Finding]:
    """A document should not lie in a folder of prompts.

    A client offers every Markdown file of such a folder as a command, a README too.

    Bad `commands/README.md`:

        # Our commands

        How to add one: write a file here.

    Good `commands/add.md`:

        ---
        description: Add a command
        ---
        Add a command that does $ARGUMENTS.
    """
    if is_document(file):
        message = f"`{file.place.path.name}` lies among prompts, and is offered as one"
        yield Finding(file.document.lines.span(1), message, "move it, or name it in .kbpignore")


@found_in_search(Severity.WARNING)
def dangling_link(skipped: Skipped, text: str) -> Finding:
    """A symbolic link must lead to a file or folder below the root.

    A link that leads nowhere or in a loop is a prompt that no client finds. One that leads out of the root is not
    followed by kbp, nor by a plugin system that copies the folder.
    """
    return Finding(Span(0, 0), skipped.reason, "point it at something below the root, or remove it")


@found_in_search(Severity.ERROR)
def manifest_path(skipped: Skipped, text: str) -> Finding:
    """What a manifest or marketplace names must be there.

    A command file or folder that `commands` names, or a plugin's `source`, must lie below the plugin or marketplace.
    Claude Code does not load a plugin whose commands it cannot find.

    Bad `.claude-plugin/plugin.json`:

        {"name": "ops", "commands": ["./tasks/gone.md"]}

    Good `.claude-plugin/plugin.json`:

        {"name": "ops", "commands": ["./.claude-plugin"]}
    """
    written = json.dumps(skipped.written)
    at = text.find(written)
    if at < 0:
        written = json.dumps(skipped.written, ensure_ascii=False)
        at = text.find(written)
    if skipped.written is None:
        return Finding(
            Span(skipped.offset, skipped.offset + 1), skipped.reason, "correct the file: nothing of it is used"
        )
    span = Span(at, at + len(written)) if at >= 0 else Span(0, 0)
    return Finding(span, skipped.reason, "correct the path, or add what it names")


@rule_of_others(Severity.INFO, also="warning in a prompts or commands folder")
def not_a_prompt(file: PromptFile) -> Iterator[Finding]:
    """An agent, chat mode or instructions file is no prompt.

    It is not served as one, and nothing else is said of it. In a folder of prompts it is a warning: Claude Code offers
    every Markdown file below `commands` as a command.

    Bad `prompts/reviewer.agent.md`:

        ---
        description: Reviews changes
        ---
        You review changes.

    Good `prompts/review.md`:

        ---
        description: Review a change
        arguments:
        - name: change
        ---
        Review {{ change }}.
    """
    if file.detection.why != SKILL:
        among_prompts = PROMPT_FOLDERS.intersection(file.place.relative.parts[:-1])
        severity = Severity.WARNING if among_prompts else None
        message = f"{file.detection.why}, which is no prompt and not served as one"
        yield Finding(file.document.lines.span(1), message, "name its dialect (--dialect) if it is a prompt", severity)
