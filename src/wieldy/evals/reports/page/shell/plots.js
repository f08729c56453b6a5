// Plots, drawn in lengths of percent so that they fit any width; their numbers stand beside them as text.

const across = (value, [low, high]) => `${(100 * (Math.min(Math.max(value, low), high) - low)) / (high - low || 1)}%`;

// A row for each estimate: its name, a dot with its interval on a shared axis, and the numbers.
function forest(rows, domain, ticks, format, options = {}) {
  return el("div", { class: `plot forest ${options.class || ""}`, role: "table", "aria-label": options.label },
    rows.map((row) => el("div", { class: `line ${row.class || ""}`, role: "row" },
      el("span", { class: "label", role: "rowheader" }, row.label),
      el("span", { class: "drawing", role: "cell" }, svg("svg", { class: "axis", "aria-hidden": "true" },
        ticks.map((tick) => svg("line", { class: tick === options.zero ? "zero" : "grid", x1: across(tick, domain), x2: across(tick, domain), y1: 0, y2: "100%" })),
        row.value === null ? null : row.draw ? row.draw(domain) : estimate(row, domain))),
      el("span", { class: "numbers", role: "cell" }, row.numbers))),
    el("div", { class: "line ticks", "aria-hidden": "true" }, el("span"), el("span", { class: "drawing" },
      ticks.map((tick) => el("span", { style: { left: across(tick, domain) } }, format(tick)))), el("span")));
}

const estimate = (row, domain) => [
  row.low === undefined ? null : svg("line", { class: `whisker k${row.tone % 6}`, x1: across(row.low, domain), x2: across(row.high, domain), y1: "50%", y2: "50%" }),
  ...[row.low, row.high].map((end) => end === undefined ? null : svg("line", { class: `whisker k${row.tone % 6}`, x1: across(end, domain), x2: across(end, domain), y1: "30%", y2: "70%" })),
  svg("circle", { class: `dot k${row.tone % 6}`, cx: across(row.value, domain), cy: "50%", r: 4.5 }),
];

const numberOf = (name) => index.configurations.indexOf(name);
const rowsOf = (type) => index.rows.filter((row) => row.type === type)
  .sort((one, other) => numberOf(one.configuration) - numberOf(other.configuration));
const QUARTERS = [0, 0.25, 0.5, 0.75, 1];

function ratePlot() {
  const line = (row, label, extra) => {
    const [low, high] = row.interval_95 || [];
    return { label, value: row.rate, low, high, tone: numberOf(row.configuration), ...extra,
      numbers: row.rate === null ? "none scored" : `${percent(row.rate)} ${within(row.interval_95)} ${row.passed}/${row.scored}` };
  };
  const all = rowsOf("configuration").map((row) => line(row, configuration(numberOf(row.configuration)), { class: "whole" }));
  const categories = [...new Set(rowsOf("category").map((row) => row.category))];
  const parts = categories.length < 2 ? [] : categories.flatMap((category) =>
    rowsOf("category").filter((row) => row.category === category).map((row, at) =>
      line(row, [at ? null : el("span", { class: "part" }, said(category, 80)), badge(numberOf(row.configuration))])));
  return figure("Rates of pass, with 95 % intervals", [...all, ...parts].length
    ? forest([...all, ...parts], [0, 1], QUARTERS, (tick) => `${100 * tick} %`, { label: "rates" }) : null,
    "Of those that were scored: pass, fail and abstain. Tasks that are alike count as clusters, which widens the interval.");
}

function differencePlot() {
  const rows = rowsOf("comparison");
  if (!rows.length) return null;
  const most = Math.max(0.1, ...rows.flatMap((row) => row.interval_95.map(Math.abs)));
  const edge = Math.min(1, Math.ceil(most * 10) / 10), ticks = [-edge, -edge / 2, 0, edge / 2, edge];
  const lines = rows.map((row) => ({
    label: [badge(numberOf(row.second)), "−", badge(numberOf(row.first))],
    value: row.difference, low: row.interval_95[0], high: row.interval_95[1], tone: numberOf(row.second),
    numbers: [`${percent(row.difference, true)} ${within(row.interval_95, true)} on ${plural(row.tasks, "task")}; ${pValue(row.permutation_p)} (permutation)`,
      row.pairs > 1 ? `, ${pValue(row.holm_p)} (Holm, ${row.pairs} pairs)` : "",
      row.mcnemar ? `; only ${letter(numberOf(row.second))} ${row.mcnemar.only_second}, only ${letter(numberOf(row.first))} ${row.mcnemar.only_first}: ${pValue(row.mcnemar.exact_p)} (McNemar)` : "",
      row.tasks_of_one_only ? `; ${plural(row.tasks_of_one_only, "task")} of one only` : ""],
  }));
  return figure("Differences, task by task, with 95 % intervals",
    forest(lines, [-edge, edge], ticks, (tick) => percent(tick, true).replace(".0 %", " %"), { zero: 0, label: "differences" }),
    "On the tasks that both have scored. Right of zero, the first of the two is better.");
}

