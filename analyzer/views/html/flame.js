// SPDX-License-Identifier: MIT
// flame.js - the tabs of the flame graph and of callers and callees: zoom, focus, what is said of a node, search.
"use strict";

const colors = new Colors(profile);
const graph = new Graph(byId("graph"), profile, colors, {
	choose: (layout, node) => chosen(layout, node),
	hover: (hit, event) => showTip(hit, event),
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
			{
				layout: layoutOf(callees), isUpward: false,
				label: callers.count > 1 ? "\u2191 callers \u2003 \u2193 the function and its callees" : "\u2193 the function and its callees; nothing calls it",
			},
		];
	} else {
		bands = [{ layout: layoutOf(profile.tree), isUpward: state.isFlame }];
		focus = zoom < profile.tree.count && bands[0].layout.width[zoom] > 0 ? zoom : 0;
		state.view.zoom = focus;
	}
	const layout = bands[bands.length - 1].layout;
	byId("nothing").hidden = layout.width[0] > 0;
	byId("shapes").hidden = isAround;
	byId("around-choice").hidden = !isAround;
	if (isAround)
		showAroundChoice(around);
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
	showMatched();
}

// The function with callers and callees has a tab of its own; both tabs show one graph.
function showGraphTab() {
	selectTab(state.view.around === null ? "flame" : "callers", false);
}

