// SPDX-License-Identifier: MIT
// live.js - the page of a session that runs: its answer, its memory over time, what grows, and the reports of the profiles that are kept. All of it comes as
// events (live_event.h); what the user has chosen stands in the address. Before it stand format.js and growth_chart.js of the page of reports, theme.js and inspect.js.
"use strict";

// Requests may not have the user and the token that the page's own address may have, and entries of the history must have them.
const pid = location.pathname.split("/")[2], path = `/pid/${pid}/`, base = location.origin + path, BYTES = { isBytes: true };
const DISPLAYS = [["flame", "Page: flame graph"], ["answer", "Page: answer"], ["callers", "Page: callers and callees"], ["table", "Page: functions"],
	["calls", "Page: call graph"], ["growth", "Page: growth"], ["text", "Text"], ["tree", "Text: callers and callees"], ["leaks", "Text: what is still there"],
	["collapsed", "Collapsed stacks"], ["dot", "dot"], ["heap", ".heap"]];
const IN_PAGE = ["flame", "answer", "callers", "table", "calls", "growth"];
const SAMPLES = [["inuse_space", "inuse_space"], ["inuse_objects", "inuse_objects"], ["alloc_space", "alloc_space"], ["alloc_objects", "alloc_objects"]];
const live = { event: null, profile: null, count: 0, chart: null, dragged: null };

// What is as it was is left alone, so that nothing is laid out anew for it.
function setText(element, text) {
	if (element.textContent !== text)
		element.textContent = text;
}

// ---- what the user has chosen ----

const chosen = { view: "", base: "", display: "flame", sample: "inuse_space", isShown: false };

function readAddress() {
	const given = new URLSearchParams(location.search), one = (list, name, first) => list.some(([value]) => value === given.get(name)) ? given.get(name) : first;
	const time = (name) => /^[1-9]\d*$/.test(given.get(name) || "") ? given.get(name) : "";
	Object.assign(chosen, { view: time("view"), base: time("base"), display: one(DISPLAYS, "display_type", "flame"),
		sample: one(SAMPLES, "sample_type", "inuse_space"), isShown: location.search.length > 1 });
}

// Without "display_type" there is none in the address, so that it is always the same for the same.
function queryOf(display) {
	const query = new URLSearchParams();
	for (const name of ["view", "base"])
		if (chosen[name])
			query.set(name, chosen[name]);
	query.set("display_type", display);
	query.set("sample_type", chosen.sample);
	return "?" + query;
}

function reportAddress() {
	const isPage = IN_PAGE.includes(chosen.display);
	return base + "report" + queryOf(isPage ? "flame" : chosen.display) + (isPage ? "#tab=" + chosen.display : "");
}

// Another fragment alone would not load the page again, but leads to the tab all the same.
function showReport() {
	const frame = byId("report");
	frame.hidden = !chosen.isShown;
	if (chosen.isShown && frame.dataset.address !== reportAddress())
		frame.contentWindow.location.replace(frame.dataset.address = reportAddress());
	byId("alone").href = reportAddress();
}

function choose(changes) {
	Object.assign(chosen, changes, { isShown: true });
	history.pushState(null, "", path + queryOf(chosen.display) + location.hash);
	showChoices();
	showReport();
}

// ---- the profiles that are kept ----

function kept() {
	return live.event ? live.event.profiles : [];
}

function clockOf(time) {
	return new Date(time * 1000).toLocaleTimeString([], { hour12: false });
}

function fillTimes(select, first, value) {
	const times = kept().slice().reverse().map(String), options = [["", first], ...times.map((time) => [time, clockOf(time)])];
	if (value && !times.includes(value))
		options.push([value, clockOf(value) + ", no longer kept"]);
	fill(select, options, value);
}

// Leaves a list alone that has not changed: somebody may be choosing from it.
function fill(select, options, value) {
	if (select.dataset.options !== JSON.stringify(options)) {
		select.dataset.options = JSON.stringify(options);
		select.replaceChildren(...options.map(([name, label]) => make("option", { value: name, textContent: label })));
	}
	select.value = value;
}

function showChoices() {
	const times = kept(), at = (time, otherwise) => times.includes(Number(time)) ? times.indexOf(Number(time)) : otherwise;
	fillTimes(byId("view"), "now", chosen.view);
	fillTimes(byId("base"), "none", chosen.base);
	fill(byId("display"), DISPLAYS, chosen.display);
	fill(byId("sample"), SAMPLES, chosen.sample);
	byId("range").hidden = times.length < 2;
	for (const [name, value] of [["from", at(chosen.base, 0)], ["to", at(chosen.view, times.length - 1)]]) {
		const input = byId(name), said = times.length ? clockOf(times[value]) : "", max = String(Math.max(0, times.length - 1));
		if (input.getAttribute("aria-valuetext") !== said || Number(input.value) !== value || input.max !== max) {
			Object.assign(input, { max, value });
			input.setAttribute("aria-valuetext", said);
		}
	}
	if (live.event)
		setText(byId("kept-said"), times.length + " of the last 32 profiles, one every " + formatTime(live.event.every));
	drawKept();
}

