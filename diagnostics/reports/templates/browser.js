/* The topic browser. */

const SHOWN_WORDS = 30;
const interval = ([mean, low, high]) => `${percent.format(mean)} (${percent.format(low)} to ${percent.format(high)})`;
const topWords = (topic, n) => topic.words.slice().sort((a, b) => b[1] - a[1]).slice(0, n).map(([w]) => data.words[w]);

const state = { topic: 0, lambda: 0.6, word: null };

/* Relevance of a word to a topic: λ log p(w|k) + (1 - λ) log(p(w|k) / p(w)) (Sievert & Shirley 2014). */
function byRelevance(topic) {
  const score = ([w, p]) => Math.log(p) - (1 - state.lambda) * Math.log(data.frequency[w] / data.tokens);
  return topic.words.slice().sort((a, b) => score(b) - score(a)).slice(0, SHOWN_WORDS);
}

/* Share of the tokens of a word that a topic is estimated to hold. */
function shareOfWord(topic, word) {
  const held = topic.words.find(([w]) => w === word);
  return held ? Math.min(1, (held[1] * topic.share[0] * data.tokens) / data.frequency[word]) : 0;
}

function drawMap() {
  const map = byId("map");
  map.replaceChildren();
  data.topics.forEach((topic, k) => {
    const size = state.word === null ? topic.share[0] : shareOfWord(topic, state.word);
    const radius = Math.max(1.2, (state.word === null ? 18 : 12) * Math.sqrt(size));
    const [x, y] = topic.place;
    const circle = make(
      "g",
      { class: k === state.topic ? "topic chosen" : "topic", "--hue": hue(k), onclick: () => choose(k) },
      make("title", {}, `topic ${k}: ${topWords(topic, 5).join(", ")}`),
      make("circle", { cx: x, cy: y, r: radius.toFixed(2) }),
    );
    if (radius > 2.4) circle.append(make("text", { x, y }, String(k)));
    map.append(circle);
  });
}

function drawList() {
  const wanted = byId("find").value.trim().toLowerCase();
  const largest = Math.max(...data.topics.map((topic) => topic.share[2]));
  const list = byId("list");
  list.replaceChildren();
  data.topics.forEach((topic, k) => {
    const hits = wanted ? topic.words.map(([w]) => data.words[w]).filter((w) => w.toLowerCase().includes(wanted)) : [];
    if (wanted && !hits.length) return;
    const words = wanted ? [...hits.slice(0, 3), ...topWords(topic, 4)] : topWords(topic, 7);
    list.append(
      make(
        "li",
        {},
        make(
          "button",
          { type: "button", "data-topic": k, "aria-pressed": k === state.topic, onclick: () => choose(k) },
          make("span", { class: "number" }, chip(k), String(k)),
          make("span", { class: "top" }, [...new Set(words)].join(" ")),
          make("span", { class: "size" }, percent.format(topic.share[0])),
          range(topic.share, largest, k),
        ),
      ),
    );
  });
  byId("none").hidden = list.children.length > 0;
}

/* A bar for an estimate, with its interval as a line over it. */
function range([mean, low, high], largest, k) {
  const part = (value) => `${((100 * value) / largest).toFixed(2)}%`;
  return make(
    "span",
    { class: "range", "--hue": hue(k), "aria-hidden": "true" },
    make("span", { class: "mean", "--from": "0%", "--to": part(mean) }),
    make("span", { class: "between", "--from": part(low), "--to": part(high) }),
  );
}

function drawWords() {
  const topic = data.topics[state.topic];
  const shown = byRelevance(topic);
  const tokens = (p) => p * topic.share[0] * data.tokens;
  const largest = Math.max(...shown.map(([w, , , high]) => Math.max(data.frequency[w], tokens(high))));
  const part = (value) => `${((100 * value) / largest).toFixed(2)}%`;
  byId("words").replaceChildren(
    ...shown.map(([w, p, low, high]) =>
      make(
        "li",
        { "--hue": hue(state.topic) },
        make(
          "button",
          { type: "button", "aria-pressed": w === state.word, title: "show this word on the map", onclick: () => chooseWord(w) },
          data.words[w],
        ),
        make(
          "span",
          { class: "bars", role: "img", "aria-label": `probability ${interval([p, low, high])}` },
          make("span", { class: "all", "--from": "0%", "--to": part(data.frequency[w]) }),
          make("span", { class: "mean", "--from": "0%", "--to": part(tokens(p)) }),
          make("span", { class: "between", "--from": part(tokens(low)), "--to": part(tokens(high)) }),
        ),
        make("span", { class: "p", "aria-hidden": "true" }, percent.format(p)),
      ),
    ),
  );
}

function drawTopic() {
  const k = state.topic;
  const topic = data.topics[k];
  byId("title").replaceChildren(chip(k), `Topic ${k}`);
  byId("about").textContent =
    `${interval(topic.share)} of the tokens; found in ${percent.format(topic.found)} of the draws` +
    (topic.stability === null ? "." : `; ${wholePercent.format(topic.stability)} of its words are alike between chains.`);
  const largest = Math.max(...data.topics.flatMap((each) => each.groups.map((share) => share[2])), 1e-9);
  byId("groups").replaceChildren(
    ...topic.groups.map((share, g) =>
      make(
        "li",
        {},
        make("h4", {}, data.groups[g]),
        make("p", { class: "note" }, `${interval(share)} of its tokens`),
        range(share, largest, k),
        ...(topic.versions ? [version(topic, g)] : []),
      ),
    ),
  );
}

