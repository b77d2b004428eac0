
/* Layers of topics as a graph: the most general on the left, links as thick as they are strong. */

const WIDTH = 1000;
const ROW = 21;
const state = { layer: 0, topic: 0 };
const last = data.layers.length - 1;
const wordsOf = (layer, topic, n = 99) => data.layers[layer][topic][2].slice(0, n).map((w) => data.words[w]).join(" ");
const key = (layer, topic) => `${layer}-${topic}`;
const least = () => Number(byId("least").value) / 100;

/* Rows of the topics of each layer: those of the last by size, those below beside the topic that they come from most. */
const rows = data.layers.map((layer) => layer.map((_, i) => i));
for (let t = last - 1; t >= 0; t -= 1) {
  const place = new Map();
  rows[t + 1].forEach((topic, row) => place.set(topic, row));
  const wanted = data.layers[t].map(() => Infinity);
  [...data.links[t]].reverse().forEach(([lower, upper]) => (wanted[lower] = place.get(upper)));
  rows[t].sort((a, b) => wanted[a] - wanted[b] || a - b);
}
const height = ROW * (1 + Math.max(...rows.map((own) => own.length)));
const place = new Map();
rows.forEach((own, t) =>
  own.forEach((topic, row) => {
    const x = 16 + ((last - t) * (WIDTH - 220)) / Math.max(last, 1);
    place.set(key(t, topic), [x, ((row + 0.5) * height) / own.length]);
  }),
);

/* All that a topic comes from, and all that comes from it, by links that are shown. */
function kinOf(layer, topic) {
  const topics = new Set([key(layer, topic)]);
  const links = new Set();
  for (const step of [1, -1]) {
    let found = [topic];
    for (let t = layer; found.length; t += step) {
      const gap = step > 0 ? t : t - 1;
      if (!data.links[gap]) break;
      const [from, to] = step > 0 ? [0, 1] : [1, 0];
      const next = new Set();
      data.links[gap].forEach((link, i) => {
        if (link[2] < least() || !found.includes(link[from])) return;
        next.add(link[to]);
        topics.add(key(t + step, link[to]));
        links.add(key(gap, i));
      });
      found = [...next];
    }
  }
  return { topics, links };
}

function drawGraph() {
  const graph = byId("graph");
  const kin = kinOf(state.layer, state.topic);
  graph.setAttribute("viewBox", `0 0 ${WIDTH} ${height}`);
  graph.setAttribute("class", "choosing");
  graph.replaceChildren();
  data.links.forEach((own, t) =>
    own.forEach(([lower, upper, share], i) => {
      if (share < least()) return;
      const [x, y] = place.get(key(t + 1, upper));
      const [x1, y1] = place.get(key(t, lower));
      const middle = (x + x1) / 2;
      const path = make("path", { d: `M${x} ${y}C${middle} ${y} ${middle} ${y1} ${x1} ${y1}`, "stroke-width": 0.5 + 9 * share });
      path.append(make("title", {}, `${percent.format(share)} of: ${wordsOf(t, lower, 5)}`));
      if (kin.links.has(key(t, i))) path.setAttribute("class", "kin");
      graph.append(path);
    }),
  );
  data.layers.forEach((layer, t) =>
    layer.forEach(([, share], topic) => {
      const [x, y] = place.get(key(t, topic));
      const looks = ["topic"];
      if (kin.topics.has(key(t, topic))) looks.push("kin");
      if (t === state.layer && topic === state.topic) looks.push("chosen");
      const radius = 3 + 14 * Math.sqrt(share);
      graph.append(
        make(
          "g",
          { class: looks.join(" "), onclick: () => choose(t, topic) },
          make("circle", { cx: x, cy: y, r: radius, "--hue": hue(topic) }),
          make("text", { x: x + radius + 4, y }, wordsOf(t, topic, t === 0 ? 4 : 3)),
          make("title", {}, `${percent.format(share)}: ${wordsOf(t, topic)}`),
        ),
      );
    }),
  );
}

function button(layer, topic, share) {
  return make(
    "button",
    { type: "button", "data-topic": key(layer, topic), "aria-pressed": layer === state.layer && topic === state.topic, onclick: () => choose(layer, topic) },
    make("span", { class: "number" }, percent.format(share)),
    make("span", { class: "top" }, wordsOf(layer, topic)),
  );
}

function drawList() {
  const wanted = byId("find").value.trim().toLowerCase();
  const list = byId("list");
  list.replaceChildren();
  for (let t = last; t >= 0; t -= 1) {
    const own = data.layers[t].map(([, share], topic) => [topic, share]).filter(([topic]) => wordsOf(t, topic).toLowerCase().includes(wanted));
    if (own.length) list.append(make("li", { class: "layer" }, t === 0 ? "Layer 1: topics of tokens" : `Layer ${t + 1}`));
    own.forEach(([topic, share]) => list.append(make("li", {}, button(t, topic, share))));
  }
  byId("none").hidden = list.children.length > 0;
}

function relatives(title, layer, links) {
  if (!links.length) return "";
  return make("section", {}, make("h3", {}, title), make("ul", {}, ...links.map(([topic, share]) => make("li", {}, button(layer, topic, share)))));
}

function drawTopic() {
  const { layer, topic } = state;
  const share = data.layers[layer][topic][1];
  byId("title").textContent = wordsOf(layer, topic, 3);
  byId("about").textContent = `${wordsOf(layer, topic)}. Layer ${layer + 1}, ${percent.format(share)} of all tokens${layer ? ", expected" : ""}.`;
  const above = (data.links[layer] ?? []).filter(([lower]) => lower === topic).map(([, upper, part]) => [upper, part]);
  const below = (data.links[layer - 1] ?? []).filter(([, upper]) => upper === topic).map(([lower, , part]) => [lower, part]);
  byId("relatives").replaceChildren(
    relatives("Comes from, and how much of it", layer + 1, above),
    relatives("What comes from it, and how much of that", layer - 1, below),
  );
}

function choose(layer, topic) {
  Object.assign(state, { layer, topic });
  history.replaceState(null, "", `#topic-${key(layer, topic)}`);
  document.querySelectorAll("#list button").forEach((each) => each.setAttribute("aria-pressed", each.dataset.topic === key(layer, topic)));
  drawTopic();
  drawGraph();
}

function drawLinks() {
  byId("least-shown").textContent = wholePercent.format(least());
  drawGraph();
}

byId("find").addEventListener("input", drawList);
byId("least").addEventListener("input", drawLinks);
byId("omitted").textContent = data.omitted ? `Left out: ${counted(data.omitted, "smaller topic")}.` : "";
const asked = /^#topic-(\d+)-(\d+)$/.exec(location.hash)?.slice(1).map(Number);
drawList();
choose(...(asked && data.layers[asked[0]]?.[asked[1]] ? asked : [last, 0]));
drawLinks();
document.body.classList.add("ready");
