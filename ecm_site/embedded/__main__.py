"""`python -m ecm_site.embedded up | stop-tests`"""

import sys

from ecm_site.embedded import for_tests, up


def main(arguments: list[str]) -> int:
    """Run one of the two commands; the exit status."""
    if arguments == ["up"]:
        return up.main()
    if arguments == ["stop-tests"]:
        for_tests.stop_if_idle()
        return 0
    print("Say up or stop-tests.", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
