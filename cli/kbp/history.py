"""What a person answered, kept between runs in their state folder for them alone.

What is kept of a prompt is found by its identity: the file it is in, or the server and its name there. The values are
kept as they were typed (`@path` is the path, not what is in the file).
"""

import re
import time
from collections.abc import Mapping, Sequence

from kbp import memory, shelf

_KIND = "history"
MAX_ANSWERS, MAX_PROMPTS = 20, 500
"""How many times are remembered of a prompt, and of how many prompts."""
_MAX_VALUE = 16 * 1024
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SECRET_WORDS = frozenset({"auth", "bearer", "jwt", "otp", "pass", "pin"})
_SECRETS = ("token", "password", "passwd", "passphrase", "passcode", "pwd", "secret", "key", "credential")

Answers = Mapping[str, str]
"""What was typed, by the name of the argument; empty where an argument was left out."""
of_file, of_server = shelf.of_file, shelf.of_server


def is_secret(*names: str) -> bool:
    """Whether values of an argument are never kept, as its name or title is that of a token, a password, a key."""
    words = [word.lower().removesuffix("s") for name in names for word in _WORDS.findall(name)]
    return any(word in _SECRET_WORDS or word.endswith(_SECRETS) or f"{word}s" in _SECRET_WORDS for word in words)


def remember(prompt: str, answers: Answers) -> None:
    """Keep what a person answered: no secrets, nothing very long."""
    kept = {name: text for name, text in answers.items() if not is_secret(name) and len(text) <= _MAX_VALUE}
    _keep(prompt, [kept, *(each for each in answered(prompt) if each != kept)][:MAX_ANSWERS])


def touch(prompt: str) -> None:
    """Keep that a prompt was picked."""
    _keep(prompt, answered(prompt))


def _keep(prompt: str, times: Sequence[Answers]) -> None:
    content = {"prompt": prompt, "at": time.time(), "answers": list(map(dict, times))}
    memory.remember(_KIND, memory.key_of(prompt), content)
    memory.keep_newest(_KIND, MAX_PROMPTS)
    values = ((name, text) for each in times for name, text in each.items() if text and text.isprintable())
    shelf.write(shelf.VALUES, prompt, dict.fromkeys(values))  # for Tab presses


def answered(prompt: str) -> list[Answers]:
    """What was answered for a prompt, the last time first."""
    found = memory.recall(_KIND, memory.key_of(prompt))
    times = found.get("answers") if isinstance(found, dict) else None
    return [each for each in times if _are_answers(each)] if isinstance(times, list) else []


def earlier(prompt: str, name: str) -> list[str]:
    """The different values that were given for an argument of a prompt, the last one first."""
    return list(dict.fromkeys(text for each in answered(prompt) if (text := each.get(name))))


def latest() -> list[str]:
    """The prompts that were picked or answered, the last one first."""
    found = [each for each in memory.recall_all(_KIND) if isinstance(each, dict) and isinstance(each.get("at"), float)]
    found.sort(key=lambda each: float(each["at"]), reverse=True)
    return [each["prompt"] for each in found if isinstance(each.get("prompt"), str)]


def clear() -> int:
    """Forget all of it, and give the number of prompts that something was kept of.

    Raises:
        OSError: it cannot be removed.
    """
    shelf.clear(shelf.VALUES)
    return memory.forget_all(_KIND)


def _are_answers(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