function repeatPlot() {
  const rows = rowsOf("repeats");
  if (!rows.length) return null;
  const most = Math.max(...rows.map((row) => row.k));
  const x = (k) => `${8 + (84 * (k - 1)) / Math.max(1, most - 1)}%`, y = (rate) => `${6 + 84 * (1 - rate)}%`;
  const curve = (name) => {
    const own = rows.filter((row) => row.configuration === name), tone = `k${numberOf(name) % 6}`;
    return own.flatMap((row, at) => {
      const [low, high] = row.pass_hat_k_interval_95, next = own[at + 1];
      return [
        svg("line", { class: `whisker ${tone}`, x1: x(row.k), x2: x(row.k), y1: y(low), y2: y(high) }),
        next && svg("line", { class: `curve ${tone}`, x1: x(row.k), x2: x(next.k), y1: y(row.pass_hat_k), y2: y(next.pass_hat_k) }),
        svg("circle", { class: `dot ${tone}`, cx: x(row.k), cy: y(row.pass_hat_k), r: 4.5 },
          svg("title", {}, `${letter(numberOf(name))}: pass^${row.k} = ${percent(row.pass_hat_k)}`)),
        next ? null : svg("text", { class: "name", x: x(row.k), dx: 10, y: y(row.pass_hat_k), dy: 4 }, letter(numberOf(name))),
      ];
    });
  };
  const names = [...new Set(rows.map((row) => row.configuration))];
  const drawing = svg("svg", { class: "curves", role: "img", "aria-label": "pass^k by k; the table below has the numbers" },
    QUARTERS.map((rate) => [svg("line", { class: "grid", x1: "8%", x2: "92%", y1: y(rate), y2: y(rate) }),
      svg("text", { class: "tick", x: "7%", y: y(rate), dy: 4, "text-anchor": "end" }, `${100 * rate} %`)]),
    Array.from({ length: most }, (_, at) => svg("text", { class: "tick", x: x(at + 1), y: "99%", "text-anchor": "middle" }, `k = ${at + 1}`)),
    names.map(curve));
  const unscored = rows.filter((row) => row.k === 1 && row.unscored_trials_counted_as_not_passed);
  return figure("All of k trials pass: pass^k, with 95 % intervals", [drawing, el("div", { class: "scroll" }, el("table", { class: "small" },
    el("thead", {}, el("tr", {}, el("th"), rows.filter((row) => row.configuration === names[0]).map((row) => el("th", { scope: "col" }, `k = ${row.k}`)))),
    el("tbody", {}, names.flatMap((name) => [["pass^k", "pass_hat_k"], ["pass@k", "pass_at_k"]].map(([title, member]) => el("tr", {},
      el("th", { scope: "row" }, badge(numberOf(name)), ` ${title}`),
      rows.filter((row) => row.configuration === name).map((row) => el("td", {}, percent(row[member]), el("small", {}, ` ${within(row[`${member}_interval_95`])}`)))))))))],
  unscored.length ? `Trials that could not be scored count as not passed here: ${unscored.map((row) => `${letter(numberOf(row.configuration))} ${row.unscored_trials_counted_as_not_passed}`).join(", ")}.` : "pass@k: at least one of k trials passes.");
}

const MEASURES = { duration_s: ["Seconds a trial", seconds], output_tokens: ["Output tokens a trial", count], input_tokens: ["Input tokens a trial", count] };

function spreadPlots() {
  return Object.entries(MEASURES).map(([name, [title, format]]) => {
    const most = Math.max(...index.spreads.map((spread) => spread[name][5]));
    if (!(most > 0)) return null;
    const domain = [0, most * 1.02], ticks = [0, most / 2, most];
    const lines = index.spreads.map((spread) => {
      const [least, quarter, middle, three, high, top] = spread[name], tone = `k${numberOf(spread.configuration) % 6}`;
      return { label: configuration(numberOf(spread.configuration)), value: middle,
        draw: (on) => [
          svg("line", { class: `whisker ${tone}`, x1: across(least, on), x2: across(high, on), y1: "50%", y2: "50%" }),
          svg("rect", { class: `box ${tone}`, x: across(quarter, on), width: across(three - quarter, [0, on[1] - on[0]]), y: "22%", height: "56%" }),
          svg("line", { class: `middle ${tone}`, x1: across(middle, on), x2: across(middle, on), y1: "15%", y2: "85%" }),
          svg("circle", { class: `most ${tone}`, cx: across(top, on), cy: "50%", r: 2.5 })],
        numbers: `median ${format(middle) || 0}, 95 % below ${format(high) || 0}, most ${format(top) || 0}` };
    });
    return figure(title, forest(lines, domain, ticks, (tick) => format(tick) || "0", { label: title }),
      "Box: the middle half. Line: least to 95 %. Dot: most.");
  });
}

const figure = (title, drawing, note) =>
  drawing && el("figure", {}, el("figcaption", {}, el("h3", {}, title)), drawing, el("p", { class: "note" }, note));
