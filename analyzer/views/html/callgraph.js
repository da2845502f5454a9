// SPDX-License-Identifier: MIT
// callgraph.js - the tab of the call graph: functions as boxes, calls as arrows, laid out in layers as graphviz does it (Sugiyama): cycles are broken,
// functions stand below their callers, layers are sorted so that few arrows cross.
"use strict";

const CALLS = { gapX: 26, gapY: 46, line: 16, padding: 9, sweeps: 12, edgeShare: 0.001, nodeShare: 0.002, bendWidth: 14 };

// ---- what is in it ----

// The heaviest functions and the calls between them; a call that leads through functions that are left out is residual.
function callGraphOf(type, limit) {
	const { tree } = profile, whole = Math.max(1, tree.now[type][0], tree.old[type][0]);
	const weight = (figure) => Math.max(figure.now, figure.old);
	const rows = profile.functionRows(type).filter((row) => row.functionIndex >= 0 && weight(row.total) >= CALLS.nodeShare * whole);
	const kept = rows.sort((a, b) => weight(b.total) + weight(b.self) - weight(a.total) - weight(a.self)).slice(0, limit);
	const boxes = new Map(kept.map((row) => [row.functionIndex, { ...row }])), edges = new Map();
	const above = new Int32Array(tree.count), seen = tree.parent.map(() => null); // by node: the nearest caller that is kept, and the edge from there
	for (let node = 1; node < tree.count; node++) {
		const { parent } = tree, from = parent[node], functionIndex = tree.functionOf[node];
		above[node] = boxes.has(tree.functionOf[from]) ? from : above[from];
		const caller = tree.functionOf[above[node]];
		if (!boxes.has(functionIndex) || !boxes.has(caller) || caller === functionIndex)
			continue;
		const key = caller + " " + functionIndex;
		seen[node] = key;
		let at = from;
		while (at > 0 && seen[at] !== key)
			at = parent[at];
		if (!edges.has(key))
			edges.set(key, { from: boxes.get(caller), to: boxes.get(functionIndex), now: 0, old: 0, isResidual: true });
		const edge = edges.get(key);
		edge.isResidual = edge.isResidual && above[node] !== from;
		if (at === 0) {
			edge.now += tree.now[type][node];
			edge.old += tree.old[type][node];
		}
	}
	const shown = Array.from(edges.values()).filter((edge) => weight(edge) >= CALLS.edgeShare * whole);
	return { boxes: Array.from(boxes.values()), edges: shown, count: profile.functionRows(type).length, whole };
}

// ---- the layout ----

// Edges that close a cycle are turned round for the layout.
function breakCycles({ boxes, edges }) {
	const next = new Map(boxes.map((box) => [box, edges.filter((edge) => edge.from === box)])), done = new Map();
	const visit = (start) => {
		const pending = [{ box: start, at: 0 }];
		done.set(start, 1);
		while (pending.length) {
			const top = pending[pending.length - 1], edge = next.get(top.box)[top.at++];
			if (!edge) {
				done.set(top.box, 2);
				pending.pop();
			} else if (done.get(edge.to) === 1)
				edge.isTurned = true;
			else if (!done.has(edge.to)) {
				done.set(edge.to, 1);
				pending.push({ box: edge.to, at: 0 });
			}
		}
	};
	const isCalled = new Set(edges.map((edge) => edge.to));
	boxes.filter((box) => !isCalled.has(box)).concat(boxes).forEach((box) => done.has(box) || visit(box));
}

// Each function below all its callers.
function rankBoxes({ boxes, edges }) {
	const down = edges.map((edge) => edge.isTurned ? [edge.to, edge.from] : [edge.from, edge.to]);
	const open = new Map(boxes.map((box) => [box, down.filter(([, to]) => to === box).length])), ready = boxes.filter((box) => !open.get(box));
	boxes.forEach((box) => { box.rank = 0; });
	while (ready.length) {
		const box = ready.pop();
		for (const [from, to] of down) {
			if (from !== box)
				continue;
			to.rank = Math.max(to.rank, box.rank + 1);
			open.set(to, open.get(to) - 1);
			if (!open.get(to))
				ready.push(to);
		}
	}
}

