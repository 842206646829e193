//go:build tools

// Package tools pins the Pulumi CLI: the build compiles it by its import path,
// and this import keeps go.mod and go.sum complete for it.
package tools

import (
	_ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
)
