"""Addresses of the pages, included at the root."""

from django.urls import path

from sessions_app.dashboard import connect_views, ledger_views, policy_views, table_views, verdict_views, views

urlpatterns = [
    path("", views.show_overview, name="overview"),
    path("sessions/", views.list_sessions, name="sessions"),
    path("sessions/<int:pk>/", views.show_session, name="session"),
    path("sessions/<int:pk>/calls/<int:number>/", ledger_views.show_call, name="call"),
    path("sessions/<int:pk>/mute", verdict_views.mute_session, name="session-mute"),
    path("v/<slug:public_id>", verdict_views.show_verdict, name="verdict"),
    path("s/<int:pk>", views.short_link, name="session-short"),
    path("s/<int:pk>/calls/<int:number>", ledger_views.short_call, name="call-short"),
    path("compactions/", views.show_compactions, name="compactions"),
    path("compactions/points/", views.show_points, name="compaction-points"),
    path("context/", views.show_context, name="context"),
    path("cache/", ledger_views.show_cache, name="cache"),
    path("cache/agreement/", ledger_views.show_agreement, name="agreement"),
    path("cache/teams/<int:team_id>/accept", ledger_views.accept_loss, name="accept-loss"),
    path("cache/teams/<int:team_id>/accepted/<int:loss_id>/withdraw", ledger_views.withdraw_loss, name="withdraw-loss"),
    path("prices/", ledger_views.show_prices, name="prices"),
    path("prices/add", ledger_views.add_price, name="add-price"),
    path("prices/multiplier", ledger_views.set_multiplier, name="price-multiplier"),
    path("prices/<path:model>/", ledger_views.show_price, name="price"),
    path("context/discipline/", views.show_discipline, name="discipline"),
    path("tables/", table_views.show_table, name="tables"),
    path("tables/<slug:by>.<slug:form>", table_views.give_table, name="table-file"),
    path("sources/", connect_views.show_sources, name="sources"),
    path("sources/teams/<int:team_id>/billing", connect_views.state_billing, name="billing"),
    path("connect/", connect_views.show_connect, name="connect"),
    path(
        "connect/claude-code/managed-settings.json",
        connect_views.managed_settings,
        name="managed-settings-claude-code",
    ),
    path("connect/keys/", connect_views.show_keys, name="own-keys"),
    path("connect/teams/<int:team_id>/keys", connect_views.make_key, name="make-key"),
    path("connect/keys/<int:key_id>/revoke", connect_views.revoke_key, name="revoke-key"),
    path("policy/drafts/<int:draft_id>/ghost", policy_views.show_ghost, name="policy-ghost"),
    path("theme/", views.choose_theme, name="theme"),
]
