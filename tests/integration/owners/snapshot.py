# SPDX-License-Identifier: MIT
"""A strict reader of heap snapshots of Chrome DevTools."""
import json

NODE_FIELDS = ["type", "name", "id", "self_size", "edge_count", "trace_node_id", "detachedness"]
EDGE_FIELDS = ["type", "name_or_index", "to_node"]


def check(is_so, *what):
    if not is_so:
        raise AssertionError(" ".join(str(part) for part in what))


class Snapshot:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = json.load(file)
        head = text["snapshot"]
        check(head["meta"]["node_fields"] == NODE_FIELDS, head["meta"]["node_fields"])
        check(head["meta"]["edge_fields"] == EDGE_FIELDS, head["meta"]["edge_fields"])
        self.node_types, self.edge_types = (
            head["meta"][name][0] for name in ("node_types", "edge_types")
        )
        self.strings = text["strings"]
        check(all(isinstance(string, str) for string in self.strings), "a string is none")
        self.nodes = self.rows(text["nodes"], NODE_FIELDS, head["node_count"])
        self.edges = self.rows(text["edges"], EDGE_FIELDS, head["edge_count"])
        self.check_nodes()
        self.check_edges()

    @staticmethod
    def rows(numbers, fields, count):
        check(len(numbers) == count * len(fields), len(numbers), "numbers, for", count)
        check(all(isinstance(number, int) for number in numbers), "a number is none")
        check(all(0 <= number < 1 << 32 for number in numbers), "a number has not 32 bits")
        return [
            dict(zip(fields, numbers[at : at + len(fields)]))
            for at in range(0, len(numbers), len(fields))
        ]

    def check_nodes(self):
        first = 0
        for node in self.nodes:
            check(node["type"] < len(self.node_types), "type of", node)
            check(node["name"] < len(self.strings), "name of", node)
            node["first"] = first
            first += node["edge_count"]
        check(first == len(self.edges), first, "edges of nodes, not", len(self.edges))
        ids = [node["id"] for node in self.nodes]
        check(len(set(ids)) == len(ids), "ids are not unique")

    def check_edges(self):
        for edge in self.edges:
            check(edge["type"] < len(self.edge_types), "type of", edge)
            check(edge["to_node"] % len(NODE_FIELDS) == 0, "to_node of", edge)
            check(edge["to_node"] // len(NODE_FIELDS) < len(self.nodes), "to_node of", edge)
            if self.edge_types[edge["type"]] not in ("element", "hidden"):
                check(edge["name_or_index"] < len(self.strings), "name of", edge)

    def name(self, node):
        return self.strings[node["name"]]

    def reached(self, without=None):
        """Indices of the nodes that the root leads to, without one, by edges that are not weak."""
        seen, todo = {0}, [0]
        while todo:
            node = self.nodes[todo.pop()]
            for edge in self.edges[node["first"] : node["first"] + node["edge_count"]]:
                if self.edge_types[edge["type"]] == "weak":
                    continue
                index = edge["to_node"] // len(NODE_FIELDS)
                if index != without and index not in seen:
                    seen.add(index)
                    todo.append(index)
        return seen

    def size(self, indices):
        return sum(self.nodes[index]["self_size"] for index in indices)

    def retained(self, name):
        """By definition: what is not reached without it."""
        found = [i for i, node in enumerate(self.nodes) if self.name(node) == name]
        check(len(found) == 1, len(found), "nodes are", name)
        everything = self.reached()
        return self.size(everything) - self.size(self.reached(without=found[0]))
