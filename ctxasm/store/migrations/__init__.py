"""How the schema came to be, step by step, for Alembic. Only an old database walks these steps: a new one is made at once.

A new step: a module in `versions`, the same change in `ctxasm.store.schema`, SCHEMA_VERSION one higher, and a dump of the
version before (`tests/store/versions/make.py`). A test holds that both ways lead to the same schema.
"""
