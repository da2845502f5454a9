// SPDX-License-Identifier: MIT
// page.js - the page around the tabs: its head, the tabs themselves, light and dark. What the user has chosen is in `state`; each tab has a
// show() that draws it. Start at the end.
"use strict";

const TABS = [
	{ name: "answer", label: "Answer", panel: "answer", show: showAnswer, isThere: () => Boolean(answer) },
	{ name: "flame", label: "Flame graph", panel: "graph", show: () => showGraphFor(false) },
	{ name: "callers", label: "Callers and callees", panel: "graph", show: () => showGraphFor(true) },
	{ name: "table", label: "Functions", panel: "table", show: () => table.show(state.type, graph.matches) },
	{ name: "calls", label: "Call graph", panel: "calls", show: showCalls },
	{ name: "source", label: "Source", panel: "source", show: showSource, isThere: () => sources.length + code.length > 0 },
	{ name: "growth", label: "Growth", panel: "growth", show: showGrowth, isThere: () => Boolean(profile.meta.series || hasAges() || profile.meta.moments.length > 1) },
	{ name: "modules", label: "Modules and threads", panel: "modules", show: showModules },
	{ name: "about", label: "About", panel: "about", show: showAbout },
];
const table = new FunctionTable(byId("functions"), profile, functionLink);

// ---- tabs ----

function shownTabs() {
	return TABS.filter((tab) => !tab.isThere || tab.isThere());
}

function makeTabs() {
	byId("tabs").replaceChildren(...TABS.map(({ name, label, panel }) => {
		const button = make("button", { type: "button", id: "tab-" + name, textContent: label, onclick: () => selectTab(name, true) });
		button.setAttribute("role", "tab");
		button.setAttribute("aria-controls", "panel-" + panel);
		return button;
	}));
	byId("tabs").addEventListener("keydown", (event) => {
		const names = shownTabs().map((tab) => tab.name), at = names.indexOf(state.tab);
		const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: names.length - 1 }[event.key];
		if (to === undefined || event.ctrlKey || event.metaKey || event.altKey)
			return;
		event.preventDefault();
		event.stopPropagation();
		selectTab(names[(to + names.length) % names.length], true);
		byId("tab-" + state.tab).focus();
	});
}

// draws: what the tab shows may be drawn already, by whoever calls this.
function selectTab(name, draws) {
	const shown = shownTabs(), chosenTab = shown.find((tab) => tab.name === name) || shown.find((tab) => tab.name === "flame");
	state.tab = chosenTab.name;
	for (const tab of TABS) {
		const isChosen = tab === chosenTab, button = byId("tab-" + tab.name);
		button.hidden = !shown.includes(tab);
		button.setAttribute("aria-selected", String(isChosen));
		button.tabIndex = isChosen ? 0 : -1;
	}
	for (const panel of document.querySelectorAll("[role=tabpanel]"))
		panel.hidden = panel.id !== "panel-" + chosenTab.panel;
	byId("panel-graph").setAttribute("aria-labelledby", state.tab === "callers" ? "tab-callers" : "tab-flame");
	if (innerWidth < 720)
		byId("tab-" + state.tab).scrollIntoView({ block: "nearest", inline: "center" });
	if (draws)
		chosenTab.show();
	else if (chosenTab.panel === "graph")
		graph.arrange();
	showHead();
	writeFragment();
}

// Two tabs, one graph.
function showGraphFor(isAround) {
	const { view } = state;
	if (isAround && view.around === null && heaviestFunction() !== null) {
		const { tree } = profile, chosenFunction = graph.focused && graph.focused.layout.tree === tree ? tree.functionOf[graph.focused.node] : ROOT;
		goTo({ zoom: 0, around: chosenFunction >= 0 ? chosenFunction : heaviestFunction() });
	} else if (!isAround && view.around !== null) {
		const last = state.history.slice().reverse().find((before) => before.around === null);
		goTo({ zoom: last ? last.zoom : 0, around: null });
	} else
		showGraph();
	graph.scrollToRoot();
}

