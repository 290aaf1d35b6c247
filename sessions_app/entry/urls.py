"""Addresses of signing in and out."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from sessions_app.entry import views

urlpatterns = [
    path("enter/<str:token>", views.enter, name="enter"),
    path("login", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout", LogoutView.as_view(), name="logout"),
]
