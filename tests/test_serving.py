"""What is served, and to whom: offers, bodies, scopes, tokens, suggestions, fields by revision."""

import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import Tree

from kbp import files
from kbp.files import Manner, Place
from kbp.libraries import served
from kbp.libraries.file import load
from kbp.library import load_all
from kbp.model import Argument, Prompt
from kbp.renderer import MissingArguments, TooLarge
from kbp.search import Search, find_paths
from kbp.server import bodies, suggestions, tokens
from kbp.server.loading import Loader
from kbp.server.offers import Offers, offers_of
from kbp.server.revisions import wire_prompt
from kbp.server.scope import Scope, UnknownScope, Wish, nearest, seen, wish_of
from kbp.server.stamps import look
from kbp.server.stock import Harvest, Stock, Unreadable

KB = """---
description: d
arguments:
- {name: app, required: true}
- {name: since, default: 1h}
---
Look at {{ app }} since {{ since }}.
"""


def read(top: Path, library: str = "", loader: Loader | None = None) -> tuple[served.Served, ...]:
    search = Search(stays_inside=True)
    faults = find_paths([str(top)], None, search)
    if faults:
        raise Unreadable("; ".join(faults))
    manner = Manner(library=library or None)
    found = load_all(search, lambda path: manner, (loader or Loader()).load)
    return (served.of_files(found, library),)


