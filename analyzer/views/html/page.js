// SPDX-License-Identifier: MIT
// page.js - what the user does: chooses, zooms, searches, goes back. The state is in `state`; show() draws it. Start at the end.
"use strict";

const byId = (id) => document.getElementById(id);
const profile = new Profile(JSON.parse(byId("profile").textContent));
const colors = new Colors(profile);
const state = {
	type: profile.meta.type,
	isFlame: true,
	byName: false,
	withVanished: false,
	pattern: null,
	view: { zoom: 0, around: null }, // a node of the tree, or a function with callers and callees
	history: [],
};
const handlers = {
	choose: (layout, node) => chosen(layout, node),
	hover: (hit, event) => showTip(hit, event),
};
const graph = new Graph(byId("graph"), profile, colors, handlers);
const table = new FunctionTable(byId("functions"), profile, (functionIndex) => {
	goTo({ zoom: 0, around: functionIndex });
	byId("graph").parentElement.scrollIntoView({ block: "start", behavior: isCalm() ? "auto" : "smooth" });
});

const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const kind = () => profile.types[state.type];
const typeName = (type) => (type.kind === "inuse" ? "In use" : "Allocated") + (type.isBytes ? ", bytes" : ", objects");

// ---- the graph ----

function layoutOf(tree) {
	return new Layout(profile, tree, { type: state.type, byName: state.byName, withVanished: state.withVanished });
}

function windowOf(layout, node) {
	return { from: layout.x[node], to: layout.x[node] + (layout.width[node] || 1) };
}

// The same tree drawn anew, or another one.
function showGraph() {
	const { zoom, around } = state.view, isAround = around !== null;
	let focus = 0, bands;
	if (isAround) {
		const { callers, callees } = profile.around(around);
		bands = [
			{ layout: layoutOf(callers), isUpward: true, hidesRoot: true },
			{ layout: layoutOf(callees), isUpward: false, label: callers.count > 1 ? "\u2191 callers \u2003 \u2193 the function and its callees" : "\u2193 the function and its callees; nothing calls it" },
		];
	} else {
		bands = [{ layout: layoutOf(profile.tree), isUpward: state.isFlame }];
		focus = zoom;
	}
	const layout = bands[bands.length - 1].layout;
	byId("nothing").hidden = layout.width[0] > 0;
	graph.show(bands, state.type, windowOf(layout, focus));
	graph.scrollToRoot();
	focusOn(layout, focus, false);
	showPath();
}

function mainLayout() {
	return graph.bands[graph.bands.length - 1].layout;
}

function zoomTo(node) {
	const layout = mainLayout();
	if (!layout.width[node])
		return;
	graph.moveTo(windowOf(layout, node), !isCalm(), () => graph.scrollToZoomed(layout, node));
	focusOn(layout, node, false);
	showPath();
}

// Within the tree the window moves; otherwise all is new.
function goTo(view, isBack) {
	const was = state.view;
	if (was.zoom === view.zoom && was.around === view.around)
		return;
	if (!isBack)
		state.history.push(was);
	state.view = view;
	if (was.around === null && view.around === null)
		zoomTo(view.zoom);
	else
		showGraph();
	byId("back").disabled = !state.history.length;
}

function goBack() {
	if (state.history.length)
		goTo(state.history.pop(), true);
}

// In the tree one zooms; among callers and callees one goes on to another function.
function chosen(layout, node) {
	const functionIndex = layout.tree.functionOf[node];
	focusOn(layout, node, false);
	if (state.view.around === null)
		goTo({ zoom: node, around: null });
	else if (functionIndex >= 0)
		goTo({ zoom: 0, around: functionIndex });
}

function sandwich() {
	const { layout, node } = graph.focused, functionIndex = layout.tree.functionOf[node];
	if (functionIndex >= 0)
		goTo({ zoom: 0, around: functionIndex });
}

// From the whole to where the graph is.
function showPath() {
	const { zoom, around } = state.view, tree = profile.tree, steps = [], nav = byId("path");
	nav.replaceChildren();
	byId("graph-title").textContent = around === null ? "Call tree" : "Callers and callees";
	if (around !== null)
		nav.append(make("span", { className: "here", textContent: profile.nameOf(around) }));
	for (let node = zoom; around === null && zoom && steps.length < 200; node = tree.parent[node]) {
		steps.unshift(node);
		if (!node)
			break;
	}
	const shown = steps.length > 6 ? [steps[0], null, ...steps.slice(-4)] : steps;
	for (const node of shown) {
		if (nav.childNodes.length)
			nav.append(make("span", { textContent: "\u00a0\u203a\u00a0" }));
		if (node === null)
			nav.append(make("span", { textContent: "\u2026" }));
		else if (node === zoom)
			nav.append(make("span", { className: "here", textContent: profile.nameOf(tree.functionOf[node]) }));
		else
			nav.append(make("button", { type: "button", textContent: profile.nameOf(tree.functionOf[node]), onclick: () => goTo({ zoom: node, around: null }) }));
	}
}

// ---- what is said of a node ----

