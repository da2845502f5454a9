// SPDX-License-Identifier: MIT
// inspect_views.js - what the JSON of explain, census, leaks and owners (heapinject(1)) looks like: each view makes elements of an answer, and knows of nothing
// else. Words are those of the commands. Before it stand format.js of the page of reports, and inspect_table.js.
"use strict";

function remark(text, className) {
	return make("p", { className: className || "quiet-text", textContent: text });
}

function formatRate(bytes) {
	return Math.abs(bytes) < 1 ? "" : formatSigned(bytes, AS_BYTES) + "/s";
}

// ---- what census, leaks and owners have in common ----

// Blocks of a kind, by their class, or else by what they hold and their size.
function nameOfGroup(group) {
	return group.class || group.kind + " of " + (group.size ? formatBytes(group.size) : "other sizes");
}

// By which stacks they were allocated, of those that a session has sampled.
function makeStacks(row) {
	if (!row.stacks || !row.stacks.length)
		return [];
	const stacks = row.stacks.map(({ sampled, stack }) => make("li", { textContent: formatShare(sampled, row.sampled) + " " + stack }));
	return [make("details", {}, make("summary", { textContent: "Stacks of " + formatCount(row.sampled) + " sampled" }), make("ul", {}, ...stacks))];
}

function groupColumn() {
	return { key: "name", label: "What", isText: true, of: nameOfGroup, cell: (row) => [make("span", { className: "named", textContent: nameOfGroup(row) }), ...makeStacks(row)] };
}

function countColumn(key, label) {
	return { key, label, of: (row) => row[key], cell: (row) => makeFigureCell(row[key], row[key] ? formatCount(row[key]) : "") };
}

function bytesColumn(key, label, whole) {
	return { key, label, of: (row) => row[key], cell: (row) => row[key] ? makeShareCell(row[key], whole) : makeFigureCell(0, "") };
}

function areBlocksKnown({ allocators }) {
	return allocators.some(({ refusal }) => !refusal);
}

// What is not counted, and what can be done about it.
function notesOf(answer) {
	const notes = answer.allocators.filter(({ refusal }) => refusal).map(({ name, refusal }) => "Not counted: blocks of " + name + ": " + refusal + ".");
	if (!answer.allocators.length)
		notes.push("Not counted: blocks of an allocator that was not found.");
	if (!areBlocksKnown(answer))
		notes.push("Known are the heaps of glibc, musl, jemalloc, tcmalloc and mimalloc. A session, once it is attached, sees what any malloc gives out from then on.");
	if (answer.unsure_bytes)
		notes.push("Not counted: " + formatBytes(answer.unsure_bytes) + " that changed while it was read, or are damaged.");
	if (answer.partial)
		notes.push("Not counted: blocks beyond those that could be read in time.");
	return notes.map((note) => remark(note));
}

const NOT_KNOWN = "Cannot tell what it holds: its blocks could not be looked at";

function makeAnswer(title, notes, ...parts) {
	return [make("h3", { className: "said-first", textContent: title }), ...parts, ...notes];
}

// ---- explain ----

const PARTS = { used: "blocks in use", heads: "heads of blocks, and rounding", cached: "freed blocks in caches", free: "free memory of the allocator",
	metadata: "the allocator's own data", unsure: "of the allocator, not understood", stacks: "stacks of threads", anonymous: "other anonymous mappings",
	data: "data of the program and libraries", files: "files, unchanged", shared: "shared memory", session: "of the session of heapinject" };
const PART_HUES = { used: 212, heads: 190, cached: 45, free: 28, metadata: 265, unsure: 0, stacks: 320, anonymous: 95, data: 150, files: 235, shared: 60, session: 175 };

function partSwatch(part) {
	const swatch = make("i", { className: "part-swatch" });
	swatch.style.setProperty("--series", `hsl(${PART_HUES[part]} 52% 52%)`);
	return swatch;
}

function partsOf({ now, before, seconds }) {
	return Object.entries(now.parts).filter(([, sum]) => sum.resident || sum.swapped).map(([part, sum]) => ({
		part, ...sum, growth: before && seconds > 0 ? (sum.resident - before.parts[part].resident) / seconds : 0,
	}));
}

function makeBar(parts, whole) {
	const bar = make("div", { className: "parts" }, ...parts.filter(({ resident }) => resident).map(({ part, resident }) => {
		const piece = partSwatch(part);
		piece.title = PARTS[part] + ": " + formatBytes(resident);
		piece.style.flexGrow = resident / whole;
		return piece;
	}));
	bar.setAttribute("role", "img");
	bar.setAttribute("aria-label", "Resident: " + parts.map(({ part, resident }) => PARTS[part] + " " + formatShare(resident, whole)).join(", "));
	return bar;
}

