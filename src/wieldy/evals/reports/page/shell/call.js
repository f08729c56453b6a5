// One step of a run: a message, a reply, a call with all that became of it, an event.

const entryMark = (step, place) => el("a", { class: "entry", href: place(step.entry), title: `entry ${(step.entries || [step.entry]).join(", ")} of the journal`,
  "aria-label": `entry ${step.entry}` }, `#${step.entry}`);
const since = (value) => el("span", { class: "at", title: "since the run began" }, value < 0.0005 ? "0 s" : seconds(value));
const tag = (words, tone = "") => el("span", { class: `tag ${tone}` }, words);
const more = (title, open, ...children) => el("details", { open }, el("summary", {}, title), children);
const labelled = (label, ...children) => el("div", { class: "labelled" }, el("div", { class: "of" }, label), children);

// Options: `run`, `tools` of the chunk, `runs` of the chunk, `evidence` (numbers of entries), `place` (an entry's address),
// `within` (that of an entry of another run, where runs have addresses).
function stepView(step, options) {
  const told = (step.entries || [step.entry]).some((entry) => options.evidence.has(entry));
  const isEvidence = told && !step.call_count; // of a reply with calls, it is the calls
  const body = { message: messageView, reply: replyView, call: callView, event: eventView }[step.kind](step, options);
  return el("article", { class: `step ${step.kind} ${step.role || ""} ${isEvidence ? "evidence" : ""}` },
    el("div", { class: "gutter" }, entryMark(step, options.place), since(step.at_s)),
    el("div", { class: "body" }, isEvidence ? el("div", { class: "why" }, "evidence for the verdict") : null, body));
}

// Where an entry is told among items with steps; -1 where it is not. What became of a call is told with the call.
function placeOf(items, entry, among = () => true) {
  const best = items.findIndex((item) => among(item) && item.step?.kind === "call" && item.step.entries.slice(1).includes(entry));
  return best >= 0 ? best : items.findIndex((item) => among(item) && item.step && (item.step.entries || [item.step.entry]).includes(entry));
}

function wordsOf(step) {
  return [
    step.reasoning ? more(`reasoning, ${plural(step.reasoning.length, "character")}`, step.reasoning.length < 400, block(step.reasoning, { class: "reasoning" })) : null,
    step.text ? block(step.text) : null,
    step.media.map((medium) => el("p", { class: "medium" }, said(medium, 400))),
  ];
}

function messageView(step) {
  return [el("h4", {}, step.role), wordsOf(step), step.calls.map((call) => block(call, { class: "code" })),
    step.detail ? more("detail", false, block(step.detail)) : null];
}

function replyView(step) {
  const usage = step.usage, tokens = [
    usage.input_tokens === undefined ? null : `${count(usage.input_tokens)} tokens in`,
    usage.cached_input_tokens ? `${count(usage.cached_input_tokens)} cached` : null,
    usage.output_tokens === undefined ? null : `${count(usage.output_tokens)} out`,
    usage.cost_usd ? `$${usage.cost_usd.toFixed(4)}` : null];
  return [
    el("h4", {}, `assistant, turn ${step.turn}`, el("span", { class: "facts" },
      [step.took_s === null ? null : seconds(step.took_s), ...tokens, step.finish === "stop" ? null : `ended by: ${step.finish}`].filter(Boolean).join(" · "))),
    wordsOf(step),
    !step.text && !step.reasoning && !step.call_count ? el("p", { class: "nothing" }, "(nothing was said)") : null,
    step.forced ? labelled("decided by the token budget", block(step.forced, { class: "code" })) : null,
    step.held ? tag("held to the form of the answer") : null,
  ];
}

function eventView(step) {
  const bad = ["run_failed", "run_interrupted", "limit_reached"].includes(step.type);
  return [el("h4", { class: bad ? "bad" : "" }, visible(step.name), step.text ? [": ", said(step.text, 1000)] : null),
    step.text.length > 1000 ? block(step.text) : null,
    step.detail ? more("detail", false, block(step.detail, { class: "code" })) : null];
}

function callView(step, options) {
  const outcome = step.outcomes[0];
  const tool = options.run.tools.map((number) => options.tools[number]).find((each) => each.name === step.name);
  return [
    el("h4", { class: "call-name" }, said(step.name ?? "(no name)", 100), statusOf(step, outcome), tagsOf(step, outcome)),
    written(step),
    step.repairs && step.repairs.length ? labelled("repaired", el("ul", {}, step.repairs.map((each) => el("li", {}, said(each, 1000))))) : null,
    step.ran ? labelled("ran with", block(step.ran, { class: "code" })) : null,
    step.faults.length ? labelled("what went wrong", faultList(step.faults, options)) : null,
    step.outcomes.map((each) => outcomeView(each, step, options)),
    outcome ? null : el("p", { class: "nothing" }, "no outcome is recorded"),
    step.asked.map((each) => el("p", {}, entryLink(each.entry, options), ` ${each.kind === "question" ? "a person was asked: " : ""}`, said(each.text, 2000))),
    el("div", { class: "aside" },
      el("span", { class: step.policy.kind === "denied" ? "bad" : "" }, "policy: ", said(step.policy.text, 400)),
      step.attempts.length ? more(attemptWords(step), step.attempts.length > 1, attemptTable(step, options)) : null,
      tool ? more("tool as offered", false, block(tool.description), labelled("schema of the arguments", block(tool.text, { class: "code" })))
        : el("span", { class: "nothing" }, "no tool of this name was offered")),
    step.influence ? more("whose data had a part in it", true, block(step.influence, { class: "code" })) : null,
    step.forced ? labelled("decided by the token budget", block(step.forced, { class: "code" })) : null,
    step.nested === undefined ? null : nestedView(step.nested, options),
  ];
}

