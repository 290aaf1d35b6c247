"""Screenshots of the key pages: two widths, two themes, into docs/screenshots/.

Needs a running server (`make up`) and a Chromium. Signs in as `admin` with ECM_ADMIN_PASSWORD, else with
the password in first-run.txt of the data folder.
"""

import argparse
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = os.environ.get("ECM_CHROMIUM", "/usr/bin/chromium")
WIDTHS = {"wide": 1440, "phone": 390}
THEMES = ("light", "dark")
#: Long pages are cut here.
MOST_HEIGHT = 2_700


@dataclass(frozen=True, slots=True)
class Target:
    """A page to show: its name and how to get there."""

    name: str
    path: str


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


def targets(page: Page, url: str, team: str, session: str) -> list[Target]:
    """The key pages; without a session named, the dearest of the team is shown."""
    query = f"?team={team}" if team else ""
    if not session:
        page.goto(f"{url}/sessions/{query}{'&' if query else '?'}period=all&sort=cost")
        first = page.locator("table.cards tbody th a").first
        session = (first.get_attribute("href") or "") if first.count() else ""
    names = {"overview": "/", "sessions": "/sessions/", "sources": "/sources/", "connect": "/connect/"}
    pages = [Target(name, f"{path}{query}") for name, path in names.items()]
    shown = [*pages, Target("session", session)] if session else pages
    return [*shown, *policy_targets(page, url, query)]


def policy_targets(page: Page, url: str, query: str) -> list[Target]:
    """The policy console; of drafts the newest open one, where there is one."""
    named = {"policy": "", "history": "history"}
    found = [Target(name, f"/policy/default/{rest}") for name, rest in named.items()]
    found += [Target("evidence", "/policy/evidence/"), Target("assignments", "/policy/assignments/")]
    found += [Target("matrix", "/policy/matrix/")]
    page.goto(f"{url}/policy/default/")
    draft = page.locator("a[href^='/policy/drafts/']").first
    if draft.count() == 0:
        return found
    where = (draft.get_attribute("href") or "").removesuffix("review")
    return [
        *found,
        Target("editor", where),
        Target("review", f"{where}review"),
        Target("ghost", f"{where}ghost{query}"),
    ]


def shoot(browser: Browser, state: str, url: str, target: Target, out: Path) -> list[Path]:
    """One page in every width and theme."""
    made: list[Path] = []
    for width_name, width in WIDTHS.items():
        for theme in THEMES:
            scheme = "dark" if theme == "dark" else "light"
            context = browser.new_context(
                storage_state=state, viewport={"width": width, "height": 900}, color_scheme=scheme
            )
            page = context.new_page()
            page.goto(url + target.path, wait_until="networkidle")
            path = out / f"{target.name}-{width_name}-{theme}.png"
            height = min(page.evaluate("document.documentElement.scrollHeight"), MOST_HEIGHT)
            page.screenshot(path=path, full_page=True, clip={"x": 0, "y": 0, "width": width, "height": height})
            sideways = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
            sys.stdout.write(f"  {path.name}{'   scrolls sideways' if sideways else ''}\n")
            made.append(path)
            context.close()
    return made


def main() -> None:
    """Parse the command line and shoot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default=f"http://127.0.0.1:{os.environ.get('ECM_PORT', '8717')}")
    parser.add_argument("--user", default="admin")
    parser.add_argument("--team", default="", help="the slug of the team to show; the first one otherwise")
    parser.add_argument("--session", default="", help="the address of the session to show, such as /sessions/1/")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots")
    parser.add_argument("--also", nargs="*", default=[], help="more pages, as name=/path")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": WIDTHS["wide"], "height": 900})
        page = context.new_page()
        sign_in(page, given.url, given.user)
        state = context.storage_state()
        also = [Target(*entry.split("=", 1)) for entry in given.also]
        for target in [*targets(page, given.url, given.team, given.session), *also]:
            shoot(browser, state, given.url, target, given.out)
        browser.close()


if __name__ == "__main__":
    main()
