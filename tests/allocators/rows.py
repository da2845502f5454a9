# SPDX-License-Identifier: MIT
"""The rows of the allocator table, and how the program of each is built.

A row is an allocator, a way to link it, and a language. Everything that is built lies below
$O/allocators, and is built again when a source, or the way to build it, has changed.
"""
import glob
import os
import re
import shutil
import subprocess
from dataclasses import dataclass

from table import Skip

HERE = os.path.dirname(os.path.abspath(__file__))
SELFCHECK = os.path.join(HERE, os.pardir, "torture", "targets", "selfcheck.h")
SOURCES = [
    os.path.join(HERE, name) for name in ("program.c", "program.h", "operators.cc", "program.rs")
] + [SELFCHECK]
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
MUSL = "/usr/lib/x86_64-linux-musl"
FLAGS = ["-D_GNU_SOURCE", "-O1", "-g", "-pthread"]
LANGUAGES = ("c", "c++", "rust")
# As mimalloc's own CMakeLists.txt has them.
MIMALLOC_FLAGS = [
    "-O2", "-g", "-DNDEBUG", "-DMI_STATIC_LIB", "-fPIC", "-fvisibility=hidden",
    "-ftls-model=initial-exec", "-fno-builtin-malloc",
]
# Of what a compiler, a linker or apt-get says, the line that says why.
WHY = re.compile(r"undefined reference|multiple definition|cannot find|error[:\[]|^E:")
DEBIAN_SOURCES = (
    "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
    "http://deb.debian.org/debian {codename} main\n"
)


@dataclass(frozen=True)
class Row:
    allocator: str
    # shared, preload, static (in the program, in the place of malloc), prefix (in the program
    # beside libc's malloc), own (the same under a prefix that only --prefix tells); of a libc:
    # dynamic, static (no PIE), static-pie. Stripped programs whose allocator is linked as in
    # `static` of a libc, or `prefix`: linked (by .gnu_debuglink), packed (mini debug information)
    linkage: str
    language: str
    prefix: str = ""

    @property
    def name(self):
        return f"{self.allocator}-{self.linkage}-{self.language}"


LIBCS = ("glibc", "musl")
STRIPPED = ("linked", "packed")
# Of the programs in each of LANGUAGES.
PREFIXES = {
    "jemalloc": ("je_", "je_", "_rjem_"), "tcmalloc": ("tc_",) * 3, "mimalloc": ("mi_",) * 3,
}
# The library that is linked, and what else it needs if it is in the program.
LINKED = {"jemalloc": "jemalloc", "tcmalloc": "tcmalloc_minimal", "mimalloc": "mimalloc"}
PRELOADED = {
    "jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4",
    "mimalloc": "libmimalloc.so.2",
}
NEEDED = {"jemalloc": ["stdc++", "m"], "tcmalloc": ["stdc++", "m"], "mimalloc": []}

ROWS = [
    *(Row("glibc", linkage, language) for linkage in ("dynamic", "static", "static-pie")
      for language in LANGUAGES if (linkage, language) != ("static", "rust")),
    *(Row("musl", linkage, "c") for linkage in ("dynamic", "static")),
    *(Row(allocator, linkage, language) for allocator in LINKED
      for linkage in ("shared", "preload", "static") for language in LANGUAGES),
    *(Row(allocator, "prefix", language, prefix) for allocator, prefixes in PREFIXES.items()
      for language, prefix in zip(LANGUAGES, prefixes)),
    Row("tcmalloc", "own", "c", "my_"),
    *(Row("glibc", linkage, "c") for linkage in STRIPPED),
    *(Row("jemalloc", linkage, "c", "je_") for linkage in STRIPPED),
]


def run(command, what, **options):
    """Skip if it fails: its last line says why."""
    if not shutil.which(command[0]):
        raise Skip(f"{command[0]} is not installed")
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False,
        stdin=subprocess.DEVNULL, **options,
    )
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["no reason given"]
        said = next((line for line in lines if WHY.search(line)), lines[-1])
        raise Skip(f"{what} cannot be had: {said}")
    return done.stdout


