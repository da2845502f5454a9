// SPDX-License-Identifier: MIT
// modules.js - the tab of modules, files and threads: sums over what belongs together.
"use strict";

const GROUP_ROWS = 40;

function makeGroupTable(title, rows, cellOf) {
	const type = kind(), whole = profile.tree.now[state.type][0];
	const columns = rows.length && rows[0].total === undefined ? [["In this view", "number"]] : [["Self", "number"], ["Total", "number"]];
	const head = make("tr", {}, ...makeHeadings([[title.replace(/s$/, "")], ...columns]));
	const figures = (row) => [row.self, row.total].filter((value) => value !== undefined).map((value) => makeShare(value, whole, type));
	const body = rows.slice(0, GROUP_ROWS).map((row) => make("tr", {}, make("th", { scope: "row" }, cellOf(row)), ...figures(row)));
	const list = make("table", { className: "group" }, make("thead", {}, head), make("tbody", {}, ...body));
	list.setAttribute("aria-label", title);
	const counted = rows.length > GROUP_ROWS ? [make("p", { className: "counted", textContent: GROUP_ROWS + " of " + formatCount(rows.length) })] : [];
	return [make("div", { className: "heading" }, make("h2", { textContent: title }), ...counted), make("div", { className: "scroll", tabIndex: 0, role: "group", ariaLabel: title }, list)];
}

// A name that narrows all views down to it.
function filterLink(named, field, value) {
	return make("button", { type: "button", className: "link", textContent: named, title: "Show only this in all views", onclick: () => setFilter(field, value) });
}

function escapePattern(words) {
	return words.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function groupRows(groupOf) {
	const rows = profile.rowsBy(groupOf, state.type).map(({ group, self, total }) => ({ group, self: self.now, total: total.now }));
	return rows.sort((a, b) => b.self - a.self || b.total - a.total);
}

function threadRows() {
	const { threads } = profile.meta, values = [threads.allocObjects, threads.allocSpace, threads.inuseObjects, threads.inuseSpace][state.type];
	const sums = threads.names.map(() => 0);
	threads.node.forEach((node, i) => {
		if (profile.tree.isIn(node))
			sums[threads.thread[i]] += values[i];
	});
	return sums.map((self, thread) => ({ thread, self })).filter((row) => row.self > 0).sort((a, b) => b.self - a.self);
}

function threadName(thread) {
	const { name, tid } = profile.meta.threads.names[thread];
	return tid || name ? (name || "thread") + (tid ? " (" + tid + ")" : "") : "others";
}

function showModules() {
	const unknown = "(unknown)";
	const byName = (row) => row.group === unknown ? unknown : filterLink(row.group, "focus", "^" + escapePattern(row.group) + "$");
	const byThread = (row) => filterLink(threadName(row.thread), "thread", row.thread);
	byId("modules-body").replaceChildren(
		...(profile.meta.threads && state.snapshot < 0 ? makeGroupTable("Threads", threadRows(), byThread) : []),
		...makeGroupTable("Modules", groupRows((functionIndex) => profile.moduleOf(functionIndex) || unknown), byName),
		...makeGroupTable("Files", groupRows((functionIndex) => profile.fileOf(functionIndex) || unknown), byName));
}
