# SPDX-License-Identifier: MIT
"""Images of containers: an archive by the OCI image format, of directories."""
import ast
import hashlib
import json
import os
import re
import shutil
import subprocess

from roots import IN_NAMESPACE, mirror_of_apt, run

BOOTSTRAP_SECONDS = 600
RELEASES = {"debian:12-slim": "bookworm"}
NOT_IN_SLIM = ["usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale",
               "var/cache/apt", "var/lib/apt/lists"]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Dockerfile:
    """The last stage of one: its base, the packages that it installs, its entry point."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read().replace("\\\n", " ")
        stage = re.split(r"^FROM ", text, flags=re.M)[-1]
        self.base = stage.split()[0]
        self.packages = re.search(
            r"apt-get install -y --no-install-recommends([^&]*)&&", stage)[1].split()
        self.entrypoint = ast.literal_eval(re.search(r"^ENTRYPOINT (.*)$", stage, re.M)[1])
        copied = re.search(r"^COPY --from=build (\S+) (\S+)$", stage, re.M)
        self.copied_from, self.copied_to = copied[1], copied[2]


def make_base(dockerfile, directory):
    """The root with the packages, which is kept for the next time."""
    root, stamp = f"{directory}/base", f"{directory}/base.packages"
    wanted = " ".join([dockerfile.base, *dockerfile.packages])
    if os.path.exists(stamp) and open(stamp, encoding="utf-8").read() == wanted:
        return root
    shutil.rmtree(root, ignore_errors=True)
    run([*IN_NAMESPACE, "debootstrap", "--variant=minbase",
         f"--include={','.join(dockerfile.packages)}", RELEASES[dockerfile.base], root,
         mirror_of_apt()], BOOTSTRAP_SECONDS)
    for each in NOT_IN_SLIM:
        shutil.rmtree(f"{root}/{each}", ignore_errors=True)
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(wanted)
    return root


def libraries(program):
    """The dynamic linker and the libraries that it loads, as paths of this machine."""
    return re.findall(r"(/\S+) \(0x", run(["ldd", program]))


def copy_into(root, files):
    """files: path in the root -> path of this machine."""
    for inside, outside in files.items():
        os.makedirs(os.path.dirname(root + inside), exist_ok=True)
        shutil.copy(outside, root + inside)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Archive:
    def __init__(self, directory):
        self.directory = directory
        os.makedirs(f"{directory}/blobs/sha256")

    def keep(self, path, kind):
        """Moves a file into it; returns its descriptor."""
        hashed, size = digest(path), os.path.getsize(path)
        os.replace(path, f"{self.directory}/blobs/sha256/{hashed}")
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{hashed}",
                "size": size}

    def keep_object(self, value, kind):
        path = f"{self.directory}/object"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file)
        return self.keep(path, kind)

    def keep_layer(self, root):
        path = f"{self.directory}/layer"
        subprocess.run(["tar", "--numeric-owner", "-C", root, "-cf", path, "."], check=True)
        return self.keep(path, "layer.v1.tar")


def make_image(archive, name, roots, entrypoint):
    """Writes the file `archive`, an image of these directories above each other."""
    made = Archive(f"{archive}.files")
    layers = [made.keep_layer(root) for root in roots]
    config = made.keep_object(
        {"architecture": run(["dpkg", "--print-architecture"]).strip(), "os": "linux",
         "config": {"Env": [f"PATH={PATH}"], "Entrypoint": entrypoint, "WorkingDir": "/"},
         "rootfs": {"type": "layers", "diff_ids": [each["digest"] for each in layers]}},
        "config.v1+json")
    manifest = made.keep_object(
        {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
         "config": config, "layers": layers}, "manifest.v1+json")
    manifest["annotations"] = {"io.containerd.image.name": name}
    for file, value in (("index.json", {"schemaVersion": 2, "manifests": [manifest]}),
                        ("oci-layout", {"imageLayoutVersion": "1.0.0"})):
        with open(f"{made.directory}/{file}", "w", encoding="utf-8") as out:
            json.dump(value, out)
    subprocess.run(["tar", "-C", made.directory, "-cf", archive, "."], check=True)
    shutil.rmtree(made.directory)
    return archive
