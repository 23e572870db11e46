#!/usr/bin/env python3
"""Builds the machines of held-out.yaml below a folder, asks `rocsmith doctor` and `env` of each, and prints the table.

    tests/machines/held_out.py build/rocsmith [--show] [--round N] [NAME...]

Nothing of construct.py is used, so that its view of the kernel is not believed twice. The values are those that the reporters
pasted; what they did not paste has the form that the kernel gives it (amdkfd/kfd_topology.c, amdgpu sysfs, pci-sysfs, proc(5))
and the value that this hardware has. Needs root for owners of nodes; doctor itself runs as nobody, so that a file may be
unreadable as a container's device rules make it. Exits 1 when a machine is judged otherwise than held-out.yaml has it.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
GIB = 1 << 30
# target version, device, SIMDs, SIMDs of a CU, waves, wave size, memory in MiB, name in KFD, bridges inside of the card, class
ASIC = {
    "wx7100": (80003, 0x67c4, 144, 4, 10, 64, 8192, "polaris10", 0, 0x030000),
    "rx580": (80003, 0x67df, 144, 4, 10, 64, 8192, "polaris10", 0, 0x030000),
    "rx570": (80003, 0x67df, 128, 4, 10, 64, 8192, "polaris10", 0, 0x030000),
    "wx3200": (80003, 0x6981, 40, 4, 10, 64, 4096, "polaris12", 0, 0x038000),
    "560x": (80003, 0x67ef, 64, 4, 10, 64, 4096, "polaris11", 0, 0x030000),
    "r7370": (0, 0x6811, 64, 4, 10, 64, 2048, "pitcairn", 0, 0x030000),
    "hd8790m": (0, 0x6606, 24, 4, 10, 64, 2048, "oland", 0, 0x030000),
    "vega56": (90000, 0x687f, 224, 4, 10, 64, 8176, "vega10", 2, 0x030000),
    "vega64": (90000, 0x687f, 256, 4, 10, 64, 8176, "vega10", 2, 0x030000),
    "wx9100": (90000, 0x6861, 256, 4, 10, 64, 16368, "vega10", 2, 0x030000),
    "vega8": (90002, 0x15dd, 32, 4, 10, 64, 1024, "raven", 0, 0x030000),
    "vii": (90006, 0x66af, 240, 4, 10, 64, 16368, "vega20", 2, 0x030000),
    "mi50": (90006, 0x66a1, 240, 4, 10, 64, 32752, "vega20", 2, 0x038000),
    "mi60": (90006, 0x66a1, 256, 4, 10, 64, 32752, "vega20", 2, 0x038000),
    "mi100": (90008, 0x738c, 480, 4, 10, 64, 32752, "arcturus", 2, 0x038000),
    "mi210": (90010, 0x740f, 416, 4, 8, 64, 65520, "aldebaran", 0, 0x038000),
    "mi250": (90010, 0x740c, 416, 4, 8, 64, 65520, "aldebaran", 0, 0x038000),
    "mi250x": (90010, 0x7408, 440, 4, 8, 64, 65520, "aldebaran", 0, 0x038000),
    "cezanne": (90012, 0x1638, 32, 4, 10, 64, 512, "renoir", 0, 0x030000),
    "barcelo": (90012, 0x15e7, 32, 4, 10, 64, 512, "renoir", 0, 0x030000),
    "mi300x": (90402, 0x74a1, 1216, 4, 8, 64, 196592, "ip discovery", 0, 0x120000),
    "mi300a": (90402, 0x74a0, 912, 4, 8, 64, 127706, "ip discovery", 0, 0x120000),
    "mi325x": (90402, 0x74a5, 1216, 4, 8, 64, 262128, "ip discovery", 0, 0x120000),
    "mi350x": (90500, 0x75a0, 1024, 4, 8, 64, 294896, "ip discovery", 0, 0x120000),
    "mi355x": (90500, 0x75a3, 1024, 4, 8, 64, 294896, "ip discovery", 0, 0x120000),
    "5700xt": (100100, 0x731f, 80, 2, 20, 32, 8176, "navi10", 2, 0x030000),
    "6900xt": (100300, 0x73bf, 160, 2, 16, 32, 16368, "sienna_cichlid", 2, 0x030000),
    "6800xt": (100300, 0x73bf, 144, 2, 16, 32, 16368, "sienna_cichlid", 2, 0x030000),
    "6950xt": (100300, 0x73a5, 160, 2, 16, 32, 16368, "sienna_cichlid", 2, 0x030000),
    "6700xt": (100301, 0x73df, 80, 2, 16, 32, 12272, "navy_flounder", 2, 0x030000),
    "6600xt": (100302, 0x73ff, 64, 2, 16, 32, 8176, "dimgrey_cavefish", 2, 0x030000),
    "6600m": (100302, 0x73ff, 56, 2, 16, 32, 8176, "dimgrey_cavefish", 2, 0x030000),
    "deck": (100303, 0x163f, 16, 2, 16, 32, 1024, "vangogh", 0, 0x030000),
    "raphael": (100306, 0x164e, 4, 2, 16, 32, 512, "ip discovery", 0, 0x030000),
    "granite": (100306, 0x13c0, 4, 2, 16, 32, 512, "ip discovery", 0, 0x030000),
    "7900xtx": (110000, 0x744c, 192, 2, 16, 32, 24560, "ip discovery", 2, 0x030000),
    "w7900": (110000, 0x7448, 192, 2, 16, 32, 49136, "ip discovery", 2, 0x030000),
    "7900xt": (110000, 0x744c, 168, 2, 16, 32, 20464, "ip discovery", 2, 0x030000),
    "7900gre": (110000, 0x744c, 160, 2, 16, 32, 16368, "ip discovery", 2, 0x030000),
    "7800xt": (110001, 0x747e, 120, 2, 16, 32, 16368, "ip discovery", 2, 0x030000),
    "7600": (110002, 0x7480, 64, 2, 16, 32, 8176, "ip discovery", 2, 0x030000),
    "7600xt": (110002, 0x7480, 64, 2, 16, 32, 16368, "ip discovery", 2, 0x030000),
    "780m": (110003, 0x15bf, 24, 2, 16, 32, 512, "ip discovery", 0, 0x030000),
    "890m": (110500, 0x150e, 32, 2, 16, 32, 4096, "ip discovery", 0, 0x038000),
    "8060s": (110501, 0x1586, 80, 2, 16, 32, 512, "ip discovery", 0, 0x030000),
    "840m": (110502, 0x1114, 8, 2, 16, 32, 512, "ip discovery", 0, 0x030000),
    "9060xt": (120000, 0x7590, 64, 2, 16, 32, 16304, "ip discovery", 2, 0x030000),
    "r9700": (120001, 0x7551, 128, 2, 16, 32, 32624, "ip discovery", 2, 0x030000),
    "9070xt": (120001, 0x7550, 128, 2, 16, 32, 16304, "ip discovery", 2, 0x030000),
}
APUS = {"vega8", "780m", "cezanne", "barcelo", "deck", "raphael", "granite", "890m", "8060s", "840m"}
NODE = """cpu_cores_count {cores}
simd_count {simds}
mem_banks_count 1
caches_count {caches}
io_links_count {links}
p2p_links_count 0
cpu_core_id_base 0
simd_id_base {base}
max_waves_per_simd {waves}
lds_size_in_kb {lds}
gds_size_in_kb 0
num_gws {gws}
wave_front_size {wave}
array_count {arrays}
simd_arrays_per_engine {engines}
cu_per_simd_array {cus}
simd_per_cu {per_cu}
max_slots_scratch_cu {slots}
gfx_target_version {version}
vendor_id {vendor}
device_id {device}
location_id {location}
domain {domain}
drm_render_minor {minor}
hive_id {hive}
num_sdma_engines {sdma}
num_sdma_xgmi_engines 0
num_sdma_queues_per_engine {queues}
num_cp_queues {cp}
"""
# what more a GPU's node has, from `if (dev->gpu)` on
GPU_TAIL = """max_engine_clk_fcompute 2430
local_mem_size 0
fw_version {fw}
capability 671588992
{capability2}debug_prop 1495
sdma_fw_version 24
unique_id {unique}
num_xcc {xcc}
"""
ARCH = {  # PYTORCH_ROCM_ARCH of wheels, and what their libraries have files for
    "5.2": "gfx900 gfx906 gfx908 gfx90a gfx1030",
    "5.1": "gfx803 gfx900 gfx906 gfx908 gfx90a gfx1030",
    "6.1": "gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100",
    "6.3n": "gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102",
    "6.4": "gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201",
    "7.2": "gfx900 gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1101 gfx1102 gfx1150 gfx1151 gfx1200 gfx1201",
    "amd6.4": "gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1150 gfx1151 gfx1200 gfx1201",
    "6.0": "gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100",
    "6.2.4": "gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101",
    "image": "gfx90a gfx942 gfx950 gfx1100 gfx1101 gfx1200 gfx1201",
}
MIOPEN = "gfx900_56 gfx900_64 gfx906_60 gfx906_64 gfx90878 gfx90a68 gfx90a6e gfx942130 gfx1030_36"
LT = {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1101", "gfx1200", "gfx1201"}
# what AMD's packages of rocBLAS had before ROCm 6.4
TREE = "gfx900 gfx906 gfx908 gfx90a gfx942 gfx1010 gfx1012 gfx1030 gfx1100 gfx1101 gfx1102"
LIBS = ("libamdhip64", "libhsa-runtime64", "librocblas", "libhipblaslt", "libMIOpen", "librccl", "libhipblas", "librocsolver")
SONAME = {"5": {"libamdhip64": "5", "librocblas": "3", "libhipblaslt": "0", "libMIOpen": "1", "librccl": "1",
                "libhipblas": "0", "librocsolver": "0", "libhsa-runtime64": "1"},
          "6": {"libamdhip64": "6", "librocblas": "4", "libhipblaslt": "0", "libMIOpen": "1", "librccl": "1",
                "libhipblas": "2", "librocsolver": "0", "libhsa-runtime64": "1"},
          "7": {"libamdhip64": "7", "librocblas": "5", "libhipblaslt": "1", "libMIOpen": "1", "librccl": "1",
                "libhipblas": "3", "librocsolver": "0", "libhsa-runtime64": "1"}}


def os_release(ident, name, version, pretty, like=""):
    return f'PRETTY_NAME="{pretty}"\nNAME="{name}"\nVERSION_ID="{version}"\nID={ident}\n' + (
        f'ID_LIKE="{like}"\n' if like else "") + 'HOME_URL="https://example.org/"\n'


OS = {
    "arch": 'NAME="Arch Linux"\nPRETTY_NAME="Arch Linux"\nID=arch\nBUILD_ID=rolling\nANSI_COLOR="38;2;23;147;209"\n',
    "fedora40": 'NAME="Fedora Linux"\nVERSION="40 (Workstation Edition)"\nID=fedora\nVERSION_ID=40\n'
                'PRETTY_NAME="Fedora Linux 40 (Workstation Edition)"\n',
    "gentoo": "NAME=Gentoo\nID=gentoo\nPRETTY_NAME=\"Gentoo Linux\"\nVERSION_ID=\"2.17\"\n",
    "ubuntu20": os_release("ubuntu", "Ubuntu", "20.04", "Ubuntu 20.04.6 LTS", "debian"),
    "ubuntu18": os_release("ubuntu", "Ubuntu", "18.04", "Ubuntu 18.04.6 LTS", "debian"),
    "ubuntu22": os_release("ubuntu", "Ubuntu", "22.04", "Ubuntu 22.04.5 LTS", "debian"),
    "ubuntu24": os_release("ubuntu", "Ubuntu", "24.04", "Ubuntu 24.04.3 LTS", "debian"),
    "ubuntu26": os_release("ubuntu", "Ubuntu", "26.04", "Ubuntu 26.04 LTS", "debian"),
    "ubuntu20.2": os_release("ubuntu", "Ubuntu", "20.04", "Ubuntu 20.04.2 LTS", "debian"),
    "ubuntu22.10": os_release("ubuntu", "Ubuntu", "22.10", "Ubuntu 22.10", "debian"),
    "ubuntu20.3": os_release("ubuntu", "Ubuntu", "20.04", "Ubuntu 20.04.3 LTS", "debian"),
    "mint21": os_release("linuxmint", "Linux Mint", "21.1", "Linux Mint 21.1", "ubuntu debian"),
    "mint21.2": os_release("linuxmint", "Linux Mint", "21.2", "Linux Mint 21.2", "ubuntu debian"),
    "mint22": os_release("linuxmint", "Linux Mint", "22.1", "Linux Mint 22.1", "ubuntu debian"),
    "steamos": 'NAME="SteamOS"\nPRETTY_NAME="SteamOS"\nVERSION_CODENAME=holo\nID=steamos\nID_LIKE=arch\n'
               'VARIANT_ID=steamdeck\nVERSION_ID=3.5.19\nBUILD_ID=20240422.1\n',
    "debian12": os_release("debian", "Debian GNU/Linux", "12", "Debian GNU/Linux 12 (bookworm)"),
    "debian13": os_release("debian", "Debian GNU/Linux", "13", "Debian GNU/Linux 13 (trixie)"),
    "debiantest": 'PRETTY_NAME="Debian GNU/Linux forky/sid"\nNAME="Debian GNU/Linux"\nVERSION_CODENAME=forky\nID=debian\n',
    "nixos": 'ANSI_COLOR="0;38;2;126;186;228"\nBUILD_ID="26.05.652.e8e446a36117"\nDEFAULT_HOSTNAME=nixos\nID=nixos\nID_LIKE=""\n'
             'NAME=NixOS\nPRETTY_NAME="NixOS 26.05 (Yarara)"\nVERSION="26.05 (Yarara)"\nVERSION_ID="26.05"\n',
    "nixos25": 'ANSI_COLOR="0;38;2;126;186;228"\nBUILD_ID="25.11.20260325.1234567"\nDEFAULT_HOSTNAME=nixos\nID=nixos\nID_LIKE=""\n'
               'NAME=NixOS\nPRETTY_NAME="NixOS 25.11 (Xantusia)"\nVERSION="25.11 (Xantusia)"\nVERSION_ID="25.11"\n',
    "alma9": os_release("almalinux", "AlmaLinux", "9.1", "AlmaLinux 9.1 (Lime Lynx)", "rhel centos fedora"),
    "cachyos": 'NAME="CachyOS Linux"\nPRETTY_NAME="CachyOS"\nID=cachyos\nID_LIKE=arch\nBUILD_ID=rolling\n',
    "bazzite": 'NAME="Bazzite"\nVERSION="40.20240427.0 (GNOME)"\nID=bazzite\nID_LIKE="fedora"\nVERSION_ID=40\nPRETTY_NAME="Bazzite 40"\n',
    "rocky9": os_release("rocky", "Rocky Linux", "9.4", "Rocky Linux 9.4 (Blue Onyx)", "rhel centos fedora"),
    "ubuntu25": os_release("ubuntu", "Ubuntu", "25.04", "Ubuntu 25.04", "debian"),
    "ubuntu24.10": os_release("ubuntu", "Ubuntu", "24.10", "Ubuntu 24.10", "debian"),
    "fedora42": 'NAME="Fedora Linux"\nVERSION="42 (Workstation Edition)"\nID=fedora\nVERSION_ID=42\nPRETTY_NAME="Fedora Linux 42 (Workstation Edition)"\n',
    "fedora36": 'NAME="Fedora Linux"\nVERSION="36 (Workstation Edition)"\nID=fedora\nVERSION_ID=36\nPRETTY_NAME="Fedora Linux 36 (Workstation Edition)"\n',
    "fedora44": 'NAME="Fedora Linux"\nVERSION="44 (Workstation Edition Prerelease)"\nID=fedora\nVERSION_ID=44\n'
                'PRETTY_NAME="Fedora Linux 44 (Workstation Edition Prerelease)"\n',
    "fedora43": 'NAME="Fedora Linux"\nVERSION="43 (Server Edition)"\nID=fedora\nVERSION_ID=43\nPRETTY_NAME="Fedora Linux 43 (Server Edition)"\n',
    "manjaro": 'NAME="Manjaro Linux"\nPRETTY_NAME="Manjaro Linux"\nID=manjaro\nID_LIKE=arch\nBUILD_ID=rolling\n',
    "rhel9": os_release("rhel", "Red Hat Enterprise Linux", "9.6", "Red Hat Enterprise Linux 9.6 (Plow)", "fedora"),
    "rhel8": os_release("rhel", "Red Hat Enterprise Linux", "8.4", "Red Hat Enterprise Linux 8.4 (Ootpa)", "fedora"),
    "oracle9": os_release("ol", "Oracle Linux Server", "9.4", "Oracle Linux Server 9.4", "fedora"),
    "sles15": os_release("sles", "SLES", "15.5", "SUSE Linux Enterprise Server 15 SP5", "suse"),
    "tumbleweed": os_release("opensuse-tumbleweed", "openSUSE Tumbleweed", "20260531", "openSUSE Tumbleweed", "opensuse suse"),
    "leap15": os_release("opensuse-leap", "openSUSE Leap", "15.5", "openSUSE Leap 15.5", "suse opensuse"),
    "talos": 'NAME="Talos"\nID=talos\nVERSION_ID=v1.6.3\nPRETTY_NAME="Talos (v1.6.3)"\n',
}


class Machine:
    """What is below the root: texts, links, nodes with their owners."""

    def __init__(self, system, kernel, cpu, cpus, gib, user=("user", 1000, (4, 24, 27, 44, 992)), groups="debian", cmdline="quiet",
                 flags="", env=None):
        self.files, self.links, self.nodes, self.locked = {}, {}, {}, []
        self.kernel, self.kfd_nodes, self.gib = kernel, 0, gib
        self.name, self.uid, ids = user
        self.home = "root" if self.uid == 0 else f"home/{self.name}"
        if system:
            self.put("usr/lib/os-release", OS[system])
            self.links["etc/os-release"] = "../usr/lib/os-release"
        self.put("proc/sys/kernel/osrelease", kernel + "\n")
        self.put("proc/version", f"Linux version {kernel} (build@host) (gcc version 13.3.0, GNU ld 2.42) #1 SMP PREEMPT_DYNAMIC\n")
        maker = "GenuineIntel" if "Intel" in cpu else "AuthenticAMD"
        self.put("proc/cpuinfo", "".join(
            f"processor\t: {i}\nvendor_id\t: {maker}\ncpu family\t: 25\nmodel\t\t: 97\nmodel name\t: {cpu}\nstepping\t: 2\n"
            f"cpu MHz\t\t: 4200.000\ncache size\t: 1024 KB\nflags\t\t: fpu vme de pse tsc msr pae mce cx8 apic{flags}\n\n"
            for i in range(min(cpus, 4))))
        self.put("sys/devices/system/cpu/online", f"0-{cpus - 1}\n")
        total = gib * (1 << 20)
        self.put("proc/meminfo", f"MemTotal:       {total:8d} kB\nMemFree:        {total // 2:8d} kB\n"
                 f"MemAvailable:   {total * 3 // 4:8d} kB\nBuffers:          183444 kB\nCached:          4098320 kB\n"
                 f"SwapCached:            0 kB\nSwapTotal:       {8 << 20:8d} kB\nSwapFree:        {8 << 20:8d} kB\n")
        self.put("proc/cmdline", f"BOOT_IMAGE=/vmlinuz-{kernel} root=/dev/nvme0n1p2 ro {cmdline}\n")
        self.put("proc/modules", "")
        self.put("proc/self/status", f"Name:\trocsmith\nUmask:\t0022\nState:\tR (running)\nTgid:\t812\nNgid:\t0\nPid:\t812\nPPid:\t790\n"
                 f"TracerPid:\t0\nUid:\t{self.uid}\t{self.uid}\t{self.uid}\t{self.uid}\nGid:\t{self.uid}\t{self.uid}\t{self.uid}\t{self.uid}\n"
                 f"FDSize:\t256\nGroups:\t{' '.join(map(str, (*ids, self.uid)))} \nNStgid:\t812\nSeccomp:\t0\nSeccomp_filters:\t0\n")
        self.put("proc/self/cgroup", "0::/user.slice/user-1000.slice/session-2.scope\n")
        names = {"debian": {"adm": 4, "cdrom": 24, "sudo": 27, "video": 44, "render": 992},
                 "arch": {"wheel": 998, "video": 983, "render": 989}, "fedora": {"wheel": 10, "video": 39, "render": 105}}[groups]
        self.render, self.video = names["render"], names["video"]
        self.put("etc/group", "root:x:0:\n" + "".join(
            f"{n}:x:{i}:{self.name if i in ids and self.uid else ''}\n" for n, i in names.items()) + "nogroup:x:65534:\n"
            + (f"{self.name}:x:{self.uid}:\n" if self.uid else ""))
        self.put("etc/passwd", "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
                 + (f"{self.name}:x:{self.uid}:{self.uid}::/{self.home}:/bin/bash\n" if self.uid else ""))
        self.env = {"HOME": f"/{self.home}", "USER": self.name, "SHELL": "/bin/bash", "LANG": "en_US.UTF-8",
                    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"} | (env or {})
        self.put(f"{self.home}/.bashrc", "# ~/.bashrc\n")
        self.put(".disks", "".join(f"{use} {900 * GIB} {400 * GIB} {path}\n" for use, path in (
            ("cache", f"/{self.home}/.cache/rocsmith"), ("home", f"/{self.home}"), ("tmp", "/tmp"))))

    def put(self, path, text):
        self.files[path] = text

    def container(self, kind, seccomp=2):
        """What the kinds leave in their containers."""
        marks = {"docker": {".dockerenv": ""}, "podman": {"run/.containerenv": 'engine="podman-4.9.3"\nrootless=1\n'},
                 "lxc": {"run/systemd/container": "lxc\n"},
                 "kubernetes": {}}[kind]
        for path, text in marks.items():
            self.put(path, text)
        if kind == "kubernetes":
            self.env |= {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_PORT": "tcp://10.96.0.1:443"}
        if kind == "podman":
            self.env["container"] = "podman"
        self.put("proc/self/cgroup", "0::/\n")
        self.put("proc/1/cgroup", "0::/\n")
        self.put("proc/self/status", self.files["proc/self/status"].replace("Seccomp:\t0", f"Seccomp:\t{seccomp}"))
        return self

    def driver(self, version=None):
        self.put("proc/modules", "amdgpu 17276928 23 - Live 0x0000000000000000" + (" (OE)" if version else "") + "\n"
                 "amdxcp 12288 1 amdgpu, Live 0x0000000000000000\ndrm_exec 12288 1 amdgpu, Live 0x0000000000000000\n"
                 "gpu_sched 61440 2 amdxcp,amdgpu, Live 0x0000000000000000\n")
        self.put("sys/module/amdgpu/initstate", "live\n")
        self.put("sys/module/amdgpu/parameters/gttsize", "-1\n")
        if version:
            self.put("sys/module/amdgpu/version", version + "\n")
        self.put("sys/module/ttm/parameters/pages_limit", f"{self.gib * (GIB >> 12) // 2}\n")
        return self

    def cpu_node(self, cores, sockets=1):
        for i in range(sockets):
            self.kfd_node(NODE.format(
                cores=cores // sockets, simds=0, caches=0, links=1, base=0, waves=0, lds=0, gws=0, wave=0, arrays=0, engines=0, cus=0,
                per_cu=0, slots=0, version=0, vendor=0, device=0, location=0, domain=0, minor=0, hive=0, sdma=0, queues=0, cp=0)
                + "max_engine_clk_ccompute 4700\n", 0, "", 0, self.gib * GIB // sockets)
        return self

    def kfd_node(self, text, gpu_id, name, heap, size, hidden=False, flags=1):
        base = f"sys/devices/virtual/kfd/kfd/topology/nodes/{self.kfd_nodes}"
        self.links["sys/class/kfd/kfd"] = "../../devices/virtual/kfd/kfd"
        self.put("sys/devices/virtual/kfd/kfd/topology/generation_id", "2\n")
        self.put(f"{base}/gpu_id", f"{gpu_id}\n")
        self.put(f"{base}/name", name + "\n")
        self.put(f"{base}/properties", text)
        self.put(f"{base}/mem_banks/0/properties",
                 f"heap_type {heap}\nsize_in_bytes {size}\nflags 0\nwidth {256 if heap else 64}\nmem_clk_max 1218\n")
        self.put(f"{base}/io_links/0/properties", f"type 2\nversion_major 0\nversion_minor 0\nnode_from {self.kfd_nodes}\nnode_to 0\n"
                 "weight 20\nmin_latency 0\nmax_latency 0\nmin_bandwidth 312\nmax_bandwidth 31508\n"
                 f"recommended_transfer_size 0\nrecommended_sdma_engine_id_mask 0\nflags {flags}\n")
        if hidden:  # kfd_topology.c: node_show() answers EPERM
            self.locked += [f"{base}/{f}" for f in ("gpu_id", "name", "properties")]
        self.kfd_nodes += 1

    def pci(self, address, vendor, device, cls, driver=None, inside=0):
        """The device below a port of the processor, and its link on the bus; inside: bridges of the card above it."""
        place = f"sys/devices/pci{address[:5]}00/{address[:5]}00:01.1"
        chain = [(place, 0x1022, 0x14db, 0x060400, "pcieport")]
        bus = int(address[5:7], 16)
        for i in range(inside):
            place += f"/{address[:5]}{bus - inside + i:02x}:00.0"
            chain.append((place, 0x1002, 0x1478 + i, 0x060400, "pcieport"))
        place += f"/{address}"
        for path, maker, dev, kind, drv in (*chain, (place, vendor, device, cls, driver)):
            here = os.path.basename(path)
            for name, text in (("vendor", f"0x{maker:04x}"), ("device", f"0x{dev:04x}"), ("class", f"0x{kind:06x}"),
                               ("current_link_speed", "16.0 GT/s PCIe"), ("current_link_width", "16"),
                               ("max_link_speed", "16.0 GT/s PCIe"), ("max_link_width", "16"), ("numa_node", "0"),
                               ("power/runtime_status", "active")):
                self.put(f"{path}/{name}", text + "\n")
            self.put(f"{path}/uevent", (f"DRIVER={drv}\n" if drv else "") + f"PCI_CLASS={kind:X}\nPCI_ID={maker:04X}:{dev:04X}\n"
                     f"PCI_SUBSYS_ID=1DA2:E471\nPCI_SLOT_NAME={here}\nMODALIAS=pci:v{maker:08X}d{dev:08X}sv00001DA2sd0000E471bc03sc00i00\n")
            up = "../" * path.count("/")
            if drv:
                self.links[f"{path}/driver"] = f"{up}bus/pci/drivers/{drv}"
            self.links[f"sys/bus/pci/devices/{here}"] = "../../../" + path[4:]
        return place

    def gpu(self, asic, address="0000:03:00.0", minor=128, kfd=True, node=(0o660, 0, None), hidden=False, vbios="113-EXT88265-001",
            vram=None, heap=1, drm=True, driver="amdgpu", flags=1):
        version, device, simds, per_cu, waves, wave, mib, name, inside, cls = ASIC[asic]
        size = (vram or mib) << 20
        place = self.pci(address, 0x1002, device, cls, driver, inside)
        new = tuple(int(x) for x in re.findall(r"\d+", self.kernel)[:2]) >= (6, 10)
        gtt = self.gib * GIB // 2
        if kfd:
            bus, cus = int(address[5:7], 16), simds // per_cu
            self.kfd_node(NODE.format(
                cores=0, simds=simds, caches=cus + 4, links=1, base=2147487744 + minor, waves=waves, lds=64, gws=64, wave=wave, arrays=8,
                engines=2, cus=cus // 8 or 1, per_cu=per_cu, slots=32, version=version, vendor=4098, device=device, location=bus << 8,
                domain=int(address[:4], 16), minor=minor, hive=0, sdma=2, queues=8, cp=8) + GPU_TAIL.format(
                    fw=550, capability2="capability2 0\n" if (new and "6.1" in self.kernel[:4]) else "", unique=1152921504606846975 + minor,
                    xcc=8 if 90402 <= version <= 90500 else 1) + "max_engine_clk_ccompute 4700\n",
                20000 + minor * 7, name, heap, gtt if asic in APUS and new else size, hidden, flags)
        if driver == "amdgpu" and drm:
            for key, value in (("mem_info_vram_total", size), ("mem_info_vis_vram_total", size), ("mem_info_gtt_total", gtt),
                               ("vbios_version", vbios), ("revision", "0xc8")):
                self.put(f"{place}/{key}", f"{value}\n")
            for fw, value in {"ce": 0, "me": 0x20, "mec": 0x226, "mes": 0x7c if version >= 110000 else 0, "pfp": 0x2c, "rlc": 0x74,
                              "sdma": 24, "smc": 0x00525b00, "sos": 0x003c0025, "vcn": 0x0911800b}.items():
                self.put(f"{place}/fw_version/{fw}_fw_version", f"0x{value:08x}\n")
            self.put(f"{place}/drm/renderD{minor}/dev", f"226:{minor}\n")
            self.put(f"{place}/drm/renderD{minor}/uevent", f"MAJOR=226\nMINOR={minor}\nDEVNAME=dri/renderD{minor}\nDEVTYPE=drm_minor\n")
            self.links[f"{place}/drm/renderD{minor}/device"] = f"../../../{os.path.basename(place)}"
            self.links[f"sys/class/drm/renderD{minor}"] = f"../../{place[4:]}/drm/renderD{minor}"
            if node:
                mode, uid, gid = node
                self.node(f"dev/dri/renderD{minor}", mode, uid, self.render if gid is None else gid)
        return self

    def node(self, path, mode=0o660, uid=0, gid=None):
        self.put(path, "")
        self.nodes[path] = (mode, uid, self.render if gid is None else gid)
        return self

    def kfd(self, mode=0o660, uid=0, gid=None):
        return self.node("dev/kfd", mode, uid, gid)

    # ---- Python ----

    def dist(self, site, name, version, *requires, installer="pip"):
        base = f"{site}/{name.replace('-', '_')}-{version}.dist-info"
        self.put(f"{base}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: A package\n"
                 + "".join(f"Requires-Dist: {r}\n" for r in requires) + "\nText.\n")
        self.put(f"{base}/WHEEL", "Wheel-Version: 1.0\nGenerator: setuptools (75.6.0)\nRoot-Is-Purelib: false\nTag: cp312-cp312-linux_x86_64\n")
        self.put(f"{base}/INSTALLER", installer + "\n")
        self.put(f"{base}/RECORD", "")

    def python(self, prefix, version, home="/usr/bin", uv=None):
        """python -m venv, or uv venv."""
        self.put(f"{prefix}/pyvenv.cfg", f"home = {home}\n" + (
            f"implementation = CPython\nuv = {uv}\nversion_info = {version}\ninclude-system-site-packages = false\nprompt = x\n" if uv else
            f"include-system-site-packages = false\nversion = {version}\nexecutable = {home}/python3\n"
            f"command = {home}/python3 -m venv /{prefix}\n"))
        short = ".".join(version.split(".")[:2])
        self.links[f"{prefix}/bin/python3"] = "python"
        self.links[f"{prefix}/bin/python"] = f"{home}/python{short}"
        self.env |= {"VIRTUAL_ENV": f"/{prefix}", "PATH": f"/{prefix}/bin:" + self.env["PATH"]}
        return f"{prefix}/lib/python{short}/site-packages"

    def system_python(self, version):
        self.put(f"usr/bin/python{version}", "")
        self.links["usr/bin/python3"] = f"python{version}"
        return f"usr/lib/python{version}/site-packages"

    def torch(self, site, version, hip=None, cuda=None, archs="", rocblas=None, requires=(), rocm=None, bundled=True, runpath="$ORIGIN",
              major="6", drop=(), miopen=MIOPEN):
        self.dist(site, "torch", version, "filelock", "typing-extensions>=4.10.0", "sympy>=1.13.3", "networkx", "jinja2", "fsspec",
                  *requires, 'optree>=0.13.0; extra == "optree"')
        quoted = {k: f"'{v}'" if v else "None" for k, v in (("cuda", cuda), ("hip", hip), ("rocm", rocm))}
        self.put(f"{site}/torch/version.py", "from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip', "
                 + ("'rocm', " if rocm else "") + f"'xpu']\n__version__ = '{version}'\ndebug = False\ncuda: Optional[str] = {quoted['cuda']}\n"
                 f"git_version = '38b96d3399a695e704ed39b60dac733c3fbf20e2'\nhip: Optional[str] = {quoted['hip']}\n"
                 + (f"rocm: Optional[str] = {quoted['rocm']}\n" if rocm else "") + "xpu: Optional[str] = None\n")
        lib = f"{site}/torch/lib"
        self.put(f"{lib}/libtorch_cpu.so", "rocsmith-library 1\nneeded libc10.so\nneeded libm.so.6\nrunpath $ORIGIN\n")
        self.put(f"{lib}/libtorch.so", "rocsmith-library 1\nrunpath $ORIGIN\n")
        if cuda:
            self.put(f"{lib}/libtorch_cuda.so", "rocsmith-library 1\nneeded libcudart.so.12\nneeded libcudnn.so.9\nrunpath $ORIGIN\n")
        if not hip:
            return
        names = [f"{n}.so" if bundled else f"{n}.so.{SONAME[major][n]}" for n in LIBS if n != "libhsa-runtime64"]
        self.put(f"{lib}/libtorch_hip.so", "rocsmith-library 1\n" + "".join(f"needed {n}\n" for n in (*names, "libtorch_cpu.so"))
                 + f"runpath {runpath}\ntargets {archs}\nbundles 5\n")
        if bundled:
            for n in LIBS:
                if n not in drop:
                    self.put(f"{lib}/{n}.so", "")
            self.sides(lib, f"{site}/torch/share", archs if rocblas is None else rocblas, miopen)

    def sides(self, lib, share, archs, miopen=MIOPEN):
        for gpu in archs.split():
            self.put(f"{lib}/rocblas/library/TensileLibrary_lazy_{gpu}.dat", "")
            self.put(f"{lib}/rocblas/library/Kernels.so-000-{gpu}.hsaco", "")
            if gpu in LT:
                self.put(f"{lib}/hipblaslt/library/TensileLibrary_lazy_{gpu}.dat", "")
        for gpu in miopen.split():
            self.put(f"{share}/miopen/db/{gpu}.HIP.fdb.txt", "")

    def rocm(self, version, archs="", path=None, link=True):
        tree, major = path or f"opt/rocm-{version}", version[0]
        self.put(f"{tree}/.info/version", f"{version}-39\n")
        self.put(f"{tree}/bin/hipcc", "#!/usr/bin/env perl\n")
        self.put(f"{tree}/include/hip/hip_version.h", "#ifndef HIP_VERSION_H\n#define HIP_VERSION_H\n" + "".join(
            f"#define HIP_VERSION_{k} {v}\n" for k, v in zip(("MAJOR", "MINOR", "PATCH"), version.split("."))) + "#endif\n")
        for n in LIBS:
            so = f"{n}.so.{SONAME[major][n]}"
            self.put(f"{tree}/lib/{so}.0.{version.replace('.', '0')}", "")
            self.links[f"{tree}/lib/{so}"] = f"{so}.0.{version.replace('.', '0')}"
            self.links[f"{tree}/lib/{n}.so"] = so
        self.sides(f"{tree}/lib", f"{tree}/share", archs, "")
        if link:
            self.links["opt/rocm"] = "/etc/alternatives/rocm"
            self.links["etc/alternatives/rocm"] = f"/{tree}"
        return self

    def write(self, root):
        self.put("proc/self/environ", "".join(f"{k}={v}\0" for k, v in self.env.items()))
        for path, text in self.files.items():
            full = f"{root}/{path}"
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as f:
                f.write(text)
        for path, target in self.links.items():
            os.makedirs(os.path.dirname(f"{root}/{path}"), exist_ok=True)
            os.symlink(target, f"{root}/{path}")
        for path, (mode, uid, gid) in self.nodes.items():
            os.chown(f"{root}/{path}", uid, gid)
            os.chmod(f"{root}/{path}", mode)
        for path in self.locked:
            os.chmod(f"{root}/{path}", 0)


TRITON = 'pytorch-triton-rocm=={}; platform_system == "Linux" and platform_machine == "x86_64"'
NONE = (0o666, 0, None)


def trio(m, site, version, vision, audio, triton, **torch):
    """What an index for ROCm installs together."""
    tag = version[version.index("+"):]
    m.torch(site, version, requires=(TRITON.format(triton),), **torch)
    m.dist(site, "pytorch-triton-rocm", triton)
    m.dist(site, "torchvision", vision + tag, "numpy", f"torch=={version[:version.index('+')]}", "pillow!=8.3.*,>=5.3.0")
    m.dist(site, "torchaudio", audio + tag, f"torch=={version[:version.index('+')]}")
    m.dist(site, "numpy", "2.2.6")
    return m


def arch_7800xt():
    m = Machine("arch", "6.16.10-arch1-1", "AMD Ryzen 7 5800X3D 8-Core Processor", 16, 31, ("fur", 1000, (998,)), "arch").driver()
    m.cpu_node(16).kfd(0o666).gpu("7800xt", node=NONE)
    site = m.python("home/fur/ComfyUI/venv", "3.13.7")
    return trio(m, site, "2.9.0+rocm6.4", "0.24.0", "2.9.0", "3.5.0", hip="6.4.43484-123eb5128", archs=ARCH["6.4"])


def fedora40_7600():
    m = Machine("fedora40", "6.9.8-200.fc40.x86_64", "12th Gen Intel(R) Core(TM) i9-12900K", 24, 62, ("graham", 1000, (10,)), "fedora").driver()
    m.cpu_node(24).kfd(0o666).gpu("7600", node=NONE)
    m.system_python("3.12")
    site = "home/graham/.local/lib/python3.12/site-packages"
    m.torch(site, "2.3.1", cuda="12.1", requires=('nvidia-cublas-cu12==12.1.3.1; platform_system == "Linux" and platform_machine == "x86_64"',
                                                  'triton==2.3.1; platform_system == "Linux" and platform_machine == "x86_64" and python_version < "3.12"'))
    m.dist(site, "nvidia-cublas-cu12", "12.1.3.1")
    m.dist(site, "numpy", "1.26.4")
    return m


def gentoo_5700xt():
    m = Machine("gentoo", "6.7.7-gentoo-dist", "AMD Ryzen 9 5950X 16-Core Processor", 32, 62, ("braga", 1000, (998, 983, 989)), "arch").driver()
    m.cpu_node(32).kfd().gpu("5700xt", "0000:0b:00.0", heap=2)
    site = m.python("home/braga/pytorch/venv", "3.12.8")
    m.torch(site, "2.7.0.dev20250123+rocm6.3", hip="6.3.42131-fa1d09cbd", archs=ARCH["6.3n"],
            requires=(TRITON.format("3.2.0+git0d4682f0"),))
    m.dist(site, "pytorch-triton-rocm", "3.2.0+git0d4682f0")
    return m


def ubuntu_wx7100():
    m = Machine("ubuntu24", "6.8.0-39-generic", "AMD Ryzen 7 1700X Eight-Core Processor", 16, 31).driver("6.7.0")
    m.cpu_node(16).kfd().gpu("wx7100", "0000:09:00.0", heap=2)
    m.system_python("3.12")
    return m.rocm("6.1.0", TREE)


def mint_570_atomics():
    m = Machine("mint21", "5.15.0-56-generic", "Intel(R) Core(TM) i5-3470 CPU @ 3.20GHz", 4, 16).driver("5.18.13")
    m.cpu_node(4).kfd().gpu("rx580", "0000:01:00.0", kfd=False)
    m.system_python("3.10")
    return m.rocm("5.4.3")


def steam_deck():
    m = Machine("steamos", "6.1.52-valve16-1-neptune-61", "AMD Custom APU 0405", 8, 15, ("deck", 1000, (998,)), "arch").driver()
    m.cpu_node(8).kfd(0o666).gpu("deck", "0000:04:00.0", node=NONE, vbios="113-AMDSTEAMD-001")
    m.system_python("3.11")
    return m


def debian_890m():
    m = Machine("debiantest", "6.16.7+deb14-amd64", "AMD Ryzen AI 9 HX 370 w/ Radeon 890M", 24, 27).driver()
    m.cpu_node(24).kfd().gpu("890m", "0000:c1:00.0", vbios="113-STRIXEMU-001")
    site = m.python("home/user/ComfyUI/.venv", "3.12.11", "/home/user/.local/share/uv/python/cpython-3.12.11-linux-x86_64-gnu/bin", uv="0.8.17")
    return trio(m, site, "2.8.0+rocm6.4.4.gitc1404424", "0.23.0", "2.8.0", "3.4.0+rocm6.4.4.gitf9e5bf54", hip="6.4.43484-123eb5128", archs=ARCH["amd6.4"])


def debian12_mi60():
    m = Machine("debian12", "6.1.0-31-amd64", "AMD Ryzen 5 5500", 12, 31).driver()
    m.cpu_node(12).kfd().gpu("mi60", "0000:0d:00.0")
    site = m.python("home/user/venv", "3.11.2")
    return trio(m, site, "2.5.1+rocm6.2", "0.20.1", "2.5.1", "3.1.0", hip="6.2.41133-dd7f95766", archs=ARCH["6.1"])


def mi50_rocm64():
    m = Machine("ubuntu24", "6.8.0-60-generic", "Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", 28, 62).driver("6.10.5")
    m.cpu_node(28).kfd().gpu("mi50", "0000:05:00.0")
    m.rocm("6.3.3", TREE)
    site = m.python("home/user/unsloth/.venv", "3.12.3")
    old = " ".join(g for g in ARCH["6.4"].split() if g not in ("gfx900", "gfx906"))
    return trio(m, site, "2.9.1+rocm6.4", "0.24.1", "2.9.1", "3.5.1", hip="6.4.43484-123eb5128", archs=ARCH["6.4"], rocblas=old)


def mint_vega56():
    m = Machine("mint22", "6.8.0-59-generic", "AMD Ryzen 7 3700X 8-Core Processor", 16, 31).driver()
    m.cpu_node(16).kfd().gpu("vega56", "0000:0b:00.0", heap=2)
    site = m.python("media/HDD/programs/AI/ComfyUI/venv-linux", "3.12.3")
    m.torch(site, "2.12.0.dev20260408+rocm7.2", hip="7.2.53211-e1a6bc5663", rocm="7.2.0", archs=ARCH["7.2"],
            rocblas="gfx908 gfx1030 gfx90a gfx1100 gfx1201 gfx1101 gfx1151 gfx942 gfx950 gfx1200 gfx1150 gfx1102")
    return m


def wsl(system="ubuntu24", cpu="AMD Ryzen 7 7700 8-Core Processor", cpus=16, kernel="6.6.87.2-microsoft-standard-WSL2"):
    m = Machine(system, kernel, cpu, cpus, 15, flags=" hypervisor", cmdline="WSL_ROOT_INIT=1 panic=-1 nr_cpus=16")
    m.put("proc/version", f"Linux version {kernel} (root@439a258ad544) (gcc (GCC) 11.2.0, GNU ld (GNU Binutils) 2.37) #1 SMP\n")
    m.put("proc/sys/fs/binfmt_misc/WSLInterop", "enabled\ninterpreter /init\n")
    m.put("usr/lib/wsl/lib/libdxcore.so", "")
    m.env |= {"WSL_DISTRO_NAME": "Ubuntu", "WSL_INTEROP": "/run/WSL/12_interop"}
    return m.node("dev/dxg", 0o666, 0, 0)


def wsl_7800xt():
    m = wsl()
    m.system_python("3.12")
    return m.rocm("7.2.1", ARCH["image"])


def wsl_w7900():
    m = wsl("ubuntu22", "AMD Ryzen 9 7950X3D 16-Core Processor", 32, "5.15.167.4-microsoft-standard-WSL2")
    m.system_python("3.10")
    m.rocm("6.3.4", TREE)
    m.torch("home/user/.local/lib/python3.10/site-packages", "2.4.0+rocm6.3.4.git7cecbf6d", hip="6.3.42134-a9a80e791",
            archs="gfx942 gfx90a gfx1030 gfx1100 gfx1101", drop=("libhsa-runtime64",), requires=("pytorch-triton-rocm==3.0.0+rocm6.3.4.git75cc27c2",))
    m.dist("home/user/.local/lib/python3.10/site-packages", "pytorch-triton-rocm", "3.0.0+rocm6.3.4.git75cc27c2")
    m.dist("home/user/.local/lib/python3.10/site-packages", "numpy", "1.26.4")
    return m


def ubuntu_7900xtx_nightly():
    m = Machine("ubuntu24", "6.14.0-27-generic", "Intel(R) Xeon(R) CPU E5-2666 v3 @ 2.90GHz", 20, 62).driver()
    m.cpu_node(20).kfd().gpu("7900xtx", "0000:05:00.0")
    m.rocm("6.4.2", ARCH["6.4"])
    site = m.python("home/user/venv", "3.12.3")
    m.torch(site, "2.9.0.dev20250811+rocm6.4", hip="6.4.43484-123eb5128", archs=ARCH["6.4"], requires=(TRITON.format("3.4.0+gitf7888497"),))
    m.dist(site, "pytorch-triton-rocm", "3.4.0+gitf7888497")
    m.dist(site, "torchvision", "0.24.0.dev20250811+rocm6.4", "numpy", "torch==2.9.0.dev20250811")
    m.dist(site, "numpy", "2.2.6")
    return m


def image_torch(m, site, version, hip, tree, rocm=None):
    """A torch that was built in the image, for the ROCm there."""
    m.torch(site, version, hip=hip, rocm=rocm, archs=ARCH["image"], bundled=False, major=tree[0], runpath="$ORIGIN:/opt/rocm/lib")
    m.dist(site, "triton", "3.4.0")
    m.dist(site, "numpy", "1.26.4")
    m.dist(site, "torchvision", "0.23.0a0+824e8c8", "numpy", "torch")
    m.rocm(tree, ARCH["image"])
    m.put("etc/ld.so.conf.d/10-rocm-opencl.conf", "/opt/rocm/lib\n")
    m.env |= {"ROCM_PATH": "/opt/rocm", "LD_LIBRARY_PATH": "/opt/rocm/lib:/usr/local/lib:", "PATH": "/opt/rocm/bin:" + m.env["PATH"]}


def docker_mi325x():
    m = Machine("ubuntu22", "6.8.0-101-generic", "AMD EPYC 9575F 64-Core Processor", 256, 2267, ("root", 0, (44, 992)),
                cmdline="iommu=pt").driver("6.14.14").container("docker", 0)
    m.cpu_node(256, 2).kfd()
    for i, bus in enumerate((0x05, 0x15, 0x65, 0x75, 0x85, 0x95, 0xe5, 0xf5)):
        m.gpu("mi325x", f"0000:{bus:02x}:00.0", 128 + 8 * i, vbios="113-M3250101-100")
    m.system_python("3.12")
    image_torch(m, "usr/local/lib/python3.12/dist-packages", "2.9.1+git8907517", "7.0.51831-a3e329ad8", "7.0.0")
    return m


def docker_mi250x():
    m = Machine("ubuntu20", "4.18.0-553.22.1.el8_10.x86_64", "AMD EPYC 7A53 64-Core Processor", 128, 503, ("root", 0, (44,)),
                cmdline="iommu=pt").driver("6.8.5").container("docker", 0)
    m.cpu_node(128, 4).kfd()
    for i, bus in enumerate((0xc1, 0xc6, 0xc9, 0xce, 0xd1, 0xd6, 0xd9, 0xde)):
        m.gpu("mi250x", f"0000:{bus:02x}:00.0", 128 + i, vbios="113-D65209-073")
    prefix = "opt/conda/envs/py_3.9"
    m.put(f"{prefix}/conda-meta/history", "==> 2024-05-06 19:43:03 <==\n# cmd: conda create -n py_3.9 python=3.9\n")
    m.put(f"{prefix}/conda-meta/python-3.9.19-h955ad1f_1.json", '{"name": "python", "version": "3.9.19"}\n')
    m.put(f"{prefix}/bin/python3.9", "")
    m.links[f"{prefix}/bin/python3"] = m.links[f"{prefix}/bin/python"] = "python3.9"
    m.env |= {"CONDA_PREFIX": f"/{prefix}", "CONDA_DEFAULT_ENV": "py_3.9", "PATH": f"/{prefix}/bin:/opt/conda/condabin:" + m.env["PATH"]}
    m.rocm("6.2.0", TREE)
    site = f"{prefix}/lib/python3.9/site-packages"
    m.torch(site, "2.6.0.dev20240918+rocm6.2", hip="6.2.41133-dd7f95766", archs=ARCH["6.1"], requires=("pytorch-triton-rocm==3.1.0+5fe38ffd73",))
    m.dist(site, "pytorch-triton-rocm", "3.1.0+5fe38ffd73")
    m.dist(site, "numpy", "1.26.4")
    return m


def pod_mi355x():
    m = Machine("ubuntu22", "5.15.0-160-generic", "AMD EPYC 9575F 64-Core Processor", 256, 3023, ("root", 0, ()),
                cmdline="iommu=pt").driver("6.16.13").container("kubernetes")
    m.cpu_node(256, 2).kfd(0o666, 0, 109)
    for i, bus in enumerate((0x05, 0x15, 0x65, 0x75, 0x85, 0x95, 0xe5, 0xf5)):
        m.gpu("mi355x", f"0000:{bus:02x}:00.0", 128 + 8 * i, hidden=i != 3, node=(0o666, 0, 109) if i == 3 else None)
    m.system_python("3.10")
    image_torch(m, "usr/local/lib/python3.10/dist-packages", "2.9.1+rocm7.2.0.git7e1940d4", "7.2.26015-fc0010cf6a", "7.2.0")
    return m


def two_cards():
    m = Machine("ubuntu22", "6.0.0-1006-oem", "AMD Ryzen Threadripper 3960X 24-Core Processor", 48, 125).driver()
    m.cpu_node(48).kfd().gpu("6900xt", "0000:23:00.0", 128).gpu("7900xtx", "0000:4a:00.0", 129)
    site = m.python("home/user/sd/venv", "3.10.6")
    m.torch(site, "1.13.1+rocm5.2", hip="5.2.21151-afdc89f8", archs=ARCH["5.2"], miopen="gfx90878 gfx90a68 gfx1030_36")
    m.dist(site, "torchvision", "0.14.1+rocm5.2", "numpy", "torch (==1.13.1)")
    m.dist(site, "numpy", "1.23.5")
    return m


def nixos_5700xt():
    m = Machine("nixos", "6.12.91", "AMD Ryzen 7 3700X 8-Core Processor", 16, 31, ("xb", 1000, (983, 989)), "arch").driver()
    m.cpu_node(16).kfd(0o666).gpu("5700xt", "0000:0a:00.0", node=NONE)
    store = "nix/store/0c3v9q2w1m7kq5x8n4l6y3r2b1d0f9gh-python3.12-torch-2.11.0"
    env = "nix/store/9w1xk5m2p8q7r6s4t3v0b9c8d7f6g5h4-python3-3.12.12-env"
    site = f"{store}/lib/python3.12/site-packages"
    m.torch(site, "2.11.0", hip="7.2.53211", archs="gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201", bundled=False,
            major="7", runpath="$ORIGIN:/nix/store/zz1-rocm-merged/lib")
    m.links[f"{env}/lib/python3.12/site-packages/torch"] = f"/{site}/torch"
    m.links[f"{env}/lib/python3.12/site-packages/torch-2.11.0.dist-info"] = f"/{site}/torch-2.11.0.dist-info"
    m.put(f"{env}/bin/python3.12", "")
    m.links[f"{env}/bin/python3"] = "python3.12"
    for n, so in SONAME["7"].items():
        m.put(f"nix/store/zz1-rocm-merged/lib/{n}.so.{so}", "")
    m.env["PATH"] = f"/{env}/bin:/run/wrappers/bin:/run/current-system/sw/bin"
    return m


def alma_6700xt():
    m = Machine("alma9", "5.14.0-162.6.1.el9_1.x86_64", "AMD Ryzen 7 5700G with Radeon Graphics", 16, 62, ("klaus", 1000, (10, 39, 105)), "fedora")
    m.put("proc/modules", "edac_mce_amd 45056 0 - Live 0x0000000000000000\nkvm_amd 155648 0 - Live 0x0000000000000000\nccp 118784 1 kvm_amd, Live 0x0000000000000000\n")
    m.gpu("6700xt", driver=None, kfd=False)
    m.system_python("3.9")
    return m.rocm("6.0.0")


def framework_8060s():
    m = Machine("ubuntu26", "7.0.0-1005-oem", "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 32, 125).driver()
    m.cpu_node(32).kfd().gpu("8060s", "0000:c1:00.0", vbios="113-STRXLGEN-001")
    m.system_python("3.14")
    lib = "usr/lib/x86_64-linux-gnu"
    for n, so in SONAME["7"].items():
        m.put(f"{lib}/{n}.so.{so}.1.52802", "")
        m.links[f"{lib}/{n}.so.{so}"] = f"{n}.so.{so}.1.52802"
    m.put("usr/bin/hipcc", "#!/bin/sh\n")
    m.put("usr/include/hip/hip_version.h", "#define HIP_VERSION_MAJOR 7\n#define HIP_VERSION_MINOR 1\n#define HIP_VERSION_PATCH 52802\n")
    return m.rocm("7.14.0", "gfx1151", "opt/rocm-therock", link=False)


def asus_840m():
    m = Machine("ubuntu26", "7.0.0-31-generic", "AMD Ryzen AI 5 340 w/ Radeon 840M", 12, 15).driver()
    m.cpu_node(12).kfd().gpu("840m", vbios="113-STRIXEMU-001")
    m.system_python("3.14")
    return m


def cezanne_3070():
    m = Machine("ubuntu22", "5.19.0-43-generic", "AMD Ryzen 7 5800H with Radeon Graphics", 16, 15).driver()
    m.put("proc/modules", m.files["proc/modules"] + "nvidia 56717312 1214 nvidia_modeset, Live 0x0000000000000000 (POE)\n")
    m.cpu_node(16).kfd().gpu("cezanne", "0000:05:00.0", 128)
    m.pci("0000:01:00.0", 0x10de, 0x249d, 0x030000, "nvidia")
    m.put("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  530.41.03\n")
    m.node("dev/nvidia0", 0o666, 0, 0).node("dev/nvidiactl", 0o666, 0, 0)
    site = m.python("home/user/stable-diffusion-webui/venv", "3.10.6")
    m.torch(site, "2.0.1+cu118", cuda="11.8", requires=('triton (==2.0.0) ; platform_system == "Linux" and platform_machine == "x86_64"',))
    m.dist(site, "torchvision", "0.15.2+cu118", "numpy", "torch (==2.0.1)")
    m.dist(site, "triton", "2.0.0", "cmake", "lit", "torch")
    m.dist(site, "numpy", "1.23.5")
    return m


def podman_polaris():
    m = Machine("ubuntu22", "6.2.0-20-generic", "AMD Ryzen 7 2700 Eight-Core Processor", 16, 31, ("root", 0, (44,))).driver()
    m.container("podman").cpu_node(16)
    m.kfd(0o660, 65534, 65534).gpu("rx580", "0000:0a:00.0", node=(0o660, 65534, 65534), heap=2)
    m.system_python("3.10")
    return m


def docker_mi100_groups():
    m = Machine("ubuntu22", "5.15.0-86-generic", "AMD EPYC 7742 64-Core Processor", 128, 503, ("rocm-user", 1000, (27, 44)),
                cmdline="iommu=pt").driver("6.2.4").container("docker")
    m.put("etc/group", "root:x:0:\nsudo:x:27:rocm-user\nvideo:x:44:rocm-user\nrocm-user:x:1000:\n")
    m.cpu_node(128, 2).kfd(0o660, 0, 109)
    for i, bus in enumerate((0x27, 0x43, 0xa3, 0xc3)):
        m.gpu("mi100", f"0000:{bus:02x}:00.0", 128 + i, node=(0o660, 0, 109))
    m.system_python("3.10")
    return m.rocm("6.0.0", TREE)


def talos_cezanne():
    m = Machine("talos", "6.1.74-talos", "AMD Ryzen 7 5700G with Radeon Graphics", 16, 62, ("root", 0, ())).driver()
    return m.gpu("cezanne", "0000:05:00.0", kfd=False)


def debian13_evo_x2():
    m = Machine("debian13", "6.17.13+deb13-amd64", "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 32, 93).driver("6.16.13")
    m.cpu_node(32).kfd().gpu("8060s", "0000:c6:00.0", vram=32768)
    m.system_python("3.13")
    return m.rocm("7.2.2", "gfx1151 gfx1100 gfx942")


def lxc_9070xt():
    m = Machine("ubuntu24", "6.14.11-2-pve", "AMD Ryzen 7 9700X 8-Core Processor", 8, 16, ("root", 0, (44, 992))).driver().container("lxc")
    m.put("proc/1/environ", "container=lxc\0TERM=linux\0")
    m.cpu_node(16).kfd(0o666).gpu("9070xt", "0000:03:00.0", 128, node=(0o660, 0, 44)).gpu("granite", "0000:0e:00.0", 129, node=(0o660, 0, 44))
    m.system_python("3.12")
    return m.rocm("7.0.1", ARCH["image"])


# ---- the second round ----

def conda(m, prefix, python):
    m.put(f"{prefix}/conda-meta/history", "==> 2024-11-08 10:00:00 <==\n")
    short = ".".join(python.split(".")[:2])
    m.put(f"{prefix}/bin/python{short}", "")
    m.links[f"{prefix}/bin/python3"] = m.links[f"{prefix}/bin/python"] = f"python{short}"
    m.env |= {"CONDA_PREFIX": f"/{prefix}", "CONDA_DEFAULT_ENV": os.path.basename(prefix), "PATH": f"/{prefix}/bin:" + m.env["PATH"]}
    return f"{prefix}/lib/python{short}/site-packages"


def docker_7900xtx():
    m = Machine("ubuntu24", "6.8.0-71-generic", "Intel(R) Xeon(R) w5-3435X", 32, 251, ("root", 0, (44, 992))).driver("6.16.6").container("docker", 0)
    m.cpu_node(32).kfd().gpu("7900xtx", "0000:d6:00.0")
    m.system_python("3.12")
    image_torch(m, "usr/local/lib/python3.12/dist-packages", "2.9.1+git5bc97ba", "7.2.26015-fc0010cf6a", "7.2.0")
    return m


def sdk_torch(m, site, version, rocm, hip, archs, family="gfx120X_all", tensile=None, requires=(), more=()):
    """AMD's wheels: ROCm in packages of its own, for a family of GPUs, or for all with what is for one GPU in `more`."""
    suffix = f"_{family}" if family else ""
    m.torch(site, version, hip=hip, rocm=rocm, archs=archs, bundled=False, major="7", requires=(f"rocm[libraries]=={rocm}", *requires))
    m.put(f"{site}/torch/_rocm_init.py", "def initialize():\n    import rocm_sdk\n    rocm_sdk.initialize_process(\n        preload_shortnames=["
          f"'amd_comgr', 'amdhip64', 'rocprofiler-sdk-roctx', 'miopen', 'hipblaslt', 'rccl'],\n        check_version='{rocm}')\n")
    for name in ("rocm", "rocm-sdk-core", "rocm-sdk-libraries" + suffix.lower().replace("_", "-"), *more):
        m.dist(site, name, rocm)
    for n, so in SONAME["7"].items():
        where = "core" if n in ("libamdhip64", "libhsa-runtime64") else "libraries" + suffix
        m.put(f"{site}/_rocm_sdk_{where}/lib/{n}.so.{so}", "")
    libraries = f"{site}/_rocm_sdk_libraries{suffix}"
    m.sides(f"{libraries}/lib", f"{libraries}/share", archs if tensile is None else tensile, "")


