"""Generated messages and stubs of the CRI (`runtime`) and of the kubelet's device plugins (`deviceplugin`).

`python -m local.kubernetes.cri.generate` writes them anew from the Go modules that `infra/toolchain/kube` pins.
"""
