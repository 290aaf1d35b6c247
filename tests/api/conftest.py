"""The world, and callers in it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.support.world import World, build

type Caller = Callable[..., Any]


@pytest.fixture
def world(db: None) -> World:
    """Two organisations with teams, users and keys."""
    return build()


@pytest.fixture
def ask(world: World) -> Caller:
    """`ask(role, address, **parameters)`: a GET as a key or a signed-in user."""

    def get(role: str, address: str, **parameters: str) -> Any:
        client = Client()
        if role in world.users:
            client.force_login(world.users[role])
        headers = {"Authorization": f"Bearer {world.secrets[role]}"} if role in world.secrets else {}
        return client.get(address, parameters, headers=headers)

    return get
