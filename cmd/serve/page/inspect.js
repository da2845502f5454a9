// SPDX-License-Identifier: MIT
// inspect.js - the tabs of the live page for what explain, census, leaks and owners say of the process. Each look is asked for by a button, as it costs CPU, and
// one runs at a time. The tab stands in the address, as its fragment. Start at beginInspecting().
"use strict";

const INSPECTIONS = [
	{ name: "explain", label: "Memory", view: viewExplain, says: "What the resident memory consists of, and why it is so large. It takes five seconds." },
	{ name: "census", label: "Census", view: viewCensus, says: "What the process holds, by C++ class, by content and by size.",
		growths: [["", "not asked"], ["10", "within 10 seconds"], ["60", "within a minute"]] },
	{ name: "leaks", label: "Leaks", view: viewLeaks, says: "Blocks that nothing refers to any more, whenever they were allocated. It takes five seconds and more." },
	{ name: "owners", label: "Owners", view: viewOwners, says: "What keeps the blocks: variables, stacks, other memory, and what would be free without each." },
];
const inspecting = { chosen: INSPECTIONS[0], running: null };

const partOf = ({ name }, part) => byId(`inspect-${name}-${part}`);

// ---- tabs ----

function makeInspectionTab({ name, label }) {
	const tab = make("button", { type: "button", id: "tab-" + name, textContent: label, onclick: () => chooseInspection(name, true) });
	tab.setAttribute("role", "tab");
	tab.setAttribute("aria-controls", "panel-" + name);
	return tab;
}

// Is the fragment of the address, so that a link leads to it; nothing begins by that.
function chooseInspection(name, isByUser) {
	inspecting.chosen = INSPECTIONS.find((inspection) => inspection.name === name) || INSPECTIONS[0];
	for (const inspection of INSPECTIONS) {
		const isChosen = inspection === inspecting.chosen, tab = byId("tab-" + inspection.name);
		tab.setAttribute("aria-selected", String(isChosen));
		tab.tabIndex = isChosen ? 0 : -1;
		byId("panel-" + inspection.name).hidden = !isChosen;
	}
	if (isByUser)
		history.replaceState(null, "", "#" + inspecting.chosen.name);
}

function moveBetweenTabs(event) {
	const names = INSPECTIONS.map(({ name }) => name), at = INSPECTIONS.indexOf(inspecting.chosen);
	const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: names.length - 1 }[event.key];
	if (to === undefined || event.ctrlKey || event.metaKey || event.altKey)
		return;
	event.preventDefault();
	chooseInspection(names[(to + names.length) % names.length], true);
	byId("tab-" + inspecting.chosen.name).focus();
}

// ---- panels ----

function makeInspectionPanel(inspection) {
	const { name, says, growths } = inspection, id = (part) => `inspect-${name}-${part}`;
	const status = make("p", { id: id("status"), className: "quiet-text" }), notice = make("p", { id: id("notice"), className: "notice", hidden: true });
	status.setAttribute("role", "status");
	notice.setAttribute("role", "alert");
	const elapsed = make("p", { id: id("elapsed"), className: "quiet-text" });
	elapsed.setAttribute("aria-hidden", "true");
	const choice = growths ? [make("label", { className: "pick" }, "Growth ", make("select", { id: id("growth") }, ...growths.map(([value, text]) => make("option", { value, textContent: text }))))] : [];
	const button = make("button", { type: "button", id: id("look"), className: "quiet", textContent: "Look", onclick: () => lookOrStop(inspection) });
	const panel = make("div", { id: "panel-" + name, tabIndex: 0, hidden: true },
		make("p", { className: "quiet-text" }, `${says} As `, make("code", { textContent: `heapinject ${name} ${pid}` }),
			": the process is read from outside. Nothing is injected, and no thread is stopped; it takes CPU of the machine."),
		make("div", { className: "toolbar" }, button, ...choice, status, elapsed), notice, make("div", { id: id("answer") }));
	panel.setAttribute("role", "tabpanel");
	panel.setAttribute("aria-labelledby", "tab-" + name);
	return panel;
}

function showElapsed() {
	const { running } = inspecting;
	if (running)
		partOf(running.inspection, "elapsed").textContent = Math.floor((Date.now() - running.began) / 1000) + " s";
}

function showInspecting() {
	const { running } = inspecting;
	for (const inspection of INSPECTIONS) {
		const button = partOf(inspection, "look"), isThis = running !== null && running.inspection === inspection;
		button.disabled = running !== null && !isThis;
		button.textContent = isThis ? "Stop" : inspection.taken ? "Look again" : "Look";
		partOf(inspection, "elapsed").hidden = !isThis;
		if (isThis)
			partOf(inspection, "status").textContent = "Looking at the process";
	}
	showElapsed();
}

// ---- a look ----

function lookAddress(inspection) {
	const growth = partOf(inspection, "growth");
	return base + inspection.name + (growth && growth.value ? "?seconds=" + growth.value : "");
}

function clockNow() {
	return new Date().toLocaleTimeString([], { hour12: false });
}

// While another look runs, serve says to come again in a second: it may be one that was just stopped.
async function fetchAnswer(inspection, signal) {
	let answer;
	try {
		for (let tries = 0; tries === 0 || (answer.status === 503 && tries < 5); tries++) {
			if (tries)
				await new Promise((done) => setTimeout(done, 1000));
			answer = await fetch(lookAddress(inspection), { signal, headers: { Accept: "application/json" } });
		}
	} catch (error) {
		throw error.name === "AbortError" ? error : new Error("serve does not answer");
	}
	if (!answer.ok)
		throw new Error((await answer.text()).trim());
	return answer.json();
}

// What was seen before stays until there is something newer, with its time.
function showFailure(inspection, error) {
	const isStopped = error.name === "AbortError", notice = partOf(inspection, "notice");
	notice.hidden = isStopped;
	notice.textContent = isStopped ? "" : error.message;
	partOf(inspection, "status").textContent = (isStopped ? "Stopped" : "It could not be looked at") + (inspection.taken ? `; below is what was there at ${inspection.taken}` : "");
}

async function look(inspection) {
	const running = { inspection, began: Date.now(), stop: new AbortController() };
	inspecting.running = running;
	partOf(inspection, "notice").hidden = true;
	showInspecting();
	try {
		const answer = await fetchAnswer(inspection, running.stop.signal);
		partOf(inspection, "answer").replaceChildren(...inspection.view(answer));
		inspection.taken = clockNow();
		inspection.answer = answer;
		partOf(inspection, "status").textContent = `Looked at ${inspection.taken}, for ${((Date.now() - running.began) / 1000).toFixed(1)} s`;
	} catch (error) {
		showFailure(inspection, error);
	}
	inspecting.running = null;
	showInspecting();
}

function lookOrStop(inspection) {
	if (inspecting.running)
		inspecting.running.stop.abort();
	else
		look(inspection);
}

function beginInspecting() {
	const host = byId("inspect"), ofAddress = () => chooseInspection(location.hash.slice(1), false);
	byId("tabs").replaceChildren(...INSPECTIONS.map(makeInspectionTab));
	byId("tabs").addEventListener("keydown", moveBetweenTabs);
	host.append(...INSPECTIONS.map(makeInspectionPanel));
	addEventListener("popstate", ofAddress);
	setInterval(showElapsed, 1000);
	ofAddress();
}
