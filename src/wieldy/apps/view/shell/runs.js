// All runs: those that wait on top, filters, and a table in pages.

const STATUSES = ["running", "waiting", "finished", "failed", "interrupted", "died", "unreadable"];
const TONES = { running: "live", waiting: "warn", finished: "good", failed: "bad", interrupted: "warn", died: "bad", unreadable: "bad" };
const COLUMNS = ["", "prompt", "model", "started", "took", "turns", "calls", "tokens in / out", "cost", "ended by"];
const chosen = []; // the ids of runs to be put side by side

const path = (...parts) => `#/${parts.map((part) => encodeURIComponent(String(part))).join("/")}`;
const statusTag = (row) => tag(row.status, TONES[row.status]);
const filterPath = (filters) => {
  const given = Object.entries(filters).filter(([, value]) => value);
  return given.length ? `#/?${new URLSearchParams(given)}` : "#/";
};

function showRuns(filters) {
  const head = el("section", { class: "intro" }), top = el("div"), list = el("section", { class: "runs", "aria-label": "Runs" });
  const controls = el("div", { class: "controls" });
  let shownWaiting = "", shownTools = "";
  const show = (told) => {
    if (!head.isConnected) main.replaceChildren(head, top, controls, list);
    document.title = told.waiting_total ? `(${told.waiting_total}) Runs` : "Runs";
    head.replaceChildren(el("h1", {}, "Runs"), el("p", { class: "facts" }, said(told.journal, 300), ` · ${plural(told.total, "run")}`,
      told.total > told.listed ? `, of which the newest ${count(told.listed)} are listed` : null,
      told.looked_at < told.listed ? ` · ${count(told.looked_at)} looked at so far` : null,
      told.redacted ? " · redacted" : null));
    const waiting = JSON.stringify([told.waiting, decisions.length]);
    if (waiting !== shownWaiting) top.replaceChildren(waitingView(told.waiting, told.waiting_total, told.decides, watched.look));
    shownWaiting = waiting;
    if (JSON.stringify(told.tools) !== shownTools) fillTools(controls, told.tools, filters);
    shownTools = JSON.stringify(told.tools);
    fillTable(list, told, filters);
  };
  // While runs are left to be looked at, the next look goes on with them.
  const watched = watch("runs", filters, show, (told) => (told.is_partial || told.looked_at < told.listed ? 200 : 2000));
  fillControls(controls, filters);
  main.replaceChildren(el("p", { class: "loading" }, "Reading the journal …"));
  view.close = watched.close;
  return watched.first;
}

function fillControls(controls, filters) {
  const change = (name, value) => go(filterPath({ ...filters, after: "", [name]: value }));
  controls.append(
    el("input", { type: "search", id: "search", placeholder: "Search prompts, answers, errors, models and ids  ( / )", value: filters.text,
      "aria-label": "Search runs", onchange: (event) => change("text", event.target.value) }),
    el("select", { "aria-label": "status", onchange: (event) => change("status", event.target.value) }, el("option", { value: "" }, "any status"),
      STATUSES.map((status) => el("option", { value: status, selected: filters.status === status }, status))),
    el("select", { id: "tools", "aria-label": "tool", onchange: (event) => change("tool", event.target.value) }, el("option", { value: "" }, "any tool")),
    el("label", { class: "chip" }, el("input", { type: "checkbox", id: "failures", checked: filters.status === "failures",
      onchange: (event) => change("status", event.target.checked ? "failures" : "") }), "only failures"));
}

function fillTools(controls, tools, filters) {
  const all = filters.tool && !tools.includes(filters.tool) ? [filters.tool, ...tools] : tools;
  controls.querySelector("#tools").replaceChildren(el("option", { value: "" }, "any tool"),
    ...all.map((tool) => el("option", { value: tool, selected: filters.tool === tool }, plain(whole(tool, 80)))));
}

