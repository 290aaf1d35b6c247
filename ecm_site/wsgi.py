"""What granian serves."""

import gc
import os
import sys

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ecm_site.settings")
# A hook's thread asks the database a dozen times, and waits so long for its turn after each answer.
sys.setswitchinterval(0.000_5)
application = get_wsgi_application()
# What is loaded by now stays: going through it again for every few hundred answers would hold each of them up.
gc.collect()
gc.freeze()
# And what is loaded later (prices, policies, templates) is gone through a tenth as often: it takes 25 ms.
gc.set_threshold(2_000, 10, 100)
