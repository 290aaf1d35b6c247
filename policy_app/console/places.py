"""Where the pages of each kind of policy are, and what they call it."""

from dataclasses import dataclass

from policy_app.models import Policy, PolicyKind


@dataclass(frozen=True, slots=True)
class Places:
    """Names of addresses by what is there; `at` is the place in the menu, `sound` what no finding means."""

    at: str
    title: str
    word: str
    lead: str
    sound: str
    home: str
    one: str
    history: str
    start: str
    revert: str
    settle: str


_BY_KIND = {
    PolicyKind.TABLE: Places(
        at="policies",
        title="Policies",
        word="policy",
        lead="A policy says at which line of your own a session should do what. Every change has a reason and an"
        " author.",
        sound="Complete: every situation meets a rule, and no rule hides another. No law is broken, and every argument"
        " matches its number.",
        home="policies",
        one="policy",
        history="policy-history",
        start="policy-start",
        revert="policy-revert",
        settle="policy-settle",
    ),
    PolicyKind.PINS: Places(
        at="pins",
        title="Pin sets",
        word="pin set",
        lead="A pin is a text that comes back word for word after every compaction. Sets of teams and projects add to"
        " the organisation’s; they never take anything away.",
        sound="It fits into what a host takes in.",
        home="pins",
        one="pin-set",
        history="pin-set-history",
        start="pin-set-start",
        revert="pin-set-revert",
        settle="pin-set-settle",
    ),
}


def places_of(policy: Policy | PolicyKind) -> Places:
    """The places of a policy's kind, or of a kind."""
    return _BY_KIND[policy if isinstance(policy, PolicyKind) else PolicyKind(policy.kind)]