function chooseRange(from, to) {
	const times = kept(), [first, last] = from < to ? [from, to] : [to, from];
	if (first !== last && times[last] !== undefined)
		choose({ base: String(times[first]), view: String(times[last]) });
}

// ---- the chart ----

class LiveChart extends GrowthChart {
	draw() {
		super.draw();
		const [whole, seen] = this.shown, last = this.time.length - 1, middle = (whole.value[last] + seen.value[last]) / 2;
		const there = this.time.map((at, i) => [at, whole.value[i]]), back = this.time.map((at, i) => [at, seen.value[i]]).reverse();
		const gap = makeSvg("path", { class: "gap", d: this.path(there.concat(back)) + "Z" });
		this.svg.insertBefore(gap, this.svg.children[1]);
		this.keptMarks = makeSvg("g", {});
		this.svg.append(this.keptMarks);
		if (this.y(seen.value[last]) - this.y(whole.value[last]) > 22)
			this.svg.append(makeSvg("text", { class: "gap-text", x: this.x(this.time[last]) - 8, y: this.y(middle) + 4, "text-anchor": "end" },
				"not seen: " + formatBytes(whole.value[last] - seen.value[last])));
	}

	// There is no place where the user looks.
	drawMoment() {
		this.moving.replaceChildren();
	}
}

function drawKept() {
	if (!live.chart || !live.profile)
		return;
	const { chart, profile } = live, last = chart.time[chart.time.length - 1];
	const places = kept().map((time) => ({ time, at: Math.min(Math.max(time - profile.start, 0), last) }));
	chart.keptMarks.replaceChildren(...places.map(({ time, at }) => makeSvg("circle", {
		class: "kept" + ([chosen.view, chosen.base].includes(String(time)) ? " chosen" : ""), cx: chart.x(at).toFixed(1), cy: chart.box.bottom, r: 4,
	}, makeSvg("title", {}, clockOf(time)))));
	const [from, to] = live.dragged || [Number(chosen.base) - profile.start, Number(chosen.view) - profile.start];
	if (live.dragged || (chosen.base && chosen.view)) {
		const inside = (at) => chart.x(Math.min(Math.max(at, 0), last)), left = Math.min(inside(from), inside(to)), right = Math.max(inside(from), inside(to));
		chart.keptMarks.prepend(makeSvg("rect", { class: "brush", x: left, y: chart.box.top, width: right - left, height: chart.box.bottom - chart.box.top }));
	}
}

function showMemory() {
	const { moments, duration } = live.profile, isShown = moments.length > 1 && duration > 0;
	byId("memory-part").hidden = !isShown;
	if (!isShown) {
		live.chart = null;
		return;
	}
	const latest = moments[moments.length - 1], all = duration > latest[0] ? moments.concat([[duration, ...latest.slice(1)]]) : moments;
	const time = all.map((moment) => moment[0]), lineOf = (name, column, color) => plainLine(name, all.map((moment) => moment[column]), color);
	const lines = [lineOf("anonymous memory", 1, "#8a8f98"), lineOf("in use, seen", 3, "var(--accent)"), ...heapLines(live.profile.heap, time)];
	live.chart = new LiveChart(byId("memory-chart"), { time, kind: BYTES, hasTimes: true, nameOf: (series) => series.name, showsTimes: true });
	live.chart.show(lines, { hasBands: true, hasSlopes: false });
	const { left, right, top, bottom } = live.chart.box;
	Object.assign(byId("axis").style, { left: left - 6 + "px", width: right - left + 12 + "px", top: top + "px", height: bottom - top + 28 + "px" });
	showLegend(lines, latest);
}

function showLegend(lines, [, anonymous, resident, seen]) {
	const gap = Math.max(0, anonymous - seen);
	byId("memory-said").replaceChildren(...lines.map(({ name, amount, color }) => {
		const swatch = make("i", { className: "swatch" });
		swatch.style.setProperty("--series", color);
		return make("span", {}, swatch, name + ": " + formatBytes(amount[amount.length - 1]));
	}), make("span", {}, make("i", { className: "gap-swatch" }), "not seen: " + formatBytes(gap) + ", allocated before the session began, by other means than malloc, or kept by the allocator"),
	make("span", { textContent: "RSS: " + formatBytes(resident) }));
}