def existing(path, package):
    if not os.path.exists(path):
        raise Skip(f"{package} is not installed: there is no {path}")
    return path


def defined(path, *options):
    """Names of the functions that a library or an archive defines, and a new program can link."""
    text = run(["nm", "--defined-only", *options, path], path)
    return {
        fields[2].split("@")[0]
        for fields in (line.split() for line in text.splitlines())
        if len(fields) == 3 and fields[1] in "TWi" and fields[2].count("@") != 1
    }


class Workshop:
    """Builds what rows need, one after the other."""

    def __init__(self, directory, compiler):
        self.directory, self.compiler = os.path.abspath(directory), compiler
        self.cxx = "clang++" if "clang" in compiler else "g++"
        os.makedirs(self.directory, exist_ok=True)

    def path(self, *names):
        return os.path.join(self.directory, *names)

    # ---- archives ----

    def archive(self, row):
        """The archive that is linked into the program of the row."""
        if row.allocator == "mimalloc":
            return self.mimalloc(overrides=not row.prefix)
        source, package = {
            "jemalloc": ("libjemalloc_pic.a", "libjemalloc-dev"),
            "tcmalloc": ("libtcmalloc_minimal.a", "libgoogle-perftools-dev"),
        }[row.allocator]
        source = existing(os.path.join(LIBRARIES, source), package)
        if not row.prefix:
            return source
        output = self.path(f"lib{row.prefix}{row.allocator}.a")
        if not os.path.exists(output) or os.path.getmtime(output) < os.path.getmtime(source):
            make = (
                self.prefix_jemalloc if row.allocator == "jemalloc"
                else self.rename_tcmalloc if row.linkage == "own"
                else self.unmask_tcmalloc
            )
            make(source, output, row.prefix)
        return output

    def edit(self, source, output, *options):
        new = f"{output}.new"
        run(["objcopy", *options, source, new], output)
        os.rename(new, output)

    def prefix_jemalloc(self, source, output, prefix):
        """What is called from outside gets the prefix; the rest has je_ already. The operators go:
        a jemalloc that is built with a prefix has none.
        """
        without = f"{output}.c"
        shutil.copyfile(source, without)
        run(["ar", "d", without, "jemalloc_cpp.o"], output)
        names = [name for name in defined(without) if not name.startswith("je_")]
        self.edit(
            without, output, *(f"--redefine-sym={name}={prefix}{name}" for name in sorted(names))
        )
        os.unlink(without)

    def unmask_tcmalloc(self, source, output, prefix):
        """It has all functions under its prefix, too. So the other names of C are taken away; the
        operators, which it calls itself, get other names.
        """
        there = sorted(defined(source))
        self.edit(
            source, output,
            *(f"--strip-symbol={name}" for name in there
              if re.match(r"__libc_|__posix_|[a-z]", name)
              and not name.startswith((prefix, "mmap", "mremap", "munmap", "sbrk"))),
            *(f"--redefine-sym={name}={prefix}{name}" for name in there
              if re.match(r"_Zn[aw]|_Zd[al]", name)),
        )

    def rename_tcmalloc(self, source, output, prefix):
        """Nothing is called tc_ or by a name of C, but only by one with the prefix."""
        self.unmask_tcmalloc(source, output, "tc_")
        self.edit(
            output, output,
            *(f"--redefine-sym={name}={prefix}{name[3:]}" for name in sorted(defined(output))
              if name.startswith("tc_")),
        )

    def mimalloc(self, overrides):
        output = self.path(f"libmimalloc{'_override' if overrides else ''}.a")
        if not os.path.exists(output):
            source = self.mimalloc_source()
            built = self.path("mimalloc.o")
            run(
                [
                    self.compiler, *MIMALLOC_FLAGS,
                    *(["-DMI_MALLOC_OVERRIDE"] if overrides else []),
                    f"-I{source}/include", "-c", "-o", built, f"{source}/src/static.c",
                ],
                "mimalloc",
            )
            run(["ar", "rcs", output, built], output)
        return output

    def mimalloc_source(self):
        """Debian has no archive of it, but its source. apt gets a state of its own for that."""
        pattern = self.path("source", "mimalloc-*", "")
        if not glob.glob(pattern):
            directory = self.path("source")
            for name in ("lists/partial", "cache/archives/partial"):
                os.makedirs(os.path.join(directory, name), exist_ok=True)
            with open("/etc/os-release", encoding="utf-8") as file:
                codename = re.search(r"^VERSION_CODENAME=(\w+)", file.read(), re.M)
            if not codename:
                raise Skip("no source of mimalloc: this is no release of Debian")
            with open(f"{directory}/sources.list", "w", encoding="utf-8") as file:
                file.write(DEBIAN_SOURCES.format(codename=codename.group(1)))
            apt = [
                "apt-get", "-q",
                *(
                    word
                    for name, value in (
                        ("Dir::Etc::sourcelist", f"{directory}/sources.list"),
                        ("Dir::Etc::sourceparts", "-"),
                        ("Dir::State::lists", f"{directory}/lists"),
                        ("Dir::Cache", f"{directory}/cache"),
                        ("APT::Sandbox::User", "root"),
                        ("APT::Update::Error-Mode", "any"),
                    )
                    for word in ("-o", f"{name}={value}")
                ),
            ]
            run([*apt, "update"], "the list of Debian's sources", cwd=directory)
            run([*apt, "source", "mimalloc"], "the source of mimalloc", cwd=directory)
        return glob.glob(pattern)[0]

    # ---- programs ----

    def functions(self, row):
        """Names of what the allocator of the row defines, without prefix."""
        if row.prefix:
            # mimalloc's are hidden: still global in the archive.
            there = {
                name[len(row.prefix) :]
                for name in defined(self.archive(row))
                if name.startswith(row.prefix)
            }
            # What functions take that C does not have is not known of any allocator.
            if row.linkage == "own":
                there &= defined(f"{LIBRARIES}/libc.so.6", "-D")
            return there
        if row.linkage == "static" and row.allocator not in LIBCS:
            return defined(self.archive(row))
        if row.allocator == "musl":
            return defined(existing(f"{MUSL}/libc.a", "musl-dev"))
        libc = defined(existing(f"{LIBRARIES}/libc.so.6", "libc6"), "-D")
        if row.allocator == "glibc":
            return libc
        library = f"{LIBRARIES}/{PRELOADED[row.allocator]}"
        there = defined(existing(library, f"the library of {row.allocator}"), "-D")
        # A program that is linked without it knows no functions that only it has.
        return there & libc if row.linkage == "preload" else there

    def defines(self, row):
        with open(SOURCES[0], encoding="utf-8") as file:
            asked = sorted(set(re.findall(r"\bHAS_(\w+)", file.read())))
        there, aborts = self.functions(row), row.allocator == "mimalloc" and not row.prefix
        return [
            f"-DPREFIX={row.prefix}", f"-DPREFIXED={int(bool(row.prefix))}",
            f"-DNEW_ABORTS={int(aborts)}",
            *(f"-DHAS_{name}={int(name in there)}" for name in asked),
        ]

    def commands(self, row, directory):
        """(what the program is built by, the program)."""
        program, objects = f"{directory}/program", [f"{directory}/program.o"]
        compiler = "musl-gcc" if row.allocator == "musl" else self.compiler
        is_static = row.allocator in LIBCS and row.linkage in ("static", *STRIPPED)
        flags = [*FLAGS, "-fno-pie" if is_static else "-fPIE", *self.defines(row)]
        is_rust = row.language == "rust"
        commands = [
            [
                compiler, "-std=gnu11", *flags, *(["-Dmain=program_main"] if is_rust else []), "-c",
                "-o", objects[0], SOURCES[0],
            ]
        ]
        if row.language == "c++":
            objects.append(f"{directory}/operators.o")
            commands.append(
                [self.cxx, "-std=c++17", *flags, "-c", "-o", objects[1], f"{HERE}/operators.cc"]
            )
        if is_rust:
            archive = f"{directory}/libprogram.a"
            commands += [
                ["ar", "rcs", archive, objects[0]],
                ["rustc", "-O", "-g", "-o", program, "-L", directory, *self.rust_options(row),
                 f"{HERE}/program.rs"],
            ]
            return commands, program
        link = []
        if is_static:
            link = ["-static", "-no-pie"]
        elif row.linkage == "static-pie":
            link = ["-static-pie"]
        elif row.linkage in ("static", "prefix", "own", *STRIPPED):
            link = [self.archive(row), *(f"-l{name}" for name in NEEDED[row.allocator])]
        elif row.linkage == "shared":
            link = [f"-l{LINKED[row.allocator]}"]
        commands.append(
            [self.cxx if row.language == "c++" else compiler, "-pthread", "-o", program, *objects,
             *link, *(["-Wl,--build-id"] if row.linkage in STRIPPED else [])]
        )
        return commands, program

    def strip(self, row, program):
        """Takes the symbols of the program to where the row has them."""
        debug = f"{program}.debug"
        run(["objcopy", "--only-keep-debug", program, debug], program)
        if row.linkage == "packed":
            self.pack(program, debug)
        else:
            run(["strip", program], program)
            run(["objcopy", f"--add-gnu-debuglink={debug}", program], program)

    def pack(self, program, debug):
        """As Fedora does: functions that are not weak, nor exported."""
        kept = {
            line.split()[-1]
            for line in run(["nm", "--defined-only", program], program).splitlines()
            if line.split()[-2] in "TtD"
        } - defined(program, "-D")
        with open(f"{program}.kept", "w", encoding="utf-8") as file:
            file.write("".join(f"{name}\n" for name in sorted(kept)))
        run(["objcopy", "-S", f"--keep-symbols={program}.kept", debug, f"{program}.mini"], program)
        run(["xz", "-f", f"{program}.mini"], program)
        run(["strip", program], program)
        run(["objcopy", "--add-section", f".gnu_debugdata={program}.mini.xz", program], program)
        os.unlink(debug)

    def rust_options(self, row):
        """The allocator comes before the libraries of Rust, as a crate that links it does."""
        options = ["-l", "static=program"]
        if row.prefix:
            options += ["--cfg", "prefixed"]
        if row.linkage == "static-pie":
            options += ["-C", "target-feature=+crt-static"]
        if row.linkage in ("static", "prefix"):
            archive = self.archive(row)
            options += ["-L", os.path.dirname(archive), "-l",
                        f"static={os.path.basename(archive)[3:-2]}"]
            options += [word for name in NEEDED[row.allocator] for word in ("-l", name)]
        elif row.linkage == "shared":
            options += ["-l", LINKED[row.allocator]]
        return options

    def build(self, row):
        """(program, environment) of the row, or Skip."""
        directory = self.path(row.name)
        os.makedirs(directory, exist_ok=True)
        if row.language == "rust" and not shutil.which("rustc"):
            raise Skip("rustc is not installed")
        commands, program = self.commands(row, directory)
        text = "\n".join(" ".join(command) for command in commands) + "\n"
        record, newest = f"{directory}/commands", max(map(os.path.getmtime, SOURCES))
        if not (
            os.path.exists(program) and os.path.getmtime(program) > newest
            and os.path.exists(record) and open(record, encoding="utf-8").read() == text
        ):
            for command in commands:
                run(command, row.name, env={**os.environ, "PREFIX": row.prefix})
            if row.linkage in STRIPPED:
                self.strip(row, program)
            with open(record, "w", encoding="utf-8") as file:
                file.write(text)
        environment = {}
        if row.linkage == "preload":
            environment["LD_PRELOAD"] = os.path.join(LIBRARIES, PRELOADED[row.allocator])
        return program, environment
