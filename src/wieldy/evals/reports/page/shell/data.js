// The data in the file: the index at once, parts with runs when they are looked at.

async function unpacked(id) {
  const packed = atob(document.getElementById(id).textContent), bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at += 1) bytes[at] = packed.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

const KEPT_CHUNKS = 4;
const chunks = new Map();

async function chunkOf(trial) {
  if (trial.chunk < 0) return null;
  const known = chunks.get(trial.chunk) || unpacked(`chunk-${trial.chunk}`);
  chunks.delete(trial.chunk);
  chunks.set(trial.chunk, known);
  if (chunks.size > KEPT_CHUNKS) chunks.delete(chunks.keys().next().value);
  return known;
}

// Whom each verdict is, for eyes that see no colours: a letter, and in words.
const VERDICTS = {
  pass: ["P", "pass", "what the task wants was reached"],
  fail: ["F", "fail", "it was not, and it was the model's to reach"],
  abstain: ["A", "abstain", "the model answered in words where it should have called a tool"],
  unscored: ["U", "unscored", "something else than the model kept the trial from saying anything about it"],
  "invalid-task": ["I", "invalid task", "no answer could have been right"],
};

let index = null;

function prepare(data) {
  index = data;
  const names = new Set(), twice = new Set();
  for (const task of data.tasks) (names.has(task.id) ? twice : names).add(task.id);
  data.tasks.forEach((task, at) => {
    task.number = at;
    task.name = twice.has(task.id) ? `${task.id}~${task.digest.slice(0, 8)}` : task.id;
    task.trials = data.configurations.map(() => []);
  });
  for (const trial of data.trials) data.tasks[trial.task].trials[trial.configuration].push(trial);
  for (const task of data.tasks) {
    for (const own of task.trials) own.sort((one, other) => one.trial - other.trial);
    const all = task.trials.flat();
    task.words = [task.name, task.category, task.cluster, task.prompt, ...all.map((trial) => trial.verdict.reason)]
      .join("\n").toLowerCase();
    task.differs = new Set(task.trials.filter((own) => own.length).map(standing)).size > 1;
  }
}

// What a configuration has made of a task: two configurations differ where this does.
const standing = (own) => own.map((trial) => trial.verdict.kind).sort().join();

const letter = (at) => (at < 26 ? String.fromCharCode(65 + at) : `${String.fromCharCode(64 + Math.floor(at / 26))}${String.fromCharCode(65 + (at % 26))}`);
const badge = (at) => el("span", { class: `badge c${at % 6}`, title: plain(index.configurations[at]) }, letter(at));
const configuration = (at) => [badge(at), " ", said(index.configurations[at], 120)];

const mark = (verdict) =>
  el("span", { class: `verdict v-${verdict.kind}` }, el("b", {}, VERDICTS[verdict.kind][0]), ` ${VERDICTS[verdict.kind][1]}`);

// Addresses

const path = (...parts) => `#/${parts.map((part) => encodeURIComponent(String(part))).join("/")}`;
const nameOf = (trial) => [index.tasks[trial.task].name, index.configurations[trial.configuration], trial.trial];
const trialPath = (trial, entry) => path("trial", ...nameOf(trial), ...(entry === undefined ? [] : [entry]));
const comparePath = (one, other) => path("compare", ...nameOf(one), ...nameOf(other).slice(1));

function trialNamed(name, configured, number) {
  const task = index.tasks.find((each) => each.name === name);
  const at = index.configurations.indexOf(configured);
  return task && task.trials[at] && task.trials[at].find((trial) => String(trial.trial) === number);
}
