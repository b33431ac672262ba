"""The workbench under AppTest, over the sample and a dataset that attacks."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from types import SimpleNamespace

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.scriptrunner_utils import script_run_context
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.testing.v1 import app_test, local_script_runner
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from ctxasm.app.workbench import SAMPLE_NL, Workbench
from ctxasm.config import read_config
from ctxasm.model.records import Bundle, Chunk, Document, Hit, Query
from tests.app.ui.builders import HOSTILE
from tests.app.ui.pages import opened


@pytest.fixture(scope="session", autouse=True)
def no_look_for_components():
    """AppTest looks for components in every installed package before each run; ours are no packages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", list)
        yield


class Shown(Mapping[str, object]):
    """The session's state as `filtered_state` shows it, read where it is asked for."""

    def __init__(self, state: SafeSessionState) -> None:
        self.state = state

    def __getitem__(self, key: str) -> object:
        with self.state._lock:
            return self.state._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(BUILT.__get__(self.state))

    def __len__(self) -> int:
        return len(BUILT.__get__(self.state))


@pytest.fixture(scope="session", autouse=True)
def one_bare_runtime():
    """For each run AppTest makes a mock with all that a runtime has, where a page asks it for a client alone: there is none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app_test, "MagicMock", lambda spec: SimpleNamespace(get_client=lambda session_id: None))
        yield


BUILT = SafeSessionState.filtered_state


@pytest.fixture(scope="session", autouse=True)
def one_look_for_a_key():
    """For each widget Streamlit builds a dictionary of all that a session holds, to look for one key: a fifth of a run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SafeSessionState, "filtered_state", property(Shown))
        yield


@pytest.fixture(scope="session", autouse=True)
def no_cache_of_a_browser():
    """Each message is hashed for a browser that may hold it from before, a tenth of a run; AppTest is none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(script_run_context, "populate_hash_if_needed", lambda message: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def one_cache_of_scripts():
    """A server compiles a page once, AppTest before each run."""
    cache = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        for module in (app_test, local_script_runner):
            patch.setattr(module, "ScriptCache", lambda: cache)
        yield


@pytest.fixture(scope="session", autouse=True)
def one_wait_for_a_script():
    """AppTest looks a thousand times a second whether a script has ended, and its thread waits each time."""
    look = local_script_runner.require_widgets_deltas

    def joined(runner: LocalScriptRunner, timeout: float = 3) -> None:
        if runner._script_thread is not None:
            runner._script_thread.join(timeout)
        look(runner, timeout)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", joined)
        yield


@pytest.fixture(scope="session")
def whole_sample(tmp_path_factory):
    """A database that holds the sample."""
    path = tmp_path_factory.mktemp("sample") / "sample.db"
    bench = Workbench(read_config({"CTXASM_DATABASE_URL": f"sqlite:///{path}"}))
    bench.load_sample()
    bench.close()
    return path


@pytest.fixture(scope="session")
def store_url(tmp_path_factory, whole_sample):
    url = f"sqlite:///{shutil.copy(whole_sample, tmp_path_factory.mktemp('ui') / 'shared.db')}"
    desk = Workbench(read_config({"CTXASM_DATABASE_URL": url}))
    desk.load_sample(name=SAMPLE_NL)
    documents = (Document(HOSTILE, HOSTILE, None, HOSTILE),)
    chunks = (Chunk(HOSTILE, 0, HOSTILE), Chunk(HOSTILE, 1, "tweede " + HOSTILE))
    queries = (Query(HOSTILE, (Hit(HOSTILE, 0, 1.0),), "hostile"), Query("Niets?", (), "none"))
    desk.store.add(Bundle("attack", documents, chunks, queries))
    desk.close()
    return url


@pytest.fixture(scope="session")
def sample_file(whole_sample):
    """A database that holds the sample, to be copied."""
    return whole_sample


@pytest.fixture
def own_copy(tmp_path, monkeypatch):
    """Of a database a copy that is this test's own: makes it, and gives its address, which the pages read."""

    def copy(file):
        url = f"sqlite:///{shutil.copy(file, tmp_path / 'own.db')}"
        monkeypatch.setenv("CTXASM_DATABASE_URL", url)
        return url

    return copy


@pytest.fixture
def own_url(own_copy, sample_file):
    """The address of a database of this test's own, with the sample in it."""
    return own_copy(sample_file)


@pytest.fixture
def open_app(store_url, monkeypatch):
    monkeypatch.setenv("CTXASM_DATABASE_URL", store_url)

    return opened