// Pairs of what and how much.
function factsOf(tree, node) {
	const figure = tree.figure(node, state.type), whole = profile.tree.now[state.type][0], type = kind();
	const facts = [["Total", formatValue(figure.now, type) + ", " + formatShare(figure.now, whole) + " of all"]];
	if (tree === profile.tree) {
		const self = profile.selves[state.type](node);
		if (self.now > 0 && self.now !== figure.now)
			facts.push(["Self", formatValue(self.now, type) + ", " + formatShare(self.now, whole)]);
	}
	if (profile.isComparison)
		facts.push(["Change", formatSigned(figure.now - figure.old, type) + " (" + (formatChange(figure) || "none") + "), from " + formatValue(figure.old, type)]);
	if (!profile.isExact)
		facts.push([profile.isComparison && figure.old > 0 ? "95% interval of the change" : "95% interval", formatInterval(figure, type)]);
	if (!isCertain(figure) && profile.isComparison)
		facts.push(["Caution", "the change may be chance"]);
	return facts;
}

function originOf(functionIndex) {
	return [profile.moduleOf(functionIndex), profile.fileOf(functionIndex)].filter((text) => text).join(" \u00b7 ");
}

function focusOn(layout, node, takesIt) {
	const { tree } = layout, name = profile.nameOf(tree.functionOf[node]), facts = factsOf(tree, node), origin = originOf(tree.functionOf[node]);
	graph.setFocus(layout, node, name + ", " + facts[0][1] + (profile.isComparison ? ", " + facts.find((fact) => fact[0] === "Change")[1] : ""), takesIt);
	byId("detail").replaceChildren(make("b", { textContent: name }),
		make("span", { textContent: facts.map(([what, text]) => what + " " + text).join("; ") + (origin ? "; " + origin : "") }));
	byId("sandwich").disabled = tree.functionOf[node] < 0;
	byId("zoom").disabled = state.view.around !== null || node === state.view.zoom;
}

function showTip(hit, event) {
	const tip = byId("tip");
	tip.hidden = !hit;
	if (!hit)
		return;
	const { tree } = hit.layout, functionIndex = tree.functionOf[hit.node], origin = originOf(functionIndex);
	const list = make("dl", {}, ...factsOf(tree, hit.node).flatMap(([what, text]) => [make("dt", { textContent: what }), make("dd", { textContent: text })]));
	tip.replaceChildren(make("b", { textContent: profile.nameOf(functionIndex) }), ...(origin ? [make("div", { className: "from", textContent: origin })] : []), list);
	const { offsetWidth, offsetHeight } = tip, x = event.clientX + 14, y = event.clientY + 18;
	tip.style.left = Math.max(8, Math.min(x, innerWidth - offsetWidth - 8)) + "px";
	tip.style.top = (y + offsetHeight > innerHeight - 8 ? Math.max(8, event.clientY - offsetHeight - 12) : y) + "px";
}

// ---- search ----

function search(text) {
	const field = byId("search"), output = byId("matched");
	field.setAttribute("aria-invalid", "false");
	state.pattern = null;
	graph.matches = null;
	output.textContent = "";
	try {
		state.pattern = text ? new RegExp(text, /[A-Z]/.test(text) ? "" : "i") : null;
	} catch (error) {
		field.setAttribute("aria-invalid", "true");
		output.textContent = "not a regular expression";
	}
	showMatches();
}

function showMatches() {
	const { pattern } = state;
	if (pattern) {
		graph.matches = profile.name.map((name) => pattern.test(name));
		const sum = profile.sumOf((functionIndex) => functionIndex >= 0 && graph.matches[functionIndex], state.type);
		const whole = profile.tree.now[state.type][0];
		byId("matched").replaceChildren(make("strong", { textContent: formatShare(sum.now, whole) }), " matched, " + formatValue(sum.now, kind()));
	}
	graph.draw();
	table.show(state.type, graph.matches);
}

// ---- the page around it ----

function showSum() {
	const figure = profile.tree.figure(0, state.type), type = kind();
	byId("sum-label").textContent = typeName(type);
	byId("sum").textContent = formatValue(figure.now, type);
	byId("sum-change").textContent = profile.isComparison
		? formatSigned(figure.now - figure.old, type) + " (" + (formatChange(figure) || "no change") + ") against " + formatValue(figure.old, type) : "";
	if (type.isUnsure)
		byId("sum-interval").textContent = "how sure this is cannot be told";
	else if (!profile.isExact)
		byId("sum-interval").textContent = "95% interval" + (profile.isComparison && figure.old > 0 ? " of the change " : " ") + formatInterval(figure, type);
	else if (!profile.isComparison && !profile.meta.isScaled)
		byId("sum-interval").textContent = "exact: every allocation was counted";
}