// Where an edge passes a layer stands a bend, which takes part in the order like a box.
function makeLayers({ boxes, edges }) {
	const layers = [], put = (item) => (layers[item.rank] = layers[item.rank] || []).push(item);
	const link = (a, b) => {
		a.below.push(b);
		b.above.push(a);
	};
	for (const box of boxes) {
		Object.assign(box, { above: [], below: [] });
		put(box);
	}
	for (const edge of edges) {
		const [from, to] = edge.isTurned ? [edge.to, edge.from] : [edge.from, edge.to];
		edge.bends = [];
		let last = from;
		for (let rank = from.rank + 1; rank < to.rank; rank++) {
			const bend = { rank, width: CALLS.bendWidth, height: 0, above: [], below: [] };
			edge.bends.push(bend);
			put(bend);
			link(last, bend);
			last = bend;
		}
		link(last, to);
		if (edge.isTurned)
			edge.bends.reverse();
	}
	return layers;
}

function sortLayers(layers) {
	const number = () => layers.forEach((layer) => layer.forEach((item, i) => { item.order = i / layer.length; }));
	number();
	for (let sweep = 0; sweep < CALLS.sweeps; sweep++) {
		const side = sweep % 2 ? "below" : "above";
		for (const layer of sweep % 2 ? layers.slice().reverse() : layers) {
			layer.forEach((item) => { item.wish = item[side].length ? item[side].reduce((sum, other) => sum + other.order, 0) / item[side].length : item.order; });
			layer.sort((a, b) => a.wish - b.wish);
			layer.forEach((item, i) => { item.order = i / layer.length; });
		}
	}
}

// Everything as near below its callers as what stands beside it allows.
function placeItems(layers) {
	let y = 0;
	for (const layer of layers) {
		const height = Math.max(...layer.map((item) => item.height));
		let x = 0;
		for (const item of layer) {
			Object.assign(item, { x: x + item.width / 2, y: y + height / 2 });
			x += item.width + CALLS.gapX;
		}
		y += height + CALLS.gapY;
	}
	for (let sweep = 0; sweep < 2 * CALLS.sweeps; sweep++)
		for (const layer of sweep % 2 ? layers.slice().reverse() : layers)
			pullLayer(layer, sweep % 2 ? "below" : "above");
}

function pullLayer(layer, side) {
	const apart = (a, b) => (a.width + b.width) / 2 + CALLS.gapX, mean = (items) => items.reduce((sum, item) => sum + item.x, 0) / items.length;
	const wish = layer.map((item) => item[side].length ? mean(item[side]) : item.x);
	const left = [], right = [];
	layer.forEach((item, i) => { left[i] = i ? Math.max(wish[i], left[i - 1] + apart(layer[i - 1], item)) : wish[i]; });
	for (let i = layer.length - 1; i >= 0; i--)
		right[i] = i < layer.length - 1 ? Math.min(wish[i], right[i + 1] - apart(layer[i], layer[i + 1])) : wish[i];
	layer.forEach((item, i) => { item.x = (left[i] + right[i]) / 2; });
}

// ---- the drawing ----

function fontSize(box, whole) {
	return 11 + 9 * Math.sqrt(Math.max(box.self.now, box.self.old) / whole);
}

function boxLines(box, type) {
	const named = profile.nameOf(box.functionIndex), short = named.length > 40 ? named.slice(0, 39) + "\u2026" : named, whole = profile.tree.now[type][0];
	const share = (figure) => formatValue(figure.now, kind()) + " (" + formatShare(figure.now, whole) + ")";
	const change = profile.isComparison ? [formatSigned(box.total.now - box.total.old, kind()) + " " + formatChange(box.total)] : [];
	return [short, box.self.now === box.total.now ? share(box.self) : (box.self.now ? share(box.self) : "0") + " of " + share(box.total), ...change];
}

function measure(box, type, whole) {
	const size = fontSize(box, whole);
	box.lines = boxLines(box, type);
	box.size = size;
	box.width = Math.max(size * 0.61 * box.lines[0].length, 6.7 * Math.max(...box.lines.slice(1).map((line) => line.length))) + 2 * CALLS.padding;
	box.height = size + CALLS.line * (box.lines.length - 1) + 2 * CALLS.padding;
}

