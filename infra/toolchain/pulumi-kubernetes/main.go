// Command pulumi-resource-kubernetes is Pulumi's Kubernetes provider.
//
// Its own main embeds generated files that its Go module does not carry, so
// this one reads the schema that the build lays beside the binary.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

func main() {
	self, err := os.Executable()
	if err == nil {
		var schema []byte
		if schema, err = os.ReadFile(filepath.Join(filepath.Dir(self), "schema.json")); err == nil {
			// The second file would map Terraform names, which this provider has none of.
			provider.Serve("kubernetes", version.Version, schema, []byte("{}"))
			return
		}
	}
	fmt.Fprintf(os.Stderr, "pulumi-resource-kubernetes: %v - schema.json must lie beside the binary. Run: make toolchain\n", err)
	os.Exit(1)
}
