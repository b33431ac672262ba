"""The README in short: its commands, what demo prints, its example, and that it stays a page. The other documents: `test_docs`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from ctxasm.__main__ import main
from ctxasm.app.workbench import SAMPLE, Workbench
from ctxasm.config import read_config
from ctxasm.model.amounts import interval, signed
from ctxasm.model.presets import RECOMMENDED_GAIN
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.settings_text import from_url
from ctxasm.store.database import MemoryStore
from ctxasm.text.tokens import open_counter
from tests.test_docs import blocks, links

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_LINES = 150


def test_it_is_read_in_one_go() -> None:
    assert len(TEXT.splitlines()) <= MOST_LINES


def test_it_shows_the_workbench() -> None:
    assert [target for target in links(TEXT) if target.endswith(".png")] == [
        ".github/screenshots/inspect-dark.png",
        ".github/screenshots/inspect-light.png",
    ]


def commands() -> list[list[str]]:
    """Each block of shell commands, one after the other."""
    return [[part.strip() for part in block.split("&&")] for block in blocks(TEXT, "sh")]


def test_every_way_in_begins_with_nothing_and_the_first_ends_in_the_workbench() -> None:
    first, tests, wheel = commands()
    assert {block[0] for block in (first, tests, wheel)} == {"python3 -m venv .venv"}
    assert first[1:] == [".venv/bin/pip install -c constraints.txt .", ".venv/bin/ctxasm demo", ".venv/bin/ctxasm serve"]
    assert wheel[1:] == [
        ".venv/bin/pip wheel --no-deps --wheel-dir dist .",
        ".venv/bin/pip install -c constraints.txt dist/ctxasm-*.whl",
    ]


def test_the_test_command_is_the_one_that_ci_runs() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert commands()[1][1:] == ['.venv/bin/pip install -c constraints.txt -e ".[dev]"', ".venv/bin/pytest"]
    assert ".venv/bin/pip install -q -c constraints.txt -e '.[dev]'" in script
    assert '\ncheck .venv/bin/pytest "${jobs[@]}"\n' in script


def test_what_it_says_of_the_demo_is_what_the_demo_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["comparison"]
    low, high = (100 * bound for bound in found["interval"])
    whole, gain = found["whole"], f"{signed(100 * found['difference'], 1)} points {interval(low, high, 1)}"
    assert f"`ctxasm demo` counts it anew: {whole['b']} of {found['labelled']} questions in place of {whole['a']}, {gain}." in " ".join(
        TEXT.split()
    )


def test_what_it_says_was_measured_is_what_the_measurements_and_the_preset_say() -> None:
    stated = re.search(
        r"into (\S+) points more contexts than the five-stage defaults, 95 % interval \[(\S+), (\S+)\]", " ".join(TEXT.split())
    )
    assert stated is not None
    gain, low, high = stated.groups()
    assert f"+{gain} points, 95 % interval {low} to {high}" == RECOMMENDED_GAIN
    measured = (ROOT / "docs" / "about" / "measurements.md").read_text(encoding="utf-8")
    shares = [f"{float(number) / 100:.3f}"[1:] for number in (gain, low, high)]
    assert "five stages (the default) +{} [{}, {}]".format(*shares) in " ".join(measured.split())


def test_the_links_of_the_roles_show_what_stands_beside_them() -> None:
    inspect, ask, show_me = (urlsplit(link) for link in re.findall(r"\]\((http://127\.0\.0\.1:8501/\S+)\)", TEXT))
    assert (inspect.path, ask.path, show_me.path) == ("/", "/ask", "/show-me")
    workbench = Workbench(read_config({}), MemoryStore(open_counter("cl100k_base")))
    workbench.load_sample()
    asked = dict(parse_qsl(inspect.query))
    query = workbench.query(asked.pop("data"), asked.pop("q"))
    for limit, lost in ((asked["mt"], {"budget"}), ("2500", set())):
        settings, wrong = from_url({**asked, "mt": limit})
        assert wrong == ()
        assembly = workbench.assemble(query, settings)
        assert {state.stage for state in workbench.evidence(assembly)} - {None} == lost
    of_answer = dict(parse_qsl(ask.query))
    (recorded,) = [each.answer for each in workbench.dataset().answers() if each.query_id == of_answer["q"]]
    checked = workbench.check(workbench.assemble(workbench.query(SAMPLE, of_answer["q"]), AssemblySettings()), recorded)
    assert {claim.verdict for claim in checked.claims} >= {"supported", "contradicted"}


def test_the_example_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    (example,) = blocks(TEXT, "python")  # the others are tested beside what they show
    names: dict[str, object] = {}
    exec(compile(example, "README.md", "exec"), names)
    names["store"].close()  # type: ignore[attr-defined]
    shown = capsys.readouterr().out
    assert shown.startswith("[1] Source: ")
    assert " of 2000 tokens in cl100k_base" in shown
    assert "kept" in shown
    assert "contradicted ('45 minutes',) Conflict(kind='number', claim='45 minutes', source='30 minutes'" in shown
