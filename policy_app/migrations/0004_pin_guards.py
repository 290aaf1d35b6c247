"""What the database refuses of pin sets, from whomever it comes.

A policy stays of its kind, an assignment is of its policy's kind, and no published pin set holds content of tools or
pages from outside (T3) or of an unknown tier. Everything else that guards versions of tables guards these as well.
"""

from django.db import migrations

FORWARD = """
CREATE FUNCTION policy_check_kind() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.kind <> OLD.kind THEN
        PERFORM policy_refuse('a policy stays of its kind');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER policy_kind_checked BEFORE UPDATE ON policy_app_policy
    FOR EACH ROW EXECUTE FUNCTION policy_check_kind();

CREATE FUNCTION policy_check_assignment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.policy_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM policy_app_policy p WHERE p.id = NEW.policy_id AND p.kind = NEW.kind
    ) THEN
        PERFORM policy_refuse('an assignment is of its policy''s kind');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER policy_assignment_checked BEFORE INSERT ON policy_app_assignment
    FOR EACH ROW EXECUTE FUNCTION policy_check_assignment();

CREATE FUNCTION policy_check_pins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM policy_app_policy p WHERE p.id = NEW.policy_id AND p.kind = 'pins')
       AND EXISTS (
           SELECT 1 FROM jsonb_array_elements(NEW.content::jsonb -> 'pins') pin
           WHERE coalesce(pin ->> 'tier', '') NOT IN ('T0', 'T1')
       ) THEN
        PERFORM policy_refuse('a pin is T0 or T1: content from outside never becomes a pin');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER policy_pins_checked BEFORE INSERT ON policy_app_version
    FOR EACH ROW EXECUTE FUNCTION policy_check_pins();
"""

BACKWARD = """
DROP TRIGGER policy_kind_checked ON policy_app_policy;
DROP TRIGGER policy_assignment_checked ON policy_app_assignment;
DROP TRIGGER policy_pins_checked ON policy_app_version;
DROP FUNCTION policy_check_kind, policy_check_assignment, policy_check_pins;
"""


class Migration(migrations.Migration):

    dependencies = [("policy_app", "0003_pin_sets")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
