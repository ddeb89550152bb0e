"""A strict local Azure Resource Manager and Entra token endpoint that serves a `sandbox.world.World`."""
