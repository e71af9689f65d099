"""Protocol adapters: other services' protocols, each translated to the one extraction call (`service/api/calls`)."""
