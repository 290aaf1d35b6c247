"""What page tests share: signing in, asking, and reading the words of an answer."""

import html
import re

from django.contrib.auth.models import User
from django.test import Client


def client_of(user: User) -> Client:
    """A browser of this user."""
    client = Client()
    client.force_login(user)
    return client


def page(user: User, address: str, **headers: str) -> str:
    """The markup of a page that must be there."""
    response = client_of(user).get(address, headers=headers)
    assert response.status_code == 200, response.status_code
    return response.content.decode()


def words(markup: str) -> str:
    """The text of the main part, without charts, on one line."""
    start, end = markup.find("<main"), markup.find("</main>")
    inner = markup[start:end] if start >= 0 else markup
    inner = re.sub(r"<svg.*?</svg>", "", inner, flags=re.DOTALL)
    text = html.unescape(re.sub(r"<[^>]+>", " ", inner))
    return re.sub(r"\s+([.,;:)])", r"\1", re.sub(r"\s+", " ", text))
