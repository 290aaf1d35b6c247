"""Reading the environment."""

from pathlib import Path

import pytest

from ecm_site.env import BadEnvironment, Env, broker, database, load_kept


def test_database__percent_encoded_parts__decoded() -> None:
    read = database("postgres://us%40er:p%2Fw%3A1@db.example:6543/na%20me?sslmode=require")
    assert read == {
        "ENGINE": "ecm_site.common.postgres",
        "NAME": "na me",
        "USER": "us@er",
        "PASSWORD": "p/w:1",
        "HOST": "db.example",
        "PORT": "6543",
        "OPTIONS": {"sslmode": "require", "prepare_threshold": 5},
    }


@pytest.mark.parametrize(
    "url",
    [
        "postgres://ecm@/ecm?host=/Run/My%20Sockets",
        "postgresql://ecm@%2FRun%2FMy%20Sockets/ecm",
    ],
)
def test_database__socket_folder__host_keeps_its_case(url: str) -> None:
    read = database(url)
    assert (read["HOST"], read["USER"], read["NAME"], read["PORT"]) == ("/Run/My Sockets", "ecm", "ecm", "")


def test_database__ipv6_host__without_brackets() -> None:
    assert database("postgres://a:b@[::1]:5432/ecm")["HOST"] == "::1"


@pytest.mark.parametrize("url", ["mysql://a/b", "postgres://host", "postgres://host/", "postgres://h:99999/d", ""])
def test_database__unusable__refused_by_name(url: str) -> None:
    with pytest.raises(BadEnvironment, match="DATABASE_URL"):
        database(url)


def test_secret__file_variable__file_is_read(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret\n")
    assert Env({"ECM_SECRET_KEY_FILE": str(tmp_path / "key")}).secret("ECM_SECRET_KEY") == "s3cret"


def test_secret__both_given__variable_wins(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("file")
    env = Env({"ECM_SECRET_KEY_FILE": str(tmp_path / "key"), "ECM_SECRET_KEY": "variable"})
    assert env.secret("ECM_SECRET_KEY") == "variable"


def test_secret__file_is_missing__refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BadEnvironment, match="REDIS_URL_FILE"):
        Env({"REDIS_URL_FILE": str(tmp_path / "none")}).secret("REDIS_URL")


@pytest.mark.parametrize(
    ("text", "expected"), [("1", True), ("Yes", True), ("off", False), ("0", False), ("  ", False)]
)
def test_flag__known_words__read(text: str, expected: bool) -> None:
    assert Env({"X": text}).flag("X") is expected


def test_flag__unknown_word__refused() -> None:
    with pytest.raises(BadEnvironment, match="X"):
        Env({"X": "perhaps"}).flag("X")


@pytest.mark.parametrize("text", ["-1", "1.5", "x", "70000", "١"])
def test_number__out_of_range_or_no_number__refused(text: str) -> None:
    with pytest.raises(BadEnvironment):
        Env({"X": text}).number("X", 1, most=65_535)


def test_names__commas_and_spaces__split() -> None:
    assert Env({"X": " a.example , b ,,"}).names("X") == ["a.example", "b"]


def test_load_kept__environment_set_too__environment_wins(tmp_path: Path) -> None:
    (tmp_path / "running.env").write_text("REDIS_URL=unix:///kept\nDATABASE_URL=postgres://a/b?host=/x=y\n")
    env = Env({"REDIS_URL": "redis://given"}, load_kept(tmp_path))
    assert env.text("REDIS_URL") == "redis://given"
    assert env.text("DATABASE_URL") == "postgres://a/b?host=/x=y"


def test_broker__unix_socket__celery_spelling() -> None:
    assert broker("unix:///run/r.sock?db=1", Path("/v"))[0] == "redis+socket:///run/r.sock?virtual_host=1"


def test_broker__nothing_given__folders_with_short_polling() -> None:
    url, options = broker("", Path("/v"))
    assert url == "filesystem://"
    assert options["polling_interval"] == 0.1
    assert options["data_folder_in"] == options["data_folder_out"] == "/v/queue"


def test_broker__other_scheme__refused() -> None:
    with pytest.raises(BadEnvironment, match="REDIS_URL"):
        broker("amqp://host", Path("/v"))


def test_database__pooler_without_prepared_statements__none_are_prepared() -> None:
    assert database("postgres://h/d?prepare_threshold=off")["OPTIONS"] == {"prepare_threshold": None}
    assert database("postgres://h/d?prepare_threshold=3")["OPTIONS"] == {"prepare_threshold": 3}
    with pytest.raises(BadEnvironment, match="prepare_threshold"):
        database("postgres://h/d?prepare_threshold=soon")