// Within the tree the window moves; otherwise all is new.
function goTo(view, isBack) {
	const was = state.view;
	if (was.zoom === view.zoom && was.around === view.around)
		return;
	if (!isBack)
		state.history.push(was);
	state.view = view;
	if (was.around === null && view.around === null && graph.bands.length === 1)
		zoomTo(view.zoom);
	else
		showGraph();
	if (["flame", "callers"].includes(state.tab))
		showGraphTab();
	byId("back").disabled = !state.history.length;
	writeFragment();
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

// From another tab.
function showAround(functionIndex) {
	goTo({ zoom: 0, around: functionIndex });
	selectTab("callers", false);
	byId("tabs").scrollIntoView({ block: "start", behavior: isCalm() ? "auto" : "smooth" });
}

// The heaviest functions, and the one that is shown.
function showAroundChoice(around) {
	const rows = profile.functionRows(state.type).filter((row) => row.functionIndex >= 0).sort((a, b) => b.total.now - a.total.now).slice(0, 500);
	const shown = rows.map((row) => row.functionIndex);
	if (!shown.includes(around))
		shown.unshift(around);
	const option = (index) => make("option", { value: String(index), textContent: profile.nameOf(index), selected: index === around });
	byId("around").replaceChildren(...shown.map(option));
}

// What a user looks at first who has chosen no function: the one that allocates most.
function heaviestFunction() {
	const rows = profile.functionRows(state.type).filter((row) => row.functionIndex >= 0).sort((a, b) => b.self.now - a.self.now);
	return rows.length ? rows[0].functionIndex : null;
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

function formatAge(birth) {
	return Number.isNaN(birth) ? "" : formatTime((1 - birth) * profile.meta.duration) + " in the mean";
}

// Pairs of what and how much.
function factsOf(tree, node) {
	const figure = tree.figure(node, state.type), whole = profile.tree.now[state.type][0], type = kind();
	const facts = [["Total", formatValue(figure.now, type) + ", " + formatShare(figure.now, whole) + " of all"]];
	if (tree === profile.tree) {
		const self = profile.self[state.type](node);
		if (self.now > 0 && self.now !== figure.now)
			facts.push(["Self", formatValue(self.now, type) + ", " + formatShare(self.now, whole)]);
	}
	if (profile.isComparison)
		facts.push(["Change", formatSigned(figure.now - figure.old, type) + " (" + (formatChange(figure) || "none") + "), from " + formatValue(figure.old, type)]);
	if (!profile.isExact)
		facts.push([profile.isComparison && figure.old > 0 ? "95% interval of the change" : "95% interval", formatInterval(figure, type)]);
	if (tree === profile.tree && type.kind === "inuse" && profile.meta.ages && formatAge(profile.birth[node]))
		facts.push(["Age", formatAge(profile.birth[node])]);
	if (!isCertain(figure) && profile.isComparison)
		facts.push(["Caution", "the change may be chance"]);
	return facts;
}

// Module, file and line, as far as they are known.
function originOf(tree, node) {
	const functionIndex = tree.functionOf[node], file = profile.fileOf(functionIndex), line = tree.line[node];
	return [profile.moduleOf(functionIndex), file && line ? file + ":" + line : file].filter((part) => part).join(" \u00b7 ");
}

// Of a function, where it calls or allocates first.
function placeOf(functionIndex) {
	const node = profile.tree.functionOf.indexOf(functionIndex);
	return node > 0 ? originOf(profile.tree, node) : "";
}

// A function's name as a button that leads to its callers and callees.
function functionLink(functionIndex) {
	const named = profile.nameOf(functionIndex), title = named + "\n" + placeOf(functionIndex), onclick = () => showAround(functionIndex);
	return functionIndex < 0 ? make("span", { textContent: named }) : make("button", { type: "button", className: "link", textContent: named, title, onclick });
}

function focusOn(layout, node, takesIt) {
	const { tree } = layout, functionIndex = tree.functionOf[node], name = profile.nameOf(functionIndex), facts = factsOf(tree, node), origin = originOf(tree, node);
	graph.setFocus(layout, node, name + ", " + facts[0][1] + (profile.isComparison ? ", " + facts.find((fact) => fact[0] === "Change")[1] : ""), takesIt);
	byId("detail").replaceChildren(make("b", { textContent: name }),
		make("span", { textContent: facts.map(([what, said]) => what + " " + said).join("; ") + (origin ? "; " + origin : "") }));
	for (const id of ["sandwich", "focus-on", "hide-it"])
		byId(id).disabled = functionIndex < 0;
	byId("show-source").hidden = functionIndex < 0 || !hasSource(name);
	byId("zoom").disabled = state.view.around !== null || node === state.view.zoom;
}

function hideTip() {
	byId("tip").hidden = true;
}

function putTip(named, origin, facts, event) {
	const tip = byId("tip"), list = make("dl", {}, ...facts.flatMap(([what, said]) => [make("dt", { textContent: what }), make("dd", { textContent: said })]));
	tip.hidden = false;
	tip.replaceChildren(make("b", { textContent: named }), ...(origin ? [make("div", { className: "from", textContent: origin })] : []), list);
	const { offsetWidth, offsetHeight } = tip, x = event.clientX + 14, y = event.clientY + 18;
	tip.style.left = Math.max(8, Math.min(x, innerWidth - offsetWidth - 8)) + "px";
	tip.style.top = (y + offsetHeight > innerHeight - 8 ? Math.max(8, event.clientY - offsetHeight - 12) : y) + "px";
}

function showTip(hit, event) {
	if (!hit)
		return hideTip();
	const { tree } = hit.layout;
	putTip(profile.nameOf(tree.functionOf[hit.node]), originOf(tree, hit.node), factsOf(tree, hit.node), event);
}

// ---- search ----

function search(wanted) {
	const field = byId("search"), pattern = compile(wanted);
	state.search = wanted;
	state.pattern = pattern;
	graph.matches = null;
	field.setAttribute("aria-invalid", String(Boolean(wanted && !pattern)));
	byId("matched").textContent = wanted && !pattern ? "not a regular expression" : "";
	showMatches();
	writeFragment();
}

function showMatches() {
	graph.matches = profile.found(state.pattern);
	showMatched();
	graph.draw();
	table.show(state.type, graph.matches);
}

function isBelow(node, top) {
	const { parent } = profile.tree;
	while (node > top)
		node = parent[node];
	return node === top;
}

// How much is found and, while only a part of the tree is on the screen, how many boxes are found elsewhere.
function showMatched() {
	const { matches } = graph, { zoom, around } = state.view;
	if (!matches)
		return;
	const isFound = (functionIndex) => functionIndex >= 0 && matches[functionIndex], whole = profile.tree.now[state.type][0];
	const sum = profile.sumOf(isFound, state.type), said = " matched, " + formatValue(sum.now, kind());
	const found = profile.topmost(isFound).filter((node) => profile.tree.now[state.type][node] > 0);
	const outside = around === null && zoom ? found.filter((node) => !isBelow(node, zoom) && !isBelow(zoom, node)).length : 0;
	byId("matched").replaceChildren(make("strong", { textContent: formatShare(sum.now, whole) }), said,
		outside ? " \u00b7 " + formatCount(outside) + " more outside" : "");
}

// ---- the legend ----

function showLegend() {
	const swatch = (color, named) => make("span", {}, Object.assign(make("i"), { style: "background:" + color }), named);
	const bar = (steps) => Object.assign(make("i"), { style: "background:linear-gradient(to right," + steps + ")" });
	const scale = (low, steps, high, note) => [make("span", { className: "scale" }, low, bar(steps), high), make("span", { textContent: note })];
	const steps = (from) => Array.from({ length: 9 }, (_, i) => from + i * (1 - from) / 8);
	const mode = colors.mode, shown = {
		change: () => scale("\u2212 less", steps(-1).map((change) => colors.ofChange(change)), "more +", "pale: may be chance \u00b7 width: the new profile"),
		growth: () => profile.meta.snapshots ? scale("\u2212 less", steps(-1).map((change) => colors.ofChange(change)), "more +", "since the first profile, in use")
			: scale("steady", steps(0).map((part) => colors.ofChange(part)), "grows", "which part of it is of stacks that grow"),
		age: () => scale("old", steps(0).map((part) => colors.ofAge(part)), "young", "when what is in use was allocated, in the mean"),
	}[mode];
	const groups = Array.from(colors.groups.keys()).slice(0, MODULE_HUES.length);
	byId("legend").replaceChildren(...(shown ? shown() : groups.map((group) => swatch(colors.ofGroup(group, 0), group))));
}

function colorModes() {
	const { ages, growing, snapshots } = profile.meta, modes = [["module", "Module"], ["namespace", "Namespace"]];
	if (profile.isComparison)
		modes.unshift(["change", "Change"]);
	if (ages)
		modes.push(["age", "Age"]);
	if (snapshots || growing)
		modes.push(["growth", "Growth"]);
	return modes;
}

function showColors() {
	const modes = colorModes(), isKnown = modes.some(([mode]) => mode === state.color);
	colors.setMode(profile.isComparison && state.color === atFirst.color ? "change" : isKnown ? state.color : "module");
	byId("color").replaceChildren(...modes.map(([mode, named]) => make("option", { value: mode, textContent: named, selected: mode === colors.mode })));
	showLegend();
}
