//go:build tools

// Package tools names the programs of others that are built as they are, for go.mod to list what they need.
package tools

import (
	_ "github.com/google/go-containerregistry/cmd/crane"
	_ "helm.sh/helm/v3/cmd/helm"
	_ "helm.sh/helm/v4/cmd/helm"
)
