"""What is needed to deploy aksbot: the image, the manifests, the roles."""
