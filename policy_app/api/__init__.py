"""REST: policies, drafts, reviews, versions, verdicts, audit."""