class Folder:
    """A folder as the source of a stock."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.loader = Loader()

    def read(self, before: Sequence[served.Served]) -> Harvest:
        return Harvest(read(self.top, loader=self.loader), self.loader.end())

    def watched(self) -> list[Path]:
        return []


class Libraries(Folder):
    """A file of libraries as the source of a stock."""

    def read(self, before: Sequence[served.Served]) -> Harvest:
        libraries = served.serve(load(self.top), load=self.loader.load, before=before)
        return Harvest(libraries, self.loader.end())


def text(stock: Stock, name: str, **values: str) -> str:
    return str(stock.offers.prompts[name].body.messages(values)[0].content["text"])


# Offers


def test_names_are_one_flat_namespace(tree: Tree) -> None:
    top = tree(
        {
            "lib/a/.claude-plugin/plugin.json": '{"name": "a"}',
            "lib/a/commands/x.md": "A\n",
            "lib/b/.claude-plugin/plugin.json": '{"name": "b"}',
            "lib/b/commands/x.md": "B\n",
            "lib/b/commands/y.md": "Y\n",
        }
    )
    offers = offers_of(read(top / "lib"))
    assert {name: offer.plugin for name, offer in offers.prompts.items()} == {"x": "a", "y": "b"}
    assert offers.conflicts == ("plugin b: commands/x.md is left out: plugin a serves `x` already",)


def test_a_library_is_in_front_of_the_names(tree: Tree) -> None:
    top = tree({"prompts/a.b.md": "x\n", "prompts/Two Words.md": "x\n", "prompts/c.prompt.md": "x\n"})
    assert list(offers_of(read(top / "prompts", "ops")).prompts) == ["ops_Two Words", "ops_a.b", "ops_c"]


def test_what_is_broken_later_is_offered_as_it_was(tree: Tree) -> None:
    top = tree({"prompts/a.md": KB, "prompts/b.md": "B\n"})
    stock = Stock(Folder(top / "prompts"))
    (top / "prompts/a.md").write_text("---\narguments: 5\n---\n{{ x }}\n")
    assert stock.renew() is False
    assert list(stock.offers.prompts) == ["a", "b"]
    assert text(stock, "a", app="loki") == "Look at loki since 1h.\n"
    ((_, (kept,)),) = stock.kept().items()
    assert (kept.path, kept.line) == ("prompts/a.md", 2)
    assert "arguments" in kept.reason
    assert not stock.is_whole()
    (top / "prompts/a.md").write_text(KB.replace("Look", "Peek"))
    stock.renew()
    assert stock.kept() == {}
    assert text(stock, "a", app="loki") == "Peek at loki since 1h.\n"
    (top / "prompts/a.md").unlink()
    assert stock.renew() is True
    assert list(stock.offers.prompts) == ["b"]


def test_what_was_broken_from_the_start_is_not_offered(tree: Tree) -> None:
    top = tree({"prompts/a.md": "---\narguments: 5\n---\n", "prompts/b.md": "B\n"})
    offers = offers_of(read(top / "prompts"))
    assert list(offers.prompts) == ["b"]
    (plugin,) = offers.libraries[0].plugins
    assert [(left.path, left.line, left.is_fault) for left in plugin.skipped()] == [("prompts/a.md", 2, True)]


def test_a_broken_file_keeps_its_name(tree: Tree) -> None:
    top = tree(
        {
            "p/prompts/one.md": "P\n",
            "q/prompts/one.md": "Q\n",
            "q/prompts/other.md": "O\n",
            "p/commands/two.md": "A\n",
            "p/prompts/two.md": "B\n",
            "l.yaml": "plugins: [{name: p, source: p}, {name: q, source: q}]\n"
            "libraries: [{name: l, plugins: [p, q]}, {name: m, plugins: [p]}]\n",
        }
    )
    stock = Stock(Libraries(top / "l.yaml"))
    said = {name: text(stock, name) for name in stock.offers.prompts}
    assert said == {"l_one": "P\n", "l_two": "A\n", "m_one": "P\n", "m_two": "A\n"}
    for path in ("p/prompts/one.md", "p/commands/two.md"):
        (top / path).write_text("---\nx: [\n---\n")
    stock.renew()
    assert {name: text(stock, name) for name in stock.offers.prompts} == said
    assert [kept.path for kept in stock.kept()["p"]] == ["prompts/one.md", "commands/two.md"]
    (top / "p").rename(top / "gone")
    stock.renew()
    assert {name: text(stock, name) for name in stock.offers.prompts} == said
    assert not stock.is_whole()


def test_kept_files_of_two_plugins_are_told_apart(tree: Tree) -> None:
    top = tree(
        {
            "p/prompts/a.md": "P\n",
            "q/prompts/a.md": "Q\n",
            "l.yaml": "plugins: [{name: p, source: p}, {name: q, source: q}]\n"
            "libraries: [{name: l, plugins: [p]}, {name: m, plugins: [q]}]\n",
        }
    )
    stock = Stock(Libraries(top / "l.yaml"))
    for name in ("p", "q"):
        (top / name / "prompts/a.md").write_text("---\nx: [\n---\n")
    stock.renew()
    assert {plugin: [kept.path for kept in each] for plugin, each in stock.kept().items()} == {
        "p": ["prompts/a.md"],
        "q": ["prompts/a.md"],
    }


class Failing(Folder):
    """A source that fails when it is read again."""

    def read(self, before: Sequence[served.Served]) -> Harvest:
        if before:
            raise KeyError("a bug")
        return super().read(before)


def test_a_bug_in_reading_shows_and_is_not_tried_again_and_again(tree: Tree) -> None:
    top = tree({"prompts/a.md": "A\n"})
    stock = Stock(Failing(top / "prompts"))
    (top / "prompts/b.md").write_text("B\n")
    assert stock.renew() is False
    assert stock.fault == "internal error (KeyError)"
    assert list(stock.offers.prompts) == ["a"]
    time.sleep(0.2)
    stock.renew()
    assert not _has_changed(stock)


NAMES = ["a\nb.md", "\x1b[31m.md", "\u202eevil.md", "\x7f.md"]
FINE = ["fine 日.md", "会議　メモ.md", "a\u200db.md"]


def test_names_that_no_client_could_send_are_left_out(tree: Tree) -> None:
    top = tree({f"prompts/{name}": "x\n" for name in (*NAMES, *FINE)})
    (top / os.fsdecode(b"prompts/\xff.md")).write_text("x\n")
    offers = offers_of(read(top / "prompts"))
    assert list(offers.prompts) == sorted(name.removesuffix(".md") for name in FINE)
    assert len(offers.unnamed) == 5
    assert all(left.path.isascii() and left.path.isprintable() for _, left in offers.unnamed)


def test_folders_that_are_gone_are_offered_as_they_were(tree: Tree) -> None:
    top = tree({"prompts/a.md": KB})
    stock = Stock(Folder(top / "prompts"))
    (top / "prompts").rename(top / "away")
    assert stock.renew() is False
    assert stock.fault is not None
    assert text(stock, "a", app="loki") == "Look at loki since 1h.\n"
    (top / "away").rename(top / "prompts")
    assert stock.renew() is False
    assert stock.fault is None


def test_a_change_of_any_kind_is_seen(tree: Tree) -> None:
    top = tree({"lib/commands/a.md": "A\n", "lib/.claude-plugin/plugin.json": '{"name": "p"}'})
    stock = Stock(Folder(top / "lib"))
    _settle(stock)
    changes = [
        lambda: (top / "lib/commands/a.md").write_text("B, longer\n"),
        lambda: (top / "lib/commands/b.md").write_text("B\n"),
        lambda: (top / "lib/commands/deep").mkdir(),
        lambda: (top / "lib/commands/deep/c.md").write_text("C\n"),
        lambda: (top / "lib/.claude-plugin/plugin.json").write_text('{"name": "p", "commands": ["commands/a.md"]}'),
        lambda: (top / "lib/.kbpignore").write_text("b.md\n"),
        lambda: (top / "lib/commands/a.md").unlink(),
        lambda: (top / "lib").rename(top / "gone"),
        lambda: (top / "gone").rename(top / "lib"),
    ]
    for at, change in enumerate(changes):
        change()
        assert _has_changed(stock), at
        _settle(stock)


def _has_changed(stock: Stock) -> bool:
    return look(stock.stamps) != stock.stamps


def _settle(stock: Stock) -> None:
    end = time.monotonic() + 10
    while True:
        stock.renew()
        if not _has_changed(stock):
            return
        assert time.monotonic() < end
        time.sleep(0.05)


# Bodies


def body_of(path: Path, root: Path) -> bodies.Body:
    file = files.load(Place(path, root, boundary=root), Manner(inside=os.path.realpath(root)))
    assert file.template is not None
    return bodies.Body(file, file.template)


def said(body: bodies.Body, **values: str) -> str:
    return str(body.messages(values)[0].content["text"])


EDITS: list[tuple[str | bytes, str, str | None]] = [
    (KB.replace("Look", "Peek"), "Peek at a since 1h.\n", None),
    (KB.replace("since {{ since }}", "{{ app }}{{ app }}"), "Look at a aa.\n", None),
    # what is declared stays: a new default, and a new argument, are for a reading of all
    (KB.replace("1h", "9h"), "Look at a since 1h.\n", None),
    (
        KB.replace("{name: since,", "{name: new}\n- {name: since,").replace("Look", "{{ new }}Peek"),
        "Peek at a since 1h.\n",
        None,
    ),
    (KB.replace("{{ since }}", "{{ snice }}"), "Look at a since 1h.\n", "snice"),
    (b"\xff\xfe", "Look at a since 1h.\n", "UTF-8"),
    ("---\nx: [\n---\n", "Look at a since 1h.\n", "YAML"),
    ("No frontmatter, {{ app }}.\n", "Look at a since 1h.\n", "app"),
    ("", "", None),
]


@pytest.mark.parametrize(("edit", "expected", "fault"), EDITS)
def test_a_body_is_read_again(edit: str | bytes, expected: str, fault: str | None, tree: Tree) -> None:
    top = tree({"prompts/a.md": KB})
    body = body_of(top / "prompts/a.md", top)
    assert said(body, app="a") == "Look at a since 1h.\n"
    (top / "prompts/a.md").write_bytes(edit.encode() if isinstance(edit, str) else edit)
    assert said(body, app="a") == expected
    assert (fault is None) == (body.fault is None)
    assert fault is None or fault in str(body.fault)
    (top / "prompts/a.md").write_text(KB)
    assert said(body, app="a") == "Look at a since 1h.\n"
    assert body.fault is None


def test_edits_in_quick_succession_are_all_seen(tree: Tree) -> None:
    top = tree({"prompts/a.md": "0\n"})
    body = body_of(top / "prompts/a.md", top)
    for number in range(200):  # of one size, within one tick of the clock of the file system
        (top / "prompts/a.md").write_text(f"{number % 10}\n")
        assert said(body) == f"{number % 10}\n"


def test_arguments_that_are_renamed_count_when_all_is_read_anew(tree: Tree) -> None:
    top = tree({"prompts/a.md": KB, "c.prompt.md": "${input:old:x} b\n", "commands/d.md": "$ARGUMENTS\n"})
    body = body_of(top / "prompts/a.md", top)
    (top / "prompts/a.md").write_text(KB.replace("app", "workload"))
    assert said(body, app="loki") == "Look at loki since 1h.\n"
    assert "others now" in str(body.fault)
    copilot = body_of(top / "c.prompt.md", top)
    (top / "c.prompt.md").write_text("${input:new:x} b\n")
    assert said(copilot, old="a") == "a b\n"
    (top / "c.prompt.md").write_text("no inputs\n")
    assert said(copilot, old="a") == "no inputs\n"
    (top / "commands/e.md").write_text("---\narguments: [from, to]\n---\nfrom $0 to $1\n")
    ordered = body_of(top / "commands/e.md", top)
    (top / "commands/e.md").write_text("---\narguments: [to, from]\n---\nfrom $1 to $0\n")
    assert said(ordered, **{"from": "F", "to": "T"}) == "from F to T\n"
    assert "others now" in str(ordered.fault)


def test_a_broken_file_is_parsed_once(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tree({"prompts/a.md": "A\n"})
    body = body_of(top / "prompts/a.md", top)
    (top / "prompts/a.md").write_text("---\nx: [\n---\n")
    os.utime(top / "prompts/a.md", (time.time() + 1e6,) * 2)  # in the future, too
    reads: list[Path] = []
    load = files.load

    def counting(place: Place, manner: Manner) -> files.PromptFile:
        reads.append(place.path)
        return load(place, manner)

    monkeypatch.setattr(files, "load", counting)
    for _ in range(3):
        time.sleep(0.3)
        assert said(body) == "A\n"
    assert len(reads) <= 2


def test_a_file_that_hangs_is_given_up_and_comes_back(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tree({"prompts/a.md": "A\n"})
    body = body_of(top / "prompts/a.md", top)
    monkeypatch.setattr(bodies, "_PATIENCE", 0.1)
    began, goes_on, load = threading.Event(), threading.Event(), files.load

    def hanging(place: Place, manner: Manner) -> files.PromptFile:
        began.set()
        goes_on.wait(20)
        return load(place, manner)

    monkeypatch.setattr(files, "load", hanging)
    first = threading.Thread(target=lambda: said(body))
    first.start()
    assert began.wait(20)
    for _ in range(3):
        start = time.monotonic()
        assert said(body) == "A\n"  # it waits no longer than is allowed
        assert time.monotonic() - start < 2
        assert "too long to read" in str(body.fault)
    goes_on.set()
    first.join()
    assert said(body) == "A\n"
    assert body.fault is None


def test_no_more_threads_are_given_to_files_that_hang(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tree({"prompts/a.md": "A\n"})
    body = body_of(top / "prompts/a.md", top)
    assert said(body) == "A\n"
    monkeypatch.setattr(bodies, "_under_way", dict.fromkeys(range(32), 0.0))
    (top / "prompts/a.md").write_text("B\n")
    assert said(body) == "A\n"
    assert "too many files hang" in str(body.fault)
    monkeypatch.setattr(bodies, "_under_way", {})
    assert said(body) == "B\n"


def test_readers_side_by_side_end_with_the_newest(tree: Tree) -> None:
    top = tree({"prompts/a.md": "0\n"})
    body = body_of(top / "prompts/a.md", top)
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            said(body)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for number in range(100):
        (top / "prompts/a.md").write_text(f"{number}\n")
    stop.set()
    for worker in workers:
        worker.join()
    assert said(body) == "99\n"


def test_a_file_that_goes_is_rendered_as_it_was(tree: Tree) -> None:
    top = tree({"prompts/a.md": "A\n"})
    body = body_of(top / "prompts/a.md", top)
    (top / "prompts/a.md").unlink()
    assert said(body) == "A\n"
    assert body.fault is not None
    (top / "prompts/a.md").mkdir()
    assert said(body) == "A\n"
    (top / "prompts/a.md").rmdir()
    os.mkfifo(top / "prompts/a.md")
    assert said(body) == "A\n"
    assert "regular" in str(body.fault)


def test_a_link_that_is_swapped_all_the_time_never_leads_out(tree: Tree) -> None:
    top = tree({"in/prompts/a.md": "A\n", "secret.md": "secret\n"})
    path, stop = top / "in/prompts/a.md", threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for make in (lambda new: new.symlink_to(top / "secret.md"), lambda new: new.write_text("A\n")):
                make(top / "in/new")
                (top / "in/new").replace(path)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for _ in range(20):
            stock = Stock(Folder(top / "in"))
            for _ in range(20):
                offer = stock.offers.prompts.get("a")
                assert offer is None or offer.body.messages({})[0].content["text"] == "A\n"
                stock.renew()
    finally:
        stop.set()
        swapper.join()


@pytest.mark.parametrize("what", ["lib", "lib/prompts", "lib/prompts/a.md"])
def test_a_folder_that_is_swapped_for_a_link_never_leads_out(what: str, tree: Tree) -> None:
    top = tree({"lib/prompts/a.md": "A\n", "out/prompts/a.md": "out\n", "out/prompts/b.md": "out\n", "a.md": "out\n"})
    stock = Stock(Folder(top / what))
    assert text(stock, "a") == "A\n"
    swapped = "lib/prompts" if what.endswith(".md") else what
    (top / swapped).rename(top / "away")
    (top / swapped).symlink_to(top / "out" / ("prompts" if swapped.endswith("prompts") else ""))
    for _ in range(2):
        assert text(stock, "a") == "A\n"
        stock.renew()
        assert list(stock.offers.prompts) == ["a"]
    assert not stock.is_whole()


def test_a_link_does_not_lead_out_later(tree: Tree) -> None:
    top = tree({"in/prompts/a.md": "A\n", "secret.md": "secret\n", "in/prompts/b.md": "B\n", "out/a.md": "out\n"})
    body = body_of(top / "in/prompts/a.md", top / "in")
    (top / "in/prompts/a.md").unlink()
    (top / "in/prompts/a.md").symlink_to(top / "secret.md")
    assert said(body) == "A\n"
    assert "leads out" in str(body.fault)
    (top / "in/prompts/a.md").unlink()
    (top / "in/prompts/a.md").symlink_to("b.md")
    assert said(body) == "B\n"
    (top / "in/prompts").rename(top / "in/old")
    (top / "in/prompts").symlink_to(top / "out")
    assert said(body) == "B\n"


def test_a_result_is_bounded(tree: Tree) -> None:
    top = tree({"commands/a.md": "$ARGUMENTS" * 1000 + "\n"})
    body = body_of(top / "commands/a.md", top)
    assert len(said(body, arguments="x" * 1000)) == 1_000_001
    with pytest.raises(TooLarge):
        said(body, arguments="x" * 10_000)


def test_a_missing_argument_is_missing(tree: Tree) -> None:
    top = tree({"prompts/a.md": KB})
    with pytest.raises(MissingArguments):
        said(body_of(top / "prompts/a.md", top), app="")


# Scope

PLUGINS = {
    "a/prompts/one.md": "x\n",
    "b/prompts/two.md": "x\n",
    "c/prompts/three.md": "x\n",
    "libraries.yaml": """plugins:
