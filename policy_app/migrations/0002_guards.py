"""What the database itself refuses, from whomever it comes: services, a shell, psql.

Published versions, audit entries, edits, reviews and assignments are never changed, deleted or truncated. Nobody
approves a draft that they edited. A version holds what was approved, on top of the version that was live.
"""

from django.db import migrations

KEPT = ("version", "auditentry", "draftedit", "review", "assignment")

HASH = """
CREATE FUNCTION policy_sha256(words text) RETURNS text LANGUAGE sql AS
$$ SELECT encode(sha256(convert_to(words, 'UTF8')), 'hex') $$;
"""

REFUSE = """
CREATE FUNCTION policy_refuse(told text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING MESSAGE = told, ERRCODE = 'restrict_violation';
END $$;
CREATE FUNCTION policy_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM policy_refuse(format('%s refused: rows of %s are never changed or deleted', TG_OP, TG_TABLE_NAME));
    RETURN NULL;
END $$;
"""

# Nobody can say whose hand held a key: an edit without a person counts as everybody's.
EDITED_BY = """
CREATE FUNCTION policy_edited_by(draft bigint, person bigint) RETURNS boolean LANGUAGE sql STABLE AS
$$ SELECT EXISTS (
    SELECT 1 FROM policy_app_draftedit e WHERE e.draft_id = draft AND (e.by_id = person OR e.by_id IS NULL)
) $$;
CREATE FUNCTION policy_approved(draft bigint, at_revision integer) RETURNS boolean LANGUAGE sql STABLE AS
$$ SELECT EXISTS (
    SELECT 1 FROM policy_app_review r
    WHERE r.draft_id = draft AND r.revision = at_revision AND r.verdict = 'approved'
      AND NOT policy_edited_by(draft, r.by_id)
) $$;
"""

DRAFT = """
CREATE FUNCTION policy_check_draft() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM policy_refuse('a draft is discarded, never deleted');
    END IF;
    IF OLD.state IN ('discarded', 'published') THEN
        PERFORM policy_refuse('this draft is closed');
    END IF;
    IF NEW.policy_id <> OLD.policy_id THEN
        PERFORM policy_refuse('a draft stays with its policy');
    END IF;
    IF NEW.content <> OLD.content OR NEW.base_id IS DISTINCT FROM OLD.base_id OR NEW.revision <> OLD.revision THEN
        IF NEW.revision <> OLD.revision + 1 OR NEW.state <> 'editing' THEN
            PERFORM policy_refuse('an edit counts the revision up by one and voids what was said before');
        END IF;
    END IF;
    IF NEW.state = 'approved' AND NOT policy_approved(NEW.id, NEW.revision) THEN
        PERFORM policy_refuse('nobody who did not edit this draft has approved this revision');
    END IF;
    IF NEW.state = 'published' AND NOT EXISTS (SELECT 1 FROM policy_app_version v WHERE v.draft_id = NEW.id) THEN
        PERFORM policy_refuse('no version was published from this draft');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER policy_draft_checked BEFORE UPDATE OR DELETE ON policy_app_draft
    FOR EACH ROW EXECUTE FUNCTION policy_check_draft();
"""

EDIT = """
CREATE FUNCTION policy_check_edit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    draft policy_app_draft%ROWTYPE;
BEGIN
    SELECT * INTO draft FROM policy_app_draft d WHERE d.id = NEW.draft_id FOR UPDATE;
    IF NEW.revision <> draft.revision OR NEW.digest <> policy_sha256(draft.content) THEN
        PERFORM policy_refuse('an edit records the revision and the content that the draft has now');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER policy_edit_checked BEFORE INSERT ON policy_app_draftedit
    FOR EACH ROW EXECUTE FUNCTION policy_check_edit();
"""

REVIEW = """
CREATE FUNCTION policy_check_review() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    draft policy_app_draft%ROWTYPE;
BEGIN
    SELECT * INTO draft FROM policy_app_draft d WHERE d.id = NEW.draft_id FOR UPDATE;
    IF draft.state <> 'in_review' OR NEW.revision <> draft.revision THEN
        PERFORM policy_refuse('only the newest revision of a draft in review can be judged');
    END IF;
    IF NEW.verdict = 'approved' AND policy_edited_by(NEW.draft_id, NEW.by_id) THEN
        PERFORM policy_refuse('who edited a draft may not approve it');
    END IF;
    IF NOT EXISTS (
        SELECT 1 FROM policy_app_draftedit e
        WHERE e.draft_id = NEW.draft_id AND e.revision = NEW.revision AND e.digest = policy_sha256(draft.content)
    ) THEN
        PERFORM policy_refuse('nobody is recorded as having made this revision');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER policy_review_checked BEFORE INSERT ON policy_app_review
    FOR EACH ROW EXECUTE FUNCTION policy_check_review();
"""

