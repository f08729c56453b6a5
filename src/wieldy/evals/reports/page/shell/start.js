// What is shown at which address.

const KEYS = [["/", "search"], ["j  k", "next, previous row or step"], ["Enter", "open the row"], ["d", "first divergence (side by side)"],
  ["n  p", "next, previous difference"], ["e", "the evidence for the verdict"], ["]  [", "next, previous task"], ["Esc", "back to all trials"], ["t", "light or dark"], ["?", "this list"]];

function overview() {
  const trials = matrix();
  main.replaceChildren(...present([introduction(), results(),
    el("section", { class: "figures", "aria-label": "Figures" }, ratePlot(), differencePlot(), repeatPlot(), spreadPlots()),
    more("All measures as text, as in a terminal", false, block(index.text, { class: "code", open: true })),
    reasons(), trials.section]));
  trials.fill();
  return { close: trials.close };
}

function introduction() {
  const suites = [...new Set(index.studies.map((study) => study.suite))];
  const began = Math.min(...index.studies.map((study) => study.began).filter((each) => each !== null));
  const ended = Math.max(...index.studies.map((study) => study.ended).filter((each) => each !== null));
  return el("section", { class: "intro" },
    el("h1", {}, suites.map((suite) => said(suite, 200))),
    el("p", { class: "facts" }, [plural(index.tasks.length, "task"), plural(index.configurations.length, "configuration"), plural(index.trials.length, "trial"),
      Number.isFinite(began) ? `run ${moment(began)} to ${moment(ended)}` : null, `report made ${moment(index.made)} by Wieldy ${index.harness}`].filter(Boolean).join(" · ")),
    index.redaction ? el("p", { class: "notice" }, index.redaction.count
      ? `Redacted: what ${plural(index.redaction.patterns, "pattern")} match${index.redaction.patterns === 1 ? "es" : ""} was taken out of this file and stands as [redacted].`
      : `${plural(index.redaction.patterns, "pattern")} of texts to redact ${index.redaction.patterns === 1 ? "was" : "were"} given; nothing matched.`) : null,
    index.notes.map((words) => el("p", { class: "notice" }, said(words, 1000))),
    more("What was run", false, index.studies.map((study) => el("div", { class: "study" },
      el("h3", {}, said(study.folder, 300)), facts(study.facts),
      study.deployments.map((deployment) => [el("h4", {}, deploymentName(deployment.configuration)), facts(deployment.facts)])))));
}

const deploymentName = (name) => (numberOf(name) < 0 ? said(name, 200) : configuration(numberOf(name)));
const facts = (pairs) => el("dl", {}, pairs.map(([name, text]) => [el("dt", {}, said(name, 100)), el("dd", {}, block(text, { class: "plain" }))]));

function results() {
  const rows = rowsOf("configuration"), boards = new Map(rowsOf("board").map((row) => [row.configuration, row]));
  const titles = ["", "pass", "95 % interval", "passed / scored", "abstained", "unscored", "invalid", "trials", "s / trial", "tokens in / out", "cost"];
  const others = [...new Set(rows.flatMap((row) => Object.keys(row).filter((name) => row[name] && row[name].scored !== undefined)))];
  const line = (row, head, counts) => el("tr", {}, el("th", { scope: "row" }, head),
    [percent(counts.rate), within(counts.interval_95), `${count(counts.passed)} / ${count(counts.scored)}`, count(counts.abstained),
      Object.entries(counts.unscored).map(([layer, number]) => `${layer} ${count(number)}`).join(", ") || "0", count(counts.invalid_tasks), count(counts.total)]
      .map((text, at) => el("td", { "data-title": titles[at + 1], class: titles[at + 1] === "pass" ? "rate" : titles[at + 1] }, text)),
    counts === row ? [seconds(row.mean_duration_s), `${count(row.mean_input_tokens)} / ${count(row.mean_output_tokens)}`, row.cost_usd ? `$${row.cost_usd.toFixed(4)}` : "–"]
      .map((text, at) => el("td", { "data-title": titles[at + 8] }, text)) : el("td", { colspan: 3, class: "filler" }));
  return el("section", { class: "results", "aria-label": "Results" }, el("h2", {}, "Results"),
    el("table", { class: "wide" }, el("thead", {}, el("tr", {}, titles.map((title) => el("th", { scope: "col" }, title)))),
      el("tbody", {}, rows.map((row) => [line(row, configuration(numberOf(row.configuration)), row),
        others.filter((name) => row[name]).map((name) => line(row, el("span", { class: "other" }, "by ", said(name, 60)), row[name]))]))),
    [...boards].map(([name, row]) => el("p", { class: "note" }, badge(numberOf(name)), " by the leaderboard's own rules and weights: ",
      [["non-live", row.non_live], ["live", row.live], ["irrelevance", row.irrelevance], ["multi-turn", row.multi_turn ?? null]].map(([part, rate]) => `${part} ${rate === null ? "not complete" : percent(rate)}`).join(", "))),
    el("p", { class: "legend" }, Object.entries(VERDICTS).map(([kind, [, , words]]) => el("span", {}, mark({ kind }), ` ${words}`))));
}

