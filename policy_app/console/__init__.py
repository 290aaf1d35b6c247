"""Pages of the policies: plain forms and links, whole without JavaScript."""