function boxFill(box) {
	if (profile.isComparison && colors.mode === "change")
		return colors.ofChange(changeOf(box.total) * (isCertain(box.total) ? 1 : 0.3));
	return colors.ofFunction(box.functionIndex);
}

function showBoxTip({ functionIndex, self, total }, event) {
	const { tree } = profile, type = kind(), whole = tree.now[state.type][0];
	const said = (figure) => formatValue(figure.now, type) + ", " + formatShare(figure.now, whole);
	const facts = [["Self", said(self)], ["Total", said(total)]];
	if (profile.isComparison)
		facts.push(["Change", formatSigned(total.now - total.old, type) + " (" + (formatChange(total) || "none") + ")"]);
	if (!profile.isExact)
		facts.push(["95% interval", formatInterval(total, type)]);
	putTip(profile.nameOf(functionIndex), originOf(tree, tree.functionOf.indexOf(functionIndex)), facts, event);
}

function drawBox(box) {
	const left = box.x - box.width / 2, top = box.y - box.height / 2;
	const words = box.lines.map((line, i) => makeSvg("text", {
		x: box.x, y: top + CALLS.padding + box.size * 0.8 + i * CALLS.line, "text-anchor": "middle", "font-size": i ? 11 : box.size.toFixed(1), fill: colors.text,
	}, line + " "));
	const group = makeSvg("g", { class: "box", role: "button", tabindex: 0, "aria-label": box.lines.join(" ") },
		makeSvg("rect", { x: left, y: top, width: box.width, height: box.height, rx: 4, fill: boxFill(box) }), ...words);
	group.addEventListener("pointermove", (event) => showBoxTip(box, event));
	group.addEventListener("pointerleave", hideTip);
	group.addEventListener("click", () => callsView.moved || showAround(box.functionIndex));
	group.addEventListener("keydown", (event) => event.key === "Enter" && showAround(box.functionIndex));
	return group;
}

function drawEdge(edge, whole) {
	const { from, to } = edge, stroke = Math.max(0.8, 5 * Math.sqrt(Math.max(edge.now, edge.old) / whole));
	const isUp = to.rank <= from.rank, end = (box, isLower) => ({ x: box.x, y: box.y + (isLower ? 1 : -1) * box.height / 2 });
	const points = [end(from, !isUp), ...edge.bends, end(to, isUp)], last = points[points.length - 1];
	let path = `M${points[0].x} ${points[0].y}`;
	for (let i = 1; i < points.length; i++) {
		const a = points[i - 1], b = points[i], middle = (a.y + b.y) / 2;
		path += `C${a.x} ${middle} ${b.x} ${middle} ${b.x} ${i === points.length - 1 ? b.y + (isUp ? 5 : -5) : b.y}`;
	}
	const tip = isUp ? 6 : -6, at = points[points.length >> 1], before = points[(points.length >> 1) - 1];
	const figure = profile.isComparison ? formatSigned(edge.now - edge.old, kind()) : formatValue(edge.now, kind());
	return makeSvg("g", { class: "edge" },
		makeSvg("path", { d: path, fill: "none", "stroke-width": stroke.toFixed(2), ...(edge.isResidual ? { "stroke-dasharray": "5 4" } : {}) }),
		makeSvg("path", { class: "head", d: `M${last.x} ${last.y}l-4 ${tip}h8z` }),
		makeSvg("text", { x: (at.x + before.x) / 2 + 6, y: (at.y + before.y) / 2 + 4, "font-size": 11 }, figure));
}

const callsView = { x: 0, y: 0, scale: 1, box: null, top: null, moved: false };

function showCalls() {
	const svg = byId("calls"), drawn = callGraphOf(state.type, state.calls);
	svg.replaceChildren();
	byId("calls-counted").textContent = drawn.boxes.length
		? formatCount(drawn.boxes.length) + " of " + formatCount(drawn.count) + " functions" : "Nothing to show of this sample type.";
	byId("calls-more").disabled = drawn.boxes.length < state.calls;
	byId("calls-fewer").disabled = state.calls <= 10;
	if (!drawn.boxes.length)
		return;
	drawn.boxes.forEach((box) => measure(box, state.type, drawn.whole));
	breakCycles(drawn);
	rankBoxes(drawn);
	const layers = makeLayers(drawn);
	sortLayers(layers);
	placeItems(layers);
	svg.append(...drawn.edges.map((edge) => drawEdge(edge, drawn.whole)), ...drawn.boxes.map(drawBox));
	const left = Math.min(...drawn.boxes.map((box) => box.x - box.width / 2)), right = Math.max(...drawn.boxes.map((box) => box.x + box.width / 2));
	const bottom = Math.max(...drawn.boxes.map((box) => box.y + box.height / 2));
	callsView.box = { left: left - 12, top: -12, width: right - left + 24, height: bottom + 24 };
	callsView.top = layers[0].reduce((best, box) => box.total.now > best.total.now ? box : best);
	fitCalls(0.6);
}

