#!/usr/bin/env python3
"""Writes the constructed machines of this folder anew; README.md says from which sources.

Run it in tests/machines, then make the expected answers anew (see README.md) and read the
difference. recorded-vm-no-gpu is no work of this script: it is a recording.
"""
import os
import shutil

CPU_NODE = """cpu_cores_count {cores}
simd_count 0
mem_banks_count 1
caches_count 0
io_links_count 1
p2p_links_count 0
cpu_core_id_base 0
simd_id_base 0
max_waves_per_simd 0
lds_size_in_kb 0
gds_size_in_kb 0
num_gws 0
wave_front_size 0
array_count 0
simd_arrays_per_engine 0
cu_per_simd_array 0
simd_per_cu 0
max_slots_scratch_cu 0
gfx_target_version 0
vendor_id 0
device_id 0
location_id 0
domain 0
drm_render_minor 0
hive_id 0
num_sdma_engines 0
num_sdma_xgmi_engines 0
num_sdma_queues_per_engine 0
num_cp_queues 0
max_engine_clk_ccompute 5000
"""
GPU_NODE = """cpu_cores_count 0
simd_count {simds}
mem_banks_count 1
caches_count 0
io_links_count 1
p2p_links_count 0
cpu_core_id_base 0
simd_id_base 2147487744
max_waves_per_simd 16
lds_size_in_kb 64
gds_size_in_kb 0
num_gws 64
wave_front_size {wave}
array_count 8
simd_arrays_per_engine 2
cu_per_simd_array 8
simd_per_cu {per_cu}
max_slots_scratch_cu 32
gfx_target_version {version}
vendor_id 4098
device_id {device}
location_id {location}
domain {domain}
drm_render_minor {minor}
hive_id {hive}
num_sdma_engines 2
num_sdma_xgmi_engines 0
num_sdma_queues_per_engine 8
num_cp_queues 8
max_engine_clk_fcompute 2500
local_mem_size 0
fw_version 100
capability 671588992
debug_prop 1495
sdma_fw_version 20
unique_id {unique}
num_xcc {xcc}
max_engine_clk_ccompute 5000
"""
BANK = "heap_type {heap}\nsize_in_bytes {size}\nflags 0\nwidth 256\nmem_clk_max 1250\n"
IO_LINK = """type {type}
version_major 0
version_minor 0
node_from {here}
node_to {there}
weight 20
min_latency 0
max_latency 0
min_bandwidth 312
max_bandwidth 31500
recommended_transfer_size 0
recommended_sdma_engine_id_mask 0
flags {flags}
"""
PRESSURE = "some avg10=0.00 avg60=0.12 avg300=0.05 total=48190\nfull avg10=0.00 avg60=0.10 avg300=0.04 total=47011\n"
# What amdgpu lists is what it has a firmware for: none is 0x00000000.
FIRMWARE = {
    "gfx10": {"ce": "0x00000025", "me": "0x00000040", "mec": "0x00000079", "pfp": "0x0000006d",
              "rlc": "0x00000080", "sdma": "0x00000054", "smc": "0x003a5a00", "vcn": "0x0311b004",
              "mes": "0x00000000"},
    "gfx11": {"imu": "0x0b1f3400", "me": "0x00000978", "mec": "0x0000093e", "mes": "0x0000007c",
              "mes_kiq": "0x0000006c", "pfp": "0x00000b0e", "rlc": "0x0000008b", "sdma": "0x00000018",
              "smc": "0x004e8200", "vcn": "0x09118011"},
    "bad": {"me": "0x00000020", "mec": "0x00000020", "mes": "0x00000083", "mes_kiq": "0x0000006f", "smc": "0x00647000"},
    "gfx9": {"mec": "0x00000058", "rlc": "0x00000011", "sdma": "0x00000008", "smc": "0x00443d00",
             "sos": "0x00270082", "ta_ras": "0x1b00013c", "ta_xgmi": "0x20000014", "vcn": "0x0110101b",
             "me": "0x00000000"},
}
CPUINFO = """processor	: {i}
vendor_id	: {vendor}
cpu family	: 25
model		: 97
model name	: {name}
cpu MHz		: 3000.000
flags		: fpu vme de pse tsc msr{flags}

"""
STATUS = """Name:	rocsmith
Umask:	0022
State:	R (running)
Pid:	4711
Uid:	{uid}	{uid}	{uid}	{uid}
Gid:	{gid}	{gid}	{gid}	{gid}
FDSize:	256
Groups:	{groups} 
VmPeak:	    9000 kB
Seccomp:	{seccomp}
"""
OS = {
    "ubuntu": 'PRETTY_NAME="Ubuntu 24.04.3 LTS"\nNAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\n'
              'ID_LIKE=debian\nHOME_URL="https://www.ubuntu.com/"\n',
    "debian": 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nNAME="Debian GNU/Linux"\n'
              'VERSION_ID="13"\nID=debian\n',
    "fedora": 'NAME="Fedora Linux"\nVERSION="43 (Workstation Edition)"\nID=fedora\nVERSION_ID=43\n'
              'PRETTY_NAME="Fedora Linux 43 (Workstation Edition)"\n',
}
GROUPS = "root:x:0:\nadm:x:4:syslog,alice\nvideo:x:44:alice\nsudo:x:27:alice\nrender:x:992:{members}\n" \
         "alice:x:1000:\n"


