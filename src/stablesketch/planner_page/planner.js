"use strict";
const token = new URLSearchParams(location.search).get("token");
const byId = (id) => document.getElementById(id);

// What a slider stands at, as the number that is asked for and as what is shown beside it.
const grouped = (n) => Math.round(n).toLocaleString("en-GB");
const whole = (x) => String(Math.round(Number(x.toPrecision(2))));
const digits = (x) => String(Number(Number(x).toPrecision(2)));
const sliders = {
  p: { ask: (x) => String(Number(x)), show: (x) => Number(x).toFixed(2) },
  pairs: { ask: (x) => (Number(x) === 0 ? "0" : whole(10 ** x)), show: (x) => (Number(x) === 0 ? "none" : grouped(whole(10 ** x))) },
  max_value: { ask: (x) => String(2 ** x), show: (x) => grouped(2 ** x) },
  pairs_per_person: { ask: (x) => x, show: (x) => x },
  epsilon: { ask: (x) => digits(10 ** x), show: (x) => digits(10 ** x) },
  delta: { ask: (x) => `1e${x}`, show: (x) => `1e${x}` },
  size: { ask: (x) => whole(10 ** x), show: (x) => grouped(whole(10 ** x)) },
};

function asked() {
  const question = {};
  for (const [name, slider] of Object.entries(sliders)) question[name] = slider.ask(byId(name).value);
  question.relation = document.querySelector("input[name=relation]:checked").value;
  return question;
}

function shown() {
  for (const [name, slider] of Object.entries(sliders)) {
    const text = slider.show(byId(name).value);
    byId(`${name}-shown`).textContent = text;
    byId(name).setAttribute("aria-valuetext", text);
  }
}

const number = (x) => (x >= 1000 ? grouped(x) : String(Number(x.toPrecision(3))));
// Of a price, a bound: rounded up, never down.
function bound(x) {
  const near = Number(x.toPrecision(3));
  if (near >= x) return number(x);
  return String(Number((near + 10 ** (Math.floor(Math.log10(near)) - 2)).toPrecision(3)));
}
const percent = (x) => (x > 1 ? "over 100%" : `${number(100 * x)}%`);

// Bars on a logarithmic scale: a step to the right is ten times as much.
function bars(first, second, values) {
  const known = values.filter((value) => value !== null && value > 0);
  const low = Math.log10(Math.min(...known)) - 0.5;
  const high = Math.log10(Math.max(...known));
  [first, second].forEach((id, i) => {
    const share = values[i] === null || values[i] <= 0 ? 0 : (Math.log10(values[i]) - low) / (high - low || 1);
    byId(id).style.width = `${100 * Math.max(0, share)}%`;
  });
}

function tell(plan) {
  byId("problem").hidden = !plan.problem;
  byId("results").hidden = Boolean(plan.problem);
  if (plan.problem) {
    byId("problem").textContent = plan.problem;
    return;
  }
  const noise = `± ${number(plan.deviation)}`;
  const on = plan.measured === plan.statistic ? "" : ` on ${plan.measured}`;
  byId("error").textContent = plan.size ? `${percent(plan.error)} and ${noise}` : noise;
  byId("error-at").textContent = plan.size
    ? `of ${plan.statistic}: the sketch errs by the first${plan.buckets > 1 ? ` if no key dominates (by ${percent(plan.worst_error)} if one key holds everything)` : ""}, the noise${on} by the second.`
    : `on ${plan.statistic}, the total: one counter, no sketch.`;
  byId("least").textContent = plan.least > 0
    ? `${plan.measured} of ${byId("pairs-shown").textContent} pairs is at least ${number(plan.least)}: the noise is ${percent(plan.deviation / plan.least)} of it, or less.`
    : "";
  byId("noise-value").textContent = noise;
  byId("exact-value").textContent = `± ${number(plan.exact_deviation)}`;
  bars("noise-bar", "exact-bar", [plan.deviation, plan.exact_deviation]);
  byId("compared").textContent = plan.size
    ? "The exact table of all keys has no error but its noise, if it may be held in memory."
    : "";
  byId("epsilon-value").textContent = bound(plan.epsilon);
  byId("paper-value").textContent = plan.paper_epsilon === null ? "none" : number(plan.paper_epsilon);
  bars("epsilon-bar", "paper-bar", [plan.epsilon, plan.paper_epsilon]);
  byId("paper-note").textContent = plan.paper_epsilon === null
    ? "The paper's theorems are about replacing one of at least two pairs."
    : "The paper replaces one of n pairs, as guessed, adds no noise and counts every entry at its worst; keys among 2^20.";
  byId("scale").textContent = `Laplace of scale b = ${bound(plan.noise)}, in units of ${plan.measured}`;
  byId("bytes").textContent = `about ${grouped(plan.bytes)} bytes, however many keys there are`;
  byId("command").textContent = plan.command;
}

// One question at a time; of those that come meanwhile, the last.
let busy = false;
let again = false;
async function ask() {
  shown();
  again = true;
  if (busy) return;
  busy = true;
  document.body.classList.add("waiting");
  while (again) {
    again = false;
    try {
      const answered = await fetch(`/plan?${new URLSearchParams({ ...asked(), token })}`);
      tell(answered.ok ? await answered.json() : { problem: await answered.text() });
    } catch {
      tell({ problem: "The program behind this page has ended. Start it again: stablesketch plan --serve" });
    }
  }
  document.body.classList.remove("waiting");
  busy = false;
}

byId("asked").addEventListener("input", ask);
byId("asked").addEventListener("submit", (event) => event.preventDefault());
ask();
