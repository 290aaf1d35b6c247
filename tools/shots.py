"""Screenshots of all pages in two widths and two themes, into var/shots/; those that docs show into docs/ too.

Needs a running server (`make up`) and a Chromium. Signs in as `admin` with ECM_ADMIN_PASSWORD, else with
the password in first-run.txt of the data folder. A page of which the server has no example is named.
"""

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, FloatRect, Page, StorageState, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = os.environ.get("ECM_CHROMIUM", "/usr/bin/chromium")
WIDTHS = {"wide": 1440, "phone": 390}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
DOCS = ROOT / "docs" / "screenshots"
#: Long pages are cut here.
MOST_HEIGHT = 2_700


#: Pages that have one address.
FIXED = {
    "sessions": "/sessions/",
    "compactions": "/compactions/",
    "points": "/compactions/points/",
    "context": "/context/",
    "discipline": "/context/discipline/",
    "cache": "/cache/",
    "agreement": "/cache/agreement/",
    "tables": "/tables/",
    "tables-cause": "/tables/?by=cause",
    "prices": "/prices/",
    "sources": "/sources/",
    "connect": "/connect/",
    "keys": "/connect/keys/",
    "alerts": "/alerts/",
    "me": "/me/",
    "policies": "/policy/",
    "policy": "/policy/default/",
    "history": "/policy/default/history",
    "import": "/policy/default/import",
    "matrix": "/policy/matrix/",
    "evidence": "/policy/evidence/",
    "assignments": "/policy/assignments/",
    "audit": "/policy/audit/",
    "pins": "/policy/pins/",
    "pin-set": "/policy/pins/default/",
}


@dataclass(frozen=True, slots=True)
class Example:
    """A page of something: the first link like `selector` on the page at `start`, with `rest` behind its address."""

    name: str
    start: str
    selector: str
    rest: str = ""


DRAFT = "main a[href^='/policy/drafts/']"
EXAMPLES = (
    Example("price", "/prices/", "main a[href^='/prices/']:not([href*='?'])"),
    Example("call", "/cache/", "main a[href*='/calls/']"),
    Example("claim", "/policy/evidence/", "main a[href^='/policy/evidence/']:not([href$='/evidence/'])"),
    Example("editor", "/policy/default/", DRAFT),
    Example("review", "/policy/default/", DRAFT, "review"),
    Example("ghost", "/policy/default/", DRAFT, "ghost"),
    Example("pins-editor", "/policy/pins/default/", DRAFT),
    Example("pins-review", "/policy/pins/default/", DRAFT, "review"),
)


def password() -> str:
    """The administrator's password."""
    given = os.environ.get("ECM_ADMIN_PASSWORD")
    if given:
        return given
    data = Path(os.environ.get("ECM_DATA") or ROOT / "var")
    found = re.search(r"password\W+(\S+)", (data / "first-run.txt").read_text(), re.IGNORECASE)
    if found is None:
        raise SystemExit("No password in first-run.txt; set ECM_ADMIN_PASSWORD.")
    return found[1]


def sign_in(page: Page, url: str, user: str) -> None:
    """Fill in the sign-in form."""
    page.goto(f"{url}/login")
    page.fill("input[name=username]", user)
    page.fill("input[name=password]", password())
    page.click("main button[type=submit]")
    page.wait_for_load_state()


def targets(page: Page, url: str, team: str, session: str) -> Iterator[tuple[str, str]]:
    """(name, address) of all pages; without a session named, the dearest of the team is shown."""
    scope = f"period=30d&team={team}" if team else "period=30d"
    session = session or found(page, url, f"/sessions/?{scope}&sort=cost", "table.cards tbody th a")
    # In its usual period, which has one before it.
    yield "overview", f"/?team={team}" if team else "/"
    for name, path in FIXED.items():
        address = f"{path}{'&' if '?' in path else '?'}{scope}"
        yield name, address if is_there(page, url + address) else ""
    if session:
        yield "session", session
        yield "verdict", found(page, url, session, "main a[href^='/v/']")
    for example in EXAMPLES:
        href = found(page, url, f"{example.start}?{scope}", example.selector)
        yield example.name, f"{href.removesuffix('review')}{example.rest}" if href else ""


def is_there(page: Page, address: str) -> bool:
    """Whether a page answers."""
    answer = page.goto(address)
    return answer is not None and answer.status == 200


def found(page: Page, url: str, start: str, selector: str) -> str:
    """The address of the first such link; empty where there is none."""
    page.goto(url + start)
    link = page.locator(selector).first
    return (link.get_attribute("href") or "").partition("#")[0] if link.count() else ""


def shoot(browser: Browser, state: StorageState, url: str, shown: dict[str, str], out: Path) -> list[Path]:
    """Every page in every width and theme."""
    made: list[Path] = []
    for width_name, width in WIDTHS.items():
        for theme in THEMES:
            context = browser.new_context(
                storage_state=state, viewport={"width": width, "height": 900}, color_scheme=theme
            )
            page = context.new_page()
            for name, path in shown.items():
                page.goto(url + path)
                made.append(out / f"{name}-{width_name}-{theme}.png")
                height = min(page.evaluate("document.documentElement.scrollHeight"), MOST_HEIGHT)
                clip: FloatRect = {"x": 0, "y": 0, "width": width, "height": height}
                page.screenshot(path=made[-1], full_page=True, clip=clip)
                if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
                    sys.stdout.write(f"  {made[-1].name} scrolls sideways\n")
            context.close()
    return made


def publish(made: list[Path]) -> int:
    """Copy those that README or docs show; how many."""
    texts = [path.read_text() for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))]
    shown = {name for text in texts for name in re.findall(r"screenshots/([a-z-]+\.png)", text)}
    chosen = [path for path in made if path.name in shown]
    for path in chosen:
        shutil.copy(path, DOCS / path.name)
    return len(chosen)


def main() -> None:
    """Parse the command line and shoot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default=f"http://127.0.0.1:{os.environ.get('ECM_PORT', '8717')}")
    parser.add_argument("--user", default="admin")
    parser.add_argument("--team", default="", help="the slug of the team to show; the first one otherwise")
    parser.add_argument("--session", default="", help="the address of the session to show, such as /sessions/1/")
    parser.add_argument("--out", type=Path, default=ROOT / "var" / "shots")
    parser.add_argument("--only", nargs="*", default=[], help="names of pages; all otherwise")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": WIDTHS["wide"], "height": 900})
        page = context.new_page()
        sign_in(page, given.url, given.user)
        wanted = dict(targets(page, given.url, given.team, given.session))
        for name in (name for name, path in wanted.items() if not path):
            sys.stdout.write(f"  {name}: this server has none to show\n")
        shown = {n: path for n, path in wanted.items() if path and (not given.only or n in given.only)}
        made = shoot(browser, context.storage_state(), given.url, shown, given.out)
        sys.stdout.write(f"  {len(made)} pictures in {given.out}; {publish(made)} of them in docs/screenshots\n")
        browser.close()


if __name__ == "__main__":
    main()