class Machine:
    def __init__(self, name):
        self.name, self.files, self.links, self.nodes = name, {}, {}, []

    def put(self, path, text):
        self.files[path] = text

    def system(self, distro, kernel, cpu, cpus, gib, vendor="AuthenticAMD", flags="", cmdline=""):
        self.put("etc/os-release", OS[distro])
        self.put("proc/sys/kernel/osrelease", kernel + "\n")
        self.put("proc/version", f"Linux version {kernel} (builder@buildhost) (gcc 14) #1 SMP\n")
        self.put("proc/cpuinfo", "".join(CPUINFO.format(i=i, vendor=vendor, name=cpu, flags=flags)
                                         for i in range(2)))
        self.put("sys/devices/system/cpu/online", f"0-{cpus - 1}\n")
        self.put("proc/meminfo", f"MemTotal:       {gib * 1048576 - 700000} kB\n"
                 f"MemFree:        {gib * 500000} kB\nMemAvailable:   {gib * 800000} kB\n"
                 "Buffers:          500000 kB\nSwapTotal:       8388604 kB\n")
        self.put("proc/pressure/memory", PRESSURE)
        self.put("sys/module/ttm/parameters/pages_limit", f"{gib * 1048576 // 4 // 2 - 87500}\n")
        self.put("proc/cmdline", "BOOT_IMAGE=/boot/vmlinuz root=UUID=c0ffee00-1111-2222-3333-444455556666"
                 f" ro quiet{' ' + cmdline if cmdline else ''}\n")
        self.put("proc/modules", "snd_hda_intel 61440 2 - Live 0x0000000000000000\n")
        return self

    def user(self, uid=1000, gid=1000, groups="4 27 44 992 1000", members="alice", seccomp=0):
        self.put("proc/self/status", STATUS.format(uid=uid, gid=gid, groups=groups, seccomp=seccomp))
        self.put("etc/group", GROUPS.format(members=members))
        self.put("etc/passwd", "root:x:0:0:root:/root:/bin/bash\nsyslog:x:102:102::/nonexistent:/bin/false\n"
                 "alice:x:1000:1000:Alice Liddell,,,:/home/user:/bin/bash\n")
        self.home = "/root" if uid == 0 else "/home/user"
        return self.environ()

    def environ(self, **variables):
        """What `doctor` ran with; home folders of these machines are those of a recording."""
        text = {"SHELL": "/bin/bash", "USER": "alice", "HOME": self.home, "MAIL": "/var/mail/alice",
                "PATH": "/usr/local/bin:/usr/bin:/bin", "API_TOKEN": "feedbeef4711"} | variables
        self.put("proc/self/environ", "".join(f"{k}={v}\0" for k, v in text.items()))
        return self

    def disks(self, gib, free):
        """One disk for all, of so many GiB."""
        self.put(".disks", "".join(f"{use} {gib << 30} {free << 30} {path}\n" for use, path in (
            ("cache", f"{self.home}/.cache/rocsmith"), ("home", self.home), ("tmp", "/tmp"))))
        return self

    def iommu(self, *devices, kind="DMA-FQ"):
        """Every device in a group of its own."""
        self.put("sys/class/iommu/ivhd0/amd-iommu/features", "25bf732fa2295afe:\n")
        for group, address in enumerate(devices, 12):
            self.put(f"sys/kernel/iommu_groups/{group}/type", kind + "\n")
            self.links[f"sys/bus/pci/devices/{address}/iommu_group"] = \
                f"../../../../kernel/iommu_groups/{group}"
        return self

    def driver(self, version=None):
        self.put("sys/module/amdgpu/initstate", "live\n")
        self.put("proc/modules", "amdgpu 20000000 12 - Live 0x0000000000000000 (OE)\n"
                 "amdxcp 12288 1 amdgpu, Live 0x0000000000000000\n")
        if version:
            self.put("sys/module/amdgpu/version", version + "\n")
        return self

    def pcie(self, address, now, most=None, own=(), minor=128):
        """The link of a card: speed and width; own: its bridges, and the processor's port above them first. Then the
        device lies below them, as in a real /sys; otherwise its folder stands alone."""
        for bridge in own:
            inside = bridge != own[0]
            self.put(f"sys/bus/pci/devices/{bridge}/vendor", "0x1002\n" if inside else "0x1022\n")
            self.put(f"sys/bus/pci/devices/{bridge}/class", "0x060400\n")
        for i, device in enumerate((*own, address)):
            # what is inside of a card always runs at its own speed
            here, can = (now, most or now) if i < 2 else (("16.0 GT/s PCIe", 16),) * 2
            for which, (speed, width) in (("current", here), ("max", can)):
                self.put(f"sys/bus/pci/devices/{device}/{which}_link_speed", speed + "\n")
                self.put(f"sys/bus/pci/devices/{device}/{which}_link_width", f"{width}\n")
        if own:
            place = "sys/devices/pci0000:00"
            for device in (*own, address):
                place = f"{place}/{device}"
                self.move(f"sys/bus/pci/devices/{device}", place)
            self.move(f"sys/class/drm/renderD{minor}/device", place)

    def move(self, old, new):
        """A folder of sys, and leaves a link."""
        for table in (self.files, self.links):
            for path in [p for p in table if p.startswith(old + "/")]:
                table[new + path[len(old):]] = table.pop(path)
        self.links[old] = f"../../../{new[4:]}"

    def cpu_node(self, node, cores):
        base = f"sys/class/kfd/kfd/topology/nodes/{node}"
        self.put(f"{base}/gpu_id", "0\n")
        self.put(f"{base}/name", "\n")
        self.put(f"{base}/properties", CPU_NODE.format(cores=cores))
        self.put(f"{base}/mem_banks/0/properties", BANK.format(heap=0, size=67000000000))

    def pci(self, address, device, driver="amdgpu", cls="0x030000", vendor="0x1002"):
        base = f"sys/bus/pci/devices/{address}"
        self.put(f"{base}/vendor", vendor + "\n")
        self.put(f"{base}/device", f"0x{device:04x}\n")
        self.put(f"{base}/class", cls + "\n")
        self.put(f"{base}/uevent", (f"DRIVER={driver}\n" if driver else "")
                 + f"PCI_CLASS=30000\nPCI_ID={vendor[2:]}:{device:04X}\nPCI_SLOT_NAME={address}\n")
        if driver:
            self.links[f"{base}/driver"] = f"../../../../bus/pci/drivers/{driver}"

    def gpu(self, node, version, device, bus, minor, simds, vram, wave=32, per_cu=2, xcc=1,
            heap=1, name="ip discovery", cls="0x030000", render=True, firmware="gfx11", gtt=0,
            vbios=None, flags=1):
        base = f"sys/class/kfd/kfd/topology/nodes/{node}"
        self.put(f"{base}/gpu_id", f"{10000 + node * 1111}\n")
        self.put(f"{base}/name", name + "\n")
        self.put(f"{base}/properties", GPU_NODE.format(
            simds=simds, wave=wave, per_cu=per_cu, version=version, device=device,
            location=bus << 8, domain=0, minor=minor, hive=0, unique=5752170827923136638 + node,
            xcc=xcc))
        self.put(f"{base}/mem_banks/0/properties", BANK.format(heap=heap, size=vram))
        self.put(f"{base}/io_links/0/properties", IO_LINK.format(type=2, here=node, there=0, flags=flags))
        address = f"0000:{bus:02x}:00.0"
        self.pci(address, device, cls=cls)
        drm = f"sys/class/drm/renderD{minor}/device"
        for file, text in (("vendor", "0x1002\n"), ("device", f"0x{device:04x}\n"),
                           ("class", cls + "\n"), ("mem_info_vram_total", f"{vram}\n"),
                           ("unique_id", "4fd3d0e445b9207e\n"),
                           ("mem_info_gtt_total", f"{gtt}\n" if gtt else None),
                           ("vbios_version", f"{vbios}\n" if vbios else None),
                           *((f"fw_version/{k}_fw_version", f"{v}\n") for k, v in FIRMWARE[firmware].items()),
                           ("uevent", f"DRIVER=amdgpu\nPCI_SLOT_NAME={address}\n")):
            if text:
                self.put(f"{drm}/{file}", text)
        if render:
            self.node(f"dev/dri/renderD{minor}", 0o660, 0, 992)

    def node(self, path, mode, uid, gid):
        self.put(path, "")
        self.nodes.append(f"{path} {mode:04o} {uid} {gid}\n")

    def kfd(self):
        self.node("dev/kfd", 0o660, 0, 992)

    def rocm(self, version, build):
        self.put(f"opt/rocm-{version}/.info/version", f"{version}-{build}\n")
        self.put(f"opt/rocm-{version}/bin/hipcc", "#!/bin/sh\n")
        self.links["opt/rocm"] = "/etc/alternatives/rocm"
        self.links["etc/alternatives/rocm"] = f"/opt/rocm-{version}"

    def components(self, version, hip, clang, **libraries):
        tree = f"opt/rocm-{version}"
        self.put(f"{tree}/include/hip/hip_version.h", "// Auto-generated by cmake\n\n" + "".join(
            f"#define HIP_VERSION_{k} {v}\n" for k, v in zip(("MAJOR", "MINOR", "PATCH"), hip)))
        self.put(f"{tree}/lib/llvm/lib/clang/{clang}/include/stddef.h", "")
        for name, full in libraries.items():
            name = name.replace("_runtime", "-runtime") + ".so"
            self.put(f"{tree}/lib/{name}.{full}", "")
            self.links[f"{tree}/lib/{name}.{full.split('.')[0]}"] = f"{name}.{full}"
            self.links[f"{tree}/lib/{name}"] = f"{name}.{full.split('.')[0]}"

    def write(self):
        shutil.rmtree(f"{self.name}/root", ignore_errors=True)
        for path, text in self.files.items():
            full = f"{self.name}/root/{path}"
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="ascii") as f:
                f.write(text)
        for path, target in self.links.items():
            full = f"{self.name}/root/{path}"
            os.makedirs(os.path.dirname(full), exist_ok=True)
            os.symlink(target, full)
        with open(f"{self.name}/nodes.txt", "w", encoding="ascii") as f:
            f.write("".join(self.nodes))


