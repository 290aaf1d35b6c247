"""Every address of the project against every kind of caller. An address that is not in the table fails the test."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from policy_app.services import drafting, installing
from policy_app.services.actors import Actor
from tests.support.world import NOW, World, build, session_in

ROLES = (
    "anonymous",
    "nobody",
    "viewer",
    "editor",
    "admin",
    "other_admin",
    "foreign_admin",
    "organisation_admin",
    "ingest_key",
    "read_key",
    "admin_key",
    "foreign_admin_key",
)

#: A redirect to the login page; any other redirect is 302.
LOGIN = "login"


@dataclass(frozen=True)
class Rule:
    """What each role gets: who is named by itself, everybody else `others`."""

    others: int | str
    method: str = "GET"
    body: str = ""
    named: tuple[tuple[str, int | str], ...] = ()

    def of(self, role: str) -> int | str:
        return dict(self.named).get(role, self.others)


def rule(others: int | str, method: str = "GET", body: str = "", **groups: int | str) -> Rule:
    """Roles by name, or by group: keys, users, strangers (of another team or organisation)."""
    named: dict[str, int | str] = {}
    for group, status in groups.items():
        for role in _GROUPS.get(group, (group,)):
            named[role] = status
    return Rule(others, method, body, tuple(named.items()))


_GROUPS = {
    "keys": ("ingest_key", "read_key", "admin_key", "foreign_admin_key"),
    "users": ("nobody", "viewer", "editor", "admin", "other_admin", "foreign_admin", "organisation_admin"),
    "strangers": ("nobody", "other_admin", "foreign_admin", "foreign_admin_key"),
}

EVERYBODY = rule(200)
READS = rule(200, anonymous=401, ingest_key=403)
PAGE = rule(200, anonymous=LOGIN, keys=LOGIN)
#: Machines deliver with a key of a team; neither people nor other keys write.
DELIVERY = rule(403, "POST", anonymous=401, users=401, ingest_key=200)
DELIVERY_ACCEPTED = rule(403, "POST", anonymous=401, users=401, ingest_key=202)
#: What a team's machines work by: its own keys only.
TEAM_KEYS = rule(403, anonymous=401, users=401, ingest_key=404, read_key=404)

#: Of the caller's organisation: members and keys read, editors draft, who administers the whole decides. An empty
#: body shows who gets past the door: 400.
MEMBERS = rule(200, anonymous=401, nobody=403, ingest_key=403)
OF_MINE = rule(200, anonymous=401, nobody=403, ingest_key=403, foreign_admin=404, foreign_admin_key=404)
DRAFTS = rule(400, "POST", anonymous=401, nobody=403, ingest_key=403, read_key=403, viewer=403)
DECIDES = rule(
    403,
    "POST",
    anonymous=401,
    foreign_admin=400,
    organisation_admin=400,
    admin_key=400,
    foreign_admin_key=400,
)


def of_mine(wanted: Rule, person: int | str = 404, key: int | str = 404) -> Rule:
    """The same, where the draft is one of `mine`: for others it is not there."""
    return replace(wanted, named=(*wanted.named, ("foreign_admin", person), ("foreign_admin_key", key)))


_POLICY = "api/v1/policies/<slug:slug>"
_DRAFT = f"{_POLICY}/drafts/<int:draft_id>"
POLICIES = {
    "api/v1/policies": MEMBERS,
    _POLICY: MEMBERS,
    f"{_POLICY}/live": MEMBERS,
    f"{_POLICY}/evaluate": replace(MEMBERS, method="POST", body="[]"),
    f"{_POLICY}/revert": DECIDES,
    f"{_POLICY}/export": MEMBERS,
    f"{_POLICY}/import": DRAFTS,
    f"{_POLICY}/versions": MEMBERS,
    f"{_POLICY}/versions/<int:number>": MEMBERS,
    f"{_POLICY}/versions/<int:number>/settle": DECIDES,
    f"{_POLICY}/drafts": DRAFTS,
    _DRAFT: OF_MINE,
    f"{_DRAFT}/ask-review": of_mine(DRAFTS),
    f"{_DRAFT}/discard": of_mine(DRAFTS),
    f"{_DRAFT}/approve": of_mine(DECIDES),
    f"{_DRAFT}/reject": of_mine(DECIDES),
    f"{_DRAFT}/comment": of_mine(rule(400, "POST", anonymous=401, nobody=403, ingest_key=403)),
    f"{_DRAFT}/publish": of_mine(DECIDES),
    "api/v1/audit": MEMBERS,
    "api/v1/audit/chain": MEMBERS,
    "api/v1/evidence": DRAFTS,
    "api/v1/evidence/<slug:slug>": MEMBERS,
    "api/v1/assignments": DECIDES,
}
#: Pin sets have the same life as tables; verdicts and files of ECM are of tables only.
PIN_SETS = {
    route.replace("policies", "pin-sets"): wanted
    for route, wanted in POLICIES.items()
    if "policies" in route and not route.endswith(("/evaluate", "/import"))
}

#: Pages of the policies: members read, editors write, who administers the whole decides. An empty form is 400.
SHOWN = rule(200, anonymous=LOGIN, keys=LOGIN, nobody=403)
WRITTEN = rule(400, "POST", anonymous=LOGIN, keys=LOGIN, nobody=403, viewer=403)
DECIDED = rule(403, "POST", anonymous=LOGIN, keys=LOGIN, organisation_admin=400, foreign_admin=400)
CONSOLE = {
    "policy/": SHOWN,
    "policy/audit/": SHOWN,
    "policy/matrix/": SHOWN,
    "policy/pins/": SHOWN,
    "policy/pins/new": DECIDED,
    "policy/pins/<slug:slug>/": SHOWN,
    "policy/pins/<slug:slug>/history": SHOWN,
    "policy/pins/<slug:slug>/drafts": WRITTEN,
    "policy/pins/<slug:slug>/revert": DECIDED,
    "policy/pins/<slug:slug>/settle": DECIDED,
    "policy/pins/<slug:slug>/assign": DECIDED,
    "policy/evidence/": SHOWN,
    "policy/evidence/<slug:slug>/": SHOWN,
    "policy/assignments/": SHOWN,
    "policy/<slug:slug>/import": SHOWN,
    "policy/<slug:slug>/settle": DECIDED,
    "policy/<slug:slug>/": SHOWN,
    "policy/<slug:slug>/history": SHOWN,
    "policy/<slug:slug>/drafts": WRITTEN,
    "policy/<slug:slug>/revert": DECIDED,
    "policy/drafts/<int:draft_id>/": of_mine(SHOWN, 404, LOGIN),
    "policy/drafts/<int:draft_id>/review": of_mine(SHOWN, 404, LOGIN),
    "policy/drafts/<int:draft_id>/ask": of_mine(WRITTEN, 404, LOGIN),
    "policy/drafts/<int:draft_id>/discard": of_mine(WRITTEN, 404, LOGIN),
    "policy/drafts/<int:draft_id>/rebase": of_mine(WRITTEN, 404, LOGIN),
    "policy/drafts/<int:draft_id>/approve": of_mine(DECIDED, 404, LOGIN),
    "policy/drafts/<int:draft_id>/send-back": of_mine(DECIDED, 404, LOGIN),
    "policy/drafts/<int:draft_id>/publish": of_mine(DECIDED, 404, LOGIN),
    "policy/drafts/<int:draft_id>/ghost": of_mine(SHOWN, 404, LOGIN),
    "policy/drafts/<int:draft_id>/comment": of_mine(
        rule(400, "POST", anonymous=LOGIN, keys=LOGIN, nobody=403), 404, LOGIN
    ),
    "policy/drafts/<int:draft_id>/check": of_mine(replace(WRITTEN, others=200), 404, LOGIN),
}

TABLE = {
    **CONSOLE,
    "healthz": EVERYBODY,
    "readyz": EVERYBODY,
    "api/v1/lag": rule(200, anonymous=401),
    "api/v1/sessions": READS,
    "api/v1/sessions/<int:session_id>": rule(200, strangers=404, anonymous=401, ingest_key=403),
    "api/v1/sessions/<int:session_id>/verdicts": rule(200, strangers=404, anonymous=401, ingest_key=403),
    "api/v1/sessions/<int:session_id>/mute": rule(
        200, "POST", '{"muted": true}', strangers=404, anonymous=401, read_key=403
    ),
    "api/v1/verdicts/<slug:public_id>": rule(404, anonymous=401, ingest_key=403),
    "api/v1/externalize": replace(DELIVERY_ACCEPTED, body='{"session": "a"}'),
    "v/<slug:public_id>": rule(404, anonymous=LOGIN, keys=LOGIN),
    "sessions/<int:pk>/mute": rule(302, "POST", strangers=404, anonymous=LOGIN, keys=LOGIN),
    "api/v1/totals": READS,
    "api/v1/keys": rule(
        403,
        "POST",
        '{"team": "fresh"}',
        anonymous=401,
        foreign_admin=201,
        organisation_admin=201,
        admin_key=201,
        foreign_admin_key=201,
    ),
    "api/v1/ingest": DELIVERY_ACCEPTED,
    "api/v1/transcripts/claude-code": DELIVERY_ACCEPTED,
    "api/v1/transcripts/opencode": DELIVERY_ACCEPTED,
    "api/v1/transcripts/codex": DELIVERY_ACCEPTED,
    "api/v1/transcripts/copilot": DELIVERY_ACCEPTED,
    "api/v1/hooks/opencode": DELIVERY,
    "api/v1/hooks/codex": DELIVERY,
    "api/v1/hooks/copilot": DELIVERY,
    "api/v1/transcripts/gemini": DELIVERY_ACCEPTED,
    "api/v1/transcripts/claude-sdk": DELIVERY_ACCEPTED,
    "api/v1/hooks/gemini": DELIVERY,
    "api/v1/hooks/cursor": DELIVERY,
    "api/v1/statusline/claude-code": DELIVERY,
    "api/v1/hooks/claude-code": DELIVERY,
    **dict.fromkeys(
        (f"api/v1/bundles/{host}" for host in ("claude-code", "codex", "copilot", "gemini")),
        replace(DELIVERY, body="{}"),
    ),
    # Without `since` the key's owner is told what is missing.
    "api/v1/arrivals": rule(403, anonymous=401, users=401, ingest_key=400),
    "api/v1/pins": replace(DELIVERY, named=(*DELIVERY.named, ("ingest_key", 400))),
    # Nothing is in force in this world.
    "api/v1/pins/live": TEAM_KEYS,
    "api/v1/policies/live": TEAM_KEYS,
    "connect/ecm": EVERYBODY,
    "connect/opencode/ecm.js": EVERYBODY,
    **POLICIES,
    **PIN_SETS,
    "api/v1/usage": replace(DELIVERY, body="[]"),
    "api/v1/proxy/litellm": replace(DELIVERY, body="[]"),
    "otlp/v1/logs": replace(DELIVERY, body="{}"),
    "otlp/v1/metrics": replace(DELIVERY, body="{}"),
    "otlp/v1/traces": replace(DELIVERY, body="{}"),
    # A link that nobody issued: who is in already goes on, everybody else is told what to do.
    "enter/<str:token>": rule(410, users=302),
    "login": rule(200, users=302),
    "logout": rule(LOGIN, "POST"),
    "": PAGE,
    "sessions/": PAGE,
    "compactions/": PAGE,
    "context/": PAGE,
    "context/discipline/": PAGE,
    "tables/": PAGE,
    "tables/<slug:by>.<slug:form>": rule(404, anonymous=LOGIN, keys=LOGIN),
    "b/<path:name>.md": rule(404, anonymous=401, ingest_key=403),
    "s/<int:pk>/badge.svg": rule(200, strangers=404, anonymous=401, ingest_key=403),
    "sessions/<int:pk>/": rule(200, strangers=404, anonymous=LOGIN, keys=LOGIN),
    "sessions/<int:pk>/calls/<int:number>/": rule(200, strangers=404, anonymous=LOGIN, keys=LOGIN),
    "cache/": PAGE,
    "cache/agreement/": PAGE,
    # An empty form is refused to those who may.
    "cache/teams/<int:team_id>/accept": rule(
        403, "POST", strangers=404, anonymous=LOGIN, keys=LOGIN, admin=400, organisation_admin=400
    ),
    "cache/teams/<int:team_id>/accepted/<int:loss_id>/withdraw": rule(
        403, "POST", strangers=404, anonymous=LOGIN, keys=LOGIN, admin=404, organisation_admin=404
    ),
    "prices/": PAGE,
    "prices/add": rule(403, "POST", anonymous=LOGIN, keys=LOGIN, organisation_admin=400, foreign_admin=400),
    "prices/multiplier": rule(403, "POST", anonymous=LOGIN, keys=LOGIN, organisation_admin=400, foreign_admin=400),
    "prices/<path:model>/": rule(404, anonymous=LOGIN, keys=LOGIN),
    "api/v1/prices": READS,
    "api/v1/markers": READS,
    # Says nothing of sessions; an empty body shows who gets past the door.
    "api/v1/clearings/preview": rule(400, "POST", anonymous=401),
    # Says nothing of the session, only where its page would be.
    "s/<int:pk>": rule(302, anonymous=LOGIN, keys=LOGIN),
    "s/<int:pk>/calls/<int:number>": rule(302, anonymous=LOGIN, keys=LOGIN),
    "theme/": rule(302, "POST"),
    "compactions/points/": PAGE,
    "sources/": PAGE,
    # Who may, but names no host, is told so.
    "sources/teams/<int:team_id>/billing": rule(
        403, "POST", strangers=404, anonymous=LOGIN, keys=LOGIN, admin=400, organisation_admin=400
    ),
    "alerts/": PAGE,
    **dict.fromkeys(
        ("alerts/teams/<int:team_id>/rule", "alerts/teams/<int:team_id>/mute", "alerts/teams/<int:team_id>/targets"),
        rule(400, "POST", strangers=404, anonymous=LOGIN, keys=LOGIN, viewer=403),
    ),
    "alerts/teams/<int:team_id>/targets/<int:target_id>/test": rule(
        404, "POST", anonymous=LOGIN, keys=LOGIN, viewer=403
    ),
    "alerts/teams/<int:team_id>/targets/<int:target_id>/remove": rule(
        404, "POST", anonymous=LOGIN, keys=LOGIN, viewer=403
    ),
    "alerts/teams/<int:team_id>/letter": rule(302, "POST", strangers=404, anonymous=LOGIN, keys=LOGIN, viewer=403),
    "me/": PAGE,
    # Without a reason it is refused to those who may.
    "me/naming": rule(403, "POST", anonymous=LOGIN, keys=LOGIN, organisation_admin=400, foreign_admin=400),
    "connect/": PAGE,
    "connect/claude-code/managed-settings.json": EVERYBODY,
    "connect/keys/": PAGE,
    "connect/teams/<int:team_id>/keys": rule(200, "POST", strangers=404, anonymous=LOGIN, keys=LOGIN, viewer=403),
    # Nobody's own key: that it is there is not told.
    "connect/keys/<int:key_id>/revoke": rule(404, "POST", anonymous=LOGIN, keys=LOGIN),
}


def routes(resolver: Any = None, before: str = "") -> Iterator[str]:
    """All routes of the project, as they are written."""
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            yield from routes(entry, before + str(entry.pattern))
        elif isinstance(entry, URLPattern):
            yield before + str(entry.pattern)


def address(route: str, world: World, session_id: int) -> str:
    """The route with the session of team one in it, the team, a key of the team, or a draft of `mine`."""
    is_policy = "<int:draft_id>" in route or "<slug:slug>" in route
    places = {
        "<int:draft_id>": draft_in(world, route) if is_policy else 0,
        "<slug:slug>": "ecm-depth-cap" if "/evidence/" in route else "default",
        "<int:number>": 1,
        "<int:session_id>": session_id,
        "<int:pk>": session_id,
        "<int:team_id>": world.one.pk,
        "<int:key_id>": world.keys["ingest_key"].pk,
        "<str:token>": "no-such-link",
        "<slug:public_id>": "no-such-verdict",
        "<slug:by>.<slug:form>": "nothing.csv",
        "<int:loss_id>": 1,
        "<int:target_id>": 1,
        "<path:model>": "no-such-model",
    }
    for place, value in places.items():
        route = route.replace(place, str(value))
    return "/" + route


def draft_in(world: World, route: str) -> int:
    """Both organisations get the default policy, or pin set; the id of a draft in `mine`."""
    ensure = installing.ensure_pins if "pin" in route else installing.ensure_default
    for organisation in (world.theirs, world.mine):
        policy = ensure(organisation_id=organisation.pk, four_eyes=True, now=NOW)
    mara = Actor(1, "Mara", world.mine.pk, may_edit=True)
    return drafting.start(policy=policy, title="Earlier", by=mara, now=NOW).pk


def answer(world: World, role: str, where: str, wanted: Rule) -> int | str:
    """The status of one request; LOGIN for a redirect to the login page."""
    client = Client()
    if role in world.users:
        client.force_login(world.users[role])
    headers = {"Authorization": f"Bearer {world.secrets[role]}"} if role in world.secrets else {}
    response = client.generic(wanted.method, where, wanted.body, "application/json", headers=headers)
    is_login = response.status_code == 302 and response.headers["Location"].startswith("/login")
    return LOGIN if is_login else response.status_code


@pytest.mark.django_db
@pytest.mark.parametrize("route", sorted(set(routes()) | set(TABLE)))
def test_access__every_address__answers_every_role_as_the_table_says(route: str) -> None:
    assert route in TABLE, f"{route!r} is not in the table of tests/web/test_access.py"
    assert route in set(routes()), f"{route!r} is in the table, but no address of the project"
    world = build()
    session = session_in(world.one, "a")
    where = address(route, world, session.pk)
    found = {role: answer(world, role, where, TABLE[route]) for role in ROLES}
    assert found == {role: TABLE[route].of(role) for role in ROLES}


def test_access__routes__are_each_written_once() -> None:
    assert len(list(routes())) == len(set(routes()))
