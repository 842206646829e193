package main

import (
	"context"
	"errors"
	"fmt"

	cadvisorapi "github.com/google/cadvisor/info/v1"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	genericapiserver "k8s.io/apiserver/pkg/server"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/validation"
	"k8s.io/kubernetes/pkg/kubelet/cadvisor"
	"k8s.io/kubernetes/pkg/kubelet/kubeletconfig/configfiles"
	utilfs "k8s.io/kubernetes/pkg/util/filesystem"
)

// simulatedMachine reports the size of the instance type that a node stands
// for instead of this machine's. Everything else that cAdvisor measures
// (disks, the processes' own use) stays real.
type simulatedMachine struct {
	cadvisor.Interface
	cores       int
	memoryBytes uint64
	name        string
}

func (m *simulatedMachine) MachineInfo() (*cadvisorapi.MachineInfo, error) {
	real, err := m.Interface.MachineInfo()
	if err != nil {
		return nil, err
	}
	info := real.Clone()
	info.NumCores = m.cores
	info.NumPhysicalCores = m.cores
	info.NumSockets = 1
	info.MemoryCapacity = m.memoryBytes
	// Unlike a real machine's, these must differ between nodes of one host.
	info.MachineID = m.name
	info.SystemUUID = m.name
	info.Topology = nil
	return info, nil
}

// newKubeletCommand is the kubelet with two more flags:
// --simulated-cores and --simulated-memory-bytes. Both are required: a node
// that silently showed this machine's own size would be scheduled wrongly.
func newKubeletCommand() *cobra.Command {
	flags := options.NewKubeletFlags()
	set := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	set.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	flags.AddFlags(set)
	options.AddGlobalFlags(set)
	cores := set.Int("simulated-cores", 0, "vCPUs of the instance type this node stands for")
	memory := set.Uint64("simulated-memory-bytes", 0, "memory of the instance type this node stands for")
	return &cobra.Command{
		Use:                "kubelet",
		DisableFlagParsing: true,
		SilenceUsage:       true,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := set.Parse(args); err != nil {
				return err
			}
			if *cores <= 0 || *memory == 0 {
				return errors.New("kubelet: --simulated-cores and --simulated-memory-bytes must both be given and positive")
			}
			return runKubelet(flags, *cores, *memory)
		},
	}
}

func runKubelet(flags *options.KubeletFlags, cores int, memoryBytes uint64) error {
	ctx := context.Background()
	config, err := loadKubeletConfig(ctx, flags)
	if err != nil {
		return err
	}
	logs.InitLogs()
	if err := logsapi.ValidateAndApply(&config.Logging, utilfeature.DefaultFeatureGate); err != nil {
		return err
	}
	server := &options.KubeletServer{KubeletFlags: *flags, KubeletConfiguration: *config}
	deps, err := app.UnsecuredDependencies(ctx, server, utilfeature.DefaultFeatureGate)
	if err != nil {
		return err
	}
	real, err := cadvisor.New(klog.Background(), cadvisor.NewImageFsInfoProvider(config.ContainerRuntimeEndpoint),
		flags.RootDirectory, []string{"/"}, false, config.LocalStorageCapacityIsolation)
	if err != nil {
		return err
	}
	deps.CAdvisorInterface = &simulatedMachine{real, cores, memoryBytes, flags.HostnameOverride}
	return app.Run(genericapiserver.SetupSignalContext(), server, deps, utilfeature.DefaultFeatureGate)
}

func loadKubeletConfig(ctx context.Context, flags *options.KubeletFlags) (*kubeletconfig.KubeletConfiguration, error) {
	if err := options.ValidateKubeletFlags(flags); err != nil {
		return nil, err
	}
	if flags.KubeletConfigFile == "" {
		return nil, errors.New("kubelet: --config must be given")
	}
	loader, err := configfiles.NewFsLoader(&utilfs.DefaultFs{}, flags.KubeletConfigFile)
	if err != nil {
		return nil, err
	}
	config, err := loader.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("kubelet: %s: %w", flags.KubeletConfigFile, err)
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(config.FeatureGates); err != nil {
		return nil, err
	}
	if err := validation.ValidateKubeletConfiguration(config, utilfeature.DefaultFeatureGate); err != nil {
		return nil, err
	}
	return config, nil
}