def desktop(name, distro="ubuntu", kernel="6.17.0-8-generic", **more):
    m = Machine(name).system(distro, kernel, "AMD Ryzen 9 7950X 16-Core Processor", 32, 64, **more)
    m.user().driver()
    m.cpu_node(0, 32)
    m.kfd()
    return m


# What PYTORCH_ROCM_ARCH was for the wheels of torch 2.7 to 2.9 (ROCm 6.x)
ARCHS_29 = "gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201"
LT_29 = "gfx90a gfx942 gfx1100 gfx1101 gfx1200 gfx1201"
ROCM_LIBS = ("libamdhip64.so", "librocblas.so", "libhipblaslt.so", "libMIOpen.so", "librccl.so")


def library(needed=(), targets="", runpath="$ORIGIN", bundles=5):
    """The text that stands for a library: see README.md."""
    return "rocsmith-library 1\n" + "".join(f"needed {name}\n" for name in needed) + f"runpath {runpath}\n" + (
        f"targets {targets}\nbundles {bundles}\n" if targets else "")


def dist(m, site, name, version, *requires):
    m.put(f"{site}/{name.replace('-', '_')}-{version}.dist-info/METADATA",
          f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\nAuthor: Alice Liddell\n"
          + "".join(f"Requires-Dist: {line}\n" for line in requires) + "\nTensors, alice.\n")