def docker_r9700():
    m = Machine("ubuntu24", "6.17.0-14-generic", "AMD Ryzen 9 9950X 16-Core Processor", 32, 92, ("root", 0, (44, 992))).driver("6.19.4")
    m.container("docker", 0).cpu_node(32).kfd().gpu("r9700", "0000:03:00.0", 128).gpu("r9700", "0000:07:00.0", 129)
    site = m.python("opt/venv", "3.13.7", "/usr/local/bin")
    sdk_torch(m, site, "2.10.0+rocm7.13.0", "7.13.0", "7.13.60910", "gfx1200 gfx1201", requires=("triton==3.6.0+rocm7.13.0",))
    m.dist(site, "triton", "3.6.0+rocm7.13.0")
    m.dist(site, "numpy", "2.3.4")
    return m


def mint_560x_vega8():
    m = Machine("mint22", "6.15.8-061508-generic", "AMD Ryzen 5 2500U with Radeon Vega Mobile Gfx", 8, 14).driver()
    m.cpu_node(8).kfd().gpu("560x", "0000:01:00.0", 128).gpu("vega8", "0000:05:00.0", 129)
    m.system_python("3.12")
    return m


def wsl_rocm60():
    m = wsl("ubuntu22", "Intel(R) Core(TM) i9-14900KS", 32, "5.15.153.1-microsoft-standard-WSL2")
    m.system_python("3.10")
    return trio(m, "home/user/.local/lib/python3.10/site-packages", "2.3.1+rocm6.0", "0.18.1", "2.3.1", "2.3.1", hip="6.0.32830-d62f6a171",
                archs=ARCH["6.0"])


