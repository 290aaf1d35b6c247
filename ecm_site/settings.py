"""Settings of every process. What each variable means: docs/operations.md."""

import os
import secrets
from pathlib import Path

from django.utils.csp import CSP

from ecm_site import logging as log_settings
from ecm_site.env import broker, database, process_env

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(os.environ.get("ECM_DATA", "") or BASE_DIR / "var").resolve()
env = process_env(DATA_DIR)

DEBUG = env.flag("ECM_DEBUG")
HTTPS = env.flag("ECM_HTTPS")
#: Without a given key one is made for this process: sessions then end with it. `check --deploy` refuses that.
GIVEN_SECRET_KEY = env.secret("ECM_SECRET_KEY")
SECRET_KEY = GIVEN_SECRET_KEY or secrets.token_urlsafe(50)
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *env.names("ECM_ALLOWED_HOSTS")]
#: Where people reach this server: for links in terminals and messages.
PUBLIC_URL = env.text("ECM_PUBLIC_URL", f"http://127.0.0.1:{env.number('ECM_PORT', 8717)}").rstrip("/")
CSRF_TRUSTED_ORIGINS = env.names("ECM_CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.contrib.humanize",
    "rest_framework",
    "django_htmx",
    "ecm_site",
    "policy_app",
    "sessions_app",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "ecm_site.common.headers.SecureHeaders",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "ecm_site.urls"
WSGI_APPLICATION = "ecm_site.wsgi.application"
# API clients post to exact addresses; a redirect would turn their POST into a GET.
APPEND_SLASH = False
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "libraries": {"ecm": "ecm_site.common.templatetags.ecm"},
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

DATABASES = {
    "default": database(env.secret("DATABASE_URL", "postgres:///ecm"))
    | {"CONN_MAX_AGE": 3_600, "CONN_HEALTH_CHECKS": True, "ATOMIC_REQUESTS": False}
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.secret("REDIS_URL")
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL, "KEY_PREFIX": "ecm"}
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "ecm"}
}

CELERY_BROKER_URL, CELERY_BROKER_TRANSPORT_OPTIONS = broker(REDIS_URL, DATA_DIR / "broker")
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
# A task may run twice, and may not be lost: every task is idempotent.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# A fold is shorter than the making of a connection, with which Celery would begin and end each task.
CELERY_DB_REUSE_MAX = 1_000
CELERY_WORKER_MAX_TASKS_PER_CHILD = 2_000
#: In KiB: a fold takes about 4 KB per call, and Python gives little of it back.
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 500_000
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_TASK_TIME_LIMIT = 600
CELERY_TASK_SOFT_TIME_LIMIT = 540
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat" / "schedule")
CELERY_BEAT_SCHEDULE = {
    # A message that nobody fetched is worth nothing once the next sweep is due.
    "sweep-dirty": {"task": "sessions_app.sweep_dirty", "schedule": 2.0, "options": {"expires": 10}},
    "tend-ledger": {"task": "sessions_app.tend_ledger", "schedule": 300.0, "options": {"expires": 300}},
    # Calls of before the ledger, or of before its rules changed; otherwise there are none.
    "explain-misses": {"task": "sessions_app.explain_misses", "schedule": 30.0, "options": {"expires": 30}},
    "judge-alerts": {"task": "sessions_app.judge_alerts", "schedule": 300.0, "options": {"expires": 300}},
    "send-notices": {"task": "sessions_app.send_notices", "schedule": 30.0, "options": {"expires": 30}},
    "write-letters": {"task": "sessions_app.write_letters", "schedule": 900.0, "options": {"expires": 900}},
}

# The editor sends a whole table as one form: 200 rules with their conditions.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "EXCEPTION_HANDLER": "ecm_site.common.problems.exception_handler",
    "COERCE_DECIMAL_TO_STRING": True,
}

# policy_app does not know keys, roles and teams; it is told by these.
ECM_READER_AUTHENTICATION = ["sessions_app.api.auth.KeyAuthentication", "sessions_app.api.auth.LoginAuthentication"]
ECM_ACTOR_RESOLVER = "sessions_app.services.actors.actor_of"
ECM_SCOPE_RESOLVER = "sessions_app.services.actors.scope_of"
ECM_SCOPE_LISTER = "sessions_app.services.actors.scopes_of"
ECM_SCOPE_NAMER = "sessions_app.services.actors.scope_name"
ECM_RECORDED_RESOLVER = "sessions_app.dashboard.recorded.recorded_of"

#: Writes the weekly mail of a team; pages and mail share their sentences.
ECM_LETTER_WRITER = "sessions_app.dashboard.letter.letter_of"
#: Whether webhooks may lie in private networks and on this machine.
ALERT_PRIVATE = env.flag("ECM_ALERT_PRIVATE")

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

STATIC_URL = "/static/"
COLLECTED = Path(env.text("ECM_STATIC_ROOT", str(BASE_DIR / "staticfiles")))
#: Hashed names where collectstatic has run (container images); otherwise served from the sources.
STATIC_COLLECTED = (COLLECTED / "staticfiles.json").exists() or env.flag("ECM_COLLECT_STATIC")
# whitenoise warns about a folder that is not there.
STATIC_ROOT = COLLECTED if STATIC_COLLECTED else None
WHITENOISE_USE_FINDERS = not STATIC_COLLECTED
WHITENOISE_AUTOREFRESH = DEBUG
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if STATIC_COLLECTED
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}

SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "manifest-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
}
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
SECURE_SSL_REDIRECT = HTTPS
# Probes come from inside, without TLS.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.flag("ECM_TRUST_PROXY") else None
SESSION_ENGINE = "django.contrib.sessions.backends.db"
SESSION_COOKIE_NAME = "ecm_session"
SESSION_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = "ecm_csrf"
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "ecm_site.common.pages.csrf_failure"

DEFAULT_FROM_EMAIL = env.text("ECM_MAIL_FROM", "ecm@localhost")
MAILERS = {
    "default": {
        "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "OPTIONS": {
            "host": env.text("ECM_SMTP_HOST", "localhost"),
            "port": env.number("ECM_SMTP_PORT", 25),
            "username": env.text("ECM_SMTP_USER"),
            "password": env.secret("ECM_SMTP_PASSWORD"),
            "use_tls": env.flag("ECM_SMTP_TLS"),
            "timeout": 15,
        },
    }
}

LOGGING = log_settings.config(level=env.text("ECM_LOG_LEVEL", "INFO"), as_json=env.text("ECM_LOG_FORMAT") == "json")