def sides(m, lib, rocblas="", hipblaslt="", miopen=""):
    """Files that are chosen by GPU, beside the libraries in lib."""
    for gpu in rocblas.split():
        m.put(f"{lib}/rocblas/library/TensileLibrary_lazy_{gpu}.dat", "")
    for gpu in hipblaslt.split():
        m.put(f"{lib}/hipblaslt/library/TensileLibrary_lazy_{gpu}.dat", "")
    for gpu in miopen.split():
        m.put(f"{os.path.dirname(lib)}/share/miopen/db/{gpu}.HIP.fdb.txt", "")


def torch(m, site, version, hip=None, cuda=None, requires=(), libraries=None):
    """libraries: name to text, in torch/lib."""
    dist(m, site, "torch", version, "filelock", 'optree>=0.13.0; extra == "optree"', *requires)
    value = {key: f"'{text}'" if text else "None" for key, text in (("hip", hip), ("cuda", cuda))}
    m.put(f"{site}/torch/version.py", "from typing import Optional\n\n"
          "__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip', 'xpu']\n"
          f"__version__ = '{version}'\ndebug = False\ncuda: Optional[str] = {value['cuda']}\n"
          f"git_version = 'c0ffee004711'\nhip: Optional[str] = {value['hip']}\nxpu: Optional[str] = None\n")
    for name, text in ({"libtorch_cpu.so": library()} | (libraries or {})).items():
        m.put(f"{site}/torch/lib/{name}", text)


def rocm_torch(m, site, version, hip, archs, rocblas=None, hipblaslt="", requires=()):
    """A wheel as PyTorch's own index has it: ROCm lies in it, with side files of the same GPUs."""
    torch(m, site, version, hip=hip, requires=requires, libraries={
        "libtorch_hip.so": library((*ROCM_LIBS, "libtorch_cpu.so", "libc.so.6"), archs), **dict.fromkeys(ROCM_LIBS, "")})
    sides(m, f"{site}/torch/lib", archs if rocblas is None else rocblas, hipblaslt, "gfx90a68 gfx942130 gfx1030_36")


