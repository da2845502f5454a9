// SPDX-License-Identifier: MIT
// inspect_alone.js - the page that explain, census, leaks and owners write with --html: one answer, which stands in it. Before it stand format.js of the page of
// reports, theme.js, inspect_table.js and inspect_views.js.
"use strict";

const VIEWS = { explain: ["Memory", viewExplain], census: ["Census", viewCensus], leaks: ["Leaks", viewLeaks], owners: ["Owners", viewOwners] };

function beginAlone() {
	const { command, taken, answer } = JSON.parse(byId("data").textContent), [label, view] = VIEWS[command];
	beginTheme();
	document.title = `${answer.name} ${answer.pid}: ${label}`;
	byId("title").replaceChildren(answer.name, make("span", { textContent: "pid " + answer.pid }));
	byId("taken").textContent = `heapinject ${command}, ${new Date(taken * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC. Nothing was injected, and no thread was stopped.`;
	byId("inspect-title").textContent = label;
	byId("answer").replaceChildren(...view(answer));
}

beginAlone();