function showFacts() {
	const { meta } = profile, facts = [];
	if (meta.duration)
		facts.push(["Window", meta.duration < 120 ? meta.duration.toFixed(1) + "\u202fs" : (meta.duration / 60).toFixed(1) + "\u202fmin"]);
	if (meta.start)
		facts.push(["Begun", new Date(meta.start * 1000).toISOString().slice(0, 19).replace("T", " ") + " UTC"]);
	facts.push(["Rate", meta.interval > 1 ? "one sample per " + formatBytes(meta.interval) : meta.isScaled ? "not known" : "every allocation"]);
	facts.push(["Samples", formatCount(meta.samples)]);
	if (meta.complete !== null)
		facts.push(["Complete stacks", formatShare(meta.complete, 1)]);
	byId("facts").append(...facts.map(([what, text]) => make("div", {}, make("dt", { textContent: what }), make("dd", { textContent: text }))));
}

function showHeader() {
	const { meta } = profile, from = [meta.pid ? "pid " + meta.pid : "", meta.host ? "on " + meta.host : ""].filter((text) => text).join(" ");
	const title = meta.title || (meta.command || "Heap profile").split(" ")[0].split("/").pop();
	document.title = title + (profile.isComparison ? ", compared" : "") + " \u2013 heapinject";
	byId("title").replaceChildren(title, ...(from ? [make("span", { textContent: from })] : []));
	byId("command").textContent = byId("command").title = meta.command;
	byId("report").textContent = meta.report.join("\n");
	const notes = meta.report.filter((line) => /^(Warning|Note): /.test(line));
	if (meta.folded)
		notes.push(formatCount(meta.folded) + " of the lightest paths are summed up as (other), so that this file stays small.");
	if (meta.isScaled)
		notes.push("Another tool has scaled these figures up: how sure they are is not known.");
	byId("notice").hidden = !notes.length;
	byId("notice").textContent = notes.join("\n");
	showFacts();
}

function showLegend() {
	const swatch = (color, text) => make("span", {}, Object.assign(make("i"), { style: "background:" + color }), text);
	if (profile.isComparison) {
		const steps = [-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1].map((change) => colors.ofChange(change));
		const scale = make("span", { className: "scale" }, "\u2212 less", Object.assign(make("i"), { style: "background:linear-gradient(to right," + steps + ")" }), "more +");
		byId("legend").replaceChildren(scale, make("span", { textContent: "pale: may be chance \u00b7 width: the new profile" }));
		return;
	}
	const groups = Array.from(colors.groups.keys()).slice(0, MODULE_HUES.length);
	byId("legend").replaceChildren(...groups.map((group) => swatch(colors.ofGroup(group, 0), group)));
}

function setTheme(isDark) {
	document.documentElement.dataset.theme = isDark ? "dark" : "light";
	byId("theme").setAttribute("aria-pressed", String(isDark));
	colors.setDark(isDark);
	showLegend();
	graph.draw();
}

function makeTypes() {
	for (const type of [3, 2, 1, 0]) {
		const isNothing = !profile.tree.now[type][0] && !profile.tree.old[type][0];
		const input = make("input", { type: "radio", name: "type", value: String(type), checked: type === state.type, disabled: isNothing && type !== state.type });
		byId("types").append(make("label", {}, input, make("span", { textContent: typeName(profile.types[type]) })));
	}
}

// ---- events ----

function showAll() {
	showSum();
	showGraph();
	showMatches();
}

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
	const window = graph.window, { layout, node } = next;
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

function pressed(event) {
	const isTyping = event.target === byId("search");
	if (event.ctrlKey || event.metaKey || event.altKey)
		return;
	if (event.key === "Escape" && isTyping) {
		byId("search").value = "";
		search("");
		graph.item.focus();
	} else if (event.key === "Escape")
		goBack();
	else if (event.key === "/" && !isTyping)
		byId("search").select();
	else if (event.key === "Enter" && isTyping)
		graph.item.focus();
	else if (byId("graph").contains(event.target) && graphKeys[event.key])
		graphKeys[event.key]();
	else
		return;
	event.preventDefault();
}

function listen() {
	document.addEventListener("keydown", pressed);
	byId("types").addEventListener("change", (event) => {
		state.type = Number(event.target.value);
		showAll();
	});
	byId("shapes").addEventListener("change", (event) => {
		state.isFlame = event.target.value === "flame";
		showGraph();
	});
	byId("orders").addEventListener("change", (event) => {
		state.byName = event.target.value === "name";
		showGraph();
	});
	byId("vanished").addEventListener("change", (event) => {
		state.withVanished = event.target.checked;
		showGraph();
	});
	byId("search").addEventListener("input", (event) => search(event.target.value));
	byId("theme").addEventListener("click", () => setTheme(!colors.isDark));
	byId("zoom").addEventListener("click", () => chosen(graph.focused.layout, graph.focused.node));
	byId("sandwich").addEventListener("click", sandwich);
	byId("back").addEventListener("click", goBack);
	byId("home").addEventListener("click", goHome);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => setTheme(event.matches));
}

showHeader();
makeTypes();
document.querySelector("[name=shape][value=flame]").checked = true;
document.querySelector("[name=order][value=weight]").checked = true;
byId("vanished-switch").hidden = !profile.isComparison;
byId("back").disabled = true;
setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
listen();
showAll();
