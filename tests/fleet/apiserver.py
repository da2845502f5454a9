# SPDX-License-Identifier: MIT
"""Stands in for the API server of a cluster with one node: as much as kubectl asks for to get pods,
to execute commands in them and to add ephemeral containers. The commands, and their streams, are
containerd's.
"""
import contextlib
import http.server
import json
import select
import socket
import threading
import urllib.parse

from cri import CriError
from processes import Failed

DISCOVERY = {
    "/api": {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "/version": {"major": "1", "minor": "32", "gitVersion": "v1.32.0"},
    "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [
        {"name": name, "singularName": "", "namespaced": True, "kind": kind, "verbs": verbs,
         "shortNames": []}
        for name, kind, verbs in (
            ("pods", "Pod", ["get", "list"]), ("pods/exec", "PodExecOptions", ["create"]),
            ("pods/ephemeralcontainers", "Pod", ["get", "patch"]))]},
}


def pod_object(pod):
    def status(name):
        return {"name": name, "containerID": f"containerd://{pod.containers[name]}",
                "state": {"running": {}}}

    ephemeral = pod.ephemeral
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": pod.name, "namespace": pod.namespace, "labels": pod.labels,
                     "uid": pod.uid},
        "spec": {**pod.spec, "nodeName": pod.node.name, "ephemeralContainers": ephemeral},
        "status": {
            "phase": "Running",
            "containerStatuses": [status(each["name"]) for each in pod.spec["containers"]],
            "ephemeralContainerStatuses": [status(each["name"]) for each in ephemeral]},
    }


def is_selected(pod, query):
    fields = {"spec.nodeName": pod.node.name, "status.phase": "Running"}
    return all(
        source.get(name) == value
        for selector, source in (("labelSelector", pod.labels), ("fieldSelector", fields))
        for name, _, value in (each.partition("=") for text in query.get(selector, [])
                               for each in text.split(","))
    )


def splice(one, other):
    """Until both have ended."""
    peers = {one: other, other: one}
    while peers:
        for source in select.select(list(peers), [], [])[0]:
            text = source.recv(65536)
            sink = one if source is other else other
            if text:
                sink.sendall(text)
            else:
                del peers[source]
                sink.shutdown(socket.SHUT_WR)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pods = {}

    def log_message(self, *arguments):
        pass

    def answer(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, message):
        self.answer({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status,
                     "reason": "NotFound" if status == 404 else "BadRequest",
                     "message": message}, status)

    def handle_request(self):
        place = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(place.query)
        parts = place.path.split("/")
        if place.path in DISCOVERY:
            self.answer(DISCOVERY[place.path])
            return
        if parts[:4] != ["", "api", "v1", "namespaces"] or parts[5:6] != ["pods"]:
            self.refuse(404, f"no {place.path} here")
            return
        pods = [pod for pod in list(self.pods.values()) if pod.namespace == parts[4]]
        if len(parts) == 6:
            self.answer({"apiVersion": "v1", "kind": "PodList", "items": [
                pod_object(pod) for pod in pods if is_selected(pod, query)]})
            return
        pod = next((pod for pod in pods if pod.name == parts[6]), None)
        if not pod:
            self.refuse(404, f'pods "{parts[6]}" not found')
        elif parts[7:] == ["exec"]:
            self.execute(pod, query)
        elif parts[7:] == ["ephemeralcontainers"] and self.command == "PATCH":
            self.add_ephemeral(pod)
        else:
            self.answer(pod_object(pod))

    def do_GET(self):
        try:
            self.handle_request()
        except (CriError, Failed) as error:
            self.refuse(400, str(error))

    do_POST = do_PATCH = do_GET

    def add_ephemeral(self, pod):
        patch = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        for container in patch["spec"]["ephemeralContainers"]:
            pod.run_ephemeral(container)
        self.answer(pod_object(pod))

    def execute(self, pod, query):
        """What follows the request is between kubectl and containerd. Theirs is SPDY; kubectl asks
        for WebSockets first.
        """
        if self.headers["Upgrade"] == "websocket":
            self.refuse(400, "SPDY alone")
            return
        is_wanted = {name: query.get(name) == ["true"] for name in
                     ("stdin", "stdout", "stderr", "tty")}
        url = urllib.parse.urlsplit(pod.node.cri.call(
            "Exec", container_id=pod.containers[query["container"][0]], cmd=query["command"],
            **is_wanted).url)
        with socket.create_connection((url.hostname, url.port)) as runtime:
            lines = [f"{self.command} {url.path} HTTP/1.1",
                     *(f"{name}: {value}" for name, value in self.headers.items()), "", ""]
            runtime.sendall("\r\n".join(lines).encode())
            with contextlib.suppress(OSError):  # kubectl does not wait for the end
                splice(self.connection, runtime)
        self.close_connection = True


def serve(pods):
    """(server, its port), until server.shutdown(). pods: by their names"""
    class Ours(Handler):
        pass

    Ours.pods = pods
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ours)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, server.server_address[1]