function partColumns(answer, whole) {
	const columns = [
		{ key: "name", label: "Part", isText: true, of: ({ part }) => PARTS[part], cell: ({ part }) => [partSwatch(part), PARTS[part]] },
		bytesColumn("resident", "Resident", whole),
		{ key: "swapped", label: "Swapped", of: (row) => row.swapped, cell: (row) => makeFigureCell(row.swapped, row.swapped ? formatBytes(row.swapped) : "") },
		countColumn("count", "Number"),
	];
	if (answer.before)
		columns.push({ key: "growth", label: "Growth", of: (row) => row.growth, cell: (row) => makeFigureCell(row.growth, Math.abs(row.growth) < 512 ? "" : formatRate(row.growth)) });
	return columns;
}

function mappingsTable(mappings, whole) {
	const large = mappings.filter(({ resident }) => resident >= whole / 20), nameOf = ({ name, part }) => name || PARTS[part];
	return large.length ? [make("h3", { textContent: "Largest mappings" }), new InspectTable("Largest mappings", [
		{ key: "name", label: "Mapping", isText: true, of: nameOf, cell: (row) => [nameOf(row)] },
		{ key: "part", label: "Part", isText: true, of: ({ part }) => PARTS[part], cell: ({ part }) => make("td", { textContent: PARTS[part] }) },
		bytesColumn("resident", "Resident", whole),
		{ key: "bytes", label: "Size", of: (row) => row.bytes, cell: (row) => makeFigureCell(row.bytes, formatBytes(row.bytes)) },
	], large, "resident").element] : [];
}

function explainNotes({ now, limit }) {
	const notes = now.allocators.map(({ name, refusal, arenas }) => refusal ? name + " was not read: " + refusal + "; its memory is among the mappings."
		: name + ", " + formatCount(arenas) + (arenas === 1 ? " arena." : " arenas."));
	if (!now.allocators.length)
		notes.push("No allocator was found: its memory is among the mappings.");
	if (now.partial)
		notes.push("The allocator's memory is too large to be read in this time: the rest is among the mappings.");
	if (now.trimmable)
		notes.push("Of the free memory a trim would give back " + formatBytes(now.trimmable) + ".");
	if (now.huge)
		notes.push(formatBytes(now.huge) + " are in transparent huge pages, about " + formatBytes(now.huge_zero) + " of it zeros.");
	if (limit)
		notes.push("It may have " + formatBytes(limit) + " resident.");
	return notes.map((note) => remark(note));
}

function viewExplain(answer) {
	const parts = partsOf(answer), whole = parts.reduce((sum, { resident }) => sum + resident, 0);
	return makeAnswer(answer.verdict + ": " + answer.why, explainNotes(answer), remark(answer.remedy), makeBar(parts, whole || 1),
		new InspectTable("Parts of the resident memory", partColumns(answer, whole), parts, "resident").element,
		remark(formatBytes(whole) + " in all; the kernel says " + formatBytes(answer.now.resident) + "."), ...mappingsTable(answer.now.mappings, whole));
}

// ---- census ----

function formatCountRate(rate) {
	return rate ? (rate > 0 ? "+" : "\u2212") + Math.abs(rate).toFixed(1) : "";
}

// A slope, and its 95 % interval where there were enough looks for one.
function rateCell(row, name, format) {
	const low = row[name + "_low"], cell = makeFigureCell(row[name], format(row[name]));
	if (low !== null && row[name])
		cell.append(make("small", { textContent: " " + (format(low) || "0") + " .. " + (format(row[name + "_high"]) || "0") }));
	return cell;
}

function growthColumns() {
	return [{ key: "verdict", label: "Verdict", isText: true, of: (row) => row.verdict, cell: (row) => make("td", { textContent: row.verdict }) },
		{ key: "growth", label: "Growth", of: (row) => row.bytes_per_second_low ?? row.bytes_per_second, cell: (row) => rateCell(row, "bytes_per_second", formatRate) },
		{ key: "more", label: "Blocks/s", of: (row) => row.blocks_per_second_low ?? row.blocks_per_second, cell: (row) => rateCell(row, "blocks_per_second", formatCountRate) }];
}

// Of census --owner.
function ownerColumns() {
	const nameOf = (one) => one.name || nameOfGroup(one);
	const list = (label, key) => ({ key, label, isText: true, of: (row) => row[key].length ? nameOf(row[key][0]) : "",
		cell: (row) => make("td", { textContent: row[key].map((one) => nameOf(one) + " (" + formatCount(one.blocks) + ")").join(", ") }) });
	return [list("Possible pointers in", "pointers"), list("Kept by", "places")];
}

