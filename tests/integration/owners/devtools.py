# SPDX-License-Identifier: MIT
"""Loads a heap snapshot as the worker of Chrome DevTools does, in a headless Chromium, and compares
what its Summary, Retainers and retained sizes are made of.
"""
import json

from browser import Browser, CannotStart
from snapshot import check

PAGE = "devtools://devtools/bundled/devtools_app.html"
LOAD = """
(async (text, wanted) => {
  const worker = await import(
    'devtools://devtools/bundled/entrypoints/heap_snapshot_worker/heap_snapshot_worker.js');
  const loader = new worker.HeapSnapshotLoader.HeapSnapshotLoader({sendEvent() {}});
  for (let at = 0; at < text.length; at += 1 << 16) loader.write(text.slice(at, at + (1 << 16)));
  loader.close();
  const channel = new MessageChannel();
  new worker.HeapSnapshot.SecondaryInitManager(channel.port2);
  const snapshot = await loader.buildSnapshot(channel.port1);
  const classes = Object.values(snapshot.aggregatesWithFilter({}));
  const found = {classes: {}, retained: {}, distance: {}, retainers: {}};
  found.total = snapshot.rootNode().retainedSize();
  for (const {name, count, self, maxRet} of classes) found.classes[name] = {count, self, maxRet};
  for (const nodes = snapshot.allNodes(); nodes.hasNext(); nodes.next()) {
    const node = nodes.item();
    if (!wanted.includes(node.name())) continue;
    found.retained[node.name()] = node.retainedSize();
    found.distance[node.name()] = node.distance();
    found.retainers[node.name()] = [];
    for (const edges = node.retainers(); edges.hasNext(); edges.next())
      found.retainers[node.name()].push([edges.item().name(), edges.item().node().name()]);
  }
  return JSON.stringify(found);
})"""


def compare(found, said, truth):
    check(found["total"] == said["bytes"], "the root retains", found["total"])
    sessions = found["classes"].get("net::session")
    check(sessions and sessions["count"] == 500, "Summary has", list(found["classes"]))
    # Chromium counts a class's retained size without what is counted in one of it already.
    check(sessions["maxRet"] >= 2000 * 1000, "sessions retain", sessions)
    for name, key in (("net::sessions in owned", "sessions"), ("ring in owned", "ring")):
        check(found["retained"][name] == truth[key]["bytes"], name, found["retained"])
        check(found["distance"][name] == 2, "distance of", name, found["distance"])
    check(["net::sessions in owned", "owned"] in found["retainers"]["net::sessions in owned"],
          found["retainers"])
    check(found["retainers"]["net::session"][0][1] == "pointers of 56B", found["retainers"])


def check_in(browser, path, said, truth):
    page = browser.open("about:blank")
    page.load(PAGE)
    with open(path, encoding="utf-8") as file:
        text = json.dumps(file.read())
    wanted = json.dumps(["net::sessions in owned", "ring in owned", "net::session"])
    compare(json.loads(page.evaluate(f"{LOAD}({text}, {wanted})")), said, truth)
    return f"{browser.version}: its worker agrees"


def load(program, directory, path, said, truth):
    """A line of what came of it."""
    try:
        with Browser(program, directory) as browser:
            return check_in(browser, path, said, truth)
    except CannotStart as error:
        return str(error)
