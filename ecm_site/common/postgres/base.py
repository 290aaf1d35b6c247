"""Named by `ENGINE` of the settings: Django's own backend, but for `is_usable`."""

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """A hook waits for each round trip to the database: the health check before a request is to cost none."""

    def is_usable(self) -> bool:
        """Whether the server still holds the connection. One that idles has nothing to read but its end."""
        connection = self.connection
        if connection is None or connection.closed or connection.broken:
            return False
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        return not poll.poll(0)
