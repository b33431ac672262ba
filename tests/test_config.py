"""Configuration: where it comes from, what is refused, and that no secret shows."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from ctxasm import config as config_module
from ctxasm.config import SHIPPED, Config, default_database_url, make_database_folder, read_config, shipped
from ctxasm.model.errors import InvalidInput, NotFound


def test_the_default_database_is_a_file_of_the_user() -> None:
    assert read_config({"HOME": "/home/u"}).database_url.endswith("/ctxasm/ctxasm.db")
    if sys.platform.startswith("linux"):
        assert default_database_url({"HOME": "/home/u"}) == "sqlite:////home/u/.local/share/ctxasm/ctxasm.db"
        assert default_database_url({"HOME": "/home/u", "XDG_DATA_HOME": "/data"}) == "sqlite:////data/ctxasm/ctxasm.db"
        assert default_database_url({"HOME": "/home/u", "XDG_DATA_HOME": "relative"}).startswith("sqlite:////home/u/")


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("darwin", {"HOME": "/Users/u"}, "sqlite:////Users/u/Library/Application Support/ctxasm/ctxasm.db"),
        ("win32", {"LOCALAPPDATA": "/C/Local"}, "sqlite:////C/Local/ctxasm/ctxasm.db"),
    ],
)
def test_each_platform_has_its_own_place(
    monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], expected: str
) -> None:
    monkeypatch.setattr(config_module.sys, "platform", platform)
    assert default_database_url(environment) == expected


def test_environment_before_secrets_before_default() -> None:
    secrets = {"ctxasm_llm_model": "from secrets", "OPENAI_API_KEY": "key-of-secrets", "theme": {"x": 1}}
    found = read_config({"HOME": "/h", "OPENAI_MODEL": "from environment", "CTXASM_LLM_BASE_URL": " "}, secrets)
    assert (found.llm_model, found.llm_api_key, found.llm_base_url) == ("from environment", "key-of-secrets", None)
    own = read_config({"HOME": "/h", "OPENAI_BASE_URL": "http://b/v1", "CTXASM_LLM_BASE_URL": "http://a/v1"})
    assert own.llm_base_url == "http://a/v1"


def test_a_key_of_openai_goes_to_no_other_address() -> None:
    keys = {"HOME": "/h", "OPENAI_API_KEY": "theirs"}
    assert read_config(keys | {"CTXASM_LLM_BASE_URL": "http://a/v1"}).llm_api_key is None
    assert read_config(keys | {"CTXASM_LLM_BASE_URL": "http://a/v1", "CTXASM_LLM_API_KEY": "ours"}).llm_api_key == "ours"
    assert read_config(keys | {"OPENAI_BASE_URL": "http://a/v1"}).llm_api_key == "theirs"
    assert read_config(keys | {"OPENAI_BASE_URL": "http://a/v1", "CTXASM_LLM_API_KEY": "ours"}).llm_api_key == "ours"


def test_no_secret_shows() -> None:
    found = Config("postgresql://me:hunter2@host/db", llm_api_key="sk-secret", llm_base_url="http://u:hunter2@h/v1")
    assert "hunter2" not in repr(found) + str(found) + found.shown_database
    assert "sk-secret" not in repr(found)
    assert found.shown_database == "postgresql://me:…@host/db"
    for address in (
        "host/db?password=hunter2",
        "h/db?user=me&PassWord=hunter2&sslmode=require",
        "h/db?pass%77ord=hunter2",
        "me:?hunter2@h/db",
    ):
        assert "hunter2" not in Config(f"postgresql://{address}").shown_database
    assert (
        Config("postgresql://h/db?user=me&password=x&sslmode=require").shown_database
        == "postgresql://h/db?user=me&password=…&sslmode=require"
    )
    assert Config("sqlite:////a/b@c.db").shown_database == "sqlite:////a/b@c.db"


def test_what_cannot_be_used_is_named_without_its_value() -> None:
    with pytest.raises(InvalidInput, match=r"CTXASM_DATABASE_URL or --db.* must be a URL, such as sqlite") as caught:
        read_config({"CTXASM_DATABASE_URL": "me:hunter2@host"})
    assert "hunter2" not in str(caught.value)
    for text in ("0", "-1", "x", "nan", "inf", "4000"):
        with pytest.raises(InvalidInput, match="CTXASM_LLM_CONNECT_TIMEOUT must be a number of seconds above 0 and at most 3600"):
            read_config({"HOME": "/h", "CTXASM_LLM_CONNECT_TIMEOUT": text})
    assert read_config({"HOME": "/h", "CTXASM_LLM_TIMEOUT": "2.5"}).llm_timeout == 2.5


def test_the_folder_of_the_database_is_made(tmp_path: Path) -> None:
    make_database_folder(f"sqlite:///{tmp_path / 'a' / 'b' / 'x.db'}")
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
    make_database_folder("sqlite://")
    make_database_folder("postgresql://host/db")
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match=r"cannot be made .*: set CTXASM_DATABASE_URL"):
        make_database_folder(f"sqlite:///{tmp_path / 'file' / 'sub' / 'x.db'}")


def test_shipped_files_come_from_the_wheel_before_the_source_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ctxasm" / "_shipped").mkdir(parents=True)
    (tmp_path / "app.py").write_text("source")
    monkeypatch.setattr(config_module, "__file__", str(tmp_path / "ctxasm" / "config.py"))
    assert shipped("app.py") == tmp_path / "app.py"
    (tmp_path / "ctxasm" / "_shipped" / "app.py").write_text("wheel")
    assert shipped("app.py") == tmp_path / "ctxasm" / "_shipped" / "app.py"
    with pytest.raises(NotFound, match="pages is not part of this installation"):
        shipped("pages")


def test_the_wheel_carries_what_is_shipped() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    carried = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert carried == {name: f"ctxasm/_shipped/{name}" for name in SHIPPED}