def venv(m, prefix, python="3.12", active=False, system=False):
    """Its folder of packages. active: the shell that doctor ran in has it on PATH."""
    m.put(f"{prefix}/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = "
          f"{str(system).lower()}\nversion = {python}.3\ncommand = /usr/bin/python3 -m venv /home/user/alice\n")
    if active:
        m.environ(VIRTUAL_ENV=f"/{prefix}", PATH=f"/{prefix}/bin:/usr/local/bin:/usr/bin:/bin")
    return f"{prefix}/lib/python{python}/site-packages"


def main():
    m = desktop("rdna2-desktop", distro="debian", kernel="6.12.48+deb13-amd64")
    m.gpu(1, 100300, 0x73bf, 0x0b, 128, 144, 17163091968, name="sienna_cichlid", firmware="gfx10",
          gtt=33285996544, vbios="113-D4120100-100")
    m.pcie("0000:0b:00.0", ("16.0 GT/s PCIe", 16))
    m.disks(931, 412).iommu("0000:0b:00.0")
    site = venv(m, "home/user/venv", "3.13", active=True)
    rocm_torch(m, site, "2.9.1+rocm6.4", "6.4.43484-123eb5128", ARCHS_29, hipblaslt=LT_29, requires=(
        'pytorch-triton-rocm==3.5.1; platform_system == "Linux" and platform_machine == "x86_64"',))
    dist(m, site, "pytorch-triton-rocm", "3.5.1")
    dist(m, site, "torchvision", "0.24.1+rocm6.4", "numpy", "torch==2.9.1")
    dist(m, site, "torchaudio", "2.9.1+rocm6.4", "torch==2.9.1")
    dist(m, site, "numpy", "2.3.4")
    m.write()

    # a card in a slot of eight lanes: what is inside of it runs at sixteen
    m = desktop("rdna3-igpu")
    m.gpu(1, 110000, 0x744c, 0x03, 128, 192, 25753026560, gtt=33285996544, vbios="113-D70201-00")
    m.gpu(2, 100306, 0x164e, 0x7a, 129, 4, 33285996544, firmware="gfx10", gtt=33285996544)
    m.pcie("0000:03:00.0", ("16.0 GT/s PCIe", 8), ("16.0 GT/s PCIe", 16),
           own=("0000:00:01.1", "0000:01:00.0", "0000:02:00.0"))
    m.put("sys/devices/pci0000:00/0000:00:01.1/max_link_width", "8\n")
    m.pcie("0000:7a:00.0", ("16.0 GT/s PCIe", 16))
    m.iommu("0000:03:00.0", "0000:7a:00.0").disks(1863, 1200)
    m.rocm("7.1.0", 84)
    # `pip install` of something that asked for torch took the processor's one
    torch(m, venv(m, "home/user/ComfyUI/.venv", active=True), "2.9.1+cpu")
    m.write()

    m = desktop("rdna4", distro="fedora", kernel="6.17.8-300.fc43.x86_64")
    m.gpu(1, 120001, 0x7550, 0x03, 128, 128, 17095983104, gtt=33285996544, vbios="113-APM7197-101")
    # asleep: asking it for its link would wake it
    m.put("sys/bus/pci/devices/0000:03:00.0/power/runtime_status", "suspended\n")
    m.pcie("0000:03:00.0", ("Unknown", 63), ("32.0 GT/s PCIe", 16))
    m.disks(953, 31)
    # `pip install torch` without an index: CUDA's, and torchvision is left of a ROCm one
    site = venv(m, "home/user/venv", "3.14")
    torch(m, site, "2.9.1", cuda="12.8", libraries={"libtorch_cuda.so": library(("libcudart.so.12",))}, requires=(
        'nvidia-cublas-cu12==12.8.4.1; platform_system == "Linux" and platform_machine == "x86_64"',
        'triton==3.5.1; platform_system == "Linux"'))
    dist(m, site, "nvidia-cublas-cu12", "12.8.4.1")
    dist(m, site, "triton", "3.5.1")
    dist(m, site, "torchvision", "0.23.0+rocm6.4", "torch==2.8.0")
    m.write()

    m = Machine("strix-halo").system("fedora", "6.18.4-200.fc43.x86_64",
                                     "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 32, 128,
                                     cmdline="amd_iommu=off ttm.pages_limit=31457280")
    m.user().driver()
    m.put("sys/module/ttm/parameters/pages_limit", "31457280\n")
    m.put("sys/module/amdgpu/parameters/gttsize", "-1\n")
    m.cpu_node(0, 32)
    m.kfd()
    m.gpu(1, 110501, 0x1586, 0xc5, 128, 80, 128849018880, gtt=128849018880, vbios="113-STRXLGEN-001")
    m.disks(1863, 700)
    # of an earlier Python of the system; the active one takes its ROCm from wheels
    rocm_torch(m, "home/user/.local/lib/python3.13/site-packages", "2.6.0+rocm6.2.4", "6.2.41134-65d174c3e",
               "gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100")
    site = venv(m, "home/user/therock", "3.12", active=True)
    torch(m, site, "2.12.0+rocm7.13.0", hip="7.13.60910", requires=("rocm[libraries]==7.13.0", "triton==3.7.0+rocm7.13.0"),
          libraries={"libtorch_hip.so": library(("libamdhip64.so.7", "librocblas.so.5", "libhipblaslt.so.1",
              "libMIOpen.so.1", "librccl.so.1"), "gfx1151", bundles=0)})
    for name in ("rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-device-gfx1151", "amd-torch-device-gfx1151"):
        dist(m, site, name, "2.12.0+rocm7.13.0" if "torch" in name else "7.13.0")
    dist(m, site, "triton", "3.7.0+rocm7.13.0")
    m.put(f"{site}/torch/_rocm_init.py", "def initialize():\n    import rocm_sdk\n")  # AMD's wheels have it
    m.put(f"{site}/_rocm_sdk_core/lib/libamdhip64.so.7", "")
    for name in ("librocblas.so.5", "libhipblaslt.so.1", "libMIOpen.so.1"): # librccl is not among them
        m.put(f"{site}/_rocm_sdk_libraries/lib/{name}", "")
    sides(m, f"{site}/_rocm_sdk_libraries/lib", "gfx1151", "gfx1151")
    m.write()

    m = Machine("mi300x-8").system("ubuntu", "6.8.0-86-generic", "AMD EPYC 9654 96-Core Processor",
                                   384, 2304, cmdline="iommu=pt pci=realloc=off")
    m.user().driver("6.14.14")
    m.environ(ROCM_PATH="/opt/rocm", LD_LIBRARY_PATH="/opt/rocm/lib:/home/user/lib")
    m.cpu_node(0, 192)
    m.cpu_node(1, 192)
    m.kfd()
    buses = (0x05, 0x26, 0x46, 0x65, 0x85, 0xa6, 0xc6, 0xe5)
    for i, bus in enumerate(buses):
        m.gpu(2 + i, 90402, 0x74a1, bus, 128 + 8 * i, 1216, 206141652992, wave=64, per_cu=4, xcc=8,
              cls="0x120000", firmware="gfx9", gtt=1187205935104, vbios="113-M3000100-102")
        m.put(f"sys/class/kfd/kfd/topology/nodes/{2 + i}/io_links/1/properties", IO_LINK.format(
            type=11, here=2 + i, there=2 + (i + 1) % 8, flags=13)) # to a GPU: tells nothing of atomics over PCIe
        m.pcie(f"0000:{bus:02x}:00.0", ("32.0 GT/s PCIe", 16))
    m.iommu(*(f"0000:{bus:02x}:00.0" for bus in buses), kind="identity").disks(3576, 2900)
    m.rocm("7.0.2", 56)
    m.components("7.0.2", hip=(7, 0, 51831), clang=20, libMIOpen="1.0.70002", libamd_comgr="3.0.70002",
                 libamdhip64="7.0.70002", libhipblaslt="1.0.70002", libhsa_runtime64="1.18.70002",
                 librccl="1.0.70002", librocblas="5.0.70002")
    m.write()

    m = Machine("mi210").system("ubuntu", "5.15.0-161-generic", "AMD EPYC 7763 64-Core Processor",
                                128, 512)
    m.user().driver("6.10.5")
    m.cpu_node(0, 128)
    m.kfd()
    m.gpu(1, 90010, 0x740f, 0x29, 128, 416, 68702699520, wave=64, per_cu=4, heap=1,
          name="aldebaran", cls="0x038000", firmware="gfx9", gtt=270127837184, vbios="113-D67301-059")
    m.pcie("0000:29:00.0", ("16.0 GT/s PCIe", 16))
    m.rocm("6.4.3", 127)
    m.components("6.4.3", hip=(6, 4, 43484), clang=19, libamdhip64="6.4.60403", librocblas="4.4.60403")
    m.put("opt/rocm-6.4.3/rocsmith-slim.json", '{\n  "schema": "rocsmith.slim/1",\n  "path": "rocm",\n'
          '  "gpus": [\n    "gfx90a"\n  ],\n  "unfinished": false,\n  "targets": [\n    {\n      "target": "gfx900"\n'
          '    }\n  ],\n  "files": []\n}\n')
    m.write()

    m = Machine("no-driver").system("ubuntu", "6.8.0-86-generic", "AMD Ryzen 7 5800X", 16, 32).user()
    m.pci("0000:0b:00.0", 0x744c, driver=None)
    m.pci("0000:0b:00.1", 0xab30, driver="snd_hda_intel", cls="0x040300")
    m.put("etc/modprobe.d/blacklist-gpu.conf", "# as the old guide says\nblacklist nouveau\nblacklist amdgpu\n")
    m.write()

    m = desktop("no-permission")
    m.user(groups="4 27 1000", members="bob")
    m.gpu(1, 110000, 0x744c, 0x03, 128, 192, 25753026560, gtt=33285996544)
    m.pcie("0000:03:00.0", ("16.0 GT/s PCIe", 16))
    m.write()

    m = Machine("container").system("debian", "6.8.0-86-generic", "AMD EPYC 7763 64-Core Processor",
                                    128, 512)
    m.user(uid=0, gid=0, groups="0", seccomp=2).driver("6.10.5")
    m.put(".dockerenv", "")
    m.cpu_node(0, 128)
    m.gpu(1, 90010, 0x740f, 0x29, 128, 416, 68702699520, wave=64, per_cu=4, name="aldebaran",
          cls="0x038000", render=False, firmware="gfx9")
    m.write()

    m = Machine("wsl2").system("ubuntu", "6.6.87.2-microsoft-standard-WSL2",
                               "AMD Ryzen 9 7950X 16-Core Processor", 32, 32, flags=" hypervisor")
    m.user()
    m.node("dev/dxg", 0o666, 0, 0)
    m.write()

    m = Machine("intel-only").system("fedora", "6.17.8-300.fc43.x86_64",
                                     "13th Gen Intel(R) Core(TM) i7-1360P", 16, 32,
                                     vendor="GenuineIntel").user()
    m.pci("0000:00:02.0", 0xa7a0, driver="i915", vendor="0x8086")
    m.node("dev/dri/renderD128", 0o660, 0, 992)
    m.write()

    m = Machine("vfio").system("debian", "6.12.48+deb13-amd64", "AMD Ryzen 9 7950X", 32, 64).user()
    m.pci("0000:03:00.0", 0x744c, driver="vfio-pci")
    m.pci("0000:7a:00.0", 0x164e, driver="vfio-pci")
    m.write()


