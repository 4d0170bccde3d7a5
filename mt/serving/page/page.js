"use strict";

// The theme is set before anything is drawn.
const THEMES = ["system", "light", "dark"];
const darkness = matchMedia("(prefers-color-scheme: dark)");
let theme = remembered(() => localStorage.getItem("theme")) || "system";

function remembered(act) {
  try { return act(); } catch { return null; }  // a browser may forbid to keep anything
}

function showTheme() {
  const dark = theme === "dark" || (theme === "system" && darkness.matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

showTheme();
darkness.addEventListener("change", showTheme);
document.addEventListener("DOMContentLoaded", start);

const PAUSE = 250;         // ms without a key until the text is translated
const ALTERNATIVES = 3;
const LARGEST_MAP = 60;    // tokens a side

const $ = id => document.getElementById(id);
let models = [], settings = {}, answer = null;
let chosen = [];           // of each sentence which alternative is shown
let current = null;        // the sentence whose alternatives and map are shown
let place = -1;            // the word of the translation that the arrow keys are at
let timer = 0, asking = null, looking = null;

async function start() {
  $("theme").addEventListener("click", changeTheme);
  $("theme").textContent = `Theme: ${theme}`;
  $("source").addEventListener("input", changed);
  $("source").addEventListener("mousemove", event => light(sourceWordAt(event)));
  $("source").addEventListener("mouseleave", () => light(null));
  $("translation").addEventListener("mouseover", event => light(event.target.closest(".word")));
  $("translation").addEventListener("mouseleave", () => light(null));
  $("translation").addEventListener("click", event => choose(event.target.closest(".sentence")));
  $("translation").addEventListener("keydown", walk);
  $("translation").addEventListener("blur", () => { place = -1; light(null); });
  $("copy").addEventListener("click", copy);
  $("clear").addEventListener("click", () => { $("source").value = ""; changed(); $("source").focus(); });
  $("pair").addEventListener("change", () => { showPair(); changed(); });
  $("key").addEventListener("change", changed);
  $("attention").addEventListener("toggle", look);
  for (const id of ["layer", "head"]) $(id).addEventListener("change", look);
  try {
    [models, settings] = await Promise.all(["/mt/models", "/frontend/settings"].map(get));
  } catch {
    return trouble("The server does not answer; reload the page when it runs.");
  }
  document.querySelector(".key").hidden = !settings.keyRequired;
  models.forEach((model, n) => {
    $("pair").add(new Option(`${model.source.name} → ${model.target.name}`, n));
  });
  $("pair").disabled = models.length < 2;
  $("pair").className = models.length < 2 ? "only" : "";
  showPair();
  changed();
}

async function get(path) {
  const said = await fetch(path);
  if (!said.ok) throw new Error(path);
  return said.json();
}

function changeTheme() {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  remembered(() => localStorage.setItem("theme", theme));
  $("theme").textContent = `Theme: ${theme}`;
  showTheme();
}

const model = () => models[Number($("pair").value)];

function showPair() {
  const { source, target } = model();
  $("source-name").textContent = source.name;
  $("target-name").textContent = target.name;
  $("source").lang = $("under").lang = source.code;
  $("translation").lang = target.code;
  for (const [id, count] of [["layer", model().layers], ["head", model().heads]]) {
    $(id).replaceChildren(new Option("all", 0));
    for (let n = 1; n <= count; n++) $(id).add(new Option(n, n));
  }
}

// Asking.

function changed() {
  const text = $("source").value;
  $("under").textContent = text + "\n";
  $("clear").hidden = !text;
  const limit = settings.charLimit || Infinity, count = [...text].length;
  $("count").textContent = count > 0.8 * limit ? `${count.toLocaleString()} of ${limit.toLocaleString()}` : "";
  $("count").className = count > limit ? "over" : "";
  $("translation").classList.add("old");
  clearTimeout(timer);
  asking?.abort();
  asking = null;
  if (!text.trim()) return show(null);
  timer = setTimeout(translate, PAUSE);
}

async function translate() {
  if (!models.length) return;
  const text = $("source").value, own = asking = new AbortController();
  const busy = setTimeout(() => { $("state").textContent = "translating…"; }, 400);
  try {
    const said = await post("/mt/translate", {
      q: text, alternatives: model().alternatives ? ALTERNATIVES : 0,
    }, own.signal);
    if (own === asking) show(said);  // an answer to what was typed before is dropped
  } catch (error) {
    if (own !== asking) return;
    trouble(error.message);
    if (error.again) timer = setTimeout(translate, 1000 * error.again);
  } finally {
    clearTimeout(busy);
    if (own === asking) $("state").textContent = "";
  }
}

async function post(path, fields, signal) {
  const { source, target } = model();
  const body = { source: source.code, target: target.code, ...fields };
  if (settings.keyRequired) body.api_key = $("key").value;
  let said;
  try {
    said = await fetch(path, {
      method: "POST", signal, body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
    });
  } catch {
    throw new Error("The server does not answer.");
  }
  const content = await said.json().catch(() => ({ error: "The server’s answer cannot be read." }));
  if (said.ok) return content;
  const error = new Error(content.error);
  error.again = said.status === 429 ? Number(said.headers.get("Retry-After")) || 1 : 0;
  throw error;
}

function trouble(message) {
  $("trouble").textContent = message;
}

// Showing.

function element(name, className, text, data = {}) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  Object.assign(made.dataset, data);
  return made;
}

function show(said) {
  answer = said;
  chosen = said ? said.sentences.map(() => 0) : [];
  current = said?.sentences.length ? Math.min(current ?? 0, said.sentences.length - 1) : null;
  place = -1;
  trouble("");
  if (said) {
    $("under").replaceChildren(...said.source.map(piece => "word" in piece
      ? element("span", piece.unknown ? "word strange" : "word", piece.text, { s: piece.sentence, w: piece.word })
      : piece.text), "\n");
  }
  $("copy").hidden = $("how").hidden = !said;
  $("unknown").hidden = !said?.sentences.some(one => one.unknown.length || one.alternatives[0]?.marked.length);
  showTranslation();
  showOthers();
}

const shown = n => answer.sentences[n].alternatives[chosen[n]];

function showTranslation() {
  const made = [];
  (answer?.sentences ?? []).forEach((sentence, n) => {
    made.push(sentence.before);
    const whole = element("span", n === current ? "sentence chosen" : "sentence", "", { s: n });
    let w = 0;
    for (const text of (shown(n)?.text ?? "").split(/(\s+)/)) {
      if (!text.trim()) { whole.append(text); continue; }
      const strange = shown(n).marked.includes(w);
      const word = element("span", strange ? "word strange" : "word", text, { s: n, w: w++ });
      if (strange) word.title = "no word for it in the model’s vocabulary";
      whole.append(word);
    }
    made.push(whole);
  });
  made.push(answer?.after ?? "");
  $("translation").replaceChildren(...made);
  $("translation").className = (answer?.sentences.length ?? 0) > 1 ? "several" : "";
}

function choose(sentence) {
  if (!sentence || Number(sentence.dataset.s) === current) return;
  current = Number(sentence.dataset.s);
  for (const one of document.querySelectorAll("#translation .sentence")) {
    one.classList.toggle("chosen", one === sentence);
  }
  showOthers();
}

function showOthers() {
  const sentence = answer && current !== null ? answer.sentences[current] : null;
  const several = (sentence?.alternatives.length ?? 0) > 1;
  $("others").hidden = !several;
  $("others").querySelector(".of").textContent = answer?.sentences.length > 1 && several ? sentence.source : "";
  $("others").querySelector("ul").replaceChildren(...(several ? sentence.alternatives : []).map((one, n) => {
    const button = element("button", "", one.text);
    button.type = "button";
    button.lang = model().target.code;
    button.dir = "auto";
    button.setAttribute("aria-pressed", n === chosen[current]);
    button.addEventListener("click", () => take(n));
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
  $("attention").hidden = !sentence?.alternatives.length || !model().attention;
  look();
}

function take(n) {
  chosen[current] = n;
  showTranslation();
  showOthers();
  $("others").querySelectorAll("button")[n].focus();
}

async function copy() {
  const text = $("translation").textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // not allowed, or no secure connection
    getSelection().selectAllChildren($("translation"));
    document.execCommand("copy");
    getSelection().removeAllRanges();
  }
  $("copy").textContent = "Copied";
  $("said").textContent = "Copied";
  setTimeout(() => { $("copy").textContent = "Copy"; }, 1500);
}

// Which word comes from which.

function sourceWordAt(event) {
  return document.elementsFromPoint(event.clientX, event.clientY)
    .find(one => one.parentElement === $("under") && one.classList.contains("word")) ?? null;
}

function light(word) {
  for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
  if (!word || !answer) return [];
  const s = Number(word.dataset.s), w = Number(word.dataset.w);
  const from = word.parentElement === $("under") ? 0 : 1;  // a pair is of source and translation
  const others = (shown(s)?.words ?? []).filter(pair => pair[from] === w).map(pair => pair[1 - from]);
  const far = [...document.querySelectorAll(`${from ? "#under" : "#translation"} .word[data-s="${s}"]`)]
    .filter(one => others.includes(Number(one.dataset.w)));
  for (const one of [word, ...far]) one.classList.add("lit");
  return far;
}

function walk(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
  const words = [...document.querySelectorAll("#translation .word")];
  if (!step || !words.length || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  place = Math.max(0, Math.min(words.length - 1, place + step));
  const far = light(words[place]);
  choose(words[place].closest(".sentence"));
  $("said").textContent = `${words[place].textContent}: from ${far.map(one => one.textContent).join(" ") || "nothing"}`;
}

// The attention map of the sentence that was chosen.

async function look() {
  looking?.abort();
  const table = $("attention").querySelector("table");
  if (!$("attention").open || $("attention").hidden) return table.replaceChildren();
  const own = looking = new AbortController();
  try {
    const map = await post("/mt/attention", {
      q: answer.sentences[current].source, layer: Number($("layer").value), head: Number($("head").value),
    }, own.signal);
    if (own !== looking) return;
    const large = Math.max(map.source.length, map.target.length) > LARGEST_MAP;
    $("attention-state").textContent = large ? `Over ${LARGEST_MAP} tokens: too large to draw.` : "";
    table.replaceChildren(...(large ? [] : rows(map)));
  } catch (error) {
    if (own !== looking) return;
    $("attention-state").textContent = error.message;
    table.replaceChildren();
  }
}

function heading(scope, text) {
  const made = element("th", "", "");
  made.scope = scope;
  made.title = text;
  made.append(element("span", "", text));
  return made;
}

function rows(map) {
  const head = document.createElement("thead"), body = document.createElement("tbody");
  head.insertRow().append(document.createElement("td"), ...map.source.map(token => heading("col", token)));
  head.rows[0].cells[0].className = "corner";
  const most = Math.max(...map.weights.flat());
  map.weights.forEach((weights, i) => {
    const row = body.insertRow();
    row.append(heading("row", map.target[i]));
    weights.forEach((weight, j) => {
      const cell = row.insertCell();
      cell.style.setProperty("--weight", weight / most);
      cell.append(element("span", "", weight.toFixed(2)));
      cell.addEventListener("mouseenter", () => {
        $("cell").textContent = `${map.target[i]} looked at ${map.source[j]}: ${weight.toFixed(2)}`;
      });
    });
  });
  return [head, body];
}
