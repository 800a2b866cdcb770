"""Objects of an hwloc export, and how they are written: format 2, or 3 where it differs. Used by generate.py."""

GB = 1 << 30
V2_OSDEV = {"block": 0, "gpu": 1, "net": 2, "ofed": 3, "coproc": 5}
V3_OSDEV = {"block": 1, "gpu": 4, "net": 16, "ofed": 32 | 16, "coproc": 8 | 4}


# --- objects ---------------------------------------------------------------------------------------------------------

class Object:
    def __init__(self, kind, infos=(), children=(), **attributes):
        self.kind, self.infos, self.children = kind, list(infos), list(children)
        self.attributes, self.number = attributes, 0


def bits(numbers):
    value = sum(1 << n for n in numbers)
    words = []
    while True:
        words.append("0x%08x" % (value & 0xffffffff))
        value >>= 32
        if not value:
            return ",".join(reversed(words))


def cpu_object(kind, cpus, nodes, infos=(), children=(), **attributes):
    sets = dict(cpuset=bits(cpus), complete_cpuset=bits(cpus), nodeset=bits(nodes), complete_nodeset=bits(nodes))
    made = Object(kind, infos, children, **attributes, **sets)
    made.cpus, made.nodes = list(cpus), list(nodes)
    return made


def numa_node(number, cpus, memory, infos=(), **attributes):
    size = {"local_memory": memory} if memory else {}
    return cpu_object("NUMANode", cpus, [number], infos, os_index=number, **attributes, **size)


# --- CPUs ------------------------------------------------------------------------------------------------------------

class Cpus:
    """Sockets with NUMA nodes with caches with cores; `near[n]` is what host bridges of NUMA node n hang below."""

    def __init__(self, sockets, cores, threads, memory, nodes_per_socket=1, cores_per_cache=None, model="",
                 far_nodes=()):
        total = sockets * cores
        self.near, self.packages, far = [], [], list(far_nodes)
        for socket in range(sockets):
            groups = []
            share = cores // nodes_per_socket
            for part in range(nodes_per_socket):
                node = socket * nodes_per_socket + part
                first = socket * cores + part * share
                groups.append((node, self.caches(first, share, cores_per_cache or share, threads, total, node)))
            cpus = [c for _, caches in groups for cache in caches for c in cache.cpus]
            nodes = [node for node, _ in groups] + [n.nodes[0] for n in far]
            info = [("CPUModel", model)]
            if nodes_per_socket == 1:
                node, caches = groups[0]
                memories = [numa_node(node, cpus, memory)] + far
                package = cpu_object("Package", cpus, nodes, info, memories + caches, os_index=socket)
                self.near.append(package)
            else:
                parts = []
                for node, caches in groups:
                    part_cpus = [c for cache in caches for c in cache.cpus]
                    parts.append(cpu_object("Group", part_cpus, [node], (),
                                            [numa_node(node, part_cpus, memory)] + caches))
                package = cpu_object("Package", cpus, nodes, info, parts, os_index=socket)
                self.near += parts
            self.packages.append(package)

    @staticmethod
    def caches(first, count, per_cache, threads, total, node):
        made = []
        for start in range(first, first + count, per_cache):
            cores = []
            for core in range(start, start + per_cache):
                cpus = [core + thread * total for thread in range(threads)]
                pus = [cpu_object("PU", [c], [node], os_index=c) for c in cpus]
                cores.append(cpu_object("Core", cpus, [node], (), pus, os_index=core))
            cpus = [c for core in cores for c in core.cpus]
            made.append(cpu_object("L3Cache", cpus, [node], (), cores, cache_size=32 << 20, depth=3,
                                   cache_linesize=64, cache_associativity=16, cache_type=0))
        return made


# --- PCI -------------------------------------------------------------------------------------------------------------

def pci(kind_class, ids, vendor, device, children=(), functions=(), speed=15.753846, **attributes):
    made = Object("PCIDev", [("PCIVendor", vendor), ("PCIDevice", device)], children, **attributes)
    made.pci_class, made.ids, made.speed, made.functions = kind_class, ids, speed, list(functions)
    return made


def osdev(kind, name, infos=(), subtype=None):
    made = Object("OSDev", infos, name=name, **({"subtype": subtype} if subtype else {}))
    made.osdev = kind
    return made


class Names:
    """Numbers devices in the order in which they are made: nvml0, nvml1 ..., as drivers do."""

    def __init__(self):
        self.counts = {}

    def next(self, name):
        self.counts[name] = self.counts.get(name, -1) + 1
        return self.counts[name]