function showGrowth() {
	showAges();
	showMemory();
	showSeries();
}

function showTab() {
	TABS.find((tab) => tab.name === state.tab).show();
}

// ---- the head ----

function showSum() {
	const figure = profile.tree.figure(0, state.type), type = kind();
	if (state.tab === "growth" && profile.meta.series && !profile.isComparison)
		return showSlope();
	byId("sum-label").textContent = typeName(type);
	byId("sum").textContent = formatValue(figure.now, type);
	byId("sum-change").textContent = profile.isComparison
		? formatSigned(figure.now - figure.old, type) + " (" + (formatChange(figure) || "no change") + ") against " + formatValue(figure.old, type) : "";
	byId("sum-interval").textContent = type.isUnsure ? "how sure this is cannot be told"
		: !profile.isExact ? "95% interval" + (profile.isComparison && figure.old > 0 ? " of the change " : " ") + formatInterval(figure, type)
		: !profile.isComparison && !profile.meta.isScaled ? "exact: every allocation was counted" : "";
}

function profileFacts() {
	const { meta } = profile, facts = [];
	if (meta.duration)
		facts.push(["Window", meta.duration < 120 ? meta.duration.toFixed(1) + "\u202fs" : (meta.duration / 60).toFixed(1) + "\u202fmin"]);
	if (meta.start)
		facts.push(["Begun", new Date(meta.start * 1000).toISOString().slice(0, 19).replace("T", " ") + " UTC"]);
	facts.push(["Rate", formatSampling(meta)]);
	facts.push(["Samples", formatCount(meta.samples)]);
	if (meta.complete !== null)
		facts.push(["Complete stacks", formatShare(meta.complete, 1)]);
	if (meta.snapshots)
		facts.push(["Profiles", formatCount(meta.snapshots.length)]);
	return facts;
}

function showNotice() {
	const { meta } = profile, isGrowth = state.tab === "growth" && meta.series, notes = meta.report.filter((line) => /^(Warning|Note): /.test(line));
	if (meta.folded)
		notes.push(formatCount(meta.folded) + " of the lightest paths are summed up as (other), so that this file stays small.");
	if (meta.isScaled)
		notes.push("Another tool has scaled these figures up: how sure they are is not known.");
	const shown = isGrowth ? seriesNotes() : notes;
	byId("notice").hidden = !shown.length;
	byId("notice").textContent = shown.join("\n");
}

function showHead() {
	const { meta } = profile, of = meta.title || meta.command ? meta : meta.series || meta;
	const from = [of.pid ? "pid " + of.pid : "", of.host ? "on " + of.host : ""].filter((part) => part).join(" ");
	const isGrowth = state.tab === "growth" && meta.series, program = (of.command || "").split(" ")[0].split("/").pop();
	const title = of.title || program || (meta.isGrowth ? "Heap growth" : "Heap profile");
	document.title = title + (profile.isComparison ? ", compared" : meta.isGrowth ? ", growth" : "") + " \u2013 heapinject";
	byId("what").textContent = profile.isComparison ? "heap profiles, compared" : meta.isGrowth ? "heap growth" : "heap profile";
	byId("title").replaceChildren(title, ...(from ? [make("span", { textContent: from })] : []));
	byId("command").textContent = byId("command").title = of.command;
	const facts = isGrowth ? seriesFacts() : profileFacts();
	byId("facts").replaceChildren(...facts.map(([what, said]) => make("div", {}, make("dt", { textContent: what }), make("dd", { textContent: said }))));
	showSum();
	showNotice();
}

function setTheme(isDark) {
	document.documentElement.dataset.theme = isDark ? "dark" : "light";
	byId("theme").setAttribute("aria-pressed", String(isDark));
	if (!graph.bands.length) {
		colors.isDark = isDark; // nothing is drawn yet
		return;
	}
	colors.setDark(isDark);
	showLegend();
	graph.draw();
	if (["calls", "growth"].includes(state.tab))
		showTab();
}