VERSION = """
CREATE FUNCTION policy_check_origin(fresh policy_app_version, live policy_app_version) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    draft policy_app_draft%ROWTYPE;
    needs_two boolean;
BEGIN
    IF fresh.reverts_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM policy_app_version v
        WHERE v.id = fresh.reverts_id AND v.policy_id = fresh.policy_id AND v.content = fresh.content
    ) THEN
        PERFORM policy_refuse('a revert brings back the content of a version of the same policy');
    END IF;
    IF fresh.draft_id IS NULL THEN
        IF fresh.four_eyes THEN
            PERFORM policy_refuse('without a draft nobody has approved this content');
        END IF;
        RETURN;
    END IF;
    SELECT * INTO draft FROM policy_app_draft d WHERE d.id = fresh.draft_id FOR UPDATE;
    SELECT p.four_eyes INTO needs_two FROM policy_app_policy p WHERE p.id = fresh.policy_id;
    IF draft.policy_id <> fresh.policy_id OR draft.content <> fresh.content
       OR draft.base_id IS DISTINCT FROM live.id OR draft.state IN ('discarded', 'published') THEN
        PERFORM policy_refuse('a version holds what its open draft holds, on top of the live version');
    END IF;
    IF fresh.four_eyes <> policy_approved(draft.id, draft.revision) OR (needs_two AND NOT fresh.four_eyes) THEN
        PERFORM policy_refuse('nobody who did not edit this draft has approved this revision');
    END IF;
END $$;
CREATE FUNCTION policy_check_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    live policy_app_version;
BEGIN
    PERFORM 1 FROM policy_app_policy p WHERE p.id = NEW.policy_id FOR UPDATE;
    SELECT * INTO live FROM policy_app_version v WHERE v.policy_id = NEW.policy_id ORDER BY v.number DESC LIMIT 1;
    IF NEW.number <> coalesce(live.number, 0) + 1 OR NEW.previous_chain <> coalesce(live.chain, '') THEN
        PERFORM policy_refuse('versions are numbered and chained without gaps');
    END IF;
    IF NEW.digest <> policy_sha256(NEW.content)
       OR NEW.chain <> policy_sha256(NEW.previous_chain || ':' || NEW.number || ':' || NEW.digest) THEN
        PERFORM policy_refuse('digest and chain are those of the content');
    END IF;
    PERFORM policy_check_origin(NEW, live);
    RETURN NEW;
END $$;
CREATE TRIGGER policy_version_checked BEFORE INSERT ON policy_app_version
    FOR EACH ROW EXECUTE FUNCTION policy_check_version();
"""

AUDIT = """
CREATE FUNCTION policy_check_audit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    last policy_app_auditentry;
BEGIN
    SELECT * INTO last FROM policy_app_auditentry a
    WHERE a.organisation_id = NEW.organisation_id ORDER BY a.number DESC LIMIT 1;
    IF NEW.number <> coalesce(last.number, 0) + 1 OR NEW.previous_chain <> coalesce(last.chain, '') THEN
        PERFORM policy_refuse('audit entries are numbered and chained without gaps');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER policy_audit_checked BEFORE INSERT ON policy_app_auditentry
    FOR EACH ROW EXECUTE FUNCTION policy_check_audit();
"""


def keep(table: str) -> str:
    return f"""
CREATE TRIGGER policy_{table}_kept BEFORE UPDATE OR DELETE ON policy_app_{table}
    FOR EACH ROW EXECUTE FUNCTION policy_refuse_change();
CREATE TRIGGER policy_{table}_not_emptied BEFORE TRUNCATE ON policy_app_{table}
    FOR EACH STATEMENT EXECUTE FUNCTION policy_refuse_change();
"""


FORWARD = HASH + REFUSE + EDITED_BY + DRAFT + EDIT + REVIEW + VERSION + AUDIT + "".join(keep(each) for each in KEPT)

BACKWARD = "".join(
    f"DROP TRIGGER policy_{each}_kept ON policy_app_{each}; DROP TRIGGER policy_{each}_not_emptied ON policy_app_{each};"
    for each in KEPT
) + """
DROP TRIGGER policy_draft_checked ON policy_app_draft;
DROP TRIGGER policy_edit_checked ON policy_app_draftedit;
DROP TRIGGER policy_review_checked ON policy_app_review;
DROP TRIGGER policy_version_checked ON policy_app_version;
DROP TRIGGER policy_audit_checked ON policy_app_auditentry;
DROP FUNCTION policy_check_audit, policy_check_version, policy_check_review, policy_check_edit, policy_check_draft,
    policy_refuse_change;
DROP FUNCTION policy_check_origin;
DROP FUNCTION policy_approved;
DROP FUNCTION policy_edited_by;
DROP FUNCTION policy_refuse;
DROP FUNCTION policy_sha256;
"""


class Migration(migrations.Migration):

    dependencies = [("policy_app", "0001_initial")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
