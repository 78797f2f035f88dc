"use strict";
const token = new URLSearchParams(location.search).get("token");
const byId = (id) => document.getElementById(id);

// The value of a slider: the number that is sent (`ask`), and the text beside the slider (`show`).
const grouped = (n) => Math.round(n).toLocaleString("en-GB");
const whole = (x) => String(Math.round(Number(x.toPrecision(2))));
const digits = (x) => String(Number(Number(x).toPrecision(2)));
const sliders = {
  max_value: { ask: (x) => String(2 ** x), show: (x) => grouped(2 ** x) },
  public_groups: { ask: (x) => whole(10 ** x), show: (x) => grouped(whole(10 ** x)) },
  pairs_per_person: { ask: (x) => x, show: (x) => x },
  groups_per_person: { ask: (x) => x, show: (x) => x },
  epsilon: { ask: (x) => digits(10 ** x), show: (x) => digits(10 ** x) },
  delta: { ask: (x) => `1e${x}`, show: (x) => `1e${x}` },
  memory: { ask: (x) => String(2 ** x), show: (x) => (x < 20 ? `${2 ** (x - 10)} KiB` : `${2 ** (x - 20)} MiB`) },
  pairs: { ask: (x) => (Number(x) === 0 ? "0" : whole(10 ** x)), show: (x) => (Number(x) === 0 ? "none" : grouped(whole(10 ** x))) },
};
const own = () => [...document.querySelectorAll(".option")].filter((field) => field.dataset.statistic === byId("statistic").value);

function asked() {
  const question = {};
  for (const [name, slider] of Object.entries(sliders)) question[name] = slider.ask(byId(name).value);
  for (const name of ["statistic", "mechanism", "groups"]) question[name] = byId(name).value;
  for (const field of own()) {
    const entry = field.querySelector("[data-option]");
    question[entry.dataset.option] = entry.value;
  }
  question.people = byId("people").checked ? "yes" : "no";
  question.relation = document.querySelector("input[name=relation]:checked").value;
  return question;
}

// Update the texts beside the sliders, and show only the fields that apply to the choices.
function shown() {
  for (const [name, slider] of Object.entries(sliders)) {
    const text = slider.show(byId(name).value);
    byId(`${name}-shown`).textContent = text;
    byId(name).setAttribute("aria-valuetext", text);
  }
  const people = byId("people").checked;
  const keys = byId("statistic").selectedOptions[0].hasAttribute("data-people");
  const unit = people ? { one: "a person", many: "people" } : keys ? { one: "a key", many: "keys" } : { one: "a row", many: "rows" };
  for (const word of document.querySelectorAll("[data-unit]")) word.textContent = unit[word.dataset.unit];
  const fields = new Set(own());
  for (const field of document.querySelectorAll(".option")) field.hidden = !fields.has(field);
  const groups = byId("groups").value;
  const mechanism = byId("mechanism").value;
  const means = { public: groups === "public", "people-in-groups": groups !== "none" && people, sized: groups === "none" && mechanism !== "exact" };
  for (const field of document.querySelectorAll("[data-for]")) field.hidden = !means[field.dataset.for];
  byId("guess").textContent = mechanism === "bare" ? "A bare sketch needs this as a promise: at least this many pairs." : "The plan holds for any stream; this number does not change it.";
}

const number = (x) => (x >= 1000 ? grouped(x) : String(Number(x.toPrecision(3))));

// Bars start at 0 if both are then visible, otherwise they are logarithmic; the page says which.
function bars(values) {
  const logarithmic = Math.max(...values) > 20 * Math.min(...values);
  const low = Math.log10(Math.min(...values)) - 0.5;
  const high = Math.log10(Math.max(...values));
  const share = (x) => (logarithmic ? (Math.log10(x) - low) / (high - low) : x / Math.max(...values));
  ["sketch-bar", "exact-bar"].forEach((id, i) => { byId(id).style.width = `${100 * share(values[i])}%`; });
  return logarithmic;
}

function tell(plan) {
  byId("problem").hidden = !plan.problem;
  byId("results").hidden = Boolean(plan.problem);
  if (plan.problem) {
    byId("problem").textContent = plan.problem;
    return;
  }
  byId("error").textContent = `${plan.statistic}: error ${plan.error}`;
  const errors = plan.errors;
  byId("bars").hidden = !(errors.sketch && errors.exact);
  if (!byId("bars").hidden) {
    const said = (x) => (plan.relative ? `${number(100 * x)}%` : number(x));
    const logarithmic = bars([errors.sketch, errors.exact]);
    byId("sketch-value").textContent = said(errors.sketch);
    byId("exact-value").textContent = said(errors.exact);
    const both = errors.sketch_of_one_key && errors.exact_of_one_key;
    const of_one_key = both ? `If one key holds everything: sketch ${said(errors.sketch_of_one_key)}, exact ${said(errors.exact_of_one_key)}. ` : "";
    byId("scale").textContent = `Error with noise in a stream of ${byId("pairs-shown").textContent} pairs if all keys differ. ${of_one_key}${logarithmic ? "Bars are logarithmic: twice as long means far more than twice as much." : "Bars start at 0."}`;
  }
  byId("price").textContent = plan.price;
  byId("shares").textContent = plan.shares && `of which ${plan.shares}`;
  byId("noise").textContent = plan.noise || "none: the entries are private by themselves";
  byId("bytes").textContent = plan.held || `about ${grouped(plan.bytes)} bytes${byId("groups").value === "none" ? "" : " per group"}, however many keys there are`;
  byId("command").replaceChildren(...plan.command.split(/( )/).map(unbroken));
  byId("table").textContent = plan.table;
  byId("copy").textContent = "copy";
}

// Keep words whole: a browser also breaks lines after hyphens, and options contain hyphens.
function unbroken(word) {
  const span = document.createElement("span");
  span.className = "unbroken";
  span.textContent = word;
  return word === " " ? word : span;
}

byId("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(byId("command").textContent);
    byId("copy").textContent = "copied";
  } catch {
    getSelection().selectAllChildren(byId("command"));
    byId("copy").textContent = "selected: press Ctrl-C";
  }
});

// One question at a time. Of those that arrive in the meantime, only the last is asked.
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

// A statistic about people has one key for each person: their number is public, and a person is the unit.
function fit() {
  const people = byId("statistic").selectedOptions[0].hasAttribute("data-people");
  if (people) {
    document.querySelector("input[name=relation][value=replace]").checked = true;
    byId("groups").value = "none";
    byId("people").checked = false;
    byId("pairs_per_person").value = 1;
  }
  for (const field of [...document.querySelectorAll("input[name=relation]"), byId("groups"), byId("people"), byId("pairs_per_person")]) field.disabled = people;
}

byId("statistic").addEventListener("input", fit);
byId("asked").addEventListener("input", ask);
byId("asked").addEventListener("submit", (event) => event.preventDefault());
ask();
