// Command kube is a whole Kubernetes control plane and node in one binary: its
// first argument names the component. One process runs one component.
//
// The components are Kubernetes' own, unchanged, but for `kubelet`: it takes
// the size of the machine it stands for from flags (see kubelet.go), because
// many simulated nodes share one real machine.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	_ "time/tzdata" // CronJobs name time zones

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	kubeproxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

var components = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kube-proxy":              func() *cobra.Command { return kubeproxy.NewProxyCommand() },
	"kubelet":                 newKubeletCommand,
	"kubectl":                 func() *cobra.Command { return kubectl.NewDefaultKubectlCommand() },
}

func main() {
	name := filepath.Base(os.Args[0])
	if _, linked := components[name]; !linked && name != "etcd" {
		if len(os.Args) < 2 {
			fail("no component named")
		}
		name = os.Args[1]
		os.Args = append([]string{name}, os.Args[2:]...)
	}
	if name == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	build, known := components[name]
	if !known {
		fail(fmt.Sprintf("unknown component %q", name))
	}
	os.Exit(cli.Run(build()))
}

func fail(why string) {
	names := []string{"etcd"}
	for name := range components {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Fprintf(os.Stderr, "kube: %s - the first argument is one of: %s\n", why, strings.Join(names, " "))
	os.Exit(2)
}
