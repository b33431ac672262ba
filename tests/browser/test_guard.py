"""The door of the server in a real browser: its own names work as ever, a name that only points here does not."""

from __future__ import annotations

import http.server
import subprocess
import sys
import threading
import urllib.request

import pytest

from tests.browser.conftest import CHROMIUM, FLAGS, ROOT, free_port, serving

pytestmark = pytest.mark.browser
api = pytest.importorskip("playwright.sync_api")
expect = api.expect
expect.set_options(timeout=60_000)
NAMED = "ctxasm.example"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """The port of a server that is also asked under a name."""
    with serving(tmp_path_factory.mktemp("guarded"), CTXASM_HOST_NAMES=NAMED) as url:
        yield url.rpartition(":")[2]


@pytest.fixture
def deceived(browser):
    """A browser for which every name is this machine, as a page that rebinds its own makes it."""
    launched = browser.browser_type.launch(executable_path=CHROMIUM or None, args=[*FLAGS, "--host-resolver-rules=MAP * 127.0.0.1"])
    yield launched
    launched.close()


@pytest.fixture
def elsewhere():
    """The port of a page of somebody else."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<html><title>mine</title></html>")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", NAMED])
def test_the_page_and_an_upload_work_under_its_own_names(guarded, deceived, tmp_path, host):
    page = deceived.new_page()
    failed = []
    # On a deep link Streamlit asks below the page first, and is told 404, as ever.
    page.on(
        "response", lambda answer: failed.append((answer.status, answer.url)) if answer.status >= 400 and answer.status != 404 else None
    )
    page.on("console", lambda message: failed.append(message.text) if message.type == "error" and "404" not in message.text else None)
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.goto(f"http://{host}:{guarded}/?data=sample")
    expect(page.locator("#ctx-budget")).to_be_visible()
    page.goto(f"http://{host}:{guarded}/load")
    table = tmp_path / "rows.csv"
    table.write_text(f"doc;nr;tekst\n{host};0;De receptie is elke dag open van 8 tot 20 uur.\n")
    page.locator('input[type="file"]').first.set_input_files(str(table))
    expect(page.get_by_text("rows.csv").first).to_be_visible()
    expect(page.get_by_text("De receptie is elke dag open").first).to_be_attached()
    assert failed == []


def test_a_name_that_only_points_here_gets_nothing(guarded, deceived):
    page = deceived.new_page()
    answer = page.goto(f"http://evil.example:{guarded}/")
    assert answer.status == 403
    expect(page.get_by_text("This server answers under localhost")).to_be_visible()
    assert page.evaluate("() => fetch('/_stcore/host-config').then(answer => answer.status)") == 403
    assert page.evaluate(OPENS, f"ws://evil.example:{guarded}/_stcore/stream") == "closed"


OPENS = """url => new Promise(done => {
    const line = new WebSocket(url);
    line.onopen = () => done('open');
    line.onclose = () => done('closed');
})"""


FRAMES = """url => new Promise(done => {
    const frame = document.createElement('iframe');
    frame.onload = done;
    frame.src = url;
    document.body.append(frame);
})"""


def test_a_page_of_somebody_else_cannot_speak_to_it_or_frame_it(guarded, deceived, elsewhere):
    page = deceived.new_page()
    page.goto(f"http://evil.example:{elsewhere}/")
    for host in ("localhost", "127.0.0.1", NAMED):
        assert page.evaluate(OPENS, f"ws://{host}:{guarded}/_stcore/stream") == "closed"
    page.evaluate(FRAMES, f"http://localhost:{guarded}/")
    (frame,) = page.main_frame.child_frames
    assert "chrome-error" in frame.url or frame.evaluate("() => document.querySelector('#root')") is None


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_page_of_another_port_of_this_machine_cannot_speak_to_it(guarded, deceived, elsewhere, host):
    page = deceived.new_page()
    page.goto(f"http://{host}:{elsewhere}/")
    for own in ("localhost", "127.0.0.1", NAMED):
        assert page.evaluate(OPENS, f"ws://{own}:{guarded}/_stcore/stream") == "closed"


def test_an_own_page_may_speak_to_it(guarded, deceived):
    page = deceived.new_page()
    page.goto(f"http://localhost:{guarded}/_stcore/health")
    assert page.evaluate(OPENS, f"ws://localhost:{guarded}/_stcore/stream") == "open"


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("ModuleNotFoundError(\"No module named 'sentencex'\", name='sentencex')", "the package sentencex is not installed: run"),
        ("ZeroDivisionError('what the trace says')", "this is a fault of ctxasm itself (ZeroDivisionError)"),
    ],
)
def test_a_page_that_cannot_go_on_says_so_without_a_trace(open_page, tmp_path, raised, said):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "sentencex.py").write_text(f"raise {raised}\n")
    with serving(tmp_path, PYTHONPATH=f"{tmp_path / 'broken'}:{ROOT}", TMPDIR=str(tmp_path)) as url:
        page = open_page(url)
        expect(page.get_by_text(said)).to_be_visible()
        assert "Traceback" not in page.content()
        assert "what the trace says" not in page.content()
        traces = list(tmp_path.glob("ctxasm-fault-*"))
        assert len(traces) == said.count("fault")
        for trace in traces:
            expect(page.get_by_text(trace.name)).to_be_visible()


def test_a_way_in_that_cannot_be_guarded_shows_nothing_and_says_why(open_page, tmp_path):
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "ctxasm/app/ui/main.py", "--server.headless=true", "--server.address=127.0.0.1"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen([*command, f"--server.port={port}"], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
        try:
            while process.poll() is None:
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5).close()
                    break
                except OSError:
                    continue
            page = open_page(f"http://127.0.0.1:{port}")
            expect(page.get_by_text("This way to start the workbench takes any Host header")).to_be_visible()
            expect(page.locator("#ctx-budget")).to_have_count(0)
        finally:
            process.terminate()
            process.wait(15)
    assert "ctxasm: This way to start the workbench takes any Host header" in (tmp_path / "log").read_text()