function listenToAxis() {
	const axis = byId("axis"), timeAt = (event) => {
		const { left, right } = live.chart.box, last = live.chart.time[live.chart.time.length - 1];
		return last * (event.clientX - byId("memory-chart").getBoundingClientRect().left - left) / (right - left);
	};
	const nearest = (at) => kept().reduce((best, time, i, times) =>
		Math.abs(time - live.profile.start - at) < Math.abs(times[best] - live.profile.start - at) ? i : best, 0);
	axis.addEventListener("pointerdown", (event) => {
		live.dragged = [timeAt(event), timeAt(event)];
		axis.setPointerCapture(event.pointerId);
		event.preventDefault();
	});
	axis.addEventListener("pointermove", (event) => {
		if (!live.dragged)
			return;
		live.dragged[1] = timeAt(event);
		drawKept();
	});
	for (const end of ["pointerup", "pointercancel"])
		axis.addEventListener(end, () => {
			const range = live.dragged;
			live.dragged = null;
			if (range && end === "pointerup")
				chooseRange(nearest(range[0]), nearest(range[1]));
			drawKept();
		});
}

// ---- the answer ----

function formatPerSecond(bytes) {
	return (bytes > 0 ? "+" : "") + formatBytes(bytes) + "/s";
}

function makeRow(row, bars, isOpen) {
	const { slope } = row, isDecided = slope.low <= slope.high && slope.value !== 0;
	const place = row.file ? " " + row.file.split("/").pop() + (row.line ? ":" + row.line : "") : "";
	const calls = make("ol", {}, ...row.stack.map((call) => make("li", { textContent: call })));
	const stack = row.stack.length ? [make("details", { open: isOpen }, make("summary", { textContent: "Stack" }), calls)] : [];
	return make("tr", {},
		make("td", { className: "verdict " + row.verdict.split(" ").pop(), textContent: row.verdict }),
		make("th", { scope: "row" }, row.function, make("span", { className: "quiet-text", textContent: place }), ...stack),
		make("td", { className: "number slope", textContent: isDecided ? formatPerSecond(slope.value) : "" }),
		make("td", { className: "number", textContent: isDecided ? formatPerSecond(slope.low) + " \u2026 " + formatPerSecond(slope.high) : "" }),
		make("td", { className: "number last", textContent: formatBytes(row.live_bytes) }),
		make("td", { className: "spark" }, makeSpark(bars.map((_, at) => at), bars)));
}

// A stack that the user has opened stays open, and the focus where it is.
function showRows({ rows, bars }) {
	const body = byId("answer-rows").querySelector("tbody"), nameOf = (element) => element.closest("tr").querySelector("th").firstChild.textContent;
	const open = new Set(Array.from(body.querySelectorAll("details[open]"), nameOf));
	const focused = body.contains(document.activeElement) ? nameOf(document.activeElement) : null;
	byId("rows-part").hidden = !rows.length;
	body.replaceChildren(...rows.map((row, i) => makeRow(row, bars[i], open.has(row.function))));
	for (const summary of focused === null ? [] : body.querySelectorAll("summary"))
		if (nameOf(summary) === focused)
			summary.focus();
}

function showAnswer() {
	const { answer, notes } = live.profile, [first, ...rest] = answer ? answer.lines : ["It is not known when this was allocated, so nothing is said of growth."];
	setText(byId("answer-title"), first);
	if (Array.from(byId("answer-words").children, (line) => line.textContent).join("\n") !== rest.join("\n"))
		byId("answer-words").replaceChildren(...rest.map((line) => make("p", { textContent: line })));
	setText(byId("notes"), notes.join("\n"));
	showRows(answer || { rows: [], bars: [] });
}

function showFacts(status) {
	const { live: inUse, low, high } = live.profile, percent = (part, whole) => whole > 0 ? Number((100 * part / whole).toPrecision(2)) + "%" : "0%";
	const facts = [
		["In use, seen", formatBytes(inUse) + (high > low ? ", 95% " + formatBytes(low) + " \u2026 " + formatBytes(high) : "")],
		["Allocated", formatBytes(status.allocated_bytes)],
		["Attached for", formatTime(status.elapsed_ns / 1e9)],
		["Samples", formatCount(status.samples) + (status.interval_bytes > 1 ? ", one per " + formatBytes(status.interval_bytes) : ", every allocation")],
		["Overhead", percent(status.payload_cpu_ns, status.elapsed_ns) + " of a CPU, " + percent(status.payload_cpu_ns, status.target_cpu_ns) + " of its CPU time"],
	];
	if (!byId("facts").children.length) {
		byId("title").replaceChildren(status.program || "process", make("span", { textContent: "pid " + status.pid }));
		byId("facts").replaceChildren(...facts.map(([name]) => make("div", {}, make("dt", { textContent: name }), make("dd", { textContent: "" }))));
	}
	facts.forEach(([, value], i) => setText(byId("facts").children[i].lastChild, value));
	document.title = (status.program || "pid") + " " + status.pid + ": heapinject";
}