function written(step) {
  if (step.unreadable === null) {
    return step.arguments === "{}" ? el("p", { class: "nothing" }, "no arguments") : block(step.arguments, { class: "code" });
  }
  return [labelled("as the model wrote it; it cannot be read", block(step.unreadable, { class: "code bad" })),
    labelled("why", block(step.error))];
}

function statusOf(step, outcome) {
  if (!outcome) return tag("open", "warn");
  if (outcome.is_unknown) return tag("outcome unknown", "warn");
  if (step.policy.kind === "denied") return tag("denied", "bad");
  if (outcome.is_error) return tag(step.attempts.length ? `failed${outcome.layer ? `: ${outcome.layer}` : ""}` : `refused${outcome.layer ? `: ${outcome.layer}` : ""}`, "bad");
  return tag("done", "good");
}

const tagsOf = (step, outcome) => [
  step.attempts.length > 1 ? tag(plural(step.attempts.length, "attempt"), "warn") : null,
  step.repairs && step.repairs.length ? tag("repaired", "warn") : null,
  outcome && outcome.trust === "untrusted" ? tag("untrusted", "warn") : null,
  outcome && outcome.duration_s ? el("span", { class: "facts" }, seconds(outcome.duration_s)) : null,
];

function outcomeView(outcome, step, options) {
  const late = outcome.kind === "call_came_late";
  return labelled([late ? "came late" : outcome.is_error ? "the model was told" : "result", " ", entryLink(outcome.entry, options),
    outcome.source ? [" from ", said(outcome.source, 200)] : null,
    outcome.tainted_by.length ? [" tainted by ", outcome.tainted_by.map((source) => tag(said(source, 120), "warn"))] : null],
    outcome.text ? block(outcome.text, { class: outcome.is_error ? "bad" : "" }) : el("p", { class: "nothing" }, "(empty)"),
    outcome.media.map((medium) => el("p", { class: "medium" }, said(medium, 400))),
    outcome.structured && outcome.structured !== outcome.text ? more("the same as JSON", false, block(outcome.structured, { class: "code" })) : null,
    outcome.whole ? more(`all of it, ${plural(outcome.whole.length, "character")}; the model was shown a part`, false, block(outcome.whole)) : null,
    outcome.detail ? more("for the operator; the model did not see it", false, block(outcome.detail, { class: "code" })) : null,
    outcome.facts.map(([words, text]) => (text.length < 100 ? el("p", { class: "of" }, `${words}: `, el("code", {}, said(text)))
      : labelled(words, block(text, { class: "code" })))));
}

const attemptWords = (step) => plural(step.attempts.length, "attempt");

function attemptTable(step, options) {
  return el("div", { class: "scroll" }, el("table", { class: "small" },
    el("thead", {}, el("tr", {}, ["#", "entry", "at", "tool", "effect", "what came of it", "then waited"].map((title) => el("th", { scope: "col" }, title)))),
    el("tbody", {}, step.attempts.map((attempt) => el("tr", {},
      el("td", {}, attempt.number), el("td", {}, entryLink(attempt.entry, options)), el("td", {}, seconds(attempt.at_s)),
      el("td", {}, attempt.tool ? said(attempt.tool, 80) : ""), el("td", {}, attempt.effect || ""),
      el("td", {}, attempt.error ? [said(attempt.error, 400), attempt.nothing_done ? " (it had no effect)" : ""] : "see the result"),
      el("td", {}, attempt.error ? seconds(attempt.wait_s) : ""))))),
    step.attempts.map((attempt) => attempt.repeats ? el("p", {}, "repeats ", said(attempt.repeats.join(", "), 400)) : null),
    step.attempts[0].idempotency_key ? el("p", { class: "facts" }, "key ", said(step.attempts[0].idempotency_key, 80), ", code from ", said(step.attempts[0].origin || "", 120)) : null);
}

const entryLink = (entry, options) => el("a", { class: "entry", href: options.place(entry) }, `#${entry}`);

const faultList = (faults, options) => el("ul", { class: "faults" }, faults.map((fault) => el("li", {},
  tag(fault.layer, fault.is_recovered ? "" : "bad"), " ", said(fault.text, 1000), " ", fault.evidence.map((entry) => [entryLink(entry, options), " "]),
  fault.is_recovered ? "; the same tool did its work later" : null)));

// A run that the call's code started, which is told in place.
function nestedView(number, options, words = "its code started") {
  const run = options.runs[number], box = el("details", { class: "nested" });
  box.append(el("summary", {}, `${words} run `, said(run.id, 60), `, ${plural(run.steps.length, "step")}`),
    ...present([options.within && el("p", {}, el("a", { href: options.within(run.id) }, "this run by itself"))]));
  // Its entries have an address where it has one itself.
  const own = { ...options, run, evidence: new Set(), place: options.within ? (entry) => options.within(run.id, entry) : () => null };
  box.addEventListener("toggle", () => {
    if (!box.open || box.dataset.filled) return;
    box.dataset.filled = "1";
    fillNested(box, run, own, 0);
  });
  return box;
}

const NESTED_AT_ONCE = 200;

function fillNested(box, run, options, from) {
  box.append(...run.steps.slice(from, from + NESTED_AT_ONCE).map((step) => stepView(step, options)));
  const left = run.steps.length - from - NESTED_AT_ONCE;
  if (left <= 0) return;
  const button = el("button", { class: "more", onclick: () => {
    button.remove();
    fillNested(box, run, options, from + NESTED_AT_ONCE);
  } }, `Show ${count(Math.min(left, NESTED_AT_ONCE))} of ${plural(left, "more step")}`);
  box.append(button);
}
