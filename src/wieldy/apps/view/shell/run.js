// One run as it goes on: where its time went, its steps, its entries; and two runs side by side.

const itemsOf = (run) => run.steps.map((step) => ({ run, step, key: step.key }));
const contextOf = (told, id) => ({ tools: told.tools, runs: told.runs, run: told.runs[told.number], evidence: new Set(),
  place: (entry) => path("run", id, entry), within: (run, entry) => path("run", run, ...(entry === undefined ? [] : [entry])) });

function showRun(id, entry) {
  const head = el("section", { class: "trial" }), waiting = el("div"), about = el("section", { class: "run" }), steps = el("div", { class: "steps" });
  const end = el("p", { class: "live", role: "status" });
  let items = [], prints = [], context = null, rows = null, shownWaiting = "";
  const render = (at) => {
    const step = stepView(items[at].step, context);
    step.querySelector(".gutter").append(rawButton(id, items[at].step));
    return step;
  };
  const show = (told) => {
    const isAtEnd = rows && told.row.status === "running" && scrollY + innerHeight > document.documentElement.scrollHeight - 60;
    context = contextOf(told, id);
    document.title = `${plain(whole(told.row.prompt || id, 80))} – run`;
    headOf(head, told, id);
    const requests = JSON.stringify([told.waiting, decisions.length]);
    if (requests !== shownWaiting) waiting.replaceChildren(waitingView(told.waiting, told.waiting.length, told.decides, watched.look));
    shownWaiting = requests;
    aboutRun(about, context);
    const before = prints;
    items = itemsOf(context.run);
    // What stands within a call may have changed while the call has not.
    const within = told.runs.map((run) => run.entries).join();
    prints = items.map(({ step }) => JSON.stringify(step) + (step.nested === undefined ? "" : within));
    const changed = prints.findIndex((print, at) => print !== before[at]);
    if (!rows) rows = view.list = new LongList(steps, items.length, render, 120);
    else if (changed >= 0 || items.length < before.length) rows.renew(items.length, changed < 0 ? items.length : changed);
    end.replaceChildren(...present(told.row.status === "running" ? ["● running", told.holder ? [": ", said(told.holder, 200)] : null].flat() : []));
    if (isAtEnd) scrollTo(0, document.documentElement.scrollHeight);
  };
  main.replaceChildren(el("p", { class: "loading" }, "Reading the run …"));
  const watched = watch("run", { id }, (told) => {
    if (!rows) main.replaceChildren(head, waiting, about, el("h2", {}, "What happened"), steps, end);
    show(told);
  }, (told) => (["running", "waiting", "died"].includes(told.row.status) ? 1000 : 5000));
  view.close = watched.close;
  view.find = (wanted) => rows?.show(placeOf(items, Number(wanted)));
  return watched.first.then(() => entry && view.find(entry));
}

function headOf(head, told, id) {
  const { row, check, parent } = told;
  const facts = [row.started === null ? null : `started ${moment(row.started)}`, row.ended === null || row.status === "waiting" || row.status === "running" ? null : `took ${seconds(Math.max(0, row.ended - row.started))}`,
    plural(row.turns, "turn"), plural(row.calls, "call"), row.failed_calls ? `${count(row.failed_calls)} failed` : null, `${count(row.input_tokens)} tokens in`, `${count(row.output_tokens)} out`,
    row.cost_usd ? `$${row.cost_usd.toFixed(4)}` : null, row.stop_reason ? `ended by: ${row.stop_reason.replaceAll("_", " ")}` : null, row.resumed ? `resumed ${count(row.resumed)} times` : null];
  const entries = `${count(check.entries)} ${check.entries === 1 ? "entry" : "entries"}`;
  refill(head,
    el("nav", { class: "crumbs", "aria-label": "where this is" }, el("a", { href: "#/" }, "All runs"), " / ",
      parent ? [el("a", { href: path("run", parent.run_id) }, "run ", said(parent.run_id, 40)), ", call ", said(parent.call_id, 40), " / "] : null, said(id, 80)),
    el("h1", {}, said(row.prompt || id, 200)),
    el("p", { class: "of-trial" }, statusTag(row), row.model ? said(row.model, 200) : null),
    el("p", { class: "facts" }, facts.filter(Boolean).join(" · ")),
    row.error && row.status !== "unreadable" ? el("p", { class: "notice bad-notice" }, said(row.error, 1000)) : null,
    check.finding ? el("p", { class: "notice bad-notice", id: "check" }, "✗ ", said(check.finding, 2000))
      : check.entries ? el("p", { class: "facts", id: "check" }, "✓ ", `${entries}, none was changed since it was written; digest of the last `, el("code", {}, check.digest.slice(0, 16)), " · ",
        el("a", { href: path("entries", id, 0) }, "the entries as they are")) : null,
    told.redacted ? el("p", { class: "notice" }, `Redacted: what ${plural(told.redacted, "pattern")} match${told.redacted === 1 ? "es" : ""} stands as [redacted].`) : null,
    told.notes.map((note) => el("p", { class: "notice bad-notice" }, said(note, 2000))),
    more("in a terminal", false, told.commands.map(command)));
}

