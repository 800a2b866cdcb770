#!/usr/bin/env python3
"""Writes the machines of this folder as hwloc would export them. Same output every time; run it after a change.

The machines are made up after real ones: CPU layout, PCI ids, bus order and device names are those that such a machine
has; serial numbers and the like are left out. tests/unit/hwloc_reader_test.cpp says what is to be read from each.
"""

import os
import sys

sys.dont_write_bytecode = True  # no __pycache__ beside the fixtures

from export import (GB, Cpus, Machine, Names, aspeed, bridge, direct_nvlinks, ethernet, function, host_bridge,  # noqa: E402
                    infiniband, numa_node, nvidia_gpu, nvme, osdev, pci, root_port, sata, switch, switched_nvlinks)

XEON = "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz"


def pcie8():
    names = Names()
    gpu = lambda: nvidia_gpu(names, "Quadro RTX 6000", 0x1e30, "TU102GL [Quadro RTX 6000/8000]", 24 * GB, 0x0300)
    return Machine("8-GPU PCIe server", Cpus(2, 16, 2, 128 * GB, model=XEON), [
        (0, host_bridge(0x00, bridge((0x1a03, 0x1150), "ASPEED", "AST1150 PCI-to-PCI Bridge", [aspeed()], 0))),
        (0, host_bridge(0x17, root_port(switch(gpu(), gpu(), infiniband(names))))),
        (0, host_bridge(0x3a, root_port(switch(gpu(), gpu())))),
        (0, host_bridge(0x5d, root_port(nvme(names)), root_port(nvme(names)))),
        (1, host_bridge(0x85, root_port(switch(gpu(), gpu(), infiniband(names))))),
        (1, host_bridge(0xae, root_port(switch(gpu(), gpu())))),
    ])


def workstation2():
    names = Names()
    audio = lambda: function(1, pci(0x0403, (0x10de, 0x1aef), "NVIDIA Corporation", "GA102 High Definition Audio", ()))
    gpu = lambda: nvidia_gpu(names, "NVIDIA GeForce RTX 3090", 0x2204, "GA102 [GeForce RTX 3090]", 24 * GB, 0x0300,
                             [audio()], 31.507692)
    return Machine("Workstation", Cpus(1, 8, 2, 64 * GB, model="Intel(R) Xeon(R) W-2245 CPU @ 3.90GHz"), [
        (0, host_bridge(0x00, root_port(gpu()), root_port(gpu()), root_port(nvme(names)), ethernet("eno1"))),
    ])


def dgx1():
    names = Names()
    gpu = lambda: nvidia_gpu(names, "Tesla V100-SXM2-32GB", 0x1db5, "GV100GL [Tesla V100 SXM2 32GB]", 32 * GB)
    half = lambda: [root_port(switch(gpu(), gpu(), infiniband(names, 0x1013, "MT27700 Family [ConnectX-4]")))
                    for _ in range(2)]
    second = function(1, ethernet("enp1s0f1", (0x8086, 0x1528), "Ethernet Controller 10-Gigabit X540-AT2"))
    first = ethernet("enp1s0f0", (0x8086, 0x1528), "Ethernet Controller 10-Gigabit X540-AT2")
    first.functions = [second]
    raid = pci(0x0104, (0x1000, 0x005d), "Broadcom / LSI", "MegaRAID SAS-3 3108 [Invader]",
               [osdev("block", name, (), "Disk") for name in ("sda", "sdb")])
    cube = [[0, 1, 1, 2, 2, 0, 0, 0], [1, 0, 2, 1, 0, 2, 0, 0], [1, 2, 0, 2, 0, 0, 1, 0], [2, 1, 2, 0, 0, 0, 0, 1],
            [2, 0, 0, 0, 0, 1, 1, 2], [0, 2, 0, 0, 1, 0, 2, 1], [0, 0, 1, 0, 1, 2, 0, 2], [0, 0, 0, 1, 2, 1, 2, 0]]
    return Machine("DGX-1 like", Cpus(2, 20, 2, 256 * GB, model="Intel(R) Xeon(R) CPU E5-2698 v4 @ 2.20GHz"), [
        (0, host_bridge(0x00, root_port(first), *half(), root_port(raid))),
        (1, host_bridge(0x80, *half())),
    ], direct_nvlinks(cube))


