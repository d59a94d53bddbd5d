"""A bounded context for every model request, and a durable memory for every workspace."""
