"""Pages: one frozen dataclass per page, views as functions, charts as pure geometry."""