def nvidia_gpu(names, model, ids, device, memory, pci_class=0x0302, functions=(), speed=15.753846):
    number = names.next("gpu")
    uuid = "GPU-%08x-0000-4000-8000-%012x" % (0xa0000000 + number, number)
    software = [
        osdev("coproc", "cuda%d" % number,
              [("Backend", "CUDA"), ("GPUModel", model), ("CUDAGlobalMemorySize", str(memory >> 10))], "CUDA"),
        osdev("gpu", "nvml%d" % number, [("Backend", "NVML"), ("GPUModel", model), ("NVIDIAUUID", uuid)], "NVML"),
    ]
    return pci(pci_class, (0x10de, ids), "NVIDIA Corporation", device, software, functions, speed)


def infiniband(names, ids=0x1017, device="MT27800 Family [ConnectX-5]"):
    number = names.next("ib")
    software = [osdev("net", "ib%d" % number, [("Port", "1")]),
                osdev("ofed", "mlx5_%d" % number, [("Port1State", "4")])]
    return pci(0x0207, (0x15b3, ids), "Mellanox Technologies", device, software)


def ethernet(name, ids=(0x8086, 0x1563), device="Ethernet Controller 10G X550T"):
    return pci(0x0200, ids, "Intel Corporation", device, [osdev("net", name)], speed=3.938462)


def nvme(names):
    name = "nvme%dn1" % names.next("nvme")
    return pci(0x0108, (0x144d, 0xa808), "Samsung Electronics Co Ltd", "NVMe SSD Controller SM981/PM981/PM983",
               [osdev("block", name, [("Size", "1875374424")], "Disk")], speed=3.938462)


def sata(disks):
    return pci(0x0106, (0x8086, 0xa182), "Intel Corporation", "C620 Series Chipset Family SATA Controller [AHCI mode]",
               [osdev("block", name, (), "Disk") for name in disks] +
               [osdev("block", "sr0", (), "Removable Media Device")], speed=0)


def aspeed():
    return pci(0x0300, (0x1a03, 0x2000), "ASPEED Technology, Inc.", "ASPEED Graphics Family",
               [osdev("gpu", "card0"), osdev("gpu", "controlD64")], speed=0)


def bridge(ids, vendor, device, children, speed=15.753846):
    made = pci(0x0604, ids, vendor, device, children, (), speed)
    made.kind = "Bridge"
    return made


def root_port(*children):
    return bridge((0x8086, 0x2030), "Intel Corporation", "Sky Lake-E PCI Express Root Port A", children)


def switch(*children):
    """A PCIe switch: its upstream port, and a downstream port for each child."""
    ids, vendor, device = (0x10b5, 0x9797), "PLX Technology, Inc.", "PEX 9797 PCIe switch"
    return bridge(ids, vendor, device, [bridge(ids, vendor, device, [child]) for child in children])


def host_bridge(bus, *children, domain=0):
    made = Object("Bridge", (), children)
    last = place(made, domain, bus, bus, 0)
    made.attributes.update(bridge_type="0-1", depth=0, bridge_pci="%04x:[%02x-%02x]" % (domain, bus, last))
    return made


def place(parent, domain, bus, last, depth):
    """Gives everything below a bridge its bus id; returns the last bus used."""
    parent.children = [each for child in parent.children for each in [child] + getattr(child, "functions", [])]
    device = -1
    for child in parent.children:
        function = getattr(child, "function", 0)
        device += function == 0
        child.attributes["pci_busid"] = "%04x:%02x:%02x.%x" % (domain, bus, device, function)
        if child.kind == "Bridge":
            first = last + 1
            last = place(child, domain, first, first, depth + 1)
            child.attributes.update(bridge_type="1-1", depth=depth + 1,
                                    bridge_pci="%04x:[%02x-%02x]" % (domain, first, last))
    return last


def function(number, device):
    device.function = number
    return device


# --- a whole machine -------------------------------------------------------------------------------------------------

