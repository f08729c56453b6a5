// Two lists of steps side by side: steps that agree stand beside one another, and the first that do not are marked.

const MOST_PAIRS = 4e6;

// Pairs [one, other] of places in two lists of keys; -1 where nothing stands opposite. Longest common subsequence.
function aligned(one, other) {
  let start = 0, endOne = one.length, endOther = other.length;
  while (start < endOne && start < endOther && one[start] === other[start]) start += 1;
  while (endOne > start && endOther > start && one[endOne - 1] === other[endOther - 1]) endOne -= 1, endOther -= 1;
  const pairs = Array.from({ length: start }, (_, at) => [at, at]);
  pairs.push(...middle(one, other, start, endOne, endOther));
  for (let at = 0; endOne + at < one.length; at += 1) pairs.push([endOne + at, endOther + at]);
  return pairs;
}

function middle(one, other, start, endOne, endOther) {
  const rows = endOne - start, columns = endOther - start;
  if (!rows || !columns || rows * columns > MOST_PAIRS) {
    return Array.from({ length: Math.max(rows, columns) }, (_, at) => [at < rows ? start + at : -1, at < columns ? start + at : -1]);
  }
  const width = columns + 1, best = new Uint16Array((rows + 1) * width);
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      best[row * width + column] = one[start + row] === other[start + column]
        ? best[(row + 1) * width + column + 1] + 1
        : Math.max(best[(row + 1) * width + column], best[row * width + column + 1]);
    }
  }
  const pairs = [];
  let row = 0, column = 0;
  while (row < rows || column < columns) {
    if (row < rows && column < columns && one[start + row] === other[start + column]) pairs.push([start + row++, start + column++]);
    else if (column >= columns || (row < rows && best[(row + 1) * width + column] >= best[row * width + column + 1])) pairs.push([start + row++, -1]);
    else pairs.push([-1, start + column++]);
  }
  return pairs;
}

// Steps of one kind that stand alone on both sides between two agreements stand opposite one another.
function joined(pairs, one, other) {
  const out = [];
  for (let at = 0; at < pairs.length;) {
    if (agrees(pairs[at], one, other)) {
      out.push(pairs[at++]);
      continue;
    }
    const lefts = [], rights = [];
    for (; at < pairs.length && !agrees(pairs[at], one, other); at += 1) {
      if (pairs[at][0] >= 0) lefts.push(pairs[at][0]);
      if (pairs[at][1] >= 0) rights.push(pairs[at][1]);
    }
    while (lefts.length || rights.length) {
      const same = lefts.length && rights.length && kindOf(one[lefts[0]]) === kindOf(other[rights[0]]);
      if (same) out.push([lefts.shift(), rights.shift()]);
      else if (lefts.length && (!rights.length || !lefts.some((left) => kindOf(one[left]) === kindOf(other[rights[0]])))) out.push([lefts.shift(), -1]);
      else if (rights.length && !rights.some((right) => lefts.length && kindOf(other[right]) === kindOf(one[lefts[0]]))) out.push([-1, rights.shift()]);
      else if (lefts.length) out.push([lefts.shift(), -1]);
      else out.push([-1, rights.shift()]);
    }
  }
  return out;
}

const kindOf = (item) => (item.step ? item.step.kind : "run");
const agrees = ([left, right], one, other) => left >= 0 && right >= 0 && one[left].key !== null && one[left].key === other[right].key;

// Two lists of items, told side by side below `told`; `render(item, side)` makes one. What is found stands in `view`.
function sideBySide(items, render) {
  const keys = items.map((own) => own.map((item) => item.key ?? Symbol())); // what has no key is like nothing else
  const pairs = joined(aligned(...keys), ...items);
  const differing = pairs.map((pair, at) => (agrees(pair, ...items) ? -1 : at)).filter((at) => at >= 0);
  const first = differing.length ? differing[0] : -1, differs = new Set(differing);
  const told = first < 0
    ? el("p", { class: "told" }, "The two runs agree at every step.")
    : el("p", { class: "told" }, `They agree for ${plural(first, "step")}. `, el("button", { id: "divergence", onclick: () => view.list.show(first) }, "first divergence ( d )"),
        ` ${plural(differing.length, "step")} of ${count(pairs.length)} differ ( n next, p previous ).`);
  const list = el("div", { class: "pairs" });
  const fill = () => {
    const rows = new LongList(list, pairs.length, (at) => {
      const same = !differs.has(at);
      return el("div", { class: `pair ${same ? "same" : "differs"} ${at === first ? "first" : ""}` },
        at === first ? el("div", { class: "divergence" }, "first divergence") : null,
        pairs[at].map((place, side) => el("div", { class: `side ${place < 0 ? "empty" : ""}`, "data-side": side ? "right" : "left" },
          place < 0 ? el("p", { class: "nothing" }, "nothing opposite") : render(items[side][place], side))));
    }, 140);
    view.list = rows;
    view.divergence = () => rows.show(first);
    view.difference = (by) => {
      const next = by > 0 ? differing.find((at) => at > rows.active) : differing.findLast((at) => at < rows.active);
      if (next !== undefined) rows.show(next);
    };
  };
  return { told, list, fill };
}
