"""The hardware catalog: schema, loader, index."""
