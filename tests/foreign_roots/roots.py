# SPDX-License-Identifier: MIT
"""The roots: other releases of Debian, and one with musl, as Alpine has it.

A root is a directory below O/foreign_roots/, and is kept for the next time. Whatever is mounted for
it is mounted in a mount namespace of the process that needs it, and goes with that process: nothing
stays mounted, so `rm -rf` of a root is safe.
"""
import os
import re
import shutil
import subprocess

PROGRAMS = "/heapinject"  # in each root: the static program, and what it attaches to
BOOTSTRAP_SECONDS = 900
IN_NAMESPACE = ["unshare", "--mount", "--propagation", "private"]
ENTER = 'mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" && exec chroot "$0" "$@"'


class NoRoot(Exception):
    """The root cannot be made here; its text says why."""


def run(command, seconds=120, **options):
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, check=False, **options
    )
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "nothing is said").splitlines()[-1]
        raise NoRoot(f"{' '.join(command)[:120]}: status {done.returncode}: {said}")
    return done.stdout


class Root:
    # Extra words of the compiler -> the programs that are built from leaky.c
    links = {"": "leaky"}

    def __init__(self, name, directory):
        self.name, self.path = name, os.path.join(directory, name)
        self.programs = self.path + PROGRAMS

    def inside(self, command):
        """The command that runs this one in the root, as the process that it is started as."""
        return [*IN_NAMESPACE, "sh", "-c", ENTER, self.path, *command]

    def build(self, source):
        """Builds leaky.c for this root, with debug information, and copies of it whose debug
        information is packed. Returns {name: how its debug information is stored}.
        """
        shutil.copy(source, self.programs)
        for words, name in self.links.items():
            self.compile([*words.split(), "-O2", "-g", "-pthread", "-o", name,
                          os.path.basename(source)])
        return {**{name: "plain" for name in self.links.values()}, **self.pack("leaky")}

    def pack(self, name):
        packed = {}
        plain = os.path.join(self.programs, name)
        for way in ("zlib", "zstd"):
            try:
                run(["objcopy", f"--compress-debug-sections={way}", plain, f"{plain}_{way}"])
            except NoRoot:
                continue  # binutils that are too old, or were built without it
            packed[f"{name}_{way}"] = way
        # The symbol table alone, as Fedora leaves it in stripped programs.
        run(["objcopy", "-S", "--keep-symbol=keep_record", "--keep-symbol=work",
             "--only-keep-debug", plain, f"{plain}_mini.debug"])
        run(["xz", "--force", f"{plain}_mini.debug"])
        run(["strip", "-o", f"{plain}_mini", plain])
        run(["objcopy", "--add-section", f".gnu_debugdata={plain}_mini.debug.xz", f"{plain}_mini"])
        packed[f"{name}_mini"] = "mini"
        return packed


class DebianRoot(Root):
    packages = ["gcc", "libc6-dev", "redis-server"]
    has_redis = True

    def make(self):
        stamp, wanted = self.path + ".packages", " ".join(self.packages)
        if not os.path.exists(stamp) or open(stamp, encoding="utf-8").read() != wanted:
            self.bootstrap()
            with open(stamp, "w", encoding="utf-8") as file:
                file.write(wanted)
        os.makedirs(self.programs, exist_ok=True)

    def bootstrap(self):
        mirror = mirror_of_apt()
        if not shutil.which("debootstrap"):
            raise NoRoot("debootstrap is not installed")
        shutil.rmtree(self.path, ignore_errors=True)
        try:
            run([*IN_NAMESPACE, "debootstrap", "--variant=minbase",
                 f"--include={','.join(self.packages)}", self.name, self.path, mirror],
                BOOTSTRAP_SECONDS)
        except NoRoot:
            shutil.rmtree(self.path, ignore_errors=True)
            raise
        except subprocess.TimeoutExpired:
            raise NoRoot(f"debootstrap is not done after {BOOTSTRAP_SECONDS} s") from None
        shutil.rmtree(self.path + "/var/cache/apt/archives", ignore_errors=True)

    def compile(self, words):
        run(self.inside(["sh", "-c", f'cd {PROGRAMS} && exec gcc "$@"', "gcc", *words]))

    def describe(self):
        libc = run(self.inside(["ldd", "--version"])).split("\n")[0].split()[-1]
        compiler = run(self.inside(["gcc", "-dumpfullversion"])).strip()
        version = open(self.path + "/etc/debian_version", encoding="utf-8").read().strip()
        return f"Debian {version}, glibc {libc}, gcc {compiler}"


class MuslRoot(Root):
    """busybox, and musl's library, which is also its dynamic linker: no glibc at all."""

    links = {"": "leaky", "-static": "leaky_static"}
    has_redis = False
    linker = "/lib/ld-musl-x86_64.so.1"

    def make(self):
        for program in ("musl-gcc", "busybox"):
            if not shutil.which(program):
                raise NoRoot(f"{program} is not installed")
        for each in ("bin", "lib", "proc", "dev", "tmp"):
            os.makedirs(os.path.join(self.path, each), exist_ok=True)
        os.makedirs(self.programs, exist_ok=True)
        shutil.copy(self.linker, self.path + self.linker)
        shutil.copy(shutil.which("busybox"), self.path + "/bin/busybox")
        for each in ("sh", "ls", "cat"):
            link = f"{self.path}/bin/{each}"
            if not os.path.lexists(link):
                os.symlink("busybox", link)

    def compile(self, words):
        run(["musl-gcc", *words], cwd=self.programs)

    def describe(self):
        said = subprocess.run(
            self.inside([self.linker]), capture_output=True, text=True, check=False
        ).stderr
        shell = run(self.inside(["/bin/busybox"])).split("\n")[0]
        version = re.search(r"Version (\S+)", said)
        return f"musl {version[1] if version else '?'}, {' '.join(shell.split()[:2])}"


def mirror_of_apt():
    """The one that this machine gets its own packages from."""
    lines = run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(COMPONENT)"]).splitlines()
    mirrors = [line.split()[0] for line in lines if line.endswith(" main")]
    mirrors = [mirror for mirror in mirrors if "security" not in mirror]
    if not mirrors:
        raise NoRoot("apt knows no mirror; run apt-get update")
    return mirrors[0]