def wsl_conda():
    m = Machine("ubuntu22", "5.15.167.4-microsoft-standard-WSL2", "AMD Ryzen 7 7700 8-Core Processor", 8, 31, ("root", 0, ()), flags=" hypervisor")
    m.node("dev/dxg", 0o666, 0, 0).rocm("6.2.3", TREE)
    site = conda(m, "root/miniconda3/envs/xinf", "3.10.14")
    return trio(m, site, "2.5.1+rocm6.2", "0.20.1", "2.5.1", "3.1.0", hip="6.2.41133-dd7f95766", archs=ARCH["6.1"], drop=("libhsa-runtime64",))


def rocky_mi50():
    m = Machine("rocky9", "5.14.0-427.40.1.el9_4.x86_64", "AMD Ryzen Threadripper 1950X 16-Core Processor", 32, 62, ("atif", 1000, (10, 39, 105)), "fedora")
    m.driver("6.2.4").cpu_node(32).kfd().gpu("mi50", "0000:43:00.0", vram=16368)
    m.rocm("5.7.0", "gfx906 gfx1030")
    site = conda(m, "home/atif/miniconda3/envs/rocm", "3.11.10")
    m.torch(site, "2.3.1+rocm5.7", hip="5.7.31921-d1770ee1b", archs="gfx900 gfx906 gfx908 gfx90a gfx1030 gfx1100", requires=(TRITON.format("2.3.1"),))
    m.dist(site, "pytorch-triton-rocm", "2.3.1")
    m.dist(site, "torchvision", "0.18.1+rocm5.7", "numpy", "torch ==2.3.1")
    m.dist(site, "numpy", "1.26.3")
    return m


def cachyos_cuda():
    m = Machine("cachyos", "6.15.7-3-cachyos", "AMD Ryzen 7 5700X 8-Core Processor", 16, 31, ("ziomek", 1000, (998,)), "arch").driver()
    m.cpu_node(16).kfd(0o666).gpu("6900xt", "0000:0b:00.0", node=NONE)
    site = m.python("home/ziomek/Dokumenty/comfyvenv", "3.13.5")
    m.torch(site, "2.7.1", cuda="12.6", requires=('nvidia-cublas-cu12==12.6.4.1; platform_system == "Linux" and platform_machine == "x86_64"',
                                                  'triton==3.3.1; platform_system == "Linux" and platform_machine == "x86_64"'))
    for name, version in (("nvidia-cublas-cu12", "12.6.4.1"), ("triton", "3.3.1"), ("numpy", "2.3.1")):
        m.dist(site, name, version)
    m.dist(site, "torchvision", "0.22.1", "numpy", "torch==2.7.1")
    m.dist(site, "torchaudio", "2.7.1", "torch==2.7.1")
    return m


def arch_7600xt():
    m = Machine("arch", "6.13.5-arch1-1", "AMD Ryzen 7 7700X 8-Core Processor", 16, 31, ("tel", 1000, (998, 989)), "arch").driver()
    m.cpu_node(16).kfd(0o666).gpu("7600xt", "0000:03:00.0", 128, node=NONE, vbios="113-APM7076OC-100")
    m.gpu("raphael", "0000:12:00.0", 129, node=NONE, vbios="102-RAPHAEL-008")
    m.rocm("6.2.4", TREE, "opt/rocm", link=False)
    site = m.python("home/tel/llm/.venv", "3.12.9", "/usr/bin")
    m.torch(site, "2.6.0+rocm6.2.4", hip="6.2.41134-65d174c3e", archs=ARCH["6.2.4"], requires=(TRITON.format("3.2.0"),))
    m.dist(site, "pytorch-triton-rocm", "3.2.0")
    m.dist(site, "numpy", "2.2.3")
    m.env |= {"LD_LIBRARY_PATH": "/opt/rocm/lib:", "HIP_VISIBLE_DEVICES": "0", "ROCR_VISIBLE_DEVICES": "0", "TRITON_USE_ROCM": "1",
              "HSA_OVERRIDE_GFX_VERSION": "11.0.0"}
    return m


