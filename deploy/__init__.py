"""What it takes to run aksbot somewhere: the image, the manifests, the roles."""
