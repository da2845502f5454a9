// SPDX-License-Identifier: MIT
// keys.js - the keyboard: in the graph as things are drawn, and on the whole page.
"use strict";

// Which node the arrow leads to, as things are drawn.
function neighbour(key) {
	const { layout, node } = graph.focused, band = graph.bandOf(layout), { tree } = layout;
	if (key === "ArrowLeft" || key === "ArrowRight") {
		const siblings = node ? layout.children[tree.parent[node]] : [0], at = siblings.indexOf(node) + (key === "ArrowLeft" ? -1 : 1);
		return siblings[at] === undefined ? null : { layout, node: siblings[at] };
	}
	const isOutward = (key === "ArrowUp") === band.isUpward;
	const isAround = graph.bands.length > 1;
	if (isAround && node === 0 && key === "ArrowUp") {
		const callers = graph.bands[0].layout;
		return callers.children[0].length ? { layout: callers, node: callers.children[0][0] } : null;
	}
	if (isOutward)
		return layout.children[node].length ? { layout, node: layout.children[node][0] } : null;
	if (node === 0)
		return null;
	return isAround && tree.parent[node] === 0 ? { layout: mainLayout(), node: 0 } : { layout, node: tree.parent[node] };
}

function moveFocus(key) {
	const next = neighbour(key);
	if (!next)
		return;
	const { window } = graph, { layout, node } = next;
	if (layout.x[node] >= window.to || layout.x[node] + layout.width[node] <= window.from)
		goTo({ zoom: profile.tree.parent[node], around: null });
	focusOn(layout, node, true);
	graph.scrollTo(layout, node);
}

const graphKeys = {
	ArrowUp: () => moveFocus("ArrowUp"),
	ArrowDown: () => moveFocus("ArrowDown"),
	ArrowLeft: () => moveFocus("ArrowLeft"),
	ArrowRight: () => moveFocus("ArrowRight"),
	Enter: () => chosen(graph.focused.layout, graph.focused.node),
	Home: () => goHome(),
	Backspace: () => goBack(),
	s: () => sandwich(),
	S: () => sandwich(),
};

function goHome() {
	goTo({ zoom: 0, around: null });
	focusOn(mainLayout(), 0, false);
	graph.scrollToRoot();
}

function isField(element) {
	return ["INPUT", "SELECT", "TEXTAREA"].includes(element.tagName) && !["checkbox", "radio", "range"].includes(element.type);
}

function pressed(event) {
	const isSearching = event.target === byId("search"), isTyping = isField(event.target);
	if (event.ctrlKey || event.metaKey || event.altKey || (isTyping && !isSearching))
		return;
	if (event.key === "Escape" && isSearching) {
		byId("search").value = "";
		search("");
		graph.item.focus();
	} else if (event.key === "Escape" && byId("save").open)
		byId("save").open = false;
	else if (event.key === "Escape")
		goBack();
	else if (event.key === "/" && !isTyping)
		byId("search").select();
	else if (event.key === "Enter" && isSearching)
		graph.item.focus();
	else if (byId("graph").contains(event.target) && graphKeys[event.key])
		graphKeys[event.key]();
	else
		return;
	event.preventDefault();
}