def bazzite_6900xt():
    m = Machine("bazzite", "6.8.7-201.fsync.fc40.x86_64", "AMD Ryzen 7 5800X 8-Core Processor", 16, 31, ("iron", 1000, (10,)), "fedora").driver()
    m.cpu_node(16).kfd(0o666).gpu("6900xt", "0000:0b:00.0", node=NONE)
    m.system_python("3.12")
    for n, so in SONAME["6"].items():
        m.put(f"usr/lib64/{n}.so.{so}.0", "")
        m.links[f"usr/lib64/{n}.so.{so}"] = f"{n}.so.{so}.0"
    site = "home/iron/.local/lib/python3.12/site-packages"
    m.torch(site, "2.3.0", cuda="12.1", requires=('nvidia-cublas-cu12==12.1.3.1; platform_system == "Linux" and platform_machine == "x86_64"',))
    m.dist(site, "nvidia-cublas-cu12", "12.1.3.1")
    for table in (m.files, m.links):  # an ostree system
        for path in [p for p in table if p.startswith("home/")]:
            table["var/" + path] = table.pop(path)
    m.links["home"] = "var/home"
    return m


def arch_9070xt():
    m = Machine("arch", "6.19.12-arch1-1", "AMD Ryzen 5 7600X 6-Core Processor", 12, 31, ("x1", 1000, (998, 983, 989)), "arch").driver()
    m.cpu_node(12).kfd(0o666).gpu("9070xt", "0000:03:00.0", node=NONE)
    m.system_python("3.14")
    return m.rocm("7.2.2", ARCH["image"], "opt/rocm", link=False)


def ubuntu25_9060xt():
    m = Machine("ubuntu25", "6.14.0-36-generic", "AMD Ryzen 5 5600X 6-Core Processor", 12, 31).driver()
    m.cpu_node(12).kfd().gpu("9060xt", "0000:2d:00.0")
    m.system_python("3.13")
    return m.rocm("7.1.0", ARCH["image"])


def radeon_vii_sdk():
    m = Machine("ubuntu24", "6.8.0-57-generic", "AMD Ryzen 9 3950X 16-Core Processor", 32, 62).driver()
    m.cpu_node(32).kfd().gpu("vii", "0000:0c:00.0")
    m.system_python("3.12")
    return m.rocm("6.4.0", "gfx1101 gfx1102 gfx1200 gfx1030 gfx1100 gfx1201 gfx942 gfx90a gfx908")


def distrobox_7800xt():
    m = Machine("ubuntu22", "6.8.1-1-default", "AMD Ryzen 9 7900X 12-Core Processor", 24, 62, ("one", 1000, (27, 44, 992))).driver()
    m.container("podman", 0)
    m.put("run/.containerenv", 'engine="podman-5.0.0"\nname="rocm"\nimage="docker.io/rocm/dev-ubuntu-22.04"\nrootless=1\n')
    m.env |= {"CONTAINER_ID": "rocm", "DISTROBOX_ENTER_PATH": "/usr/bin/distrobox-enter"}
    m.cpu_node(24).kfd(0o666, 65534, 65534).gpu("7800xt", "0000:03:00.0", 128, node=(0o666, 65534, 65534))
    m.gpu("raphael", "0000:16:00.0", 129, node=(0o666, 65534, 65534)).system_python("3.10")
    return m.rocm("6.0.2", TREE)


def ubuntu24_6600xt():
    m = Machine("ubuntu24", "6.8.0-35-generic", "AMD Ryzen 5 5600X 6-Core Processor", 12, 31).driver()
    m.cpu_node(12).kfd().gpu("6600xt", "0000:08:00.0")
    site = m.python("home/user/venv", "3.11.9", "/home/user/.pyenv/versions/3.11.9/bin")
    m.env["HSA_OVERRIDE_GFX_VERSION"] = "10.3.0"
    return trio(m, site, "2.3.1+rocm6.0", "0.18.1", "2.3.1", "2.3.1", hip="6.0.32830-d62f6a171", archs=ARCH["6.0"])


def mi300x_einval():
    m = Machine("ubuntu22", "5.15.0-122-generic", "AMD EPYC 9474F 48-Core Processor", 96, 755, ("root", 0, (44, 992)), cmdline="iommu=pt").driver("6.7.0")
    m.container("docker").cpu_node(96).kfd(0o666, 65534, 65534).gpu("mi300x", "0000:05:00.0", node=(0o666, 65534, 65534))
    m.system_python("3.10")
    return m.rocm("6.2.1", TREE)


def framework16():
    m = Machine("ubuntu24", "6.8.0-48-generic", "AMD Ryzen 9 7940HS w/ Radeon 780M Graphics", 16, 62).driver()
    m.cpu_node(16).kfd().gpu("7600", "0000:03:00.0", 128).gpu("780m", "0000:c4:00.0", 129)
    m.system_python("3.12")
    return m.rocm("6.3.2", TREE)