const MOST_REASONS = 12;

function reasons() {
  const rows = rowsOf("reason").sort((one, other) => other.count / other.of - one.count / one.of);
  if (!rows.length) return null;
  const line = (row) => {
    const number = numberOf(row.configuration);
    const example = index.trials.find((trial) => trial.configuration === number && index.tasks[trial.task].id === row.example.task && trial.verdict.reason === row.example.reason);
    return el("tr", {}, el("td", {}, badge(number)), el("td", { class: "count" }, `${count(row.count)} / ${count(row.of)}`), el("td", {}, mark({ kind: row.kind })),
      el("td", {}, row.layer || ""), el("td", {}, el("a", { href: `#/?${new URLSearchParams({ verdict: row.kind, q: row.code })}` }, said(row.code || "(no code)", 80))),
      el("td", {}, "as in ", example ? el("a", { href: trialPath(example) }, said(row.example.task, 80)) : said(row.example.task, 80)));
  };
  const body = el("tbody", {}, rows.slice(0, MOST_REASONS).map(line));
  const button = el("button", { class: "more", onclick: () => { body.append(...rows.slice(MOST_REASONS).map(line)); button.remove(); } },
    `Show ${plural(rows.length - MOST_REASONS, "more reason")}`);
  return el("section", { class: "reasons", "aria-label": "Reasons" }, el("h2", {}, "Why not pass"),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ["", "trials", "verdict", "layer", "reason", "example"].map((title) => el("th", { scope: "col" }, title)))), body)),
    rows.length > MOST_REASONS ? button : null);
}

let newest = 0;

// What the address names: its parts, the query behind them, and the trial, if there is such a one.
function addressed() {
  const [where, query] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = where.split("/").map(decoded);
  return { where, query, parts, trial: parts.length > 3 ? trialNamed(parts[1], parts[2], parts[3]) : null };
}

async function route() {
  const own = ++newest, { where, query, parts, trial } = addressed();
  const other = trial && parts[0] === "compare" ? trialNamed(parts[1], parts[4], parts[5]) : null;
  const read = await Promise.all([trial, other].filter(Boolean).map(chunkOf));
  if (own !== newest) return; // somebody has gone on meanwhile
  view.close?.();
  view.list?.close();
  view = {};
  help.hidden = true;
  if (trial && parts[0] === "trial") {
    if (!parts[4]) scrollTo(0, 0);
    showTrial(main, trial, read[0], parts[4]);
    document.title = `${plain(index.tasks[trial.task].name)} – trial`;
  } else if (other) {
    scrollTo(0, 0);
    showComparison(main, [trial, other], read);
    document.title = `${plain(index.tasks[trial.task].name)} – side by side`;
  } else {
    if (!parts[0]) readFilters(query || "");
    Object.assign(view, overview());
    if (parts[0]) main.prepend(el("p", { class: "notice" }, "There is no such trial in this report: ", said(where, 300)));
    else if (query) document.getElementById("trials").scrollIntoView();
    document.title = `${plain(index.studies[0].suite)} – report`;
  }
}

let shown = "";

async function navigate() {
  const [address, entry] = [location.hash.split("/").slice(0, 5).join("/"), location.hash.split("/")[5]];
  if (address === shown && entry && view.find) return view.find(decoded(entry));
  shown = address.startsWith("#/trial/") ? address : "";
  await route();
  main.focus({ preventScroll: true });
}

// The same trial of the next task, or the one before, with the same configuration; the filters count here too.
function neighbour(by) {
  const { trial } = addressed(), tasks = filtered();
  const at = trial ? tasks.indexOf(index.tasks[trial.task]) : -1, next = at < 0 ? tasks[0] : tasks[at + by];
  const theirs = next && trial && next.trials[trial.configuration];
  const own = theirs && (theirs.find((each) => each.trial === trial.trial) || theirs[0] || next.trials.flat()[0]);
  if (own) go(trialPath(own));
}

listen({
  ...COMMON_ACTIONS,
  "/": () => { if (!document.getElementById("search")) go(filterPath()); requestAnimationFrame(() => document.getElementById("search")?.focus()); },
  e: () => view.evidence?.(), "]": () => neighbour(1), "[": () => neighbour(-1),
  Enter: () => view.open && view.list.active >= 0 && view.open(view.list.active),
  Escape: () => { if (!help.hidden) help.hidden = true; else if (addressed().trial) go(filterPath()); },
});

async function start() {
  frame("Wieldy report", KEYS);
  if (typeof DecompressionStream === "undefined") {
    main.replaceChildren(el("p", { class: "notice" }, "This browser is too old for this report: it cannot unpack data. Chrome 123, Firefox 120, Safari 17.5 and later can show it."));
    return;
  }
  try {
    prepare(await unpacked("index"));
    await navigate();
    addEventListener("hashchange", navigate);
  } catch (error) {
    main.replaceChildren(el("p", { class: "notice" }, `The report cannot be shown; its file may be damaged: ${error}`));
    throw error;
  }
}

start();