function fillTable(list, told, filters) {
  const rows = told.groups.flatMap((group) => [...group.rows.map((row) => rowView(row)),
    ...(group.left_out ? [el("tr", {}, el("td", { colspan: COLUMNS.length, class: "note" }, `and ${plural(group.left_out, "more run")} within it`))] : [])]);
  const narrowed = filters.status || filters.text || filters.tool;
  const none = told.is_partial ? "Looking through older runs …" : narrowed ? "No run fits." : "No run is recorded yet. Start one with `wieldy run`.";
  const active = list.querySelector("tr.active")?.dataset.run;
  list.replaceChildren(
    rows.length ? el("table", { class: "wide" }, el("thead", {}, el("tr", {}, COLUMNS.map((title) => el("th", { scope: "col" }, title)))), el("tbody", {}, rows))
      : el("p", { class: "none" }, none),
    el("p", { class: "pages" }, filters.after ? el("a", { href: filterPath({ ...filters, after: "" }) }, "newest runs") : null,
      rows.length && told.is_partial ? el("span", { class: "note" }, "looking through older runs …") : null,
      told.after && !told.is_partial ? el("a", { id: "older", href: filterPath({ ...filters, after: told.after }) }, "older runs") : null),
    compareBar());
  listOf(list, active);
}

// The rows for the keys.
function listOf(list, active) {
  const rows = [...list.querySelectorAll("tr[data-run]")];
  view.list = { active: rows.findIndex((row) => row.dataset.run === active), close: () => {}, step(by) {
    rows[this.active]?.classList.remove("active");
    this.active = Math.min(rows.length - 1, Math.max(0, this.active + by));
    rows[this.active]?.classList.add("active");
    rows[this.active]?.scrollIntoView({ block: "nearest" });
  } };
  rows[view.list.active]?.classList.add("active");
  view.open = (at) => go(path("run", rows[at].dataset.run));
}

function rowView(row) {
  const cells = [
    row.model ? said(row.model, 60) : "–", row.started === null ? "–" : moment(row.started),
    row.ended === null || row.status === "waiting" ? "–" : seconds(Math.max(0, row.ended - row.started)), count(row.turns),
    [count(row.calls), row.failed_calls ? el("span", { class: "bad" }, ` (${count(row.failed_calls)} failed)`) : null],
    `${count(row.input_tokens)} / ${count(row.output_tokens)}`, row.cost_usd ? `$${row.cost_usd.toFixed(4)}` : "–",
    row.stop_reason ? row.stop_reason.replaceAll("_", " ") : row.error ? said(row.error, 80) : "–"];
  return el("tr", { "data-run": row.run_id, class: row.depth ? "within" : null },
    el("td", { class: "status" }, el("input", { type: "checkbox", "aria-label": "side by side", title: "put side by side with another run", checked: chosen.includes(row.run_id),
      onchange: (event) => choose(row.run_id, event.target.checked) }), " ", statusTag(row)),
    el("th", { scope: "row", class: "prompt", style: { "--depth": Math.min(row.depth, 6) } }, el("a", { href: path("run", row.run_id) }, said(row.prompt || row.run_id, 110)),
      row.parent && !row.depth ? el("span", { class: "note" }, " within run ", said(row.parent, 20)) : null),
    cells.map((cell, at) => el("td", { "data-title": COLUMNS[at + 2], class: `column-${at + 2}` }, cell)));
}

function choose(run, isChosen) {
  const at = chosen.indexOf(run);
  if (at >= 0) chosen.splice(at, 1);
  if (isChosen) chosen.push(run);
  if (chosen.length > 2) chosen.shift();
  for (const row of document.querySelectorAll("tr[data-run]")) row.querySelector("input").checked = chosen.includes(row.dataset.run);
  document.querySelector(".compare-bar")?.replaceWith(compareBar());
}

const compareBar = () => el("p", { class: "compare-bar", hidden: chosen.length < 1 }, chosen.length < 2 ? "Choose another run to put beside it."
  : el("a", { id: "compare", href: path("compare", ...chosen) }, "the two chosen runs side by side"));