def dgx2():
    names = Names()
    gpu = lambda: nvidia_gpu(names, "Tesla V100-SXM3-32GB", 0x1db8, "GV100GL [Tesla V100 SXM3 32GB]", 32 * GB)
    leaf = lambda: root_port(switch(gpu(), gpu(), infiniband(names)))
    nvswitch = lambda: pci(0x0680, (0x10de, 0x1ac2), "NVIDIA Corporation", "NVSwitch", (), subtype="NVSwitch", speed=1)
    board = lambda: root_port(switch(*[nvswitch() for _ in range(6)]))
    return Machine("DGX-2 like", Cpus(2, 24, 2, 768 * GB, model="Intel(R) Xeon(R) Platinum 8168 CPU @ 2.70GHz"), [
        (0, host_bridge(0x17, leaf(), leaf())),
        (0, host_bridge(0x3a, leaf(), leaf())),
        (0, host_bridge(0x5d, board(), root_port(nvme(names)), root_port(nvme(names)))),
        (1, host_bridge(0x85, leaf(), leaf())),
        (1, host_bridge(0xae, leaf(), leaf())),
        (1, host_bridge(0xd7, board(), root_port(ethernet("enp219s0")))),
    ], switched_nvlinks)


def epyc4():
    names = Names()
    gpu = lambda: root_port(nvidia_gpu(names, "NVIDIA A100-PCIE-40GB", 0x20f1, "GA100 [A100 PCIe 40GB]", 40 * GB,
                                       speed=31.507692))
    cpus = Cpus(1, 64, 1, 64 * GB, nodes_per_socket=4, cores_per_cache=8, model="AMD EPYC 7763 64-Core Processor")
    return Machine("EPYC, NPS4", cpus, [
        # The kernel's order of buses is not that of the NUMA nodes on these machines.
        (3, host_bridge(0x00, gpu())),
        (2, host_bridge(0x40, gpu(), root_port(nvme(names)))),
        (1, host_bridge(0x80, gpu(), root_port(infiniband(names, 0x101b, "MT28908 Family [ConnectX-6]")))),
        (0, host_bridge(0xc0, gpu())),
    ])


def nogpu():
    return Machine("CPU server", Cpus(2, 12, 1, 96 * GB, model=XEON), [
        (0, host_bridge(0x00, sata(["sda", "sdb"]),
                        bridge((0x1a03, 0x1150), "ASPEED", "AST1150 PCI-to-PCI Bridge", [aspeed()], 0))),
        (0, host_bridge(0x17, root_port(ethernet("ens1")))),
    ])


def twolevel():
    names = Names()
    gpu = lambda: nvidia_gpu(names, "NVIDIA L40S", 0x26b9, "AD102GL [L40S]", 48 * GB, speed=31.507692)
    side = lambda: root_port(switch(switch(gpu(), gpu()), switch(gpu(), gpu()), infiniband(names)))
    return Machine("Two levels of switches", Cpus(2, 16, 1, 128 * GB, model="Intel(R) Xeon(R) Gold 6338"), [
        (0, host_bridge(0x17, side())),
        (1, host_bridge(0x97, side(), root_port(nvme(names)))),
    ])


def gh200():
    names = Names()
    cpus = range(72)
    memory = [numa_node(1, cpus, 96 * GB, [("PCIBusID", "0009:01:00.0")], subtype="GPUMemory")]
    memory += [numa_node(n, [], 0) for n in range(2, 9)]  # for MIG instances; empty without MIG
    gpu = nvidia_gpu(names, "NVIDIA GH200 480GB", 0x2342, "GH100 [GH200 120GB / 480GB]", 96 * GB, speed=63.015385)
    gpu.children = [each for each in gpu.children if each.osdev == "gpu"]  # hwloc without CUDA: the memory is the node's
    return Machine("Grace Hopper", Cpus(1, 72, 1, 480 * GB, model="Neoverse-V2", far_nodes=memory), [
        (0, host_bridge(0x00, root_port(infiniband(names, 0xa2dc, "MT43244 BlueField-3")), domain=0)),
        (0, host_bridge(0x00, root_port(nvme(names)), domain=4)),
        (0, host_bridge(0x00, root_port(gpu), domain=9)),
    ])


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    machines = [pcie8, workstation2, dgx1, dgx2, epyc4, nogpu, twolevel, gh200]
    texts = {each.__name__: each().text() for each in machines}
    texts["pcie8-v3"] = pcie8().text(version=3)
    for name, text in texts.items():
        with open(os.path.join(folder, name + ".xml"), "w", encoding="ascii") as file:
            file.write(text)


if __name__ == "__main__":
    main()
