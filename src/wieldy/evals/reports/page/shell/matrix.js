// Every trial: a row for each task, a cell for each trial, coloured and lettered by its verdict.

const FILTERS = { q: "", verdict: "", layer: "", category: "", differ: "" };
let filters = { ...FILTERS };

function filtered() {
  const words = filters.q.toLowerCase().split(/\s+/).filter(Boolean);
  const verdicts = new Set(filters.verdict ? filters.verdict.split(",") : []);
  return index.tasks.filter((task) =>
    (!filters.category || task.category === filters.category) &&
    (!filters.differ || task.differs) &&
    words.every((word) => task.words.includes(word)) &&
    ((!verdicts.size && !filters.layer) || task.trials.flat().some((trial) =>
      (!verdicts.size || verdicts.has(trial.verdict.kind)) &&
      (!filters.layer || trial.verdict.layer === filters.layer))));
}

const filterPath = () => {
  const set = Object.entries(filters).filter(([, value]) => value);
  return set.length ? `#/?${new URLSearchParams(set)}` : "#/";
};

function readFilters(query) {
  filters = { ...FILTERS };
  for (const [name, value] of new URLSearchParams(query)) if (name in filters) filters[name] = value;
}

function matrix() {
  const section = el("section", { class: "trials", id: "trials", "aria-label": "All trials" });
  const told = el("p", { class: "told", role: "status" }), list = el("div", { class: "matrix" });
  let rows = null;
  const fill = () => {
    const tasks = filtered();
    rows?.close();
    rows = new LongList(list, tasks.length, (at) => taskRow(tasks[at], at), 34);
    if (!tasks.length) list.replaceChildren(el("p", { class: "none" }, "No task fits these filters."));
    told.textContent = tasks.length === index.tasks.length
      ? plural(tasks.length, "task")
      : `${count(tasks.length)} of ${plural(index.tasks.length, "task")}`;
    view.list = rows;
    view.open = (at) => list.querySelector(`[data-row="${at}"] a.cell`)?.click();
  };
  const change = (name, value) => {
    filters[name] = value;
    history.replaceState(null, "", filterPath());
    fill();
  };
  section.append(el("h2", {}, "Trials"), controls(change), told, heads(), list);
  list.addEventListener("keydown", walk);
  return { section, fill, close: () => rows?.close() };
}

function controls(change) {
  const kinds = tallied((trial) => trial.verdict.kind), layers = tallied((trial) => trial.verdict.layer);
  const chosen = new Set(filters.verdict.split(",").filter(Boolean));
  const chips = Object.keys(VERDICTS).filter((kind) => kinds.has(kind)).map((kind) =>
    el("label", { class: `chip v-${kind}`, title: VERDICTS[kind][2] },
      el("input", { type: "checkbox", value: kind, checked: chosen.has(kind), onchange: (event) => {
        if (event.target.checked) chosen.add(kind);
        else chosen.delete(kind);
        change("verdict", [...chosen].join());
      } }), el("b", {}, VERDICTS[kind][0]), ` ${VERDICTS[kind][1]} `, el("small", {}, count(kinds.get(kind)))));
  const categories = [...new Set(index.tasks.map((task) => task.category))].sort();
  return el("div", { class: "controls" },
    el("input", { type: "search", id: "search", placeholder: "Search tasks, prompts and reasons  ( / )", value: filters.q,
      "aria-label": "Search tasks, prompts and reasons", oninput: (event) => change("q", event.target.value) }),
    el("fieldset", { class: "chips" }, el("legend", { class: "unseen" }, "Verdicts"), chips),
    choice("layer", "any layer", [...layers.keys()].filter(Boolean).sort(), change),
    categories.length > 1 ? choice("category", "any category", categories, change) : null,
    index.configurations.length > 1
      ? el("label", { class: "chip" }, el("input", { type: "checkbox", id: "differ", checked: Boolean(filters.differ),
          onchange: (event) => change("differ", event.target.checked ? "1" : "") }), "only differences")
      : null);
}

function choice(name, none, options, change) {
  if (!options.length) return null;
  return el("select", { id: name, "aria-label": name, onchange: (event) => change(name, event.target.value) },
    el("option", { value: "" }, none),
    options.map((option) => el("option", { value: option, selected: option === filters[name] }, plain(option))));
}

function tallied(of) {
  const counts = new Map();
  for (const trial of index.trials) counts.set(of(trial), (counts.get(of(trial)) || 0) + 1);
  return counts;
}

const widths = () => index.configurations.map((_, at) => Math.max(...index.tasks.map((task) => task.trials[at].length)));

function heads() {
  const most = widths();
  return el("div", { class: "row head", "aria-hidden": "true" }, el("span", {}, "task"),
    el("span", { class: "cells" }, index.configurations.map((_, at) => el("span", { class: "group", style: groupWidth(most[at]) }, badge(at)))));
}

const groupWidth = (cells) => ({ "--cells": Math.min(Math.max(cells, 1), 12) });

let knownWidths = null;

function taskRow(task, at) {
  knownWidths ||= widths();
  return el("div", { class: "row", "data-row": at },
    el("span", { class: "task" }, el("span", { class: "name" }, said(task.name, 160)), el("small", {}, said(task.category, 60))),
    el("span", { class: "cells" }, task.trials.map((own, number) =>
      el("span", { class: "group", style: groupWidth(knownWidths[number]) }, badge(number), own.map((trial) => cell(trial))))),
    el("span", { class: "reason" }, reasonOf(task)));
}

// Why the first trial that did not pass did not.
function reasonOf(task) {
  const trial = task.trials.flat().find((each) => each.verdict.reason);
  return trial && [`${letter(trial.configuration)}${trial.trial} `, trial.verdict.layer && `${trial.verdict.layer} · `, said(trial.verdict.reason, 200)];
}

function cell(trial) {
  const { kind, layer, reason } = trial.verdict;
  const words = [VERDICTS[kind][1], layer, reason && plain(whole(reason, 300))].filter(Boolean).join(" · ");
  const where = `${letter(trial.configuration)}, trial ${trial.trial}`;
  return el("a", { class: `cell v-${kind}`, href: trialPath(trial), title: `${where}: ${words}`,
    "aria-label": `${plain(index.tasks[trial.task].name)}, ${where}: ${words}` }, VERDICTS[kind][0]);
}

// Arrow keys go from cell to cell.
function walk(event) {
  const row = event.target.closest(".row"), cells = row && [...row.querySelectorAll("a.cell")];
  const at = cells ? cells.indexOf(event.target) : -1;
  if (at < 0 || !event.key.startsWith("Arrow")) return;
  event.preventDefault();
  if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
    cells[at + (event.key === "ArrowRight" ? 1 : -1)]?.focus();
    return;
  }
  const next = event.key === "ArrowDown" ? row.nextElementSibling : row.previousElementSibling;
  const others = [...(next?.querySelectorAll("a.cell") || [])];
  others[Math.min(at, others.length - 1)]?.focus();
}