// ---- pan and zoom ----

function placeCalls() {
	const svg = byId("calls"), { width, height } = svg.getBoundingClientRect(), { x, y, scale } = callsView;
	svg.setAttribute("viewBox", [x, y, width / scale, height / scale].map((value) => value.toFixed(2)).join(" "));
}

// All of it, not larger than life; or where that would be too small to read, the top with what calls most.
function fitCalls(smallest) {
	const { width, height } = byId("calls").getBoundingClientRect(), { box, top } = callsView;
	if (!box || !width)
		return;
	const scale = Math.max(smallest, Math.min(1, width / box.width, height / box.height)), isAll = box.width * scale <= width;
	callsView.scale = scale;
	callsView.x = (isAll ? box.left + box.width / 2 : top.x) - width / scale / 2;
	callsView.y = box.top + (box.height < height / scale ? (box.height - height / scale) / 2 : 0);
	placeCalls();
}

// About a point of the drawing's element, which stays where it is.
function zoomCalls(factor, px, py) {
	const { width, height } = byId("calls").getBoundingClientRect(), was = callsView.scale;
	const x = px === undefined ? width / 2 : px, y = py === undefined ? height / 2 : py;
	callsView.scale = Math.min(4, Math.max(0.05, was * factor));
	callsView.x += x / was - x / callsView.scale;
	callsView.y += y / was - y / callsView.scale;
	placeCalls();
}

function panCalls(dx, dy) {
	callsView.x -= dx / callsView.scale;
	callsView.y -= dy / callsView.scale;
	placeCalls();
}

function setCalls(count) {
	state.calls = Math.max(10, Math.min(1000, count));
	showCalls();
	writeFragment();
}

function listenToCalls() {
	const svg = byId("calls"), keys = {
		ArrowLeft: () => panCalls(60, 0), ArrowRight: () => panCalls(-60, 0), ArrowUp: () => panCalls(0, 60), ArrowDown: () => panCalls(0, -60),
		"+": () => zoomCalls(1.25), "=": () => zoomCalls(1.25), "-": () => zoomCalls(0.8), 0: () => fitCalls(0.05), Home: () => fitCalls(0.05),
	};
	let last = null;
	svg.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key])
			return;
		keys[event.key]();
		event.preventDefault();
	});
	svg.addEventListener("wheel", (event) => {
		const area = svg.getBoundingClientRect();
		zoomCalls(Math.exp(-event.deltaY / 400), event.clientX - area.left, event.clientY - area.top);
		event.preventDefault();
	}, { passive: false });
	svg.addEventListener("pointerdown", (event) => {
		last = event;
		callsView.moved = false;
	});
	svg.addEventListener("pointermove", (event) => {
		if (!last)
			return;
		if (Math.hypot(event.clientX - last.clientX, event.clientY - last.clientY) < 3 && !callsView.moved)
			return;
		if (!callsView.moved)
			svg.setPointerCapture(event.pointerId);
		callsView.moved = true;
		panCalls(event.clientX - last.clientX, event.clientY - last.clientY);
		last = event;
	});
	for (const end of ["pointerup", "pointercancel"])
		svg.addEventListener(end, () => { last = null; });
	byId("calls-in").addEventListener("click", () => zoomCalls(1.25));
	byId("calls-out").addEventListener("click", () => zoomCalls(0.8));
	byId("calls-fit").addEventListener("click", () => fitCalls(0.05));
	byId("calls-more").addEventListener("click", () => setCalls(state.calls * 2));
	byId("calls-fewer").addEventListener("click", () => setCalls(Math.floor(state.calls / 2)));
}