/* Words of a topic as one group has it; those that no other group has among its words are set apart. */
function version(topic, g) {
  const elsewhere = new Set(topic.versions.flatMap((words, other) => (other === g ? [] : words)));
  const line = make("p", { class: "version" });
  topic.versions[g].forEach((w) => line.append(make(elsewhere.has(w) ? "span" : "strong", {}, data.words[w]), " "));
  return line;
}

function drawDocuments() {
  const k = state.topic;
  const held = (document_) => (document_.topics.find(([j]) => j === k) ?? [k, 0])[1];
  const shown = data.documents.filter((each) => held(each) > 0).sort((a, b) => held(b) - held(a)).slice(0, 20);
  byId("documents").replaceChildren(...shown.map((each) => entry(each, held(each))));
  byId("no-documents").hidden = shown.length > 0;
}

function entry(each, share) {
  const strip = make("span", { class: "strip", role: "img", "aria-label": summary(each) });
  each.topics.forEach(([j, mean]) => strip.append(make("span", { "--hue": hue(j), "--to": `${(100 * mean).toFixed(2)}%` })));
  const about = `${percent.format(share)} · ${counted(each.length, "token")}${each.group === null ? "" : ` · ${data.groups[each.group]}`}`;
  const details = make(
    "details",
    {},
    make("summary", {}, make("span", { class: "name" }, each.name), make("span", { class: "note" }, about), strip),
  );
  details.addEventListener("toggle", () => details.open && details.children.length === 1 && details.append(...inside(each)));
  return make("li", {}, details);
}

const summary = (each) => each.topics.map(([j, mean]) => `topic ${j}: ${percent.format(mean)}`).join(", ");

function inside(each) {
  const proportions = make("ul", { class: "proportions" });
  each.topics.forEach(([j, ...share]) =>
    proportions.append(
      make("li", {}, make("button", { type: "button", onclick: () => choose(j) }, chip(j), `topic ${j}`), ` ${interval(share)}`),
    ),
  );
  if (!each.text) return [proportions];
  const text = make("p", { class: "text" });
  each.text.forEach(([w, j, certain]) => {
    const about = j < 0 ? "a small topic" : `topic ${j}, certain to ${wholePercent.format(certain)}`;
    const token = make("span", { title: about, "--certain": certain }, data.words[w]);
    if (j >= 0) token.style.setProperty("--hue", hue(j));
    token.className = j < 0 ? "" : certain < 0.5 ? "token doubtful" : "token";
    text.append(token, " ");
  });
  return [proportions, text];
}

/* Bars of the number of topics. Where there are many, every other has its number, or there is no room for them. */
function drawNumbers() {
  const bars = data.numbers;
  const [[first, last]] = bars;
  const width = last - first + 1;
  const apart = width * (bars.length > 10 ? 2 : 1);
  const most = Math.max(...bars.map(([, , share]) => share));
  const span = ([from, to]) => (to > from ? `${from} to ${to}` : String(from));
  const told = bars.map((bar) => `${span(bar)}: ${percent.format(bar[2])}`);
  byId("how-many").hidden = bars.length < 2;
  if (bars.length < 2) return;
  byId("of-numbers").textContent =
    `of ${width > 1 ? `${span(bars[0])}, ${span(bars[1])} and so on` : "each number"}; the highest bar is ${percent.format(most)}`;
  byId("numbers").classList.toggle("binned", width > 1);
  byId("numbers").setAttribute("aria-label", told.join(", "));
  byId("numbers").replaceChildren(
    ...bars.map(([from, , share], i) =>
      make(
        "li",
        { title: told[i] },
        make("span", { "--to": `${((100 * share) / most).toFixed(1)}%` }),
        from % apart ? "" : String(from),
      ),
    ),
  );
}

function choose(k) {
  state.topic = k;
  history.replaceState(null, "", `#topic-${k}`);
  document.querySelectorAll("#list button").forEach((button) => button.setAttribute("aria-pressed", button.dataset.topic === String(k)));
  drawMap();
  drawTopic();
  drawWords();
  drawDocuments();
}

function chooseWord(word) {
  state.word = state.word === word ? null : word;
  byId("of-word").textContent = state.word === null ? "" : `Circles: the share of “${data.words[word]}” that each topic holds.`;
  drawMap();
  drawWords();
}

byId("lambda").addEventListener("input", (event) => {
  state.lambda = Number(event.target.value);
  byId("lambda-value").textContent = state.lambda.toFixed(2);
  drawWords();
});
byId("find").addEventListener("input", drawList);
const asked = Number(/^#topic-(\d+)$/.exec(location.hash)?.[1] ?? 0);
drawNumbers();
drawList();
choose(asked < data.topics.length ? asked : 0);
document.body.classList.add("ready");
