# SPDX-License-Identifier: MIT
"""What a kubelet makes of the manifest of a pod: volumes, and calls of the interface (CRI).

A field that is not translated here is an error, as a manifest would otherwise be tried without it.
"""
import json
import os
import re
import subprocess
import uuid

from processes import Failed, read

PATIENCE_SECONDS = 60
# of pkg/kubelet and pkg/securitycontext
MASKED = ["/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
          "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi",
          "/sys/firmware"]
READ_ONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]
UNITS = {"": 1, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}

POD_FIELDS = {"hostPID", "containers", "volumes", "nodeSelector", "tolerations",
              "serviceAccountName", "automountServiceAccountToken",
              "terminationGracePeriodSeconds"}
CONTAINER_FIELDS = {"name", "image", "imagePullPolicy", "command", "args", "env", "resources",
                    "securityContext", "volumeMounts", "targetContainerName",
                    "terminationMessagePolicy"}
SECURITY_FIELDS = {"runAsUser", "runAsGroup", "readOnlyRootFilesystem", "privileged",
                   "capabilities", "seccompProfile", "allowPrivilegeEscalation"}


def known(what, value, fields):
    if set(value) - fields:
        raise Failed(f"{what} has {', '.join(set(value) - fields)}, which is not translated")


def quantity(text):
    number, unit = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", str(text)).groups()
    return float(number) * UNITS[unit]


def security(context, namespaces):
    known("securityContext", context, SECURITY_FIELDS)
    capabilities = context.get("capabilities", {})
    fields = {
        "namespace_options": namespaces, "masked_paths": MASKED, "readonly_paths": READ_ONLY,
        "privileged": context.get("privileged", False),
        "readonly_rootfs": context.get("readOnlyRootFilesystem", False),
        "no_new_privs": context.get("allowPrivilegeEscalation") is False,
        "seccomp": {"profile_type": context.get("seccompProfile", {}).get("type", "Unconfined")},
        "capabilities": {"add_capabilities": capabilities.get("add", []),
                         "drop_capabilities": capabilities.get("drop", [])},
    }
    for name, field in (("runAsUser", "run_as_user"), ("runAsGroup", "run_as_group")):
        if name in context:
            fields[field] = {"value": context[name]}
    return fields


def resources(value):
    requests, limits = value.get("requests", {}), value.get("limits", {})
    memory = quantity(requests.get("memory", limits.get("memory", 0)))
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    fields = {
        "cpu_shares": max(2, int(quantity(requests.get("cpu", 0)) * 1024)),
        "oom_score_adj": min(999, max(3, int(1000 - 1000 * memory / machine))) if value else 1000,
    }
    if "memory" in limits:
        fields["memory_limit_in_bytes"] = int(quantity(limits["memory"]))
    return fields


def write(path, text, mode):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


