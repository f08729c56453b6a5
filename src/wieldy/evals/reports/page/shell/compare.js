// Two trials of a task side by side.

// `chunks` have their runs; null where there are none.
function showComparison(main, trials, chunks) {
  const [trial] = trials, task = index.tasks[trial.task];
  const sides = trials.map((each, at) => [each, chunks[at]]);
  const head = el("section", { class: "trial" },
    el("nav", { class: "crumbs", "aria-label": "where this is" }, el("a", { href: filterPath() }, "All trials"), " / ", el("a", { href: trialPath(trial) }, said(task.name, 100))),
    el("h1", {}, said(task.name, 200)));
  if (!chunks.every(Boolean)) {
    main.replaceChildren(head, el("p", { class: "none" }, "The runs of one of these trials are not in this report."));
    return;
  }
  const items = sides.map(([each, own]) => itemsOf(each, own));
  const { told, list, fill } = sideBySide(items, (item, side) => itemView(item, ...sides[side]));
  main.replaceChildren(head, el("div", { class: "sides" }, sides.map(([each]) => el("div", {}, el("p", { class: "of-trial" }, el("a", { href: trialPath(each) }, configuration(each.configuration), `, trial ${each.trial}`), mark(each.verdict)),
    verdictView(each), used(each)))), told, list);
  fill();
}
