// One trial: its verdict with the evidence, where its time went, and its runs step by step.

// The steps of all runs of a trial, one after another, each with its run.
function itemsOf(trial, chunk) {
  const runs = trial.runs.map((number) => chunk.runs[number]);
  return runs.flatMap((run, at) => [
    ...(runs.length > 1 ? [{ run, at, step: null, key: "run" }] : []),
    ...run.steps.map((step) => ({ run, at, step, key: step.key })),
  ]);
}

function itemView(item, trial, chunk) {
  if (!item.step) return el("h3", { class: "run-head" }, `Run ${item.at + 1} of ${trial.runs.length} `, said(item.run.id, 60));
  const evidence = item.at === (trial.verdict.run || 0) ? new Set(trial.verdict.evidence) : new Set();
  return stepView(item.step, { ...contextOf(chunk), run: item.run, evidence, place: (entry) => trialPath(trial, `${item.at}.${entry}`) });
}

const contextOf = (chunk) => ({ tools: chunk.tools, runs: chunk.runs });

// Where an entry `run.number` is among the items; -1 where it is not told.
function findEntry(items, address) {
  const [at, entry] = address.split(".").map(Number);
  return placeOf(items, entry, (item) => item.at === at);
}

// `chunk` has its runs; null where there are none.
function showTrial(main, trial, chunk, entry) {
  const task = index.tasks[trial.task];
  const head = el("section", { class: "trial" },
    el("nav", { class: "crumbs", "aria-label": "where this is" }, el("a", { href: filterPath() }, "All trials"), " / ", said(task.category, 60)),
    el("h1", {}, said(task.name, 200)),
    el("p", { class: "of-trial" }, el("span", {}, configuration(trial.configuration), `, trial ${trial.trial}`), mark(trial.verdict)),
    verdictView(trial), siblings(trial), used(trial));
  if (!chunk) {
    main.replaceChildren(head, el("p", { class: "none" }, "The runs of this trial are not in this report: none was recorded, or its journal was not there."));
    return;
  }
  const items = itemsOf(trial, chunk), list = el("div", { class: "steps" });
  main.replaceChildren(head, ...trial.runs.map((number, at) => runView(chunk.runs[number], at, trial)), el("h2", {}, "What happened"), list,
    trial.judges.length ? el("section", { class: "judges" }, el("h2", {}, "How models judged it"),
      trial.judges.map((number) => nestedView(number, contextOf(chunk), "a judge, in"))) : "");
  const rows = new LongList(list, items.length, (at) => itemView(items[at], trial, chunk), 120);
  view.list = rows;
  view.evidence = () => trial.verdict.evidence.length && go(trialPath(trial, evidenceAt(trial, trial.verdict.evidence[trial.verdict.evidence.length - 1])));
  view.find = (address) => rows.show(findEntry(items, address));
  if (entry) view.find(entry);
}

const evidenceAt = (trial, entry) => `${trial.verdict.run || 0}.${entry}`;

function verdictView(trial) {
  const { layer, reason, evidence } = trial.verdict;
  return el("div", { class: `verdict-box v-${trial.verdict.kind}` },
    layer ? el("p", {}, "whose failure: ", el("b", {}, layer)) : null,
    reason ? block(reason, { class: "plain" }) : null,
    evidence.length ? el("p", {}, "evidence ( e ): ", evidence.map((entry) => [el("a", { class: "entry", href: trialPath(trial, evidenceAt(trial, entry)) }, `#${entry}`), " "])) : null,
    Object.entries(trial.others).map(([name, verdict]) => el("p", {}, said(name, 60), ": ", mark(verdict), verdict.reason ? [" ", said(verdict.reason, 300)] : null)));
}

function used(trial) {
  const facts = [
    trial.stop_reason && `stopped: ${trial.stop_reason.replaceAll("_", " ")}`, plural(trial.requests, "request"), plural(trial.calls, "call"),
    `${count(trial.input_tokens)} tokens in`, `${count(trial.output_tokens)} out`, seconds(trial.duration_s),
    trial.cost_usd ? `$${trial.cost_usd.toFixed(4)}` : null];
  const named = [...Object.entries(trial.measures), ...Object.entries(trial.axes)];
  return [el("p", { class: "facts" }, facts.filter(Boolean).join(" · ")),
    named.length ? el("p", { class: "facts" }, named.map(([name, value], at) => [at ? " · " : "", said(name.replaceAll("_", " "), 60), " ",
      typeof value === "number" ? String(+value.toPrecision(4)) : said(value, 80)])) : null];
}

// The other trials of the task: to go to, and to compare with.
function siblings(trial) {
  const all = index.tasks[trial.task].trials.flat();
  const others = all.filter((other) => other !== trial && other.chunk >= 0);
  return el("div", { class: "siblings" },
    el("span", {}, "this task: ", all.map((other) => [el("a", { class: `cell v-${other.verdict.kind} ${other === trial ? "here" : ""}`, href: trialPath(other),
      "aria-current": other === trial ? "page" : null, title: `${letter(other.configuration)}, trial ${other.trial}` }, `${index.configurations.length > 1 ? letter(other.configuration) : ""}${other.trial}`), " "])),
    others.length && trial.chunk >= 0 ? el("label", {}, " compare with ", el("select", { id: "compare", onchange: (event) => event.target.value && go(event.target.value) },
      el("option", { value: "" }, "…"),
      others.map((other) => el("option", { value: comparePath(trial, other) },
        `${letter(other.configuration)} ${plain(whole(index.configurations[other.configuration], 60))}, trial ${other.trial}: ${VERDICTS[other.verdict.kind][1]}`)))) : null);
}

function runView(run, at, trial) {
  const options = { place: (entry) => trialPath(trial, `${at}.${entry}`) };
  const open = run.faults.filter((fault) => !fault.is_recovered);
  return el("section", { class: "run" },
    trial.runs.length > 1 ? el("h2", {}, `Run ${at + 1}`) : null,
    run.faults.length ? more(`what went wrong at a boundary: ${count(run.faults.length)}`, open.length > 0, faultList(run.faults.slice(0, 100), options),
      run.faults.length > 100 ? el("p", {}, `and ${count(run.faults.length - 100)} more, which stand with their calls`) : null) : null,
    run.spans.length ? more(["where the time went: ", seconds(run.took_s)], run.spans.length <= 40, waterfall(run, options)) : null,
    run.facts.length || run.tools.length ? more("how it was run", false,
      el("p", {}, "run ", said(run.id, 80), ", model ", said(run.model, 200), `, ${plural(run.entries, "entry").replace("entrys", "entries")}, ${moment(run.began)}`),
      run.facts.map(([name, text]) => labelled(name, block(text, { class: "code" })))) : null);
}
