"""The evidence that ships with the product: what the rules and the lines are argued with.

Figures of papers are those of their abstracts; nobody has derived them again here, and says so by their status.
"""

from collections.abc import Mapping
from types import MappingProxyType

from policy_app.kernel.evidence import Evidence, Status, Tier

_PREPRINT = (Tier.PREPRINT, Status.UNESTABLISHED)
_OPEN_MODELS = "open models; hosts of closed models degrade more gently"


def _paper(name: str, arxiv: str, claim: str, number: str, scope: str) -> Evidence:
    """A preprint; its number begins with year and month."""
    dated = f"20{arxiv[:2]}-{arxiv[2:4]}"
    return Evidence(name, claim, number, scope, _PREPRINT[0], dated, f"arXiv:{arxiv}", _PREPRINT[1])


def _convention(name: str, claim: str, number: str, scope: str, status: Status = Status.UNESTABLISHED) -> Evidence:
    return Evidence(name, claim, number, scope, Tier.CONVENTION, "", "ECM", status)


_RECORDS = (
    Evidence(
        "long-context-f1",
        "Answers of open models get much worse between 40 and 50% of their window.",
        "about 45% of F1 lost",
        _OPEN_MODELS,
        Tier.PREPRINT,
        "2026-01",
        "arXiv:2601.15300",
        Status.DISPUTED,
    ),
    Evidence(
        "length-alone-costs",
        "Length alone makes answers worse, even where retrieval is perfect.",
        "14 to 85% on five models",
        "question answering and reasoning tasks",
        Tier.PEER_REVIEWED,
        "2025",
        "EMNLP Findings 2025",
        Status.UNESTABLISHED,
    ),
    _convention(
        "no-degradation-curve",
        "A later review found no confirmed curve of how quality falls with occupancy.",
        "",
        "all lines of a zone table: they are a policy's choice",
        Status.CONFIRMED,
    ),
    _convention(
        "ecm-mechanical-trigger",
        "Users who set a trigger of their own set it at 60 to 75%; hosts left alone wait until near 95%.",
        "60 to 75%",
        "settings of hosts' users, aggressive end",
    ),
    _convention(
        "ecm-emergency-line",
        "Above 90% a host compacts at any moment: start afresh while a brief can still be written.",
        "90%",
        "hosts that compact near 95%",
    ),
    _convention(
        "ecm-depth-cap",
        "Each summary of a summary loses more, and nobody can predict what: two are enough.",
        "2",
        "sessions over their lineage",
    ),
    _convention(
        "ecm-known-loss-first",
        "Clearing old tool results loses what can be named; a summary loses what cannot.",
        "40%",
        "sessions in which tool results are a large part of the context",
    ),
    _convention(
        "ecm-unknown-continues",
        "Missing telemetry says nothing about the session, so it is no reason to act.",
        "",
        "every host",
    ),
    _convention(
        "ecm-budget-ends-gracefully",
        "A budget that is reached ends the session with its artifacts written; nothing else may block work.",
        "",
        "unattended chains",
    ),
    _convention(
        "ecm-prompt-budget",
        "What is added to each prompt is paid for at each prompt and moves the end of the prefix.",
        "200 tokens",
        "text injected at prompt time",
    ),
    Evidence(
        "pins-lost-first",
        "Under lossy compression instructions go first, some of them whole, and system content can leak.",
        "",
        "compressed prompts",
        Tier.PEER_REVIEWED,
        "2026",
        "ACL 2026, arXiv:2510.00231",
        Status.UNESTABLISHED,
    ),
    Evidence(
        "specifics-lost-in-summaries",
        "One compaction kept every high-level fact and none of the obscure specifics.",
        "3 of 3 against 0 of 3",
        "one measured comparison of one provider",
        Tier.PROVIDER,
        "",
        "ECM survey",
        Status.UNESTABLISHED,
    ),
    _paper(
        "observation-masking",
        "2508.21433",
        "Masking old observations costs half and solves as much as summaries by a model.",
        "cost halved; 53.8 to 54.8% solved; a hybrid saves 7 to 11% more",
        "coding agents, Qwen3-Coder-480B",
    ),
    _paper(
        "excluding-volatile-parts",
        "2601.06007",
        "Keeping volatile parts out of the cached prefix beats caching everything.",
        "45 to 80% of cost (41 to 80% in version 2), first token 13 to 31% sooner",
        "more than 500 agent sessions",
    ),
    _paper(
        "cache-aware-pruning",
        "2606.17016",
        "Pruning that minds the cache cuts cost, more so in continuous sessions.",
        "61 and 56% isolated, 61 and 87% continuous",
        "two benchmarks",
    ),
    _paper(
        "trajectory-reduction",
        "2509.23586",
        "Dropping waste from an agent's trajectory cuts input and cost.",
        "input 39.9 to 59.7%, cost 21.1 to 35.9%",
        "coding agents",
    ),
    _paper(
        "context-compression-peak",
        "2510.00615",
        "Optimised compression of observations and history lowers the peak.",
        "peak tokens 26 to 54%",
        "long-horizon agents",
    ),
    _paper(
        "ttl-between-tool-calls",
        "2511.02230",
        "Keeping a cache alive between tool calls shortens jobs.",
        "more than 8 times in job completion time",
        "self-served agents",
    ),
    _paper(
        "tail-latency-eviction",
        "2510.15152",
        "An eviction rule for the tail lowers it.",
        "P90 27.5%, P95 23.9%, violations of the objective 38.9%",
        "conversational serving",
    ),
    _paper(
        "randomised-eviction",
        "2601.18999",
        "Randomised eviction of cached keys and values is provably competitive.",
        "up to 6.92 times the hit rate",
        "serving engines",
    ),
    _paper(
        "budgeted-compaction",
        "2604.01664",
        "A compaction policy learned under a budget beats fixed ones.",
        "more than 1.6 times",
        "the benchmarks of the paper",
    ),
    _paper(
        "structured-eviction",
        "2606.11213",
        "Evicting context by structure is a policy of its own beside summaries.",
        "89 tasks, 80 million tokens",
        "coding agents",
    ),
    _paper("parallel-compaction", "2605.23296", "Compaction may run beside the session.", "", "agents"),
    _paper("adaptive-compaction", "2605.30785", "When and how to compact can be adapted to the session.", "", "agents"),
    Evidence(
        "expiry-costs-most",
        "Expired caches are few requests and much of the spend; caching saves most of the bill.",
        "3.7% of requests, 23.6% of spend; $0.9987 against $0.1178 a request; caching saves 77.4%",
        "19,805 requests, $3,139.97, one practitioner",
        Tier.PRACTITIONER,
        "",
        "rossoctl/context-guru, docs/how-to/cache-keepalive.md",
        Status.UNESTABLISHED,
    ),
    Evidence(
        "blind-pings-lose",
        "Keeping a cache alive blindly gains little, and most sessions that it touches lose money.",
        "7.4% more saved, against 22.0% with foresight; 71% of touched sessions lose",
        "the same 19,805 requests",
        Tier.PRACTITIONER,
        "",
        "rossoctl/context-guru#86, #99, #100, #114",
        Status.UNESTABLISHED,
    ),
    Evidence(
        "breaks-by-gap",
        "The longer a pause, the likelier the cache is gone after it.",
        "8% after 10 to 20 minutes, 25% after 45 to 60, 93% beyond 60",
        "one-hour caches of one practitioner",
        Tier.PRACTITIONER,
        "",
        "anthropics/claude-code#94177",
        Status.UNESTABLISHED,
    ),
    Evidence(
        "spend-after-gaps",
        "Much of the spend follows pauses of more than five minutes.",
        "40% of $256.55",
        "one practitioner",
        Tier.PRACTITIONER,
        "",
        "the-last-harness#642",
        Status.UNESTABLISHED,
    ),
    Evidence(
        "hour-writes-unpaid",
        "More than a third of one-hour cache writes never pay back.",
        "about 37%",
        "one practitioner",
        Tier.PRACTITIONER,
        "",
        "anthropics/claude-code#56307",
        Status.UNESTABLISHED,
    ),
)

#: Every record by id.
LIBRARY: Mapping[str, Evidence] = MappingProxyType({record.id: record for record in _RECORDS})