class Machine:
    def __init__(self, product, cpus, bridges, nvlinks=None):
        for node, host in bridges:
            cpus.near[node].children.append(host)
        all_cpus = sorted(c for package in cpus.packages for c in package.cpus)
        nodes = sorted(n for package in cpus.packages for n in package.nodes)
        self.root = cpu_object("Machine", all_cpus, nodes, [("DMIProductName", product)], cpus.packages, os_index=0)
        self.root.attributes.update(allowed_cpuset=bits(all_cpus), allowed_nodeset=bits(nodes))
        self.nvlinks, self.count = nvlinks, 0
        self.enumerate(self.root)

    def enumerate(self, each):
        self.count += 1
        each.number = self.count
        for child in each.children:
            self.enumerate(child)

    def find(self, wanted, each=None):
        each = each or self.root
        found = [each] if wanted(each) else []
        return found + [f for child in each.children for f in self.find(wanted, child)]

    def text(self, version=2):
        lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<!DOCTYPE topology SYSTEM "hwloc2.dtd">',
                 '<topology version="%d.0">' % version]
        global_infos = [("Backend", "Linux"), ("OSName", "Linux"), ("hwlocVersion", "2.9.0" if version == 2 else "3.0.0")]
        if version == 2:
            self.root.infos += global_infos
        self.write(self.root, "  ", version, lines)
        if version == 2:
            del self.root.infos[-len(global_infos):]
        if self.nvlinks:
            lines += self.distances(version)
        lines += ['  <support name="discovery.pu"/>', '  <support name="discovery.numa"/>']
        if version == 3:
            lines += ['  <info name="%s" value="%s"/>' % info for info in global_infos]
        return "\n".join(lines + ["</topology>", ""])

    def write(self, each, indent, version, lines):
        attributes = {"type": each.kind}
        if "os_index" in each.attributes:
            attributes["os_index"] = each.attributes["os_index"]
        attributes["gp_index"] = each.number
        if version == 3:
            attributes["id"] = "obj%d" % each.number
        attributes.update(each.attributes)
        if hasattr(each, "osdev"):
            attributes["osdev_type"] = (V2_OSDEV if version == 2 else V3_OSDEV)[each.osdev]
        if hasattr(each, "pci_class"):
            attributes["pci_type"] = "%04x [%04x:%04x] [0000:0000] a1" % ((each.pci_class,) + tuple(each.ids))
            attributes["pci_type"] += " 00" if version == 3 else ""
            attributes["pci_link_speed"] = "%f" % each.speed
        head = indent + "<object " + " ".join('%s="%s"' % item for item in attributes.items())
        if not each.infos and not each.children:
            lines.append(head + "/>")
            return
        lines.append(head + ">")
        lines += [indent + '  <info name="%s" value="%s"/>' % info for info in each.infos]
        for child in each.children:
            self.write(child, indent + "  ", version, lines)
        lines.append(indent + "</object>")

    def distances(self, version):
        objects, matrix = self.nvlinks(self)
        several = len({each.kind for each in objects}) > 1
        tag = "distances2hetero" if several else "distances2"
        lines = ['  <%s %snbobjs="%d" kind="%d" name="NVLinkBandwidth"%s>' % (
            tag, "" if several else 'type="OSDev" ', len(objects), 25 if several else 9,
            "" if several else ' indexing="gp"')]
        indexes = ["%s%d" % (each.kind + ":" if several else "", each.number) for each in objects]
        for name, words in (("indexes", indexes), ("u64values", [str(v) for row in matrix for v in row])):
            for start in range(0, len(words), 10):
                content = "".join(word + " " for word in words[start:start + 10])
                lines.append('    <%s length="%d">%s</%s>' % (name, len(content), content, name))
        return lines + ["  </%s>" % tag]


def nvml_devices(machine):
    return machine.find(lambda each: each.attributes.get("subtype") == "NVML")


def direct_nvlinks(counts):
    """NVLinks from GPU to GPU: hwloc's MB/s, 25,000 a link, and 1,000,000 to itself."""
    def matrix(machine):
        size = len(counts)
        return nvml_devices(machine), [[1000000 if i == j else counts[i][j] * 25000 for j in range(size)]
                                       for i in range(size)]
    return matrix


def switched_nvlinks(machine):
    """NVSwitch, as hwloc sees it: each GPU has one link into each NVSwitch of its own board."""
    gpus = nvml_devices(machine)
    switches = machine.find(lambda each: each.attributes.get("subtype") == "NVSwitch")
    objects, boards = gpus + switches, {}
    for number, each in enumerate(gpus):
        boards[each] = number * 2 // len(gpus)
    for number, each in enumerate(switches):
        boards[each] = number * 2 // len(switches)
    linked = lambda a, b: boards[a] == boards[b] and (a in gpus) != (b in gpus)
    return objects, [[1000000 if a is b else 25000 if linked(a, b) else 0 for b in objects] for a in objects]