function aboutRun(about, { run, place }) {
  const options = { place }, open = run.faults.filter((fault) => !fault.is_recovered);
  refill(about,
    run.faults.length ? more(`what went wrong at a boundary: ${count(run.faults.length)}`, open.length > 0, faultList(run.faults.slice(0, 100), options),
      run.faults.length > 100 ? el("p", {}, `and ${count(run.faults.length - 100)} more, which stand with their calls`) : null) : null,
    run.spans.length ? more(["where the time went: ", seconds(run.took_s)], run.spans.length <= 40, waterfall(run, options)) : null,
    run.facts.length ? more("how it was run", false, run.facts.map(([name, text]) => labelled(name, block(text, { class: "code" })))) : null);
}

// The entries that a step tells of, as the journal has them.
function rawButton(id, step) {
  const button = el("button", { class: "raw", title: "these entries as they are in the journal", "aria-expanded": "false" }, "raw");
  button.addEventListener("click", async () => {
    const body = button.closest(".step").querySelector(".body"), shown = body.querySelector(":scope > .entries");
    button.setAttribute("aria-expanded", String(!shown));
    if (shown) return void shown.remove();
    const box = el("div", { class: "entries" });
    body.append(box);
    try {
      const numbers = (step.entries || [step.entry]).slice(0, 50);
      const told = await Promise.all(numbers.map((start) => asked("entries", { id, start, count: 1 })));
      box.append(...told.flatMap((each) => each.entries).map(entryView));
    } catch (error) {
      box.append(el("p", { class: "bad" }, said(error.message, 1000)));
    }
  });
  return button;
}

const entryView = (entry) => el("article", { class: "raw-entry", id: `entry-${entry.sequence}` },
  el("p", { class: "facts" }, el("b", {}, `#${entry.sequence} `), el("code", {}, said(entry.kind, 100)), ` · ${moment(entry.time)}, ${entry.time} s · digest `, el("code", {}, entry.digest)),
  block(entry.data, { class: "code" }));

const ENTRIES_AT_ONCE = 100;

async function showEntries(id, wanted) {
  const start = Math.floor((Number(wanted) || 0) / ENTRIES_AT_ONCE) * ENTRIES_AT_ONCE;
  const told = await asked("entries", { id, start, count: ENTRIES_AT_ONCE });
  const end = start + told.entries.length;
  main.replaceChildren(el("nav", { class: "crumbs", "aria-label": "where this is" }, el("a", { href: "#/" }, "All runs"), " / ", el("a", { href: path("run", id) }, said(id, 80)), " / entries"),
    el("h1", {}, told.entries.length ? `Entries ${start} to ${end - 1} of ${count(told.total)}` : "No such entries"),
    ...told.entries.map(entryView),
    el("p", { class: "pages" }, start ? el("a", { href: path("entries", id, start - ENTRIES_AT_ONCE) }, "earlier ones") : null,
      end < told.total ? el("a", { href: path("entries", id, end) }, "later ones") : null));
  document.title = "Entries – run";
  if (wanted > start) document.getElementById(`entry-${Number(wanted)}`)?.scrollIntoView();
}

async function showComparison(ids) {
  const sides = await Promise.all(ids.map((id) => asked("run", { id })));
  const contexts = sides.map((told, side) => contextOf(told, ids[side]));
  const items = contexts.map((context) => itemsOf(context.run));
  const { told, list, fill } = sideBySide(items, (item, side) => stepView(item.step, contexts[side]));
  main.replaceChildren(el("nav", { class: "crumbs", "aria-label": "where this is" }, el("a", { href: "#/" }, "All runs"), " / side by side"),
    el("div", { class: "sides" }, sides.map(({ row }, side) => el("div", {}, el("h1", {}, el("a", { href: path("run", ids[side]) }, said(row.prompt || ids[side], 100))),
      el("p", { class: "of-trial" }, statusTag(row), said(row.model, 100)),
      el("p", { class: "facts" }, `${plural(row.turns, "turn")} · ${plural(row.calls, "call")} · ${count(row.input_tokens)} tokens in · ${count(row.output_tokens)} out`)))),
    told, list);
  fill();
  document.title = "Side by side – runs";
}