- {name: a, source: a, category: ops, tags: [x], keywords: [k]}
- {name: b, source: b, category: dev, tags: [x, y]}
- {name: c, source: c, tags: [z, y]}
libraries:
- {name: l, plugins: [a, b]}
- {name: m, plugins: [c]}
""",
}


@pytest.fixture
def offers(tree: Tree) -> Offers:
    return offers_of(served.serve(load(tree(dict(PLUGINS)) / "libraries.yaml")))


SCOPES: list[tuple[str, dict[str, str], list[str]]] = [
    ("", {}, ["l_one", "l_two", "m_three"]),
    ("library=l", {}, ["l_one", "l_two"]),
    ("library=l&library=m", {}, ["l_one", "l_two", "m_three"]),
    ("categories=ops", {}, ["l_one"]),
    ("categories=ops,dev", {}, ["l_one", "l_two"]),
    ("categories=ops&categories=dev", {}, ["l_one", "l_two"]),
    ("categories=%20ops%20,", {}, ["l_one"]),
    ("tags=y", {}, ["l_two", "m_three"]),
    ("tags=x,y", {}, ["l_two"]),
    ("tags=k&tags=z", {}, ["l_one", "m_three"]),
    ("tags=x,y&tags=z", {}, ["l_two", "m_three"]),
    ("tags=y&library=m", {}, ["m_three"]),
    ("categories=dev&tags=k", {}, []),
    ("library=l", {"X-MCP-Library": "m"}, ["m_three"]),
    ("", {"x-mcp-categories": "dev"}, ["l_two"]),
    ("tags=x", {"X-MCP-Tags": "z, y"}, ["m_three"]),
    ("prompts=off", {}, ["l_one", "l_two", "m_three"]),
]


@pytest.mark.parametrize(("query", "headers", "expected"), SCOPES)
def test_a_scope_chooses(query: str, headers: dict[str, str], expected: list[str], offers: Offers) -> None:
    assert list(seen(offers, wish_of(query, headers.items()).scope)) == expected


UNKNOWN = [
    ("library=lx", "there is no library 'lx'; did you mean 'l'? (libraries: l, m)"),
    ("library=&X=1", "there is no field 'X'"),
    ("library=L", "there is no library 'L'"),
    ("categories=nothing", "there is no category 'nothing' (categories: dev, ops)"),
    ("tags=x,q", "there is no tag 'q' (tags: k, x, y, z)"),
    ("tags=../..", "there is no tag '../..'"),
    ("library=a&categories=b&tags=c", "there is no library 'a'"),
    ("&".join(["tags=x"] * 100), "more than 64 fields"),
    ("library=%ff%fe", "there is no library"),
    (f"library={'x' * 100_000}", "more than 200 characters"),
    (f"tags={','.join(['x'] * 100)}", "more than 64 words"),
    ("tags=" + ",".join(f"q{number}" for number in range(60)), "and 57 more are not there"),
    ("library=", "library names nothing"),
    ("tags=%20,", "tags names nothing"),
    ("Library=l", "there is no field 'Library'"),
    ("cat=ops", "fields: library, categories, tags, prompts"),
    ("foo=1", "there is no field 'foo'"),
    ("prompts=of", "prompts is on or off"),
]


@pytest.mark.parametrize(("query", "fault"), UNKNOWN)
def test_an_unknown_scope_says_what_there_is(query: str, fault: str, offers: Offers) -> None:
    with pytest.raises(UnknownScope) as caught:
        list(seen(offers, wish_of(query, ()).scope))
    assert fault in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("name", ["X-MCP-Libary", "x-mcp-library-", "X-MCP-Category", "X-MCP-Tag"])
def test_a_header_that_is_mistyped_is_refused(name: str) -> None:
    with pytest.raises(UnknownScope, match="did you mean"):
        wish_of("", [(name, "x")])
    assert wish_of("", [("X-MCP-Something-Else", "x"), ("Accept", "y")]) == Wish()


def test_near_names_are_looked_for_in_time() -> None:
    long = [f"{'x' * 190}{number:05}" for number in range(5_000)]
    short = [f"debug-{number:05}" for number in range(5_000)]
    start = time.monotonic()
    assert nearest(long[0] + "y", long) is None
    assert nearest("debug-0000x", short) is not None
    assert nearest("", short) is nearest("zz", short) is None
    assert time.monotonic() - start < 0.5


@pytest.mark.parametrize("value", ["off", "OFF", "false", "0", "no", "none"])
def test_prompts_are_switched_off(value: str) -> None:
    assert wish_of(f"prompts={value}", ()).has_tools
    assert wish_of("", [("X-MCP-Prompts", value)]).has_tools


@pytest.mark.parametrize("value", ["on", "1", "yes", "True"])
def test_prompts_stay_on(value: str) -> None:
    assert wish_of(f"prompts={value}", ()) == Wish(Scope())


# Tokens


def test_a_token_is_let_in(tmp_path: Path) -> None:
    first, line = tokens.new_token("ci")
    second, other = tokens.new_token("ci")
    path = tmp_path / "tokens"
    path.write_text(f"# who may come in\n\n{line}\r\n{other}\n")
    found = tokens.read_tokens(path)
    assert found.name_of(first) == found.name_of(second) == "ci"
    assert first not in path.read_text()
    for wrong in ("", "kbp_", first[:-1], first + "x", line.split(":")[1], "\udcff"):
        assert found.name_of(wrong) is None


BAD_TOKENS = [
    "",
    "# none\n",
    "ci\n",
    "ci sha256:00\n",
    "ci md5:{hash}\n",
    "../x sha256:{hash}\n",
    "kbp_secret\n",
    "ci sha256:{hash} x\n",
]


@pytest.mark.parametrize("content", BAD_TOKENS)
def test_a_bad_token_file_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(content.replace("{hash}", "0" * 64))
    with pytest.raises(tokens.BadTokens) as caught:
        tokens.read_tokens(path)
    assert "secret" not in str(caught.value)  # it may be a token that was put there as it is


def test_all_bad_lines_are_told(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text("a\nb\n")
    with pytest.raises(tokens.BadTokens) as caught:
        tokens.read_tokens(path)
    assert len(caught.value.faults) == 2
    with pytest.raises(tokens.BadTokens):
        tokens.read_tokens(tmp_path / "none")


# Suggestions

VALUES: list[tuple[str, str, str, list[str]]] = [
    ("a.md", KB, "since", ["1h"]),
    ("a.md", KB, "app", []),
    ("a.md", KB, "nothing", []),
    ("commands/a.md", "---\nargument-hint: '[low|high]'\n---\n$ARGUMENTS\n", "arguments", ["low", "high"]),
    ("commands/a.md", "---\nargument-hint: low | high\n---\n$ARGUMENTS\n", "arguments", ["low", "high"]),
    ("commands/a.md", "---\nargument-hint: add [x] | rm [x] | list\n---\n$0\n", "arguments", ["add", "rm", "list"]),
    ("commands/a.md", "---\nargument-hint: the app | or what\n---\n$0\n", "arguments", []),
    ("commands/a.md", "---\nargument-hint: '[app]'\n---\n$0\n", "arguments", []),
    (
        "commands/a.md",
        "---\narguments: [app, level]\nargument-hint: <app> [low|high]\n---\n$app\n",
        "level",
        ["low", "high"],
    ),
    ("commands/a.md", "---\narguments: [app, level]\nargument-hint: <app> [low|high]\n---\n$app\n", "app", []),
    (
        "commands/a.md",
        "---\narguments: [app, level]\nargument-hint: <app> low|high\n---\n$app\n",
        "level",
        ["low", "high"],
    ),
    (
        "commands/a.md",
        "---\narguments: [app, level]\nargument-hint: [app, 'low|high']\n---\n$app\n",
        "level",
        ["low", "high"],
    ),
    ("a.prompt.md", "${input:level:low|high}\n", "level", ["low", "high"]),
    ("a.prompt.md", "${input:level:which level?}\n", "level", []),
]


@pytest.mark.parametrize(("name", "content", "argument", "expected"), VALUES)
def test_the_values_that_a_file_lists(name: str, content: str, argument: str, expected: list[str], tree: Tree) -> None:
    top = tree({name: content})
    assert list(suggestions.values_of(files.load(Place(top / name, top)), argument)) == expected


def test_a_hint_of_any_size_is_looked_at_in_time(tree: Tree) -> None:
    hint = "(" * 60_000 + ")" * 60_000
    top = tree(
        {"a.prompt.md": f"${{input:x:{hint}}}\n", "commands/b.md": f"---\nargument-hint: '{hint[:60000]}'\n---\nx\n"}
    )
    start = time.monotonic()
    for path, name in (("a.prompt.md", "x"), ("commands/b.md", "arguments")):
        assert suggestions.values_of(files.load(Place(top / path, top)), name) == ()
    assert time.monotonic() - start < 2


@pytest.mark.parametrize(
    ("typed", "expected"), [("", ["low", "lower", "high"]), ("LO", ["low", "lower"]), ("lower", ["lower"]), ("x", [])]
)
def test_values_start_with_what_is_typed(typed: str, expected: Sequence[str]) -> None:
    assert suggestions.matching(["low", "lower", "high"], typed) == expected
    assert suggestions.matching(["lower", "low"], "low") == ["low", "lower"]


# Revisions

WHOLE = Prompt("p", "T", "d", (Argument("a", "ad", required=True, title="AT"),), {"kbp/x": 1})
BY_REVISION = [
    ("2024-11-05", False),
    ("2025-03-26", False),
    ("2025-06-18", True),
    ("2025-11-25", True),
    ("2026-07-28", True),
]


@pytest.mark.parametrize(("revision", "has"), BY_REVISION)
def test_a_prompt_has_the_fields_of_its_revision(revision: str, has: bool) -> None:
    wire = wire_prompt(WHOLE, revision)
    assert ("title" in wire) is ("_meta" in wire) is has
    (argument,) = wire["arguments"]
    assert ("title" in argument) is has
    assert {key: wire[key] for key in ("name", "description")} == {"name": "p", "description": "d"}
    assert (argument["name"], argument["description"], argument["required"]) == ("a", "ad", True)


@pytest.mark.parametrize("revision", [revision for revision, _ in BY_REVISION])
def test_icons_are_of_the_later_revisions(revision: str) -> None:
    prompt = Prompt("p", wire={"name": "p", "icons": [{"src": "https://example.test/i.png"}]})
    assert ("icons" in wire_prompt(prompt, revision)) is (revision >= "2025-11-25")