def strix(kernel, gib, address, rocm, vram=None):
    m = Machine("ubuntu24", kernel, "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 32, gib).driver()
    m.cpu_node(32).kfd().gpu("8060s", address, vram=vram)
    m.system_python("3.12")
    return m.rocm(*rocm)


def strix_carveout():
    return strix("6.14.0-33-generic", 31, "0000:c5:00.0", ("6.4.1", ARCH["6.4"] + " gfx1151"), 98304)


# ---- the third round ----

def video_not_render():
    m = Machine("ubuntu22", "5.15.0-48-generic", "AMD Custom APU 0405", 8, 14, ("illw", 1000, (4, 24, 27, 44))).driver()
    m.cpu_node(8).kfd().gpu("deck", "0000:04:00.0")
    m.system_python("3.10")
    return m.rocm("5.3.0", TREE + " gfx1033")


def relogin_470():
    m = Machine("ubuntu22", "6.2.0-39-generic", "AMD Ryzen 7 1800X Eight-Core Processor", 16, 15, ("rx470", 1000, (4, 24, 27))).driver("6.1.5")
    group = m.files["etc/group"]
    m.put("etc/group", group.replace("video:x:44:", "video:x:44:rx470").replace("render:x:992:", "render:x:992:rx470"))
    m.cpu_node(16).kfd().gpu("rx580", "0000:09:00.0", heap=2)
    m.system_python("3.10")
    return m


def renoir_2022():
    m = Machine("ubuntu22", "5.15.0-41-generic", "AMD Ryzen 7 4800H with Radeon Graphics", 16, 15).driver()
    m.cpu_node(16).kfd().gpu("cezanne", "0000:05:00.0")
    m.system_python("3.10")
    site = "home/user/.local/lib/python3.10/site-packages"
    m.torch(site, "1.12.0+rocm5.1.1", hip="5.1.20531-cacfa990", archs=ARCH["5.1"], miopen="gfx90878 gfx90a68 gfx1030_36")
    m.dist(site, "torchvision", "0.13.0+rocm5.1.1", "numpy", "torch (==1.12.0)")
    m.dist(site, "torchaudio", "0.12.0+rocm5.1.1", "torch (==1.12.0)")
    m.dist(site, "numpy", "1.23.1")
    return m


def pitcairn_370():
    m = Machine("ubuntu20.3", "5.4.0-54-generic", "AMD FX(tm)-8350 Eight-Core Processor", 8, 15, ("igor", 1000, (4, 24, 27, 44, 992))).driver()
    m.cpu_node(8).kfd().gpu("r7370", "0000:01:00.0", kfd=False)
    m.system_python("3.8")
    return m


def strix_617():
    return strix("6.17.0-14-generic", 124, "0000:c2:00.0", ("7.2.0", ARCH["image"] + " gfx1150 gfx1151"))


def docker_5700xt():
    m = Machine("ubuntu24", "6.12.10-200.fc41.x86_64", "AMD Ryzen 5 3600 6-Core Processor", 12, 31, ("app", 1000, (44, 992))).driver().container("docker")
    m.cpu_node(12).kfd().gpu("5700xt", "0000:0c:00.0")
    m.rocm("6.3.1", TREE)
    site = m.python("app/whisperx-env/.venv", "3.12.11", "/usr/local/share/uv/python/cpython-3.12.11-linux-x86_64-gnu/bin", uv="0.7.3")
    m.torch(site, "2.7.1+rocm6.3", hip="6.3.42134-a9a80e791", archs=ARCH["6.4"], requires=(TRITON.format("3.3.1"),))
    m.dist(site, "pytorch-triton-rocm", "3.3.1")
    m.dist(site, "numpy", "2.2.6")
    m.env |= {"HSA_OVERRIDE_GFX_VERSION": "10.3.0", "PYTORCH_ROCM_VERSION": "6.3"}
    return m


def compose_no_kfd():
    m = Machine("ubuntu24", "6.13.4-arch1-1", "AMD Ryzen 9 5950X 16-Core Processor", 32, 62, ("root", 0, (44, 992))).driver().container("docker")
    m.cpu_node(32).gpu("6900xt", "0000:0b:00.0")
    m.system_python("3.12")
    return m


def apptainer_containall():
    m = Machine("ubuntu22", "5.14.21-150400.24.46_12.0.83-cray_shasta_c", "AMD EPYC 7A53 64-Core Processor", 128, 502, ("tom", 12345, (9999,)))
    m.driver("6.0.5").cpu_node(128, 4)
    m.put(".singularity.d/labels.json", "{}\n")
    m.put("singularity", "")
    m.env |= {"APPTAINER_CONTAINER": "/lustre/rocm.sif", "APPTAINER_NAME": "rocm.sif"}
    for i, bus in enumerate((0xc1, 0xc6, 0xc9, 0xce, 0xd1, 0xd6, 0xd9, 0xde)):
        m.gpu("mi250x", f"0000:{bus:02x}:00.0", 128 + i, node=None)
    m.put("dev/null", "")
    m.system_python("3.10")
    return m.rocm("5.7.0", TREE)


def docker_desktop():
    m = wsl("ubuntu20", "AMD Ryzen 9 5900X 12-Core Processor", 24, "5.15.79.1-microsoft-standard-WSL2").container("docker")
    m.env = {k: v for k, v in m.env.items() if not k.startswith("WSL")}
    del m.files["dev/dxg"], m.nodes["dev/dxg"]
    return m


def builtin_amdgpu():
    m = Machine("gentoo", "5.12.13", "AMD Ryzen 9 5900HX with Radeon Graphics", 16, 31, ("mike", 1000, (998, 983, 989)), "arch")
    m.put("proc/modules", "ccm 20480 0 - Live 0x0000000000000000\n")
    m.put("sys/module/amdgpu/parameters/gttsize", "-1\n")  # built in: no initstate
    m.cpu_node(16).kfd().gpu("6700xt", "0000:03:00.0")
    m.system_python("3.9")
    return m


def mi250_conda():
    m = Machine("ubuntu22", "5.15.0-121-generic", "AMD EPYC 7713 64-Core Processor", 128, 503, cmdline="iommu=pt").driver("6.7.0")
    m.cpu_node(128, 2).kfd()
    for i, bus in enumerate((0x32, 0x35, 0x85, 0x88)):
        m.gpu("mi250", f"0000:{bus:02x}:00.0", 128 + i)
    m.rocm("6.1.2", TREE)
    site = conda(m, "home/user/miniforge3/envs/vllm", "3.10.14")
    m.torch(site, "2.6.0.dev20240915+rocm6.1", hip="6.1.40091-a8dbc0c19", archs=ARCH["6.1"], requires=("pytorch-triton-rocm==3.1.0+5fe38ffd73",))
    m.dist(site, "pytorch-triton-rocm", "3.1.0+5fe38ffd73")
    m.dist(site, "numpy", "1.26.4")
    return m


def mi300x_rhel():
    m = Machine("ubuntu22", "5.14.0-503.22.1.el9_5.x86_64", "INTEL(R) XEON(R) PLATINUM 8568Y+ (Intel)", 192, 2015, ("root", 0, (44, 992)),
                cmdline="iommu=pt").driver("6.10.5").container("docker", 0)
    m.cpu_node(192, 2).kfd()
    for i, bus in enumerate((0x1b, 0x3d, 0x4e, 0x5f, 0x9d, 0xbd, 0xcd, 0xdd)):
        m.gpu("mi300x", f"0000:{bus:02x}:00.0", 128 + 8 * i)
    m.system_python("3.12")
    image_torch(m, "usr/local/lib/python3.12/dist-packages", "2.7.0a0+git3a58512", "6.3.42133-1b9c17779", "6.3.1")
    return m


# ---- the fourth round ----

def vllm_gfx1201():
    m = Machine("ubuntu22", "6.14.0-34-generic", "AMD Ryzen Threadripper PRO 7975WX 32-Cores", 64, 251, ("root", 0, (44, 992))).driver("6.16.6")
    m.container("docker", 0).cpu_node(64).kfd().gpu("r9700", "0000:c3:00.0")
    m.system_python("3.12")
    image_torch(m, "usr/local/lib/python3.12/dist-packages", "2.9.0a0+git1c57644", "7.1.25424-4179531dcd", "7.1.0")
    return m


def vllm_mi100():
    m = Machine("ubuntu20", "5.15.0-105-generic", "AMD EPYC 7302 16-Core Processor", 16, 125, ("root", 0, (44,)), cmdline="iommu=pt").driver("6.7.0")
    m.container("docker", 0).cpu_node(16).kfd().gpu("mi100", "0000:83:00.0", flags=1)
    m.rocm("6.1.2", TREE)
    site = conda(m, "opt/conda/envs/py_3.9", "3.9.19")
    m.torch(site, "2.4.0.dev20240612+rocm6.1", hip="6.1.40091-a8dbc0c19", archs=ARCH["6.1"], requires=("pytorch-triton-rocm==3.0.0+21eae954ef",))
    m.dist(site, "pytorch-triton-rocm", "3.0.0+21eae954ef")
    m.dist(site, "numpy", "1.26.4")
    return m


def mi60_and_nvidia():
    m = Machine("ubuntu22", "6.8.0-45-generic", "AMD Ryzen 9 5950X 16-Core Processor", 32, 94).driver("6.8.5")
    m.cpu_node(32).kfd().gpu("mi60", "0000:08:00.0", 128).gpu("mi60", "0000:0b:00.0", 129)
    m.pci("0000:0e:00.0", 0x10de, 0x2204, 0x030000, "nvidia")
    m.put("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07\n")
    m.rocm("6.2.2", TREE)
    site = m.python("home/user/vllm/venv", "3.10.12")
    m.torch(site, "2.6.0.dev20241011+rocm6.2", hip="6.2.41133-dd7f95766", archs=ARCH["6.1"], requires=(TRITON.format("3.1.0+cf34004b8a"),))
    m.dist(site, "pytorch-triton-rocm", "3.1.0+cf34004b8a")
    m.dist(site, "numpy", "1.26.4")
    return m


def omni_mi300x():
    m = Machine("ubuntu22", "6.8.0-134-generic", "INTEL(R) XEON(R) PLATINUM 8568Y+", 20, 235, ("root", 0, (44, 992)), flags=" hypervisor")
    m.driver("6.16.13").container("docker", 0).cpu_node(20).kfd().gpu("mi300x", "0000:83:00.0")
    m.system_python("3.12")
    image_torch(m, "usr/local/lib/python3.12/dist-packages", "2.11.0+gitd0c8b1f", "7.2.53211", "7.2.3")
    return m


def fedora43_evo_x2():
    m = Machine("fedora43", "6.18.9-200.fc43.x86_64", "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 32, 125, ("visor", 1000, (10,)), "fedora").driver()
    m.cpu_node(32).kfd(0o666).gpu("8060s", "0000:c5:00.0", node=NONE)
    m.system_python("3.14")
    for n, so in SONAME["6"].items():
        m.put(f"usr/lib64/{n}.so.{so}.4.43484", "")
        m.links[f"usr/lib64/{n}.so.{so}"] = f"{n}.so.{so}.4.43484"
    return m


def pyg_r9700():
    m = Machine("ubuntu26", "7.0.0-29-generic", "AMD Ryzen 9 9900X 12-Core Processor", 24, 62).driver()
    m.cpu_node(24).kfd().gpu("r9700", "0000:03:00.0", vbios="00158742")
    site = m.python("home/user/venv", "3.14.4")
    sdk_torch(m, site, "2.13.0+rocm7.14", "7.14.0", "7.14.60850", ARCH["7.2"], "", "gfx1201", ("triton==3.7.0",), ("rocm-sdk-device-gfx1201",))
    for name, version in (("triton", "3.7.0"), ("numpy", "2.4.6"), ("torch-geometric", "2.8.0")):
        m.dist(site, name, version)
    m.dist(site, "torchvision", "0.28.0+rocm7.14", "numpy", "torch==2.13.0", "pillow!=8.3.*,>=5.3.0")
    return m


def image_cu130():
    m = Machine("tumbleweed", "6.17.9-300.fc43.x86_64", "AMD Ryzen AI 9 HX 370 w/ Radeon 890M", 24, 62, ("root", 0, (44, 992))).driver()
    m.container("docker").cpu_node(24).kfd(0o666).gpu("890m", "0000:c1:00.0", node=NONE)
    site = m.system_python("3.13")
    m.torch(site, "2.12.0+cu130", cuda="13.0", requires=('triton==3.7.0; platform_system == "Linux"',))
    m.dist(site, "torchvision", "0.27.0+cu130", "numpy", "torch==2.12.0")
    m.dist(site, "triton", "3.7.0")
    m.dist(site, "numpy", "2.3.5")
    return m


def frontier_pinned():
    m = Machine("sles15", "5.14.21-150500.55.49_13.0.57-cray_shasta_c", "AMD EPYC 7A53 64-Core Processor", 128, 503, ("lward", 12345, (9999,)),
                cmdline="iommu=pt").driver("6.8.5")
    m.cpu_node(128, 4).kfd(0o666)
    for i, bus in enumerate((0xc1, 0xc6, 0xc9, 0xce, 0xd1, 0xd6, 0xd9, 0xde)):
        m.gpu("mi250x", f"0000:{bus:02x}:00.0", 128 + i, node=NONE)
    site = m.python("autofs/proj/lward/mof/env", "3.10.14")
    m.env |= {"ROCR_VISIBLE_DEVICES": "1", "CUDA_VISIBLE_DEVICES": "1"}
    return trio(m, site, "2.6.0+rocm6.2.4", "0.21.0", "2.6.0", "3.2.0", hip="6.2.41134-65d174c3e", archs=ARCH["6.2.4"])


def secure_boot():
    m = Machine("ubuntu24.10", "6.11.0-14-generic", "AMD Ryzen 7 7700X 8-Core Processor", 16, 31)
    m.gpu("7900xtx", driver=None, kfd=False)
    m.put("sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", "\x06\0\0\0\x01")
    m.put("usr/src/amdgpu-6.10.5-2109964.24.04/dkms.conf", 'PACKAGE_NAME="amdgpu"\n')
    m.system_python("3.12")
    return m.rocm("6.3.2", TREE)


def manjaro_5700():
    m = Machine("manjaro", "6.12.38-1-MANJARO", "AMD Ryzen 5 3600 6-Core Processor", 12, 31, ("fan", 1000, (998,)), "arch").driver()
    m.cpu_node(12).kfd(0o666).gpu("5700xt", "0000:0a:00.0", node=NONE)
    archs = "gfx900 gfx906 gfx908 gfx90a gfx942 gfx1010 gfx1012 gfx1030 gfx1100 gfx1101 gfx1102 gfx1151 gfx1200 gfx1201"
    m.rocm("6.4.1", archs, "opt/rocm", link=False)
    site = m.system_python("3.13")
    m.torch(site, "2.7.1", hip="6.4.43483", archs=archs, bundled=False, runpath="/opt/rocm/lib")
    m.dist(site, "numpy", "2.3.1")
    m.put("etc/ld.so.conf.d/rocm.conf", "/opt/rocm/lib\n")
    m.env |= {"ROCM_PATH": "/opt/rocm", "HSA_OVERRIDE_GFX_VERSION": "10.1.0"}
    return m


def wsl_713():
    m = wsl("ubuntu26", "AMD Ryzen 7 9700X 8-Core Processor", 16, "6.6.114.1-microsoft-standard-WSL2")
    site = m.python("home/user/project/.venv", "3.14.4")
    sdk_torch(m, site, "2.11.0+rocm7.13.0", "7.13.0", "7.13.99004", "gfx1200 gfx1201", requires=("triton==3.6.0+rocm7.13.0",))
    m.dist(site, "triton", "3.6.0+rocm7.13.0")
    m.dist(site, "torchvision", "0.26.0+rocm7.13.0", "numpy", "torch==2.11.0+rocm7.13.0")
    m.dist(site, "torchaudio", "2.11.0+rocm7.13.0", "torch==2.11.0+rocm7.13.0")
    m.dist(site, "numpy", "2.4.6")
    return m


def nightly_torchaudio():
    m = Machine("ubuntu24", "6.14.0-29-generic", "AMD Ryzen 9 7900X 12-Core Processor", 24, 62).driver()
    m.cpu_node(24).kfd().gpu("9070xt")
    site = m.python("home/user/ComfyUI/.venv", "3.12.3")
    sdk_torch(m, site, "2.7.1+rocm7.9.0rc20250923", "7.9.0rc20250923", "7.1.25380", "gfx1200 gfx1201",
              requires=("pytorch-triton-rocm==3.3.1+rocm7.9.0rc20250923",))
    m.dist(site, "pytorch-triton-rocm", "3.3.1+rocm7.9.0rc20250923")
    m.dist(site, "torchvision", "0.22.1+rocm7.9.0rc20250923", "numpy", "torch==2.7.1+rocm7.9.0rc20250923")
    m.dist(site, "torchaudio", "2.8.0a0+rocm7.0.0rc20250903", "torch")
    m.dist(site, "numpy", "2.2.6")
    return m


def mamba_tritons():
    m = Machine("ubuntu22", "5.15.0-119-generic", "AMD EPYC 7763 64-Core Processor", 128, 503, ("root", 0, (44, 992)), cmdline="iommu=pt").driver("6.8.5")
    m.container("docker", 0).cpu_node(128, 2).kfd()
    for i, bus in enumerate((0x29, 0x2c)):
        m.gpu("mi250", f"0000:{bus:02x}:00.0", 128 + i)
    m.rocm("6.2.2", TREE)
    trio(m, (site := conda(m, "opt/conda/envs/py_3.10", "3.10.15")), "2.5.0+rocm6.2", "0.20.0", "2.5.0", "3.1.0", hip="6.2.41133-dd7f95766",
         archs=ARCH["6.1"])
    m.dist(site, "triton", "3.1.0", "filelock")
    m.dist(site, "mamba-ssm", "2.2.2", "torch", "triton", "einops")
    m.dist(site, "einops", "0.8.0")
    return m


def arch_system_site():
    m = Machine("arch", "6.7.8-arch1-1", "AMD Ryzen 9 5900X 12-Core Processor", 24, 31, ("mato", 1000, (998,)), "arch").driver()
    m.cpu_node(24).kfd(0o666).gpu("6900xt", "0000:0c:00.0", node=NONE)
    archs = "gfx906 gfx908 gfx90a gfx1030 gfx1100 gfx1101 gfx1102"
    m.rocm("6.0.0", archs, "opt/rocm", link=False)
    m.torch(m.system_python("3.11"), "2.2.0", hip="6.0.32830", archs=archs, bundled=False, runpath="/opt/rocm/lib")
    m.dist("usr/lib/python3.11/site-packages", "numpy", "1.26.4")
    m.put("etc/ld.so.conf.d/rocm.conf", "/opt/rocm/lib\n")
    site = m.python("home/mato/stable-diffusion-webui/venv", "3.11.8")
    cfg = "home/mato/stable-diffusion-webui/venv/pyvenv.cfg"
    m.put(cfg, m.files[cfg].replace("packages = false", "packages = true"))
    m.torch(site, "2.2.1", cuda="12.1", requires=('triton==2.2.0; platform_system == "Linux" and platform_machine == "x86_64" and python_version < "3.12"',))
    m.dist(site, "triton", "2.2.0", "filelock")
    return m


def ubuntu24_7600():
    m = Machine("ubuntu24", "6.14.0-35-generic", "AMD Ryzen 7 5700X 8-Core Processor", 16, 31, ("mark", 1000, (4, 24, 27, 44, 992))).driver()
    m.cpu_node(16).kfd().gpu("7600", "0000:2b:00.0")
    site = m.python("home/mark/PycharmProjects/WSN-MA/venv", "3.12.3")
    return trio(m, site, "2.3.1+rocm5.7", "0.18.1", "2.3.1", "2.3.1", hip="5.7.31921-d1770ee1b", archs="gfx900 gfx906 gfx908 gfx90a gfx1030 gfx1100")


def rocm10_no_device():
    m = Machine("ubuntu24", "6.8.0-88-generic", "AMD EPYC 9454 48-Core Processor", 96, 1133, ("root", 0, (44, 992)), cmdline="iommu=pt").driver("6.18.4")
    m.container("docker", 0).cpu_node(96).kfd().gpu("mi300x", "0000:05:00.0")
    site = m.python("app/.venv", "3.12.12", "/usr/local/bin", uv="0.9.18")
    sdk_torch(m, site, "2.13.0+rocm10.0.0", "10.0.0", "7.15.60990", "", "", requires=("triton==3.8.0+rocm10.0.0",))
    lib = f"{site}/torch/lib/libtorch_hip.so"
    m.put(lib, m.files[lib].replace("targets \nbundles 5", "archives 1"))
    m.dist(site, "triton", "3.8.0+rocm10.0.0")
    m.dist(site, "numpy", "2.4.6")
    return m


def rhel_vm_mi300x():
    m = Machine("rhel9", "5.14.0-570.75.1.el9_6.x86_64", "AMD EPYC 9654 96-Core Processor", 32, 251, ("root", 0, ()), "fedora", flags=" hypervisor")
    m.driver("6.16.6").cpu_node(32).kfd()
    m.gpu("mi300x", "0000:06:00.0", driver=None, kfd=False)  # its initialisation failed: nothing is bound to it
    m.system_python("3.9")
    return m.rocm("7.1.1", ARCH["image"])


def docker_other_render():
    m = Machine("ubuntu22", "6.8.0-45-generic", "AMD Ryzen 9 7950X 16-Core Processor", 32, 62, ("developer", 1000, (27, 44, 109))).driver("6.8.5")
    m.container("docker")
    m.put("etc/group", "root:x:0:\nsudo:x:27:developer\nvideo:x:44:developer\nrender:x:109:developer\ndeveloper:x:1000:\n")
    m.cpu_node(32).kfd(0o660, 0, 110).gpu("7900xtx", node=(0o660, 0, 110))
    m.system_python("3.10")
    return m.rocm("6.2.2", TREE)


# ---- the fifth round ----

def vllm_image(m, version, hip, tree, archs=ARCH["image"]):
    """vllm-project/vllm docker/Dockerfile.rocm_base: what extensions are to be built for stays set."""
    image_torch(m, "usr/local/lib/python3.12/dist-packages", version, hip, tree)
    lib = "usr/local/lib/python3.12/dist-packages/torch/lib/libtorch_hip.so"
    m.put(lib, m.files[lib].replace(ARCH["image"], archs))
    m.env["PYTORCH_ROCM_ARCH"] = archs.replace(" ", ";")
    m.system_python("3.12")
    return m


def pypi_torch(m, site, version, cuda, triton):
    m.torch(site, version, cuda=cuda, requires=(f'triton=={triton}; platform_system == "Linux"',))
    m.dist(site, "triton", triton)
    m.dist(site, "numpy", "2.4.6")
    return m


def toss_mi300a():
    m = Machine("ubuntu22", "4.18.0-553.47.1.1toss.t4.x86_64", "AMD Instinct MI300A Accelerator", 192, 502, ("jb", 12345, (9999,)), cmdline="iommu=pt")
    m.driver("6.12.12").container("podman", 0).cpu_node(192, 4).kfd(0o666)
    for i in range(4):
        m.gpu("mi300a", f"000{i}:01:00.0", 128 + 8 * i, node=NONE)
    return vllm_image(m, "2.7.0a0+git295f2ed", "6.4.43482-0f2d60242", "6.4.0")


def sles_mi210():
    m = Machine("sles15", "5.14.21-150500.55.49_13.0.57-cray_shasta_c", "AMD EPYC 7A53 64-Core Processor", 128, 503, ("go", 12345, (9999,)),
                cmdline="iommu=pt").driver("6.7.0")
    m.cpu_node(128, 4).kfd(0o666)
    for i, bus in enumerate((0xc1, 0xc9, 0xd1, 0xd9)):
        m.gpu("mi210", f"0000:{bus:02x}:00.0", 128 + i, node=NONE)
    site = conda(m, "lustre/orion/med116/go/condavllm", "3.11.8")
    m.torch(site, "2.5.0.dev20240821+rocm6.2", hip="6.2.41133-dd7f95766", archs=ARCH["6.1"], requires=("pytorch-triton-rocm==3.0.0+757b6a61e7",))
    m.dist(site, "pytorch-triton-rocm", "3.0.0+757b6a61e7")
    m.dist(site, "numpy", "1.26.4")
    return m.rocm("6.2.0", TREE, link=False)


def z13_nixos():
    m = Machine("nixos", "7.1.0", "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 32, 123, ("exp", 1000, (983, 989)), "arch",
                cmdline="iommu.passthrough=0 ttm.pages_limit=25165824 ttm.page_pool_size=25165824").driver()
    m.cpu_node(32).kfd(0o666).gpu("8060s", "0000:c4:00.0", node=NONE, vram=4096)
    for path, text in m.files.items():
        m.put(path, text.replace(f"{m.gib * GIB // 2}", f"{96 * GIB}"))
    m.put("sys/module/ttm/parameters/pages_limit", "25165824\n")
    for n, so in SONAME["7"].items():
        m.put(f"nix/store/1lq-clr-7.2.3/lib/{n}.so.{so}", "")
    m.env["PATH"] = "/run/wrappers/bin:/run/current-system/sw/bin"
    return m


def vllm_7900xtx():
    m = Machine("ubuntu22", "6.8.0-58-generic", "13th Gen Intel(R) Core(TM) i7-13700K", 24, 62, ("root", 0, (44, 992))).driver()
    m.container("docker", 0).cpu_node(24).kfd().gpu("7900xtx")
    return vllm_image(m, "2.6.0a0+git8d4926e", "6.3.42133-1b9c17779", "6.3.1", "gfx90a gfx942 gfx1100 gfx1101 gfx1200 gfx1201")


def invoke_6600xt():
    m = Machine("arch", "6.8.1-arch1-1", "AMD Ryzen 9 3950X 16-Core Processor", 32, 31, ("ad", 1000, (998, 983, 989)), "arch").driver()
    m.cpu_node(32).kfd(0o666).gpu("6600xt", "0000:0b:00.0", node=NONE)
    m.env |= {"HSA_OVERRIDE_GFX_VERSION": "10.3.0", "SHELL": "/usr/bin/fish"}
    site = m.python("home/ad/invokeai/.venv", "3.11.8")
    m.torch(site, "2.2.1+rocm5.7", hip="5.7.31921-d1770ee1b", archs="gfx900 gfx906 gfx908 gfx90a gfx1030 gfx1100", requires=(TRITON.format("2.2.0"),))
    m.dist(site, "pytorch-triton-rocm", "2.2.0")
    m.dist(site, "numpy", "1.26.4")
    return m


def lxc_r9700():
    m = Machine("ubuntu24", "6.14.8-2-pve", "AMD Ryzen 9 9950X 16-Core Processor", 16, 62, ("root", 0, ())).driver().container("lxc")
    m.put("proc/1/environ", "container=lxc\0TERM=linux\0")
    m.cpu_node(32).kfd().gpu("r9700")
    site = m.python("root/LLaMA-Factory/.venv", "3.12.3")
    m.torch(site, "2.11.0+rocm7.2", hip="7.2.53211-e1a6bc5663", rocm="7.2.1", archs=ARCH["7.2"],
            requires=('triton-rocm==3.6.0; platform_system == "Linux"',))
    m.dist(site, "triton-rocm", "3.6.0")
    m.dist(site, "torchvision", "0.26.0+rocm7.2", "numpy", "torch==2.11.0")
    m.dist(site, "bitsandbytes", "0.49.2", "torch<3,>=2.3", "numpy>=1.17")
    m.dist(site, "numpy", "2.3.5")
    return m.rocm("7.2.3", ARCH["image"])


def comfy_button():
    m = Machine("mint22", "6.14.0-37-generic", "AMD Ryzen 7 5800X3D 8-Core Processor", 16, 62).driver()
    m.cpu_node(16).kfd().gpu("7900xtx", "0000:0c:00.0")
    site = m.python("home/user/comfyui-venv", "3.12.3")
    m.dist(site, "torchvision", "0.28.0", "numpy", "torch==2.13.0")
    m.dist(site, "torchaudio", "2.11.0", "torch")
    return pypi_torch(m, site, "2.13.0", "13.0", "3.7.0").rocm("7.2.4", ARCH["image"])


def bazzite_cpu():
    m = Machine("bazzite", "6.19.11-ogc1.1.fc44.x86_64", "AMD Ryzen 7 7800X3D 8-Core Processor", 16, 31, ("bz", 1000, (10,)), "fedora").driver()
    m.cpu_node(16).kfd(0o666).gpu("9070xt", node=NONE)
    site = m.python("home/bz/.unsloth/studio/.venv", "3.13.11", uv="0.10.2")
    m.torch(site, "2.10.0+cpu")
    m.dist(site, "numpy", "2.4.6")
    return m


def runpod_mi350x():
    m = Machine("ubuntu24", "6.8.0-101-generic", "AMD EPYC 9575F 64-Core Processor", 256, 2267, ("root", 0, (44, 992)), cmdline="iommu=pt")
    m.driver("6.16.13").container("docker", 0).cpu_node(256, 2).kfd().gpu("mi350x", "0000:05:00.0")
    m.system_python("3.12")
    m.rocm("6.4.4", ARCH["image"].replace("gfx950 ", ""))
    return trio(m, "usr/local/lib/python3.12/dist-packages", "2.7.1+rocm6.4", "0.22.1", "2.7.1", "3.3.1", hip="6.4.43482-0f2d60242", archs=ARCH["6.4"])


def vllm_mi300_image():
    m = Machine("ubuntu22", "6.13.2-arch1-1", "AMD Ryzen 9 5900X 12-Core Processor", 24, 31, ("root", 0, (44,))).driver()
    m.container("docker", 0).cpu_node(24).kfd(0o666).gpu("7900xt", "0000:0b:00.0", node=NONE)
    return vllm_image(m, "2.6.0a0+git3a58512", "6.3.42133-1b9c17779", "6.3.1", "gfx90a gfx942")


def no_atomics_7900xt():
    m = Machine("arch", "6.4.12-arch1-1", "11th Gen Intel(R) Core(TM) i5-11400F @ 2.60GHz", 12, 31, ("ma", 1000, (998, 983, 989)), "arch").driver()
    m.cpu_node(12).kfd(0o666).gpu("7900xt", node=NONE, flags=13)  # CRAT_IOLINK_FLAGS: enabled, no atomics of 32 or 64 bits
    site = m.python("home/ma/venv", "3.11.5")
    m.torch(site, "2.1.0.dev20230901+rocm5.6", hip="5.6.31061-8c743ae5d", archs="gfx900 gfx906 gfx908 gfx90a gfx1030 gfx1100",
            requires=("pytorch-triton-rocm==2.1.0+34f8189eae",))
    m.dist(site, "pytorch-triton-rocm", "2.1.0+34f8189eae")
    m.dist(site, "numpy", "1.25.2")
    return m.rocm("5.6.0", TREE, "opt/rocm", link=False)


def vfio_mi50():
    m = Machine("debian12", "6.1.0-17-amd64", "AMD EPYC 7302P 16-Core Processor", 32, 125, cmdline="amd_iommu=on iommu=pt vfio-pci.ids=1002:66a1")
    m.put("proc/modules", "vfio_pci 16384 0 - Live 0x0000000000000000\nast 57344 0 - Live 0x0000000000000000\n")
    m.gpu("mi50", "0000:44:00.0", kfd=False, driver="vfio-pci")
    m.pci("0000:c2:00.0", 0x1a03, 0x2000, 0x030000, "ast")
    m.system_python("3.11")
    return m


def wsl_9070xt():
    m = wsl("ubuntu24", "AMD Ryzen 7 5800X3D 8-Core Processor", 16, "5.15.167.4-microsoft-standard-WSL2")
    m.system_python("3.12")
    return m.rocm("6.3.4", TREE)


def podman_keep_groups():
    m = Machine("ubuntu22", "6.18.7-061807-generic", "AMD Ryzen Threadripper PRO 3955WX 16-Cores", 32, 125, ("root", 0, ())).driver()
    m.container("podman", 0).cpu_node(32).kfd(0o660, 65534, 65534).gpu("7900xtx", "0000:43:00.0", node=(0o660, 65534, 65534))
    m.env["HSA_NO_SCRATCH_RECLAIM"] = "1"
    return vllm_image(m, "2.9.0a0+git1c57644", "7.0.51831-a3e329ad8", "7.0.0")


def fedora43_mes():
    m = Machine("fedora43", "6.17.12-300.fc43.x86_64", "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 32, 125, ("cr", 1000, (10,)), "fedora").driver()
    m.cpu_node(32).kfd(0o666).gpu("8060s", "0000:c1:00.0", node=NONE)
    for path in [p for p in m.files if p.endswith("mes_fw_version")]:
        m.put(path, "0x00000083\n")
    m.system_python("3.14")
    return m


def arch4edu_roctx():
    m = Machine("arch", "6.0.2-arch1-1", "AMD Ryzen 7 5800X 8-Core Processor", 16, 31, ("al", 1000, (998,)), "arch").driver()
    m.cpu_node(16).kfd(0o666).gpu("6900xt", "0000:0b:00.0", node=NONE)
    m.rocm("5.3.0", "gfx803 " + TREE, "opt/rocm", link=False).put("opt/rocm/lib/libroctx64.so.4", "")
    site = m.system_python("3.10")
    m.torch(site, "1.12.1", hip="5.2.21153", archs="gfx803 " + ARCH["5.2"], bundled=False, major="5", runpath="/opt/rocm/lib")
    lib = f"{site}/torch/lib/libtorch_hip.so"
    m.put(lib, m.files[lib].replace("needed libtorch_cpu.so", "needed libroctx64.so.1\nneeded libtorch_cpu.so"))
    m.dist(site, "numpy", "1.23.4")
    m.put("etc/ld.so.conf.d/rocm.conf", "/opt/rocm/lib\n")
    return m


def ollama_7800x3d():
    m = Machine("arch", "6.7.0-arch3-1", "AMD Ryzen 7 7800X3D 8-Core Processor", 16, 31, ("ga", 1000, (998, 983, 989)), "arch").driver()
    m.cpu_node(16).kfd(0o666).gpu("7900xtx", "0000:03:00.0", 128, node=NONE).gpu("raphael", "0000:0f:00.0", 129, node=NONE)
    m.system_python("3.11")
    return m.rocm("5.7.1", TREE, "opt/rocm", link=False)


def vii_and_6600():
    m = Machine("leap15", "5.14.21-150500.55.52-default", "AMD Ryzen 7 2700 Eight-Core Processor", 16, 31, cmdline="iommu=pt").driver()
    m.cpu_node(16).kfd().gpu("vii", "0000:0b:00.0", 128).gpu("6600xt", "0000:0e:00.0", 129)
    m.env["HSA_OVERRIDE_GFX_VERSION"] = "10.3.0"
    m.system_python("3.6")
    return m.rocm("5.6.0", TREE)


# ---- the sixth round ----

def lines_after(m, end, *texts):
    """Replaces in all files whose path ends so."""
    for path in [p for p in m.files if p.endswith(end)]:
        text = m.files[path]
        for old, new in texts:
            text = text.replace(old, new)
        m.put(path, text)


def iommu(m, *gpus):
    """The processor's IOMMU in use, each card a group of its own, which the kernel translates for lazily (since 5.15: "DMA-FQ")."""
    unit = "sys/devices/pci0000:00/0000:00:00.2/iommu/ivhd0"
    m.put(f"{unit}/amd-iommu/features", "58f77ef22294ade\n")
    m.links["sys/class/iommu/ivhd0"] = "../../devices/pci0000:00/0000:00:00.2/iommu/ivhd0"
    for number, address in enumerate(gpus, 21):
        group = f"sys/kernel/iommu_groups/{number}"
        place = os.path.dirname(next(p for p in m.files if p.endswith(f"/{address}/vendor")))
        m.put(f"{group}/type", "DMA-FQ\n")
        m.links[f"{group}/devices/{address}"] = "../../../../" + place[4:]
        m.links[f"{place}/iommu_group"] = "../" * place.count("/") + group[4:]


def mi210_left_override():
    m = Machine("ubuntu24", "6.8.0-71-generic", "AMD EPYC 7302 16-Core Processor", 64, 251, cmdline="iommu=pt").driver("6.12.12")
    m.cpu_node(64, 2).kfd().gpu("mi210", "0000:83:00.0", vbios="113-D67301-063")
    m.env["HSA_OVERRIDE_GFX_VERSION"] = "10.3.0"
    m.put("home/user/.bashrc", "# ~/.bashrc\nexport HSA_OVERRIDE_GFX_VERSION=10.3.0\n")
    m.system_python("3.12")
    return m.rocm("6.4.3", "gfx1101 gfx1102 gfx1200 gfx1030 gfx1100 gfx1201 gfx942 gfx90a gfx908")


def strix_gtt_size():
    m = Machine("ubuntu24", "6.14.0-1014-oem", "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 32, 124, ("tiiny", 1000, (4, 24, 27, 44, 992)),
                cmdline="quiet splash amdgpu.gtt_size=122880 vt.handoff=7").driver("6.14.14")
    m.cpu_node(32).kfd().gpu("8060s", "0000:c6:00.0", vbios="113-STRXLGEN-001")
    m.put("proc/modules", m.files["proc/modules"] + "amdttm 131072 2 amdgpu,amddrm_ttm_helper, Live 0x0000000000000000 (OE)\n"
          "amdkcl 49152 4 amd_sched,amdttm,amddrm_exec,amdgpu, Live 0x0000000000000000 (OE)\n")
    m.put("sys/module/amdttm/parameters/pages_limit", m.files["sys/module/ttm/parameters/pages_limit"])
    m.put("sys/module/amdgpu/parameters/gttsize", "122880\n")
    m.put("etc/modprobe.d/amdgpu.conf", "options amdgpu gttsize=122880\n")
    lines_after(m, "mem_info_gtt_total", (str(62 * GIB), str(120 * GIB)))
    m.system_python("3.12")
    return m.rocm("7.0.2", ARCH["image"] + " gfx1150 gfx1151")


def podman_one_of_three():
    m = Machine("ubuntu22", "6.7.12+bpo-amd64", "AMD Ryzen Threadripper 2950X 16-Core Processor", 32, 62, ("root", 0, (65534,))).driver()
    m.container("podman").put("run/.containerenv", 'engine="podman-4.3.1"\nrootless=1\n')
    m.cpu_node(32).kfd(0o660, 65534, 65534).gpu("w7900", "0000:0b:00.0", 128, node=(0o660, 65534, 65534))
    m.gpu("7800xt", "0000:43:00.0", 129, node=None).gpu("7600", "0000:46:00.0", 130, node=None)
    m.system_python("3.10")
    return m.rocm("6.1.0", TREE)


def pod_nobody():
    m = Machine("ubuntu20", "6.1.0-0.deb11.6-amd64", "Intel(R) Xeon(R) Silver 4215 CPU @ 2.50GHz", 32, 125, ("nobody", 65534, ())).driver()
    m.container("kubernetes", 0)
    m.put("etc/group", "root:x:0:\nvideo:x:44:\nnogroup:x:65534:\n")
    m.put("etc/passwd", "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n")
    m.cpu_node(32, 2).kfd(0o660, 0, 106).gpu("wx9100", "0000:3d:00.0", heap=2, node=(0o660, 0, 106))
    m.system_python("3.9")
    m.env["HOME"] = "/nonexistent"
    del m.files["home/nobody/.bashrc"]
    m.put(".disks", m.files[".disks"].replace("/home/nobody", "/nonexistent"))
    return m.rocm("5.4.2", "gfx900 gfx906 gfx908 gfx90a gfx1030")


def miner_x1():
    m = Machine("ubuntu22", "6.5.0-21-generic", "Intel(R) Core(TM) i7-7700T CPU @ 2.90GHz", 8, 15).driver("6.3.6")
    m.cpu_node(8).kfd().gpu("7900xt", flags=13)  # a slot of the chipset: no atomics of 32 or 64 bits
    fast, slow = "16.0 GT/s PCIe\n", "2.5 GT/s PCIe\n"
    port = "sys/devices/pci0000:00/0000:00:01.1"
    for path, widest, fastest in ((port, "1\n", "8.0 GT/s PCIe\n"), (f"{port}/0000:01:00.0", "16\n", fast)):
        for name, text in (("current_link_width", "1\n"), ("max_link_width", widest), ("current_link_speed", slow), ("max_link_speed", fastest)):
            m.put(f"{path}/{name}", text)
    lines_after(m, "nodes/1/io_links/0/properties", ("min_bandwidth 312\nmax_bandwidth 31508", "min_bandwidth 250\nmax_bandwidth 250"))
    m.system_python("3.10")
    return m.rocm("6.0.0", TREE)


def wsl_711():
    m = wsl("ubuntu24", "AMD Ryzen 9 7900X 12-Core Processor", 24, "6.6.87.2-microsoft-standard-WSL2")
    m.rocm("7.1.1", ARCH["image"])
    site = m.python("home/user/venv", "3.12.3")
    m.torch(site, "2.6.0+rocm6.4.2.git76481f7c", hip="6.4.43484-123eb5128", archs=ARCH["amd6.4"],
            requires=(TRITON.format("3.2.0+rocm6.4.2.git7e948ebf"),))
    m.dist(site, "pytorch-triton-rocm", "3.2.0+rocm6.4.2.git7e948ebf")
    m.dist(site, "torchvision", "0.21.0+rocm6.4.2.git4040d51f", "numpy", "torch", "pillow!=8.3.*,>=5.3.0")
    m.dist(site, "torchaudio", "2.6.0+rocm6.4.2.gitd8831425", "torch")
    m.dist(site, "numpy", "1.26.4")
    return m


def vega56_rocprofiler():
    m = Machine("mint22", "6.8.0-106-generic", "AMD Ryzen 7 3700X 8-Core Processor", 16, 31).driver()
    m.cpu_node(16).kfd().gpu("vega56", "0000:0b:00.0", heap=2)
    site = m.python("media/HDD/programs/AI/ComfyUI/venv-linux", "3.12.3")
    m.torch(site, "2.12.0.dev20260324+rocm7.2", hip="7.2.53211-e1a6bc5663", rocm="7.2.0", archs=ARCH["7.2"],
            rocblas="gfx908 gfx1030 gfx90a gfx1100 gfx1201 gfx1101 gfx1151 gfx942 gfx950 gfx1200 gfx1150 gfx1102")
    lines_after(m, "torch/lib/libtorch_cpu.so", ("needed libm.so.6\n", "needed librocprofiler-sdk.so.1\nneeded libm.so.6\n"))
    m.dist(site, "numpy", "2.4.3")
    return m


def strix_no_preload():
    m = Machine("fedora42", "6.16.4-200.fc42.x86_64", "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 32, 125, ("dt", 1000, (10,)), "fedora").driver()
    m.cpu_node(32).kfd(0o666).gpu("8060s", "0000:c3:00.0", node=NONE, vbios="113-STRXLGEN-001")
    site = m.python("home/dt/.venv-3.12-pytorch.28-fa-pccr10001", "3.12.11", "/home/dt/.pyenv/versions/3.12.11/bin")
    m.torch(site, "2.8.0a0+gitba56102", hip="7.0.25311", archs="gfx1151", bundled=False, major="7")
    rocm = "7.0.0rc20250905"
    for name in ("rocm", "rocm-sdk-core", "rocm-sdk-devel", "rocm-sdk-libraries-gfx1151"):
        m.dist(site, name, rocm)
    for n, so in SONAME["7"].items():
        where = "core" if n in ("libamdhip64", "libhsa-runtime64") else "libraries_gfx1151"
        m.put(f"{site}/_rocm_sdk_{where}/lib/{n}.so.{so}", "")
    libraries = f"{site}/_rocm_sdk_libraries_gfx1151"
    m.sides(f"{libraries}/lib", f"{libraries}/share", "gfx1151", "")
    m.put(f"{libraries}/lib/hipblaslt/library/TensileLibrary_lazy_gfx1151.dat", "")
    m.dist(site, "torchvision", "0.23.0a0+824e8c8", "numpy", "torch", "pillow!=8.3.*,>=5.3.0")
    m.dist(site, "torchaudio", "2.8.0a0+6e1c7fe", "torch")
    m.dist(site, "flash-attn", "2.0.4", "torch", "einops")
    m.dist(site, "einops", "0.8.1")
    m.dist(site, "numpy", "2.3.2")
    return m


def pyg_rocm7():
    m = Machine("ubuntu24", "6.14.0-1018-oem", "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 32, 125, ("aelindgard", 1000, (4, 24, 27, 44, 992))).driver()
    m.cpu_node(32).kfd().gpu("8060s", "0000:c5:00.0", vbios="113-STRXLGEN-001")
    m.rocm("7.1.1", ARCH["image"] + " gfx1150 gfx1151")
    for gpu in ("gfx1150", "gfx1151"):
        m.put(f"opt/rocm-7.1.1/lib/hipblaslt/library/TensileLibrary_lazy_{gpu}.dat", "")
    m.put("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n")
    m.put("etc/ld.so.conf.d/10-rocm-opencl.conf", "/opt/rocm/lib\n")
    site = m.python("home/aelindgard/source/ai_ml_projects/.venv", "3.12.3")
    m.torch(site, "2.9.1+rocm7.1.1.lw.git351ff442", hip="7.1.52802-26aae437f6", bundled=False, major="7", runpath="$ORIGIN:/opt/rocm/lib",
            archs="gfx942 gfx950 gfx1030 gfx1100 gfx1101 gfx1102 gfx1150 gfx1151 gfx1200 gfx1201",
            requires=('triton==3.5.1+rocm7.1.1.gita272dfa8; platform_system == "Linux"',))
    for name, version, *requires in (
            ("triton", "3.5.1+rocm7.1.1.gita272dfa8"), ("numpy", "2.3.5"), ("torchvision", "0.24.0+rocm7.1.1.gitb919bd0c", "numpy", "torch"),
            ("torchaudio", "2.9.0+rocm7.1.1.gite3c6ee2b", "torch"), ("torch-geometric", "2.7.0", "numpy"), ("torch-cluster", "1.6.3", "scipy"),
            ("torch-scatter", "2.1.2"), ("torch-sparse", "0.6.18", "scipy"), ("torch-spline-conv", "1.2.2"), ("scipy", "1.17.0", "numpy")):
        m.dist(site, name, version, *requires)
    for name, parts in (("cluster", "version knn fps graclus nearest radius rw"), ("scatter", "version scatter segment_coo segment_csr"),
                        ("sparse", "version convert diag spmm"), ("spline_conv", "version basis weighting")):
        for part in parts.split():
            m.put(f"{site}/torch_{name}/_{part}_cuda.so", "rocsmith-library 1\nneeded libc10.so\nneeded libtorch.so\nneeded libtorch_cpu.so\n"
                  "needed libtorch_python.so\nneeded libamdhip64.so.6\nneeded libc10_hip.so\nneeded libtorch_hip.so\n")
    return m


def mi100_pair():
    m = Machine("ubuntu22", "5.15.0-101-generic", "AMD Ryzen 9 5950X 16-Core Processor", 32, 62, cmdline="").driver("6.3.6")
    m.cpu_node(32).kfd().gpu("mi100", "0000:03:00.0", 128).gpu("mi100", "0000:2f:00.0", 129)
    iommu(m, "0000:03:00.0", "0000:2f:00.0")
    m.system_python("3.10")
    return m.rocm("6.0.2", TREE)


def setonix_driver():
    m = Machine("ubuntu20", "5.14.21-150400.24.46_12.0.72-cray_shasta_c", "AMD EPYC 7A53 64-Core Processor", 128, 251, ("cdp", 12345, (9999,)),
                cmdline="iommu=pt").driver("5.16.9.22.20")
    m.put(".singularity.d/labels.json", "{}\n")
    m.put("singularity", "")
    m.env |= {"SINGULARITY_CONTAINER": "/software/tensorflow-rocm6.0.sif", "SINGULARITY_NAME": "tensorflow-rocm6.0.sif"}
    m.cpu_node(128, 4).kfd(0o666)
    for i, bus in enumerate((0xc1, 0xc6, 0xc9, 0xce, 0xd1, 0xd6, 0xd9, 0xde)):
        m.gpu("mi250x", f"0000:{bus:02x}:00.0", 128 + i, node=NONE)
    m.system_python("3.9")
    return m.rocm("6.0.0", TREE)


def hidden_890m():
    m = Machine("ubuntu24", "6.17.0-20-generic", "AMD Ryzen AI 9 HX 370 w/ Radeon 890M", 24, 30, ("galuszkak", 1000, (4, 24, 27, 44, 992))).driver()
    m.put("proc/modules", m.files["proc/modules"] + "nvidia 104071168 37 nvidia_uvm,nvidia_modeset, Live 0x0000000000000000 (OE)\n")
    m.cpu_node(24).kfd().gpu("890m", "0000:65:00.0", vbios="113-STRIXEMU-001")
    m.pci("0000:64:00.0", 0x10de, 0x2d18, 0x030000, "nvidia")
    m.put("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.126.09\n")
    m.node("dev/nvidia0", 0o666, 0, 0).node("dev/nvidiactl", 0o666, 0, 0)
    m.env["CUDA_VISIBLE_DEVICES"] = "-1"
    m.system_python("3.12")
    return m


def latest_image():
    m = Machine("ubuntu24", "6.8.0-106-generic", "AMD EPYC 9654 96-Core Processor", 384, 2267, ("root", 0, (44, 992)), cmdline="iommu=pt")
    m.driver("6.16.13").container("docker", 0).cpu_node(384, 2).kfd().gpu("mi300x", "0000:05:00.0", vbios="113-M3000100-103")
    m.rocm("7.2.1", ARCH["image"])
    m.put("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n")
    m.put("etc/ld.so.conf.d/10-rocm-opencl.conf", "/opt/rocm/lib\n")
    site = m.python("opt/venv", "3.12.3")
    m.torch(site, "2.9.1+rocm7.2.1.lw.gitff65f5bc", hip="7.2.53211-e1a6bc5663", bundled=False, major="7", runpath="$ORIGIN:/opt/rocm/lib",
            archs="gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201",
            requires=('triton==3.5.1+rocm7.2.1.gita272dfa8; platform_system == "Linux"',))
    m.dist(site, "triton", "3.5.1+rocm7.2.1.gita272dfa8")
    torchvision_for_cuda(m, site, "0.24.1", "0.24.1", "d801a34ef48d5ae4ce3ec4e1a5d2bb7ba5d4b8b5", "numpy", "torch==2.9.1", "pillow!=8.3.*,>=5.3.0")
    m.dist(site, "numpy", "2.3.5")
    m.dist(site, "pillow", "12.1.0")
    return m


def dkms_760m():
    kernel, dkms = "6.8.0-49-generic", "6.10.5-2084815.22.04"
    m = Machine("ubuntu22", kernel, "AMD Ryzen 5 7640HS w/ Radeon 760M Graphics", 12, 27, ("faco", 1000, (4, 24, 27, 44, 992)))
    m.put("proc/modules", "kvm_amd 208896 0 - Live 0x0000000000000000\nccp 155648 1 kvm_amd, Live 0x0000000000000000\n")
    m.gpu("780m", "0000:c4:00.0", driver=None, kfd=False)
    m.put(f"usr/src/amdgpu-{dkms}/dkms.conf", f'PACKAGE_NAME="amdgpu"\nPACKAGE_VERSION="{dkms}"\nAUTOINSTALL="yes"\n')
    m.links[f"var/lib/dkms/amdgpu/{dkms}/source"] = f"/usr/src/amdgpu-{dkms}"
    m.put(f"var/lib/dkms/amdgpu/{dkms}/build/make.log", f"DKMS make.log for amdgpu-{dkms} for kernel {kernel} (x86_64)\n"
          "Mon Dec 16 00:00:11 2024\nmake: Entering directory '/usr/src/linux-headers-6.8.0-49-generic'\n"
          "include/kcl/kcl_drm_dp_cec.h:67:53: error: passing argument 2 of 'drm_dp_cec_register_connector' from incompatible pointer type "
          "[-Werror=incompatible-pointer-types]\nmake: *** [Makefile:240: __sub-make] Error 2\n")
    m.system_python("3.10")
    return m.rocm("6.3.0", TREE)


def cupy_mi100():
    m = Machine("ubuntu24", "5.19.0-46-generic", "AMD EPYC 7713 64-Core Processor", 128, 503, ("root", 0, (44, 992)), cmdline="iommu=pt").driver()
    m.container("docker").cpu_node(128).kfd().gpu("mi100", "0000:43:00.0")
    m.rocm("6.3.3", TREE)
    site = m.python("root/venv", "3.12.3")
    m.torch(site, "2.7.0+rocm6.3", hip="6.3.42131-fa1d09cbd", archs=ARCH["6.4"], requires=(TRITON.format("3.3.0"),))
    m.dist(site, "pytorch-triton-rocm", "3.3.0")
    m.dist(site, "numpy", "2.1.2")
    return m


def xformers_6950xt():
    m = Machine("ubuntu22", "6.5.0-35-generic", "AMD Ryzen 9 7900X 12-Core Processor", 24, 62).driver("6.3.6")
    m.cpu_node(24).kfd().gpu("6950xt", "0000:03:00.0")
    m.rocm("6.0.2", TREE)
    site = m.python("home/user/xformers/venv", "3.10.12")
    m.torch(site, "2.3.0+rocm6.0", hip="6.0.32830-d62f6a171", archs=ARCH["6.0"], requires=(TRITON.format("2.3.0"),))
    m.dist(site, "pytorch-triton-rocm", "2.3.0")
    m.dist(site, "torchvision", "0.18.0+rocm6.0", "numpy", "torch ==2.3.0", "pillow !=8.3.*,>=5.3.0")
    m.dist(site, "torchaudio", "2.3.0+rocm6.0", "torch ==2.3.0")
    m.dist(site, "numpy", "1.26.4")
    m.dist(site, "pillow", "10.3.0")
    return m


def playbook_r9700():
    m = Machine("ubuntu24", "6.17.0-19-generic", "AMD Ryzen Threadripper PRO 7965WX 24-Cores", 48, 125).driver()
    m.cpu_node(48).kfd().gpu("r9700", "0000:03:00.0")
    m.rocm("7.2.0", ARCH["image"])
    site = m.python("home/user/llm/.venv", "3.12.3")
    m.torch(site, "2.9.1+rocm7.2.0.git7e1940d4", hip="7.2.26015-fc0010cf6a",
            archs="gfx942 gfx950 gfx1030 gfx1100 gfx1101 gfx1102 gfx1150 gfx1151 gfx1200 gfx1201",
            requires=('triton==3.5.1+rocm7.2.0.gita272dfa8; platform_system == "Linux"',))
    m.dist(site, "triton", "3.5.1+rocm7.2.0.gita272dfa8")
    m.dist(site, "torchvision", "0.24.0+rocm7.2.0.gitb919bd0c", "numpy", "torch", "pillow!=8.3.*,>=5.3.0")
    m.dist(site, "torchaudio", "2.9.0+rocm7.2.0.gite3c6ee2b", "torch")
    m.dist(site, "numpy", "2.3.5")
    m.dist(site, "pillow", "12.1.0")
    return m


def pod_mi210():
    m = Machine("ubuntu20", "5.15.0-100-generic", "AMD EPYC 7313 16-Core Processor", 64, 251, ("root", 0, ()), cmdline="iommu=pt").driver("6.8.5")
    m.container("kubernetes", 0).cpu_node(64, 2).kfd(0o660, 0, 109).gpu("mi210", "0000:43:00.0", node=(0o660, 0, 109))
    m.rocm("6.2.0", TREE)
    site = conda(m, "opt/conda/envs/py_3.9", "3.9.19")
    m.torch(site, "2.6.0.dev20241113+rocm6.2", hip="6.2.41133-dd7f95766", archs=ARCH["6.1"], requires=(TRITON.format("3.1.0+cf34004b8a"),))
    m.dist(site, "pytorch-triton-rocm", "3.1.0+cf34004b8a")
    m.dist(site, "numpy", "1.26.4")
    return m


# ---- the seventh round ----

def torchvision_for_cuda(m, site, version, told, commit, *requires):
    """That of the Python index; told: its own version."""
    m.dist(site, "torchvision", version, *requires)
    m.put(f"{site}/torchvision/version.py", f"__version__ = '{told}'\ngit_version = '{commit}'\n"
          "from torchvision.extension import _check_cuda_version\nif _check_cuda_version() > 0:\n    cuda = _check_cuda_version()\n")
    m.put(f"{site}/torchvision/_C.so", "rocsmith-library 1\nneeded libc10.so\nneeded libtorch.so\nneeded libtorch_cpu.so\n"
          "needed libcudart.7ec1eba6.so.12\nneeded libc10_cuda.so\nneeded libtorch_cuda.so\n")


def numpy(m, site, version):
    """Another NumPy than the one that trio() has."""
    for path in [p for p in m.files if p.startswith(f"{site}/numpy-")]:
        del m.files[path]
    m.dist(site, "numpy", version)


def own_port(m, bridge, port, width):
    """A card behind a port of its own that has that many lanes only; bridge is the card's uppermost one."""
    old, new = "sys/devices/pci0000:00/0000:00:01.1", f"sys/devices/pci0000:00/{port}"
    src, dst = f"{old[4:]}/{bridge}", f"{new[4:]}/{bridge}"
    m.files = {p.replace(src, dst): t for p, t in m.files.items()}
    m.links = {p.replace(src, dst): t.replace(src, dst) for p, t in m.links.items()}
    for path in [p for p in m.files if p.startswith(old + "/") and p.count("/") == old.count("/") + 1]:
        m.put(new + path[len(old):], m.files[path].replace("0000:00:01.1", port))
    m.links[f"{new}/driver"] = m.links[f"{old}/driver"]
    m.links[f"sys/bus/pci/devices/{port}"] = f"../../../{new[4:]}"
    for path, name in ((new, "current_link_width"), (new, "max_link_width"), (f"{new}/{bridge}", "current_link_width")):
        m.put(f"{path}/{name}", f"{width}\n")


def on_root_bus(m, address, vendor, device, driver, minor):
    """A display of another maker, of the processor or of a virtual machine, with its render node."""
    place = f"sys/devices/pci{address[:7]}/{address}"
    for name, text in (("vendor", f"0x{vendor:04x}"), ("device", f"0x{device:04x}"), ("class", "0x030000"), ("numa_node", "-1")):
        m.put(f"{place}/{name}", text + "\n")
    m.put(f"{place}/uevent", f"DRIVER={driver}\nPCI_CLASS=30000\nPCI_ID={vendor:04X}:{device:04X}\nPCI_SLOT_NAME={address}\n")
    m.links[f"{place}/driver"] = "../" * place.count("/") + f"bus/pci/drivers/{driver}"
    m.links[f"sys/bus/pci/devices/{address}"] = f"../../../{place[4:]}"
    m.put(f"{place}/drm/renderD{minor}/dev", f"226:{minor}\n")
    m.put(f"{place}/drm/renderD{minor}/uevent", f"MAJOR=226\nMINOR={minor}\nDEVNAME=dri/renderD{minor}\nDEVTYPE=drm_minor\n")
    m.links[f"{place}/drm/renderD{minor}/device"] = f"../../../{address}"
    m.links[f"sys/class/drm/renderD{minor}"] = f"../../{place[4:]}/drm/renderD{minor}"


OLD_MIOPEN = "gfx900_56 gfx900_64 gfx906_60 gfx906_64 gfx90878 gfx90a68 gfx90a6e gfx1030_36"  # before ROCm 6.0
OLD_ARCH = "gfx900 gfx906 gfx908 gfx90a gfx1030 gfx1100"  # the index's wheels for ROCm 5.6 and 5.7


def mint_6600m():
    m = Machine("mint21.2", "5.15.0-89-generic", "Intel(R) Xeon(R) CPU E5-2670 v3 @ 2.30GHz", 24, 31, ("eduarte", 1000, (4, 24, 27))).driver("6.2.4")
    m.cpu_node(24).kfd().gpu("6600m", "0000:05:00.0")
    m.rocm("5.7.1", TREE)
    m.system_python("3.10")
    site = m.python("home/eduarte/Fooocus/fooocus_env", "3.10.12")
    trio(m, site, "2.1.1+rocm5.6", "0.16.1", "2.1.1", "2.1.0", hip="5.6.31061-8c743ae5d", archs=OLD_ARCH, miopen=OLD_MIOPEN)
    numpy(m, site, "1.23.5")
    m.dist(site, "pillow", "9.2.0")
    return m


def egpu_override():
    m = Machine("fedora44", "6.18.0-0.rc7.58.fc44.x86_64", "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 32, 125, ("sodd", 1000, (10,)), "fedora").driver()
    m.cpu_node(32).kfd(0o666).gpu("r9700", "0000:64:00.0", 129, node=NONE)
    own_port(m, "0000:62:00.0", "0000:00:02.4", 4)
    m.gpu("8060s", "0000:c3:00.0", 128, node=NONE, vbios="113-STRXLGEN-001")
    m.env["HSA_OVERRIDE_GFX_VERSION"] = "12.0.1"
    m.put("home/sodd/.bashrc", "# .bashrc\nif [ -f /etc/bashrc ]; then\n    . /etc/bashrc\nfi\nexport HSA_OVERRIDE_GFX_VERSION=12.0.1\n")
    m.system_python("3.14")
    for n, so in SONAME["7"].items():
        m.put(f"usr/lib64/{n}.so.{so}.0", "")
        m.links[f"usr/lib64/{n}.so.{so}"] = f"{n}.so.{so}.0"
    m.sides("usr/lib64", "usr/share", "gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1200 gfx1201", "")
    return m


def mi100_am4():
    m = Machine("ubuntu22", "5.15.0-97-generic", "AMD Ryzen 9 3900X 12-Core Processor", 24, 62, cmdline="").driver("6.3.6")
    m.cpu_node(24).kfd()
    m.gpu("mi100", "0000:0b:00.0", driver=None, kfd=False)  # "probe failed with error -12": nothing is bound to it
    m.system_python("3.10")
    return m.rocm("6.0.2", TREE)


def debian13_r9700_pair():
    m = Machine("debian13", "6.12.100+deb13-amd64", "AMD Ryzen 9 5900X 12-Core Processor", 24, 62).driver()
    m.cpu_node(24).kfd().gpu("r9700", "0000:0b:00.0", 128).gpu("r9700", "0000:0e:00.0", 129)
    m.env["PYTORCH_HIP_ALLOC_CONF"] = "expandable_segments:True"
    m.system_python("3.13")
    site = m.python("home/user/venv", "3.13.5")
    m.torch(site, "2.14.0.dev20260802+rocm7.2", hip="7.2.53211-e1a6bc5663", rocm="7.2.4", archs=ARCH["7.2"],
            requires=('triton-rocm==3.8.0+git5e0b5d6a; platform_system == "Linux"',))
    m.dist(site, "triton-rocm", "3.8.0+git5e0b5d6a")
    m.dist(site, "numpy", "2.4.6")
    return m


def docker_venv(m, python):
    """/opt/venv of InvokeAI's image, made by uv."""
    home = f"/root/.local/share/uv/python/cpython-{python}-linux-x86_64-gnu/bin"
    m.put(f"{home[1:]}/python{'.'.join(python.split('.')[:2])}", "")
    return m.python("opt/venv", python, home, uv="0.6.9")


def invoke_vii():
    m = Machine("ubuntu24", "6.8.0-58-generic", "AMD Ryzen 7 3700X 8-Core Processor", 16, 31, ("root", 0, (44, 992))).driver().container("docker")
    m.cpu_node(16).kfd().gpu("vii", "0000:0b:00.0")
    site = docker_venv(m, "3.12.9")
    linux = '; platform_system == "Linux" and platform_machine == "x86_64"'
    m.torch(site, "2.6.0+cu124", cuda="12.4", requires=(f"nvidia-cublas-cu12==12.4.5.8{linux}", f"triton==3.2.0{linux}"))
    for name, version, *requires in (
            ("nvidia-cublas-cu12", "12.4.5.8"), ("triton", "3.2.0"), ("numpy", "1.26.4"), ("pillow", "11.2.1"),
            ("torchvision", "0.21.0+cu124", "numpy", "torch==2.6.0", "pillow!=8.3.*,>=5.3.0")):
        m.dist(site, name, version, *requires)
    return m


def invoke_7800xt():
    m = Machine("ubuntu24", "6.6.69", "AMD Ryzen 7 5800X3D 8-Core Processor", 16, 31, ("root", 0, (44,))).driver().container("docker")
    m.cpu_node(16).kfd(0o666, 0, 303).gpu("7800xt", "0000:0c:00.0", node=(0o666, 0, 303))
    site = docker_venv(m, "3.11.10")
    m.torch(site, "2.4.1+rocm6.1", hip="6.1.40091-a8dbc0c19", archs=ARCH["6.1"], requires=(TRITON.format("3.0.0"),))
    m.dist(site, "pytorch-triton-rocm", "3.0.0")
    m.dist(site, "torchvision", "0.19.1+rocm6.1", "numpy", "torch==2.4.1", "pillow!=8.3.*,>=5.3.0")
    m.dist(site, "numpy", "1.26.3")
    m.dist(site, "pillow", "10.2.0")
    m.dist(site, "bitsandbytes", "0.45.0", "torch", "numpy", "typing-extensions>=4.8.0")
    m.put(f"{site}/bitsandbytes/libbitsandbytes_cpu.so", "rocsmith-library 1\nneeded libstdc++.so.6\nneeded libm.so.6\n")
    m.put(f"{site}/bitsandbytes/libbitsandbytes_cuda124.so",
          "rocsmith-library 1\nneeded libcudart.so.12\nneeded libcublas.so.12\nneeded libcublasLt.so.12\n")
    return m


def wsl_xformers():
    m = wsl("ubuntu22", "AMD Ryzen 7 5700X 8-Core Processor", 16)
    m.system_python("3.10")
    m.rocm("6.4.2", ARCH["6.4"])
    site = "home/user/.local/lib/python3.10/site-packages"
    trio(m, site, "2.8.0+rocm6.4", "0.23.0", "2.8.0", "3.4.0", hip="6.4.43482-0f2d60242", archs=ARCH["6.4"], drop=("libhsa-runtime64",))
    m.dist(site, "xformers", "0.0.32.post2", "numpy", "torch==2.8.0")
    m.put(f"{site}/xformers/_C.so", "rocsmith-library 1\nneeded libc10.so\nneeded libtorch.so\nneeded libtorch_cpu.so\nneeded libtorch_python.so\n"
          "needed libc10_hip.so\nneeded libtorch_hip.so\n")
    m.dist(site, "triton", "3.4.0", "setuptools>=40.8.0")
    m.dist(site, "setuptools", "78.1.0")
    m.dist(site, "pillow", "11.3.0")
    return m


def no_sdma_5700g():
    m = Machine("ubuntu22", "6.2.0-39-generic", "AMD Ryzen 7 5700G with Radeon Graphics", 16, 30).driver("6.2.4")
    m.cpu_node(16).kfd().gpu("cezanne", "0000:30:00.0", vbios="113-CEZANNE-018")
    m.rocm("5.7.0", TREE)
    m.env |= {"HSA_OVERRIDE_GFX_VERSION": "9.0.0", "HCC_SERIALIZE_KERNEL": "0x3", "HCC_SERIALIZE_COPY": "0x3", "HIP_TRACE_API": "0x2",
              "HSA_ENABLE_INTERRUPT": "0", "HSA_ENABLE_SDMA": "0"}
    site = conda(m, "home/user/anaconda3/envs/pytorch2.2.1-rocm5.7-py311", "3.11.8")
    trio(m, site, "2.2.1+rocm5.7", "0.17.1", "2.2.1", "2.2.0", hip="5.7.31921-d1770ee1b", archs=OLD_ARCH, miopen=OLD_MIOPEN)
    numpy(m, site, "1.26.3")
    m.dist(site, "pillow", "10.2.0")
    return m


def oland_laptop():
    m = Machine("fedora36", "5.19.6-200.fc36.x86_64", "Intel(R) Core(TM) i7-4810MQ CPU @ 2.80GHz", 8, 15, ("raspi", 1000, (10,)), "fedora",
                cmdline="radeon.si_support=0 amdgpu.si_support=1 rhgb quiet").driver()
    on_root_bus(m, "0000:00:02.0", 0x8086, 0x0416, "i915", 128)
    m.node("dev/dri/renderD128", 0o666)
    m.cpu_node(8).kfd(0o666).gpu("hd8790m", "0000:01:00.0", 129, kfd=False, node=NONE)
    m.system_python("3.10")
    for name in ("libhsa-runtime64.so.1", "libamdocl64.so"):
        m.put(f"usr/lib64/{name}", "")
    return m


def vmware_guest():
    m = Machine("ubuntu18", "5.4.0-90-generic", "AMD Ryzen 7 2700U with Radeon Vega Mobile Gfx", 4, 8, ("xiaomin", 1000, (4, 24, 27, 44)),
                flags=" hypervisor")
    m.put("etc/group", m.files["etc/group"].replace("render:x:992:\n", ""))  # udev of that release has no such group
    m.put("proc/modules", "vmwgfx 299008 4 - Live 0x0000000000000000\nttm 102400 1 vmwgfx, Live 0x0000000000000000\n"
          "vmw_balloon 24576 0 - Live 0x0000000000000000\n")
    on_root_bus(m, "0000:00:0f.0", 0x15ad, 0x0405, "vmwgfx", 128)
    m.node("dev/dri/renderD128", 0o660, 0, 44)
    m.system_python("3.6")
    m.put("opt/rocm-4.5.0/.info/version", "4.5.0-58\n")
    for path in ("bin/rocminfo", "bin/hipcc", "lib/libhsa-runtime64.so.1.4.40500", "lib/libamdhip64.so.4.4.40500"):
        m.put(f"opt/rocm-4.5.0/{path}", "")
    m.links["opt/rocm-4.5.0/lib/libhsa-runtime64.so.1"] = "libhsa-runtime64.so.1.4.40500"
    m.links["opt/rocm-4.5.0/lib/libamdhip64.so.4"] = "libamdhip64.so.4.4.40500"
    m.links["opt/rocm"] = "/opt/rocm-4.5.0"
    return m


def cachyos_no_kfd():
    m = Machine("cachyos", "6.18.0-3-cachyos", "AMD Ryzen 9 5900X 12-Core Processor", 24, 31, ("marc", 1000, (998, 983, 989)), "arch").driver()
    m.gpu("7900xtx", "0000:2d:00.0", kfd=False, node=NONE)
    m.system_python("3.13")
    return m.rocm("7.1.1", ARCH["image"], "opt/rocm", link=False)


def rx570_image():
    m = Machine("ubuntu20", "5.19.0-35-generic", "Intel(R) Core(TM) i5-9400F CPU @ 2.90GHz", 6, 15, ("root", 0, (44,))).driver().container("docker", 0)
    m.cpu_node(6).kfd(0o660, 0, 110).gpu("rx570", "0000:01:00.0", heap=2, node=(0o660, 0, 110))
    m.rocm("5.4.2", "gfx900 gfx906 gfx908 gfx90a gfx1030")
    m.put("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n")
    m.put("etc/ld.so.conf.d/10-rocm-opencl.conf", "/opt/rocm/lib\n")
    site = conda(m, "opt/conda/envs/py_3.8", "3.8.16")
    m.torch(site, "1.12.0a0+git2a932eb", hip="5.4.22803-474e8620", archs="gfx900 gfx906 gfx908 gfx90a gfx1030", bundled=False, major="5",
            runpath="$ORIGIN:/opt/rocm/lib")
    m.dist(site, "torchvision", "0.13.0a0+da3794e", "numpy", "torch")
    m.dist(site, "numpy", "1.23.4")
    m.env |= {"ROCM_PATH": "/opt/rocm", "LD_LIBRARY_PATH": "/opt/rocm/lib:/usr/local/lib:", "PATH": m.env["PATH"] + ":/opt/rocm/bin",
              "PYTORCH_ROCM_ARCH": "gfx900;gfx906;gfx908;gfx90a;gfx1030"}
    return m


def manjaro_6800xt():
    m = Machine("manjaro", "6.4.16-5-MANJARO", "AMD Ryzen 9 5900X 12-Core Processor", 24, 31, ("loa", 1000, (998,)), "arch").driver()
    m.cpu_node(24).kfd(0o666).gpu("6800xt", "0000:0d:00.0", node=NONE)
    m.system_python("3.11")
    site = m.python("home/loa/venv", "3.11.5")
    trio(m, site, "2.1.0+rocm5.6", "0.16.0", "2.1.0", "2.1.0", hip="5.6.31061-8c743ae5d", archs=OLD_ARCH, miopen=OLD_MIOPEN)
    numpy(m, site, "1.26.0")
    m.dist(site, "pillow", "10.0.1")
    return m


def xformers_7900gre():
    m = Machine("ubuntu22", "6.5.0-41-generic", "AMD Ryzen 7 5800X 8-Core Processor", 16, 31).driver()
    m.cpu_node(16).kfd().gpu("7900gre", "0000:0b:00.0")
    m.system_python("3.10")
    site = m.python("home/user/sd/venv", "3.10.12")
    trio(m, site, "2.3.1+rocm6.0", "0.18.1", "2.3.1", "2.3.1", hip="6.0.32830-d62f6a171", archs=ARCH["6.0"])
    numpy(m, site, "1.26.3")
    m.dist(site, "pillow", "10.2.0")
    m.dist(site, "xformers", "0.0.27", "numpy", "torch ==2.3.1")
    m.put(f"{site}/xformers/_C.so", "rocsmith-library 1\nneeded libc10.so\nneeded libtorch.so\nneeded libtorch_cpu.so\nneeded libtorch_python.so\n"
          "needed libcudart.so.12\nneeded libc10_cuda.so\nneeded libtorch_cuda.so\n")
    return m


def vega64_x4():
    m = Machine("ubuntu22", "6.8.0-52-generic", "13th Gen Intel(R) Core(TM) i5-13400F", 16, 31).driver("6.10.5")
    m.cpu_node(16).kfd().gpu("7900gre", "0000:03:00.0", 128).gpu("vega64", "0000:08:00.0", 129, heap=2)
    own_port(m, "0000:06:00.0", "0000:00:1c.4", 4)
    m.system_python("3.10")
    m.rocm("6.3.2", TREE)
    site = "usr/local/lib/python3.10/dist-packages"
    triton = "3.2.0+git4b3bb1f8"
    m.torch(site, "2.7.0.dev20250306+rocm6.3", hip="6.3.42131-fa1d09cbd", archs=ARCH["6.3n"], requires=(TRITON.format(triton),))
    m.dist(site, "pytorch-triton-rocm", triton)
    m.dist(site, "torchvision", "0.22.0.dev20250306+rocm6.3", "numpy", "torch==2.7.0.dev20250306", "pillow!=8.3.*,>=5.3.0")
    m.dist(site, "torchaudio", "2.6.0.dev20250306+rocm6.3", "torch==2.7.0.dev20250306")
    m.dist(site, "numpy", "2.1.2")
    m.dist(site, "pillow", "11.0.0")
    return m


def apptainer_mi300a():
    m = Machine("ubuntu24", "5.14.0-503.40.1.el9_5.x86_64", "AMD Instinct MI300A Accelerator", 192, 502, ("mrt", 12345, (9999,)), cmdline="iommu=pt")
    m.driver("6.12.12").cpu_node(192, 4).kfd(0o666)
    m.put(".singularity.d/labels.json", "{}\n")
    m.put("singularity", "")
    m.env |= {"APPTAINER_CONTAINER": "/home/mrt/minimal_working_example.sif", "APPTAINER_NAME": "minimal_working_example.sif"}
    for i in range(4):
        m.gpu("mi300a", f"000{i}:01:00.0", 128 + 8 * i, node=NONE)
    m.system_python("3.12")
    m.rocm("6.4.3", "gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201")
    site = "usr/local/lib/python3.12/dist-packages"
    trio(m, site, "2.9.1+rocm6.4", "0.24.1", "2.9.1", "3.5.1", hip="6.4.43484-123eb5128", archs=ARCH["6.4"])
    m.dist(site, "pillow", "12.0.0")
    return m


def trixie_strix():
    m = Machine("debian13", "6.18.5", "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 32, 125, ("root", 0, (44, 992))).driver().container("docker")
    m.cpu_node(32).kfd().gpu("8060s", "0000:c5:00.0", vbios="113-STRXLGEN-001")
    m.system_python("3.13")
    site = m.python("opt/venv", "3.13.5")
    rocm = "7.11.0a20260112"
    sdk_torch(m, site, f"2.9.1+rocm{rocm}", rocm, "7.2.53150-7b886380f9", "gfx1151", "gfx1151", requires=(f"triton==3.5.1+rocm{rocm}",),
              more=("rocm-sdk-devel",))
    m.put(f"{site}/_rocm_sdk_libraries_gfx1151/lib/hipblaslt/library/TensileLibrary_lazy_gfx1151.dat", "")
    for name, version, *requires in (
            ("triton", f"3.5.1+rocm{rocm}"), ("torchvision", f"0.24.1+rocm{rocm}", "numpy", "torch==2.9.1", "pillow!=8.3.*,>=5.3.0"),
            ("torchaudio", f"2.9.0+rocm{rocm}", "torch"), ("numpy", "2.4.1"), ("pillow", "12.1.0")):
        m.dist(site, name, version, *requires)
    m.rocm("7.11.0", "gfx1151", f"{site}/_rocm_sdk_devel", link=False)  # rocm-sdk init unpacks it
    m.put(f"{site}/_rocm_sdk_devel/lib/hipblaslt/library/TensileLibrary_lazy_gfx1151.dat", "")
    m.env |= {"ROCM_PATH": f"/{site}/_rocm_sdk_devel", "LD_LIBRARY_PATH": f"/{site}/_rocm_sdk_devel/lib",
              "PATH": m.env["PATH"] + f":/{site}/_rocm_sdk_devel/bin"}
    return m


def voicebox_9070xt():
    m = Machine("ubuntu24", "6.17.0-20-generic", "AMD Ryzen 7 5800X3D 8-Core Processor", 16, 31).driver()
    m.cpu_node(16).kfd().gpu("9070xt", "0000:0c:00.0")
    m.env["HSA_OVERRIDE_GFX_VERSION"] = "10.3.0"  # the program sets it before it imports torch
    m.system_python("3.12")
    site = m.python("home/user/voicebox/backend/venv", "3.12.3")
    m.torch(site, "2.11.0+rocm7.2", hip="7.2.53211-e1a6bc5663", rocm="7.2.1", archs=ARCH["7.2"],
            requires=('triton-rocm==3.6.0; platform_system == "Linux"',))
    m.dist(site, "triton-rocm", "3.6.0")
    m.dist(site, "torchaudio", "2.11.0+rocm7.2", "torch==2.11.0")
    m.dist(site, "numpy", "2.3.5")
    return m


def comfy_nix():
    m = Machine("nixos25", "6.19.10", "AMD Ryzen 7 5800X 8-Core Processor", 16, 31, ("andy", 1000, (983, 989)), "arch").driver()
    m.cpu_node(16).kfd(0o666).gpu("7900xtx", "0000:0c:00.0", node=NONE)
    env = "nix/store/3k9d2c7v5p8x1n4m6q0r2s7t9w1y5z8b-python3-3.12.12-env"
    site = f"{env}/lib/python3.12/site-packages"

    def package(digest, name, version, modules):
        """A wheel has a folder of its own in the store; the environment has links into it."""
        folder = f"nix/store/{digest}-python3.12-{name}-{version.split('+')[0]}/lib/python3.12/site-packages"
        for part in (*modules, f"{name.replace('-', '_')}-{version}.dist-info"):
            m.links[f"{site}/{part}"] = f"/{folder}/{part}"
        return folder

    store = package("1b7f4c9d2g5h8j3k6l0m4n7p1q5r8s2v", "torch", "2.10.0+rocm7.1", ("torch",))
    m.torch(store, "2.10.0+rocm7.1", hip="7.1.25424", rocm="7.1.0", archs=ARCH["7.2"],
            requires=('triton-rocm==3.6.0; platform_system == "Linux"',))
    store = package("5v8w1x4y7z0a3b6c9d2f5g8h1j4k7l0m", "torchvision", "0.24.1+rocm6.4", ("torchvision",))
    m.dist(store, "torchvision", "0.24.1+rocm6.4", "numpy", "torch==2.9.1", "pillow!=8.3.*,>=5.3.0")
    m.put(f"{store}/torchvision/_C.so", "rocsmith-library 1\nneeded libc10.so\nneeded libtorch.so\nneeded libtorch_cpu.so\n"
          "needed libc10_hip.so\nneeded libtorch_hip.so\n")
    for digest, name, version, *requires in (
            ("2m5n8p1q4r7s0t3v6w9x2y5z8a1b4c7d", "triton-rocm", "3.6.0"), ("0q3r6s9t2v5w8x1y4z7a0b3c6d9f2g5h", "numpy", "2.3.5"),
            ("8j1k4l7m0n3p6q9r2s5t8v1w4x7y0z3a", "pillow", "12.0.0"), ("6b9c2d5f8g1h4j7k0l3m6n9p2q5r8s1t", "xformers", "0.0.30", "numpy", "torch>=2.4")):
        m.dist(package(digest, name, version, ()), name, version, *requires)
    m.put(f"{env}/bin/python3.12", "")
    m.links[f"{env}/bin/python3"] = "python3.12"
    m.env["PATH"] = f"/{env}/bin:/run/wrappers/bin:/run/current-system/sw/bin"
    return m


def unsloth_studio(m, home):
    """What its installer makes for ROCm 7.2."""
    site = m.python(f"{home}/.unsloth/studio/unsloth_studio", "3.13.11", f"/{home}/.local/share/uv/python/cpython-3.13.11-linux-x86_64-gnu/bin",
                    uv="0.10.2")
    m.torch(site, "2.11.0+rocm7.2", hip="7.2.53211-e1a6bc5663", rocm="7.2.1", archs=ARCH["7.2"],
            requires=('triton-rocm==3.6.0; platform_system == "Linux"',))
    for name, version, *requires in (
            ("triton-rocm", "3.6.0"), ("torchvision", "0.26.0+rocm7.2", "numpy", "torch==2.11.0", "pillow!=8.3.*,>=5.3.0"),
            ("torchaudio", "2.11.0+rocm7.2", "torch==2.11.0"), ("numpy", "2.4.4"), ("pillow", "12.1.1")):
        m.dist(site, name, version, *requires)


def studio_r9700_pair():
    m = Machine("ubuntu24", "6.17.0-35-generic", "AMD Ryzen 9 9950X 16-Core Processor", 32, 93).driver()
    m.cpu_node(32).kfd().gpu("r9700", "0000:03:00.0", 128).gpu("r9700", "0000:06:00.0", 129).gpu("granite", "0000:7a:00.0", 130)
    for bridge, port in (("0000:01:00.0", "0000:00:01.1"), ("0000:04:00.0", "0000:00:01.2")):
        own_port(m, bridge, port, 8)  # the processor's 16 lanes are shared by the two slots
    own_port(m, "0000:7a:00.0", "0000:00:08.1", 16)
    m.system_python("3.12")
    unsloth_studio(m, "home/user")
    return m.rocm("7.2.3", ARCH["image"])


def alpine_mi100():
    m = Machine("rhel8", "4.18.0-305.el8.x86_64", "AMD EPYC 7543 32-Core Processor", 64, 251, ("kfcu", 645210, (645210,)), "fedora",
                cmdline="iommu=pt").driver("5.16.9.22.20")
    m.put("etc/passwd", "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n")  # users are in a directory service
    m.put("etc/group", "root:x:0:\nwheel:x:10:\nvideo:x:39:\nrender:x:105:\n")
    m.cpu_node(64, 2).kfd()
    for i, bus in enumerate((0x21, 0x81, 0xe2)):
        m.gpu("mi100", f"0000:{bus:02x}:00.0", 128 + i)
    tree = "curc/sw/install/rocm/5.2.3"
    m.rocm("5.2.3", "gfx803 gfx900 gfx906 gfx908 gfx90a gfx1030", tree, link=False)
    prefix = "curc/sw/install/pytorch/1.13.0"
    site = conda(m, prefix, "3.10.0")
    m.put(f"{prefix}/conda-meta/history", "==> 2022-12-06 10:00:00 <==\n")
    m.torch(site, "1.13.0", hip="5.2.21153-02187ecf", archs=ARCH["5.2"], bundled=False, major="5", runpath=f"$ORIGIN:/{tree}/lib")
    m.dist(site, "numpy", "1.23.5")
    m.env |= {"ROCM_PATH": f"/{tree}", "LD_LIBRARY_PATH": f"/{tree}/lib", "PATH": f"/{tree}/bin:" + m.env["PATH"]}
    return m


def proxmox_no_kfd():
    m = Machine("ubuntu24", "6.17.9-1-pve", "AMD Ryzen 9 5900X 12-Core Processor", 8, 16, ("root", 0, (44, 992))).driver().container("lxc")
    m.put("proc/1/environ", "container=lxc\0TERM=linux\0")
    m.cpu_node(24).gpu("7900xt", "0000:0b:00.0")  # no /dev/kfd: the scripts gave /dev/dri only
    m.system_python("3.12")
    return m


def arch_6750xt():
    m = Machine("arch", "6.5.5-arch1-1", "AMD Ryzen 7 5700X 8-Core Processor", 16, 31, ("mea", 1000, (998,)), "arch").driver()
    m.cpu_node(16).kfd(0o666).gpu("6700xt", "0000:2d:00.0", node=NONE, vbios="113-D5120900-101")
    m.system_python("3.11")
    site = m.python("home/mea/ComfyUI/pyenv", "3.11.5")
    linux = ' ; platform_system == "Linux" and platform_machine == "x86_64"'
    m.torch(site, "2.0.1", cuda="11.7", requires=(f"nvidia-cublas-cu11 (==11.10.3.66){linux}", f"nvidia-cuda-runtime-cu11 (==11.7.99){linux}",
                                                  f"nvidia-cudnn-cu11 (==8.5.0.96){linux}", f"triton (==2.0.0){linux}"))
    lines_after(m, "torch/lib/libtorch_cuda.so", ("libcudart.so.12", "libcudart.so.11.0"), ("libcudnn.so.9", "libcudnn.so.8"))
    for name, version, *requires in (
            ("nvidia-cublas-cu11", "11.10.3.66"), ("nvidia-cuda-runtime-cu11", "11.7.99"), ("nvidia-cudnn-cu11", "8.5.0.96"),
            ("triton", "2.0.0", "cmake", "filelock", "torch", "lit"), ("cmake", "3.27.6"), ("lit", "17.0.2"), ("numpy", "1.26.0"), ("pillow", "10.0.1"),
            ("torchvision", "0.15.2", "numpy", "torch (==2.0.1)", "pillow (!=8.3.*,>=5.3.0)"), ("torchaudio", "2.0.2", "torch (==2.0.1)")):
        m.dist(site, name, version, *requires)
    return m


def barcelo_arch():
    m = Machine("arch", "6.3.9-arch1-1", "AMD Ryzen 7 5825U with Radeon Graphics", 16, 14, ("joerg", 1000, (998,)), "arch").driver()
    m.cpu_node(16).kfd(0o666).gpu("barcelo", "0000:04:00.0", node=NONE, vbios="113-BARCELO-004")
    m.rocm("5.4.3", "gfx803 gfx900 gfx906 gfx908 gfx90a gfx1030", "opt/rocm", link=False)
    m.put("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n")
    m.put("etc/ld.so.conf.d/rocm.conf", "/opt/rocm/lib\n")
    site = m.system_python("3.11")
    m.torch(site, "2.0.1", hip="5.4.22804-", archs="gfx803 gfx900 gfx906 gfx908 gfx90a gfx1030", bundled=False, major="5", runpath="$ORIGIN:/opt/rocm/lib")
    m.dist(site, "numpy", "1.25.0")
    return m


def tabby_flash():
    m = Machine("ubuntu22", "6.2.0-36-generic", "AMD Ryzen 7 5800X 8-Core Processor", 16, 62, ("o0", 1000, (4, 24, 27, 44, 992))).driver()
    m.cpu_node(16).kfd().gpu("6800xt", "0000:0b:00.0")
    site = conda(m, "home/o0/miniconda3", "3.11.5")
    m.put("home/o0/miniconda3/conda-meta/history", "==> 2023-10-02 10:00:00 <==\n")
    m.env["CONDA_DEFAULT_ENV"] = "base"
    trio(m, site, "2.1.0+rocm5.6", "0.16.0", "2.1.0", "2.1.0", hip="5.6.31061-8c743ae5d", archs=OLD_ARCH, miopen=OLD_MIOPEN)
    numpy(m, site, "1.26.2")
    for name, version, *requires in (
            ("pillow", "10.1.0"), ("flash-attn", "2.3.3", "torch", "einops", "packaging", "ninja"), ("einops", "0.7.0"), ("packaging", "23.1"),
            ("ninja", "1.11.1.1"), ("exllamav2", "0.0.8", "ninja", "torch>=2.0.1")):
        m.dist(site, name, version, *requires)
    m.put(f"{site}/flash_attn/__init__.py", '__version__ = "2.3.3"\n')
    m.put(f"{site}/flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so", "rocsmith-library 1\nneeded libc10.so\nneeded libtorch.so\n"
          "needed libtorch_cpu.so\nneeded libtorch_python.so\nneeded libcudart.so.12\nneeded libc10_cuda.so\nneeded libtorch_cuda.so\n")
    return m


def strix_image_641():
    m = Machine("ubuntu24", "6.11.0-26-generic", "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 32, 125, ("root", 0, (44, 992))).driver().container("docker", 0)
    m.cpu_node(32).kfd().gpu("8060s", "0000:c6:00.0", vbios="113-STRXLGEN-001")
    m.rocm("6.4.1", TREE + " gfx1151 gfx1200 gfx1201")
    m.put("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n")
    m.put("etc/ld.so.conf.d/10-rocm-opencl.conf", "/opt/rocm/lib\n")
    site = conda(m, "opt/conda/envs/py_3.12", "3.12.10")
    archs = "gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201"
    m.torch(site, "2.6.0+git684f6f2", hip="6.4.43483-a187df25c", archs=archs, bundled=False, runpath="$ORIGIN:/opt/rocm/lib",
            requires=("pytorch-triton-rocm==3.2.0+git20943800",))
    for name, version, *requires in (("pytorch-triton-rocm", "3.2.0+git20943800"), ("torchvision", "0.21.0+7af6987", "numpy", "torch"), ("numpy", "1.26.4")):
        m.dist(site, name, version, *requires)
    m.env |= {"ROCM_PATH": "/opt/rocm", "LD_LIBRARY_PATH": "/opt/rocm/lib:/usr/local/lib:", "PATH": "/opt/rocm/bin:" + m.env["PATH"],
              "PYTORCH_ROCM_ARCH": archs.replace(" ", ";")}
    return m


def mi300a_vision():
    m = Machine("ubuntu22", "5.15.0-101-generic", "AMD Instinct MI300A Accelerator", 192, 502, ("pmullown", 1000, (4, 24, 27, 44, 992)),
                cmdline="iommu=pt").driver("6.7.0")
    m.cpu_node(192, 4).kfd()
    for i in range(4):
        m.gpu("mi300a", f"000{i}:01:00.0", 128 + 8 * i)
    m.rocm("6.1.0", TREE)
    site = conda(m, "home/pmullown/miniforge3/envs/aifs-benchmark", "3.10.14")
    m.put("home/pmullown/miniforge3/envs/aifs-benchmark/conda-meta/history", "==> 2024-03-25 10:00:00 <==\n")
    m.torch(site, "2.2.1+git9e71c8a", hip="6.1.40091-a8dbc0c19", archs="gfx942", bundled=False, runpath="$ORIGIN:/opt/rocm-6.1.0/lib")
    torchvision_for_cuda(m, site, "0.17.1", "0.17.1+cu121", "4fd856bbf3b59b8b0f2a3a2d6c6c4f9b7f4bfe7c", "numpy", "torch ==2.2.1", "pillow !=8.3.*,>=5.3.0")
    m.dist(site, "numpy", "1.26.4")
    m.dist(site, "pillow", "10.2.0")
    return m


def zbook_wx3200():
    m = Machine("ubuntu20.2", "5.8.0-43-generic", "Intel(R) Core(TM) i7-8565U CPU @ 1.80GHz", 8, 31, ("hugo", 1000, (4, 24, 27, 44, 992))).driver()
    on_root_bus(m, "0000:00:02.0", 0x8086, 0x3ea0, "i915", 128)
    m.node("dev/dri/renderD128")
    m.cpu_node(8).kfd().gpu("wx3200", "0000:3a:00.0", 129, kfd=False)
    m.system_python("3.8")
    m.put("opt/rocm-4.0.1/.info/version", "4.0.1-26\n")
    for path in ("bin/rocminfo", "bin/hipcc", "lib/libhsa-runtime64.so.1.2.40001", "lib/libamdhip64.so.4.0.40001"):
        m.put(f"opt/rocm-4.0.1/{path}", "")
    m.links["opt/rocm-4.0.1/lib/libhsa-runtime64.so.1"] = "libhsa-runtime64.so.1.2.40001"
    m.links["opt/rocm-4.0.1/lib/libamdhip64.so.4"] = "libamdhip64.so.4.0.40001"
    m.links["opt/rocm"] = "/opt/rocm-4.0.1"
    return m


def kinetic_mi50():
    m = Machine("ubuntu22.10", "5.19.0-23-generic", "Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", 28, 62, ("zhi", 1000, (4, 24, 27, 44, 992)))
    m.put("proc/modules", "kvm_intel 413696 0 - Live 0x0000000000000000\nkvm 1064960 1 kvm_intel, Live 0x0000000000000000\n")
    m.gpu("mi50", "0000:05:00.0", driver=None, kfd=False)
    m.system_python("3.10")
    return m.rocm("5.3.0", TREE)


def webui_7800xt():
    m = Machine("ubuntu22", "6.2.0-34-generic", "AMD Ryzen 7 5800X3D 8-Core Processor", 16, 31).driver()
    m.cpu_node(16).kfd().gpu("7800xt", "0000:0c:00.0")
    m.env["HSA_OVERRIDE_GFX_VERSION"] = "11.0.1"
    m.put("home/user/.bashrc", "# ~/.bashrc\nexport HSA_OVERRIDE_GFX_VERSION=11.0.1\n")
    m.system_python("3.10")
    site = m.python("home/user/stable-diffusion-webui/venv", "3.10.12")
    trio(m, site, "2.1.0+rocm5.6", "0.16.0", "2.1.0", "2.1.0", hip="5.6.31061-8c743ae5d", archs=OLD_ARCH, miopen=OLD_MIOPEN)
    numpy(m, site, "1.23.5")
    m.dist(site, "pillow", "9.5.0")
    return m


def wsl_oracle():
    m = wsl("oracle9", "AMD Ryzen 7 7800X3D 8-Core Processor", 16, "5.15.153.1-microsoft-standard-WSL2")
    m.env["WSL_DISTRO_NAME"] = "OracleLinux_9_1"
    m.put("etc/group", "root:x:0:\nwheel:x:10:user\nvideo:x:39:user\nrender:x:105:user\nuser:x:1000:\n")
    m.put("proc/self/status", re.sub(r"Groups:.*", "Groups:\t10 39 105 1000 ", m.files["proc/self/status"]))
    m.system_python("3.9")
    return m.rocm("6.2.0", TREE)


def fastai_7900xtx():
    m = Machine("ubuntu22", "5.15.0-105-generic", "AMD Ryzen 9 3900X 12-Core Processor", 24, 62, ("root", 0, ())).driver("6.7.0")
    m.cpu_node(24).kfd().gpu("7900xtx", "0000:0b:00.0")
    m.system_python("3.10")
    m.rocm("6.1.0", TREE)
    site = m.python("root/pt", "3.10.12")
    trio(m, site, "2.3.0+rocm6.0", "0.18.0", "2.3.0", "2.3.0", hip="6.0.32830-d62f6a171", archs=ARCH["6.0"])
    numpy(m, site, "1.26.3")
    for name, version, *requires in (("pillow", "10.2.0"), ("fastai", "2.7.15", "torch<2.4,>=1.10", "torchvision>=0.11", "fastcore<1.6,>=1.5.29"),
                                     ("fastcore", "1.5.29")):
        m.dist(site, name, version, *requires)
    return m


def arch_webui_7900xtx():
    m = Machine("arch", "6.10.8-arch1-1", "AMD Ryzen 9 5950X 16-Core Processor", 32, 62, ("xan", 1000, (998,)), "arch").driver()
    m.cpu_node(32).kfd(0o666).gpu("7900xtx", "0000:0c:00.0", node=NONE)
    m.system_python("3.12")
    m.put("usr/bin/python3.10", "")
    site = m.python("home/xan/stable-diffusion-webui/venv", "3.10.14")
    trio(m, site, "2.4.1+rocm6.0", "0.19.1", "2.4.1", "3.0.0", hip="6.0.32830-d62f6a171", archs=ARCH["6.0"])
    numpy(m, site, "1.26.2")
    m.dist(site, "pillow", "9.5.0")
    return m


def mi250_import():
    m = Machine("ubuntu20", "5.15.0-71-generic", "AMD EPYC 7763 64-Core Processor", 256, 1007, ("pierre", 1000, (4, 24, 27, 44, 992)),
                cmdline="iommu=pt").driver("5.18.13")
    m.cpu_node(256, 2).kfd()
    for i, bus in enumerate((0x2f, 0x32, 0x45, 0x48, 0xae, 0xb1, 0xc6, 0xc9)):
        m.gpu("mi250", f"0000:{bus:02x}:00.0", 128 + i)
    m.rocm("5.4.3", "gfx803 gfx900 gfx906 gfx908 gfx90a gfx1030")
    site = conda(m, "home/pierre/miniconda3/envs/torch", "3.9.16")
    m.put("home/pierre/miniconda3/envs/torch/conda-meta/history", "==> 2023-05-12 10:00:00 <==\n")
    trio(m, site, "2.0.0+rocm5.4.2", "0.15.1", "2.0.1", "2.0.1", hip="5.4.22803-474e8620", archs="gfx900 gfx906 gfx908 gfx90a gfx1030", miopen=OLD_MIOPEN)
    numpy(m, site, "1.24.3")
    m.dist(site, "pillow", "9.5.0")
    return m


def cachyos_studio():
    m = Machine("cachyos", "7.0.3-1-cachyos", "AMD Ryzen 9 7945HX3D with Radeon Graphics", 32, 94, ("user", 1000, (998,)), "arch").driver()
    m.cpu_node(32).kfd(0o666).gpu("r9700", "0000:03:00.0", 128, node=NONE, vbios="00158738").gpu("raphael", "0000:07:00.0", 129, node=NONE)
    own_port(m, "0000:07:00.0", "0000:00:08.1", 16)
    m.rocm("7.2.2", ARCH["image"], "opt/rocm", link=False)
    m.system_python("3.14")
    unsloth_studio(m, "home/user")
    return m


MAKE = {"6900xt-7900xtx": two_cards}


# ---- asking ----

def value(facts, path):
    for key in path.split("."):
        facts = facts[int(key)] if isinstance(facts, list) else facts[key]
    return facts


def version(text):
    return tuple(int(x) for x in text.split("."))


def how(gpu):
    if gpu["served_by"]:
        return "served", ""
    wheels = [r for r in gpu["routes"] if r["by"] != "build"]
    return (wheels[0]["how"], wheels[0]["rocm"]) if wheels else ("none", "")


def next_wrong(want, answer):
    got = {g["target"]: how(g) for g in answer}
    wrong = []
    for gpu, word in want.items():
        kind, *below = word.split(" < ")
        here = got.get(gpu, ("not there", ""))
        if here[0] != kind or (below and version(here[1]) >= version(below[0])):
            wrong.append(f"{gpu}: {' '.join(here).strip()}, not {word}")
    return wrong + [f"{gpu}: not expected" for gpu in got if gpu not in want]


def judge(case, answer, text):
    """What was not found, what was found wrongly, the next step, facts and words."""
    ids = [f["id"] for f in answer["findings"]]
    missed = [i for i in case["finds"] if i not in ids]
    wrong = [i for i in ids if i not in case["finds"] and i not in case.get("may", ())]
    step = next_wrong(case["next"], answer["next"])
    other = [f"no /{p}/" for p in case.get("says", ()) if not re.search(p, text)]
    other += [f"has /{p}/" for p in case.get("not", ()) if re.search(p, text)]
    for path, want in case.get("facts", {}).items():
        try:
            got = value(answer["facts"], path)
        except (KeyError, IndexError, TypeError):
            got = None
        if isinstance(got, int) and not isinstance(got, bool) and got > GIB // 2:
            got = round(got / GIB)
        if got != want:
            other.append(f"{path} is {got}, not {want}")
    return missed, wrong, step, other


def ask(rocsmith, root, *args):
    run = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", rocsmith, *args, "--sysroot", root],
                         capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
    if run.returncode not in (0, 1):
        sys.exit(f"{args} of {root}: {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout


def recorded(rocsmith, root, answer):
    """Facts in which a recording of the machine, unpacked elsewhere, differs (but for names of homes)."""
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o777)
        ask(rocsmith, root, "doctor", "--record", f"{place}/r.tar")
        subprocess.run(["tar", "-xf", "r.tar", "--strip-components=1"], cwd=place, check=True)
        again = json.loads(ask(rocsmith, place, "doctor", "--json"))
    same = ("hidden_gpus", "gpus", "displays", "nvidia", "nodes", "container_kind", "wsl", "driver", "iommu", "parameters")
    wrong = [f"recording: {k}" for k in same if again["facts"][k] != answer["facts"][k]]
    if [f["id"] for f in again["findings"]] != [f["id"] for f in answer["findings"]]:
        wrong.append("recording: findings")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rocsmith")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--round", type=int)
    parser.add_argument("--show", action="store_true", help="the texts of doctor and env, too")
    parser.add_argument("--keep", help="folder that the machines are left in")
    o = parser.parse_intermixed_args()
    with open(f"{HERE}/held-out.yaml", encoding="utf-8") as f:
        cases = yaml.safe_load(f)["machine"]
    cases = [c for c in cases if (not o.names or c["name"] in o.names) and o.round in (None, c["round"])]
    place = o.keep or tempfile.mkdtemp()
    os.makedirs(place, exist_ok=True)
    os.chmod(place, 0o755)
    count = dict.fromkeys(("right", "must", "found", "wrong", "gpus", "steps", "healthy", "silent", "other"), 0)
    for case in cases:
        root = f"{place}/{case['name']}"
        shutil.rmtree(root, ignore_errors=True)
        make = MAKE.get(case["name"]) or globals()[case["name"].replace("-", "_")]
        make().write(root)
        answer, text = json.loads(ask(o.rocsmith, root, "doctor", "--json")), ask(o.rocsmith, root, "doctor")
        env = ask(o.rocsmith, root, "env")
        missed, wrong, step, other = judge(case, answer, text)
        other += recorded(o.rocsmith, root, answer)
        count["right"] += not (missed or wrong or step)
        count["must"] += len(case["finds"])
        count["found"] += len(case["finds"]) - len(missed)
        count["wrong"] += len(wrong)
        count["gpus"] += len(case["next"])
        count["steps"] += len(case["next"]) - min(len(step), len(case["next"]))
        count["healthy"] += not case["finds"]
        count["silent"] += not case["finds"] and not wrong
        count["other"] += len(other)
        said = [f"missed {i}" for i in missed] + [f"WRONG {i}" for i in wrong] + [f"next {s}" for s in step] + other
        print(f"{case['name']:24} {'; '.join(said) or 'right'}")
        if o.show:
            print(f"\n{text}\n{env}\n{'=' * 100}")
    print(f"{count['right']} of {len(cases)} machines right (findings and next step); findings {count['found']} of {count['must']}, "
          f"{count['wrong']} wrong; next step {count['steps']} of {count['gpus']}; healthy ones silent {count['silent']} of "
          f"{count['healthy']}; {count['other']} other things")
    if not o.keep:
        shutil.rmtree(place)
    return count["right"] != len(cases) or count["other"] > 0


if __name__ == "__main__":
    sys.exit(main())
