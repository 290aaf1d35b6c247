"""What a session is called on pages."""

from sessions_app.models import Session


def name_of(session: Session) -> str:
    """Project and branch, as far as they are known."""
    return session_name(session.project.name if session.project else None, session.branch)


def session_name(project: str | None, branch: str) -> str:
    """The same of the two alone."""
    project = project or "project unknown"
    return f"{project} · {branch}" if branch else project
