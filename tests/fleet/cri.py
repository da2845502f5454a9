# SPDX-License-Identifier: MIT
"""The Container Runtime Interface of a containerd, by which the kubelet runs containers."""
import sys

import grpc

from processes import Failed

CALL_SECONDS = 60


class CriError(Failed):
    """containerd refuses; its text says why."""


class Cri:
    """generated: the directory with what protoc has made of cri.proto."""

    def __init__(self, address, generated):
        sys.path.insert(0, generated)
        import cri_pb2

        self.messages = cri_pb2
        self.channel = grpc.insecure_channel(f"unix://{address}")

    def call(self, name, service="RuntimeService", seconds=CALL_SECONDS, **fields):
        """The answer. Fields are those of the request: messages and maps as dicts, enums as the
        names of their values.
        """
        request = getattr(self.messages, f"{name}Request")(**fields)
        method = self.channel.unary_unary(
            f"/runtime.v1.{service}/{name}", type(request).SerializeToString,
            getattr(self.messages, f"{name}Response").FromString,
        )
        try:
            return method(request, timeout=seconds)
        except grpc.RpcError as error:
            raise CriError(f"{name}: {error.details()}") from None

    def execute(self, container, command, seconds):
        """(exit status, standard output, standard error) of a command in a container."""
        done = self.call("ExecSync", seconds=seconds + CALL_SECONDS, container_id=container,
                         cmd=command, timeout=seconds)
        return (done.exit_code, *(text.decode(errors="replace")
                                  for text in (done.stdout, done.stderr)))

    def close(self):
        self.channel.close()
