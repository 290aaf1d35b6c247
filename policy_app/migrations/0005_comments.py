"""A remark without a verdict: on the newest revision of any open draft, by whoever may read it."""

from django.conf import settings
from django.db import migrations, models

GUARD = """
CREATE OR REPLACE FUNCTION policy_check_review() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    draft policy_app_draft%ROWTYPE;
BEGIN
    SELECT * INTO draft FROM policy_app_draft d WHERE d.id = NEW.draft_id FOR UPDATE;
    IF NEW.revision <> draft.revision OR draft.state IN ('discarded', 'published') THEN
        PERFORM policy_refuse('only the newest revision of an open draft can be spoken of');
    END IF;
    IF NEW.verdict <> 'comment' AND draft.state <> 'in_review' THEN
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
"""


class Migration(migrations.Migration):

    dependencies = [
        ('policy_app', '0004_pin_guards'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='review',
            name='review_verdict_known',
        ),
        migrations.AlterField(
            model_name='review',
            name='verdict',
            field=models.CharField(choices=[('approved', 'Approved'), ('rejected', 'Rejected'), ('comment', 'Comment')], max_length=8),
        ),
        migrations.AddConstraint(
            model_name='review',
            constraint=models.CheckConstraint(condition=models.Q(('verdict__in', ['approved', 'rejected', 'comment'])), name='review_verdict_known'),
        ),
        migrations.RunSQL(GUARD, migrations.RunSQL.noop),
    ]