function makeTypes() {
	byId("types").replaceChildren(make("legend", { textContent: "Sample type" }), ...[3, 2, 1, 0].map((type) => {
		const isNothing = (!profile.tree.now[type][0] && !profile.tree.old[type][0]) || (state.range && profile.types[type].kind !== "inuse");
		const input = make("input", { type: "radio", name: "type", value: String(type), checked: type === state.type, disabled: Boolean(isNothing) && type !== state.type });
		return make("label", {}, input, make("span", { textContent: typeName(profile.types[type]) }));
	}));
}

// ---- all of it ----

function showAll() {
	showHead();
	showGraph();
	showMatches();
	if (!["flame", "callers", "table"].includes(state.tab))
		showTab();
	writeFragment();
}

// ---- events ----

// A function of the box in focus becomes a filter.
function filterFocused(field) {
	const { layout, node } = graph.focused, functionIndex = layout.tree.functionOf[node];
	if (functionIndex >= 0)
		setFilter(field, "^" + escapePattern(profile.nameOf(functionIndex)) + "$");
}

function listenToGraph() {
	const changes = {
		shapes: (target) => { state.isFlame = target.value === "flame"; },
		orders: (target) => { state.byName = target.value === "name"; },
		vanished: (target) => { state.withVanished = target.checked; },
	};
	for (const [id, change] of Object.entries(changes))
		byId(id).addEventListener("change", (event) => {
			change(event.target);
			showGraph();
			writeFragment();
		});
	byId("color").addEventListener("change", (event) => {
		state.color = event.target.value;
		showColors();
		graph.draw();
		writeFragment();
	});
	byId("around").addEventListener("change", (event) => goTo({ zoom: 0, around: Number(event.target.value) }));
	const buttons = {
		zoom: () => chosen(graph.focused.layout, graph.focused.node), sandwich, back: goBack, home: goHome,
		"focus-on": () => filterFocused("focus"), "hide-it": () => filterFocused("hide"),
	};
	for (const [id, act] of Object.entries(buttons))
		byId(id).addEventListener("click", act);
	byId("show-source").addEventListener("click", () => {
		const { layout, node } = graph.focused;
		state.source = profile.nameOf(layout.tree.functionOf[node]);
		selectTab("source", true);
	});
	byId("source-function").addEventListener("change", (event) => {
		state.source = event.target.value;
		showSource();
		writeFragment();
	});
}

// On paper the graph and the table, as they are about the whole.
function listenToPrinter() {
	addEventListener("beforeprint", () => {
		byId("panel-graph").hidden = byId("panel-table").hidden = false;
		graph.arrange();
		table.show(state.type, graph.matches);
	});
	addEventListener("afterprint", () => selectTab(state.tab, false));
}

function listen() {
	document.addEventListener("keydown", pressed);
	byId("types").addEventListener("change", (event) => {
		state.type = Number(event.target.value);
		showAll();
	});
	byId("search").addEventListener("input", (event) => search(event.target.value));
	byId("theme").addEventListener("click", () => setTheme(!colors.isDark));
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => setTheme(event.matches));
	addEventListener("hashchange", () => {
		if (location.hash !== writtenFragment)
			openFragment();
	});
	let width = innerWidth;
	addEventListener("resize", () => {
		if (width !== innerWidth && ["calls", "growth"].includes(state.tab))
			showTab();
		width = innerWidth;
	});
	listenToGraph();
	listenToAges();
	listenToCalls();
	listenToSave();
	listenToPrinter();
}

// ---- the start ----

// What the address says, or what this page is about.
function openFragment() {
	readFragment(location.hash);
	state.history = [];
	profile.select(filterOf());
	table.setColumns();
	showColors();
	showControls();
	openFilters(Boolean(state.focus || state.ignore || state.hide || state.snapshot >= 0 || state.against >= 0));
	selectTab(state.tab, false);
	if (state.search)
		search(state.search);
	showAll();
	if (state.tab === "callers")
		showTab();
}

atFirst.tab = profile.meta.isGrowth ? "growth" : answer ? "answer" : "flame";
makeTabs();
makeFilters();
byId("back").disabled = true;
listen();
setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
openFragment();