function viewCensus(answer) {
	const hasGrowth = answer.seconds > 0, hasOwners = answer.rows.some((row) => row.places);
	const columns = [groupColumn(), bytesColumn("bytes", "Bytes", answer.bytes), countColumn("blocks", "Blocks"),
		...(hasGrowth ? growthColumns() : []), ...(hasOwners ? ownerColumns() : [])];
	const title = formatCount(answer.blocks) + " blocks in use, " + formatBytes(answer.bytes) + " usable"
		+ (hasGrowth ? "; what changed within " + answer.seconds.toFixed(1) + " s, by " + answer.looks + " looks" : "");
	return areBlocksKnown(answer) ? makeAnswer(title, notesOf(answer), new InspectTable("What the process holds", columns, answer.rows, hasGrowth ? "growth" : "bytes").element)
		: makeAnswer(NOT_KNOWN, notesOf(answer));
}

// ---- leaks ----

function titleOfLeaks(answer) {
	const all = answer.bytes + answer.more_bytes, count = answer.blocks + answer.more_blocks;
	return answer.verdict === "cannot tell" ? "Leaked: cannot tell: its blocks could not be looked at"
		: answer.verdict === "nothing" ? "Leaked: nothing"
		: `Leaked: ${formatBytes(all)} in ${formatCount(count)} blocks: ${formatBytes(answer.bytes)} in ${formatCount(answer.blocks)} that nothing refers to, and what only these refer to`;
}

function viewLeaks(answer) {
	const whole = answer.bytes + answer.more_bytes, hasStacks = answer.rows.some((row) => row.stacks);
	const columns = [groupColumn(), bytesColumn("bytes", "Bytes", whole), countColumn("blocks", "Blocks"), bytesColumn("more_bytes", "By these", whole), countColumn("more_blocks", "Blocks by these")];
	const seen = remark(`${formatCount(answer.blocks_in_use)} blocks in use were looked at, ` + (answer.stopped_times ? `as they were at one moment: the process was stopped for ${answer.stopped_ms.toFixed(1)} ms.`
		: `${answer.looks} times within ${answer.seconds.toFixed(1)} s.`));
	const caveat = remark((answer.settled ? "" : "The process moves pointers while it is searched: the last searches still found fewer blocks, and some of these may be in use. ") +
		"What only a register, the kernel (epoll, timers) or a pointer in another form refers to seems leaked, too." +
		(hasStacks ? "" : " Which stacks allocate such blocks: attach to it."));
	return makeAnswer(titleOfLeaks(answer), notesOf(answer), seen, ...(answer.rows.length ? [new InspectTable("Leaked blocks", columns, answer.rows, "bytes").element, caveat] : []));
}

// ---- owners ----

// Rows come each above those below it.
function treeOf(rows) {
	const top = [], path = [];
	for (const row of rows) {
		const copy = { ...row, below: [] };
		(row.depth ? path[row.depth - 1].below : top).push(copy);
		path[row.depth] = copy;
	}
	return top;
}

// What an object and the root retain themselves is what no single place below them does.
function nameOfOwner(row) {
	if (row.depth)
		return formatCount(row.count) + " \u00d7 " + nameOfGroup(row);
	return row.kind === "all" ? "several of these" : (row.kind === "object" ? "several in " : "") + row.name;
}

function makeHeld({ held, retained_bytes: whole }) {
	const parts = (held || []).filter(({ bytes }) => bytes >= whole / 100).map((group) => formatShare(group.bytes, whole) + " " + nameOfGroup(group));
	return parts.length ? [make("div", { className: "quiet-text", textContent: parts.join(", ") })] : [];
}

function viewOwners(answer) {
	const columns = [
		{ key: "name", label: "By", isText: true, of: nameOfOwner, cell: (row) => [make("span", { className: "named", textContent: nameOfOwner(row) }), ...makeHeld(row)] },
		bytesColumn("retained_bytes", "Retained", answer.bytes), countColumn("retained_blocks", "Blocks"),
		{ key: "own_bytes", label: "Own", of: (row) => row.own_bytes, cell: (row) => makeFigureCell(row.own_bytes, formatBytes(row.own_bytes)) },
	];
	const title = `${formatCount(answer.blocks)} blocks in use, ${formatBytes(answer.bytes)} usable; ${formatCount(answer.pointers)} pointers to them, in ${formatCount(answer.places)} places and in blocks`;
	const caveats = ["A number that looks like the address of a block, or leads into one, counts as a pointer; so does an old one that was not written over: an owner may be shown that is none, or several instead of one.",
		"What only a register or the kernel refers to, or what moved meanwhile, seems to be kept by nothing."];
	if (answer.cut)
		caveats.push("Not all pointers were followed.");
	return areBlocksKnown(answer) ? makeAnswer(title, [...caveats.map((caveat) => remark(caveat)), ...notesOf(answer)], new InspectTable("What keeps the blocks", columns, treeOf(answer.rows), "retained_bytes").element)
		: makeAnswer(NOT_KNOWN, notesOf(answer));
}