class Pod:
    """One that runs. manifest: its metadata and spec."""

    def __init__(self, node, manifest, hosts=""):
        self.node, self.spec, self.uid = node, manifest["spec"], str(uuid.uuid4())
        self.name, self.namespace = (manifest["metadata"][each] for each in ("name", "namespace"))
        self.labels = manifest["metadata"].get("labels", {})
        self.directory = f"{node.directory}/pods/{self.uid}"
        self.containers, self.ephemeral = {}, []
        known("spec", self.spec, POD_FIELDS)
        os.makedirs(f"{self.directory}/volumes")
        write(f"{self.directory}/hosts", "127.0.0.1 localhost\n" + hosts, 0o644)
        self.volumes = {each["name"]: self.make_volume(each)
                        for each in self.spec.get("volumes", [])}
        self.config = self.sandbox_config()
        self.sandbox = node.cri.call("RunPodSandbox", config=self.config).pod_sandbox_id
        node.sandboxes.append(self.sandbox)
        for container in self.spec["containers"]:
            self.run(container, self.namespaces())

    def namespaces(self, **others):
        return {"network": "POD", "ipc": "POD",
                "pid": "NODE" if self.spec.get("hostPID") else "CONTAINER", **others}

    def sandbox_config(self):
        logs = f"{self.node.directory}/logs/{self.namespace}_{self.name}_{self.uid}"
        os.makedirs(logs)
        return {
            "metadata": {"name": self.name, "uid": self.uid, "namespace": self.namespace},
            "hostname": self.name, "log_directory": logs, "labels": self.labels,
            "linux": {"cgroup_parent": f"/{self.node.name}/pod{self.uid}",
                      "security_context": {"namespace_options": self.namespaces(),
                                           "seccomp": {"profile_type": "RuntimeDefault"}}},
        }

    # ---- volumes ---------------------------------------------------------------------------------

    def make_volume(self, volume):
        name, = set(volume) - {"name"}
        return getattr(self, f"make_{name}")(f"{self.directory}/volumes/{volume['name']}",
                                             volume[name] or {})

    def make_hostPath(self, _, source):
        known("hostPath", source, {"path", "type"})
        path = self.node.host_path(source["path"])
        if source.get("type") == "DirectoryOrCreate":
            os.makedirs(path, 0o755, exist_ok=True)
        elif source.get("type") != "Directory" or not os.path.isdir(path):
            raise Failed(f"hostPath {source}")
        return path

    def make_emptyDir(self, path, source):
        known("emptyDir", source, {"medium", "sizeLimit"})
        os.mkdir(path)
        if source.get("medium") == "Memory":
            size = int(quantity(source["sizeLimit"]))
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path],
                           check=True)
        os.chmod(path, 0o777)
        return path

    def make_secret(self, path, source):
        """Files are links into a directory that is replaced as a whole."""
        known("secret", source, {"secretName", "optional", "defaultMode"})
        values = self.node.secrets.get((self.namespace, source["secretName"]))
        if values is None and not source.get("optional"):
            raise Failed(f"there is no secret {source['secretName']}")
        os.makedirs(f"{path}/..1")
        os.symlink("..1", f"{path}/..data")
        for name, text in (values or {}).items():
            write(f"{path}/..1/{name}", text, source.get("defaultMode", 0o644))
            os.symlink(f"..data/{name}", f"{path}/{name}")
        return path

    # ---- containers ------------------------------------------------------------------------------

    def environment(self, variable):
        if "value" in variable:
            return variable["value"]
        (kind, source), = variable["valueFrom"].items()
        if kind == "configMapKeyRef":
            return self.node.config_maps[self.namespace, source["name"]][source["key"]]
        if kind == "fieldRef" and source["fieldPath"] == "spec.nodeName":
            return self.node.name
        raise Failed(f"{kind} of {variable['name']} is not translated")

    def mount(self, volume_mount):
        known("volumeMounts", volume_mount, {"name", "mountPath", "readOnly"})
        return {"container_path": volume_mount["mountPath"],
                "host_path": self.volumes[volume_mount["name"]],
                "readonly": volume_mount.get("readOnly", False)}

    def run(self, container, namespaces):
        known("container", container, CONTAINER_FIELDS)
        name = container["name"]
        config = {
            "metadata": {"name": name}, "image": {"image": container["image"]},
            "command": container.get("command", []), "args": container.get("args", []),
            "envs": [{"key": each["name"], "value": self.environment(each)}
                     for each in container.get("env", [])],
            "mounts": [self.mount(each) for each in container.get("volumeMounts", [])] + [
                {"container_path": "/etc/hosts", "host_path": f"{self.directory}/hosts"}],
            "log_path": f"{name}.log",
            "linux": {"resources": resources(container.get("resources", {})),
                      "security_context": security(container.get("securityContext", {}),
                                                   namespaces)},
        }
        self.containers[name] = self.node.cri.call(
            "CreateContainer", pod_sandbox_id=self.sandbox, config=config,
            sandbox_config=self.config).container_id
        self.node.cri.call("StartContainer", container_id=self.containers[name])

    def run_ephemeral(self, container):
        target = self.containers[container["targetContainerName"]]
        self.run(container, self.namespaces(pid="TARGET", target_id=target))
        self.ephemeral.append(container)

    def status(self, name):
        return self.node.cri.call("ContainerStatus", container_id=self.containers[name],
                                  verbose=True)

    def pid(self, name):
        """The number that its first process has on the node."""
        return json.loads(self.status(name).info["info"])["pid"]

    def log(self, name):
        lines = read(f"{self.config['log_directory']}/{name}.log").splitlines()
        return "".join(line.split(" ", 3)[3] + "\n" * (line.split(" ", 3)[2] == "F")
                       for line in lines)

    def wait(self, name, seconds=PATIENCE_SECONDS):
        """The status of a container that has ended."""
        def ended():
            status = self.status(name).status
            return status if status.state == self.node.cri.messages.CONTAINER_EXITED else None

        return self.node.wait_until(ended, seconds, f"{name} does not end: {self.log(name)}")

    def execute(self, name, *command, seconds=PATIENCE_SECONDS):
        return self.node.cri.execute(self.containers[name], command, seconds)

    def stop(self, name, seconds=10):
        self.node.cri.call("StopContainer", container_id=self.containers[name], timeout=seconds)
        return self.wait(name)
