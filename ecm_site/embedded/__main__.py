"""`python -m ecm_site.embedded up | require-up | stop-tests`"""

import sys
from collections.abc import Callable

from ecm_site.embedded import for_tests, require, up


def stop_tests() -> int:
    """Stop the PostgreSQL of the tests unless it is in use."""
    for_tests.stop_if_idle()
    return 0


COMMANDS: dict[str, Callable[[], int]] = {"up": up.main, "require-up": require.main, "stop-tests": stop_tests}


def main(arguments: list[str]) -> int:
    """Run one of the commands; the exit status."""
    if len(arguments) != 1 or arguments[0] not in COMMANDS:
        print(f"Say one of: {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    return COMMANDS[arguments[0]]()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
