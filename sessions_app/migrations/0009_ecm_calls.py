"""`ecm_calls`: one line a call with the names of what it belongs to, for SQL tools. Persons are not in it.

A later migration that changes a column of it drops the view first and makes it anew.
"""

from django.db import migrations

VIEW = """
CREATE VIEW ecm_calls AS
SELECT
    organisation.slug AS organisation,
    team.slug AS team,
    team.is_demo,
    project.name AS project,
    session.branch,
    session.host,
    session.version AS host_version,
    session.id AS session_id,
    session.host_session_id,
    call.number,
    call.thread,
    call.purpose,
    call.model,
    call.started_at,
    call.ended_at,
    call.uncached_input,
    call.cache_read,
    call.cache_write_5m,
    call.cache_write_1h,
    call.cache_write_unknown_ttl,
    call.output,
    call.cost_usd,
    call.no_cache_cost_usd,
    call.needed_usd,
    call.miss_cause,
    call.miss_part,
    call.missed_tokens,
    call.miss_cost_usd,
    call.occupancy,
    call."window",
    call.window_origin,
    call.zone,
    call.depth
FROM sessions_app_call AS call
JOIN sessions_app_session AS session ON session.id = call.session_id
JOIN sessions_app_team AS team ON team.id = session.team_id
JOIN sessions_app_organisation AS organisation ON organisation.id = team.organisation_id
LEFT JOIN sessions_app_project AS project ON project.id = session.project_id
"""


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0008_verdicts")]

    operations = [migrations.RunSQL(VIEW, "DROP VIEW ecm_calls")]