# What PYTORCH_ROCM_ARCH was for the wheels of torch 2.10 (ROCm 7.x)
ARCHS_210 = ARCHS_29 + " gfx950 gfx1150 gfx1151"


def more():
    """Machines on which something is wrong, and accelerators that the others have not."""
    m = desktop("rdna1", kernel="6.8.0-86-generic")
    m.gpu(1, 100100, 0x731f, 0x0b, 128, 80, 8573157376, firmware="gfx10", gtt=33285996544, vbios="113-D1820201-101")
    m.pcie("0000:0b:00.0", ("16.0 GT/s PCIe", 16))
    rocm_torch(m, venv(m, "home/user/venv", active=True), "2.9.1+rocm6.4", "6.4.43484-123eb5128", ARCHS_29, hipblaslt=LT_29)
    m.write()

    m = Machine("mi100-2").system("ubuntu", "5.15.0-161-generic", "AMD EPYC 7402 24-Core Processor", 48, 256)
    m.user().driver("6.8.5")
    m.cpu_node(0, 48)
    m.kfd()
    for i, bus in enumerate((0x03, 0x2f)):
        m.gpu(1 + i, 90008, 0x738c, bus, 128 + i, 480, 34342961152, wave=64, per_cu=4, name="arcturus", cls="0x038000",
              firmware="gfx9", gtt=135056273408, vbios="113-D3431401-100")
        m.pcie(f"0000:{bus:02x}:00.0", ("16.0 GT/s PCIe", 16))
    m.iommu("0000:03:00.0", "0000:2f:00.0").disks(1788, 900)
    m.rocm("7.1.1", 38)
    m.write()

    m = Machine("mi350").system("ubuntu", "6.8.0-86-generic", "AMD EPYC 9575F 64-Core Processor", 128, 1536)
    m.user().driver("6.14.14")
    m.cpu_node(0, 128)
    m.kfd()
    m.gpu(1, 90500, 0x75a0, 0x05, 128, 1024, 309220868096, wave=64, per_cu=4, xcc=8, cls="0x120000", firmware="gfx9",
          gtt=791470623744, vbios="113-M3500100-102")
    m.pcie("0000:05:00.0", ("32.0 GT/s PCIe", 16))
    m.iommu("0000:05:00.0", kind="identity").disks(3576, 2900)
    m.rocm("7.0.2", 56)
    rocm_torch(m, venv(m, "opt/venv", active=True), "2.10.0+rocm7.0", "7.0.51831-7c9236b16", ARCHS_210,
               hipblaslt=LT_29 + " gfx950")
    m.write()

    m = Machine("strix-halo-old").system("fedora", "6.17.9-300.fc43.x86_64",
                                         "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 32, 128, cmdline="amdgpu.gttsize=110000")
    m.user().driver()
    m.cpu_node(0, 32)
    m.kfd()
    m.gpu(1, 110501, 0x1586, 0xc5, 128, 80, 67108864000, gtt=67108864000, vbios="113-STRXLGEN-001", firmware="bad")
    m.environ(HSA_OVERRIDE_GFX_VERSION="11.0.0")
    m.write()

    m = Machine("phoenix-780m").system("ubuntu", "6.8.0-86-generic", "AMD Ryzen 7 7840U w/ Radeon 780M Graphics", 16, 32)
    m.user().driver()
    m.cpu_node(0, 16)
    m.kfd()
    m.gpu(1, 110003, 0x15bf, 0xc1, 128, 24, 536870912, gtt=16106127360)
    rocm_torch(m, venv(m, "home/user/venv"), "2.9.1+rocm6.4", "6.4.43484-123eb5128", ARCHS_29, hipblaslt=LT_29)
    m.environ(HSA_OVERRIDE_GFX_VERSION="11.0.0", VIRTUAL_ENV="/home/user/venv", PATH="/home/user/venv/bin:/usr/bin:/bin")
    m.write()

    m = desktop("override-left", distro="debian", kernel="6.12.48+deb13-amd64")
    m.gpu(1, 100300, 0x73bf, 0x0b, 128, 144, 17163091968, name="sienna_cichlid", firmware="gfx10", gtt=33285996544)
    rocm_torch(m, venv(m, "home/user/venv"), "2.9.1+rocm6.4", "6.4.43484-123eb5128", ARCHS_29, hipblaslt=LT_29)
    m.environ(HSA_OVERRIDE_GFX_VERSION="10.3.0", AMD_SERIALIZE_KERNEL="3", HSA_ENABLE_SDMA="0",
              PATH="/home/user/venv/bin:/usr/bin:/bin")
    m.write()

    # a card in a slot of the chipset, its torch slimmed for the card before it; a container left one file system small
    m = desktop("new-card")
    m.gpu(1, 120001, 0x7550, 0x0b, 128, 128, 17095983104, gtt=33285996544, flags=13)
    m.pcie("0000:0b:00.0", ("16.0 GT/s PCIe", 4), ("16.0 GT/s PCIe", 16))
    m.disks(63, 5)
    site = venv(m, "home/user/venv", active=True)
    rocm_torch(m, site, "2.9.1+rocm6.4", "6.4.43484-123eb5128", "gfx1030")
    m.put(f"{site}/torch/rocsmith-slim.json", '{\n  "schema": "rocsmith.slim/1",\n  "path": "torch",\n  "gpus": [\n'
          '    "gfx1030"\n  ],\n  "unfinished": false,\n  "targets": [],\n  "files": []\n}\n')
    m.write()

    m = desktop("mixed-rocm", kernel="6.14.0-37-generic")
    m.gpu(1, 110000, 0x744c, 0x03, 128, 192, 25753026560, gtt=33285996544)
    m.rocm("6.2.0", 66)
    site = venv(m, "home/user/venv")
    rocm_torch(m, site, "2.9.1+rocm6.4", "6.4.43484-123eb5128", ARCHS_29, hipblaslt=LT_29, requires=("triton==3.5.1",))
    dist(m, site, "triton", "3.2.0")
    dist(m, site, "pytorch-triton-rocm", "3.5.1")
    dist(m, site, "torchvision", "0.21.0+rocm6.2.4", "torch==2.6.0")
    dist(m, site, "xformers", "0.0.29", "torch==2.6.0")
    m.environ(LD_LIBRARY_PATH="/opt/rocm-6.2.0/lib", PATH="/home/user/venv/bin:/usr/bin:/bin")
    m.write()

    m = Machine("wsl2-torch").system("ubuntu", "6.6.87.2-microsoft-standard-WSL2",
                                     "AMD Ryzen 9 7950X 16-Core Processor", 32, 32, flags=" hypervisor")
    m.user()
    m.node("dev/dxg", 0o666, 0, 0)
    site = venv(m, "home/user/venv", active=True)
    rocm_torch(m, site, "2.9.1+rocm6.4", "6.4.43484-123eb5128", ARCHS_29, hipblaslt=LT_29)
    m.put(f"{site}/torch/lib/libhsa-runtime64.so", "")
    m.write()


if __name__ == "__main__":
    main()
    more()
