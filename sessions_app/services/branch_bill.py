"""The bill of one branch: what its sessions came to, for a pull request."""

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Replace

from sessions_app.models import Session, Team

#: So many of the dearest are named.
MOST_NAMED = 2
#: More parts than this are no name of a branch.
MOST_PARTS = 12


@dataclass(frozen=True, slots=True)
class BranchBill:
    """Sums over the sessions of one branch; money at list price, None where nothing is priced."""

    project: str
    branch: str
    sessions: int
    calls: int
    cost_usd: Decimal | None
    no_cache_cost_usd: Decimal | None
    compactions: int
    is_lower_bound: bool
    dearest: tuple[tuple[int, Decimal], ...]

    @property
    def dearest_permille(self) -> int | None:
        """The share of the named sessions in the spend."""
        if not self.cost_usd:
            return None
        return int(sum((cost for _, cost in self.dearest), Decimal()) * 1000 / self.cost_usd)


def branch_bill(*, name: str, teams: QuerySet[Team]) -> BranchBill | None:
    """The bill of PROJECT/BRANCH; None where no such branch was seen.

    Both may hold slashes, a project may go by its last part (`acme-api` for `github.com/acme/acme-api`), and a
    branch with dashes for its slashes (`feat-login` for `feat/login`).
    """
    asked = _matching(name)
    if asked is None:
        return None
    dashed = Replace(F("branch"), Value("/"), Value("-"))
    rows = Session.objects.filter(team__in=teams).annotate(dashed=dashed).filter(asked).select_related("project")
    found = list(rows.order_by(F("cost_usd").desc(nulls_last=True), "pk"))
    if not found:
        return None
    costs = [row.cost_usd for row in found if row.cost_usd is not None]
    plain = [row.no_cache_cost_usd for row in found if row.no_cache_cost_usd is not None]
    project = found[0].project
    return BranchBill(
        project=project.name if project else "",
        branch=found[0].branch,
        sessions=len(found),
        calls=sum(row.calls + row.aux_calls for row in found),
        cost_usd=sum(costs, Decimal()) if costs else None,
        no_cache_cost_usd=sum(plain, Decimal()) if plain else None,
        compactions=sum(row.compactions for row in found),
        is_lower_bound=any(row.lower_bound or row.unpriced_calls for row in found),
        dearest=tuple((row.pk, row.cost_usd) for row in found[:MOST_NAMED] if row.cost_usd is not None),
    )


def _matching(name: str) -> Q | None:
    """Every way to cut the name into a project and a branch; None where there is none."""
    parts = name.split("/")
    if not 2 <= len(parts) <= MOST_PARTS or not all(parts) or "\0" in name:
        return None
    ways = Q()
    for cut in range(1, len(parts)):
        project, branch = "/".join(parts[:cut]), "/".join(parts[cut:])
        named = Q(project__name=project) | Q(project__name__endswith=f"/{project}")
        ways |= named & (Q(branch=branch) | Q(dashed=branch))
    return ways
