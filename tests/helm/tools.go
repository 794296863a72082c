//go:build tools

// Package tools names the program, so that go.mod and go.sum hold all that it is built from.
package tools

import _ "helm.sh/helm/v4/cmd/helm"
