"""The world with a policy, and callers in it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from policy_app.models import Policy
from policy_app.services import installing
from tests.support.world import NOW, World, build

type Caller = Callable[..., Any]


@pytest.fixture
def world(db: None) -> World:
    """Two organisations with teams, users and keys; each has the default policy with four eyes."""
    made = build()
    for organisation in (made.mine, made.theirs):
        installing.ensure_default(organisation_id=organisation.pk, four_eyes=True, now=NOW)
    return made


@pytest.fixture
def policy(world: World) -> Policy:
    """The default policy of `mine`."""
    return Policy.objects.get(organisation_id=world.mine.pk, slug="default")


@pytest.fixture
def call(world: World) -> Caller:
    """`call(role, method, path, body, **headers)` below /api/v1/, as a key or a signed-in user."""

    def do(
        role: str, method: str, path: str, body: object = None, kind: str = "application/json", **headers: str
    ) -> Any:
        client = Client()
        if role in world.users:
            client.force_login(world.users[role])
        if role in world.secrets:
            headers["Authorization"] = f"Bearer {world.secrets[role]}"
        sent = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        return client.generic(method, f"/api/v1/{path}", sent, kind, headers=headers)

    return do
