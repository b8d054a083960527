//go:build tools

// Package etcd names the store of the API server. It is a module of its own, so that its
// dependencies and those of Kubernetes do not have to agree.
package etcd

import _ "go.etcd.io/etcd/server/v3"