// ---- attach and detach ----

const STEERING = {
	attach: { question: "Attach to process " + pid + "? As heapinject attach --detached does: it samples within 1% of the process's CPU time, writes profiles where serve was started, and goes on until it is detached.",
		yes: "Attach", during: "attaching", done: "Attached", failed: "It could not be attached to" },
	detach: { question: "End the session of process " + pid + "? All that it has changed in the process is put back; its profile is written as usual.",
		yes: "Detach", during: "detaching", done: "Detached: the receipt", failed: "It could not be detached" },
};

function showSteering(event) {
	byId("attach").hidden = !event.maySteer || !event.isMissing;
	byId("detach").hidden = !event.maySteer || event.isMissing || !event.look;
}

async function steer(name) {
	const { during, done, failed } = STEERING[name];
	for (const id of ["attach", "detach"])
		byId(id).disabled = true;
	byId("state").textContent = during;
	let title, text;
	try {
		const answer = await fetch(base + name, { method: "POST" });
		[title, text] = [answer.ok ? done : failed, await answer.text()];
	} catch {
		[title, text] = [failed, "serve does not answer"];
	}
	for (const id of ["attach", "detach"])
		byId(id).disabled = false;
	byId("receipt-part").hidden = false;
	byId("receipt-title").textContent = title;
	byId("receipt").textContent = text;
	byId("receipt-title").focus();
}

function ask(name) {
	const dialog = byId("sure");
	byId("sure-text").textContent = STEERING[name].question;
	byId("yes").textContent = STEERING[name].yes;
	dialog.returnValue = "no";
	dialog.onclose = () => dialog.returnValue === "yes" && steer(name);
	dialog.showModal();
}

// ---- events ----

function say(text) {
	byId("notice").hidden = !text;
	setText(byId("notice"), text);
}

function showEvent(event) {
	live.event = event;
	live.count++;
	say(event.why);
	byId("state").textContent = event.isMissing ? "no session" : "looked at " + clockOf(event.time) + (event.look && event.look.status.paused ? ", paused" : "");
	if (event.look) {
		live.profile = event.look.profile;
		showMemory(); // it asks for sizes, so it comes before what changes them
		showFacts(event.look.status);
		showAnswer();
	} else if (!live.profile) {
		byId("title").textContent = "pid " + pid;
		byId("answer-title").textContent = event.isMissing ? "No session is attached to it" : "The session cannot be looked at";
	}
	showSteering(event);
	showChoices();
}

let source = null;

// A browser has six connections to a server for all its tabs together, so one that nobody looks at has none.
function watch() {
	if (source || document.hidden)
		return;
	source = new EventSource(base + "events");
	source.onmessage = (message) => showEvent(JSON.parse(message.data));
	source.onerror = () => {
		byId("state").textContent = "not connected, tries again";
		if (source.readyState !== EventSource.CLOSED)
			return;
		source = null;
		setTimeout(watch, 5000);
	};
}

function watchWhileSeen() {
	if (!document.hidden) {
		watch();
		return;
	}
	if (source)
		source.close();
	source = null;
	byId("state").textContent = "waits until this tab is looked at";
}

function begin() {
	beginTheme();
	byId("title").textContent = "pid " + pid;
	byId("answer-rows").querySelector("thead tr").replaceChildren(...makeHeadings([["Verdict"], ["Function"], ["Slope", "number"],
		["95% interval of the slope", "number"], ["Held", "number"], ["Over the window"]]));
	for (const [id, field] of [["view", "view"], ["base", "base"], ["display", "display"], ["sample", "sample"]])
		byId(id).addEventListener("change", (event) => choose({ [field]: event.target.value }));
	byId("explore").addEventListener("submit", (event) => {
		event.preventDefault();
		choose({});
	});
	for (const id of ["from", "to"])
		byId(id).addEventListener("change", () => chooseRange(Number(byId("from").value), Number(byId("to").value)));
	addEventListener("popstate", () => {
		readAddress();
		showChoices();
		showReport();
	});
	addEventListener("resize", () => {
		if (live.profile)
			showMemory();
		drawKept();
	});
	for (const name of ["attach", "detach"])
		byId(name).addEventListener("click", () => ask(name));
	document.addEventListener("visibilitychange", watchWhileSeen);
	listenToAxis();
	beginInspecting();
	readAddress();
	showChoices();
	showReport();
	watchWhileSeen();
}

begin();
