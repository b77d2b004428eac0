/* Documents whose sentences are coloured by topic, and what was found in them. */

const nats = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const state = { find: 0, topic: null };
const text = (words) => words.map((w) => data.words[w]).join(" ");
const topicName = (k) => (k < 0 ? "a topic of single draws" : `topic ${k}: ${text(data.topics[k].slice(0, 5))}`);
const sentenceOf = (find) => data.documents[find.document].sentences[find.sentence];
const textOf = (find) => (find.comment ? find.comment.sentences.map(([words]) => text(words)).join(". ") : text(sentenceOf(find)[0]));

function drawList() {
  const wanted = byId("find").value.trim().toLowerCase();
  const list = byId("list");
  list.replaceChildren();
  data.finds.forEach((find, i) => {
    const own = textOf(find);
    if (wanted && !own.toLowerCase().includes(wanted)) return;
    if (state.topic !== null && find.topic !== state.topic) return;
    const document_ = data.documents[find.document];
    list.append(
      make(
        "li",
        {},
        make(
          "button",
          { type: "button", class: "sentence-button", "data-find": i, "aria-pressed": i === state.find, onclick: () => choose(i) },
          make("span", {}, ...(find.topic < 0 ? [] : [chip(find.topic)])),
          make("span", { class: "top" }, own),
          make("span", { class: "size" }, nats.format(find.score)),
          make("span", { class: "where" }, `${document_.name}, sentence ${find.sentence + 1}`),
        ),
      ),
    );
  });
  byId("none").hidden = list.children.length > 0;
  byId("chosen-topic").hidden = state.topic === null;
  if (state.topic !== null) {
    byId("chosen-topic").replaceChildren(
      `Only ${topicName(state.topic)}. `,
      make("button", { type: "button", onclick: () => only(null) }, "show all"),
    );
  }
}

function only(topic) {
  state.topic = topic;
  drawList();
}

/* A sentence as a button in the colour of its main topic, and its topics below it once it is opened. */
function sentence([words, topics], i, find) {
  const [[main, share]] = topics;
  const isChosen = i === find.sentence;
  const look = main < 0 ? { class: "sentence unknown" } : { class: "sentence", "--hue": hue(main), "--share": share };
  const inside = make("ul", { class: "inside" });
  inside.hidden = !isChosen;
  topics.forEach(([k, part]) => inside.append(topicLine(k, part)));
  const button = make("button", { type: "button", ...look, "aria-expanded": isChosen, title: topicName(main) }, text(words));
  button.addEventListener("click", () => {
    inside.hidden = !inside.hidden;
    button.setAttribute("aria-expanded", !inside.hidden);
  });
  const item = make("li", isChosen ? { class: "chosen" } : {}, button, inside);
  if (find.parts) {
    const largest = Math.max(...find.parts);
    item.append(make("span", { class: "part", "--part": find.parts[i] / largest, title: `${wholePercent.format(find.parts[i])} of the comment` }));
  }
  return item;
}

function topicLine(k, share) {
  if (k < 0) return make("li", {}, topicName(k));
  const others = data.finds.filter((find) => find.topic === k).length;
  const line = make("li", {}, chip(k), `${wholePercent.format(share)} ${topicName(k)} `);
  if (others) line.append(make("button", { type: "button", onclick: () => only(k) }, `${number.format(others)} in the list`));
  return line;
}

function drawDocument() {
  const find = data.finds[state.find];
  if (!find) return;
  const document_ = data.documents[find.document];
  byId("title").textContent = document_.name;
  byId("about").textContent = `Sentence ${find.sentence + 1}, ${topicName(find.topic)}. ${find.about}. Score ${nats.format(find.score)}.`;
  byId("comment").hidden = !find.comment;
  if (find.comment) byId("comment").replaceChildren(make("span", { class: "note" }, find.comment.name), make("br"), textOf(find));
  byId("sentences").replaceChildren(...document_.sentences.map((each, i) => sentence(each, i, find)));
  const chosen = document.querySelector("#sentences .chosen");
  if (document.body.classList.contains("ready")) chosen?.scrollIntoView({ block: "nearest" });
}

function choose(i) {
  state.find = i;
  history.replaceState(null, "", `#find-${i}`);
  document.querySelectorAll("#list button").forEach((button) => button.setAttribute("aria-pressed", button.dataset.find === String(i)));
  drawDocument();
}

byId("find").addEventListener("input", drawList);
byId("omitted").textContent = data.omitted ? `${number.format(data.omitted)} of lower scores, or in documents too long for this page, are left out.` : "";
const asked = Number(/^#find-(\d+)$/.exec(location.hash)?.[1] ?? 0);
drawList();
if (data.finds.length) choose(asked < data.finds.length ? asked : 0);
document.body.classList.add("ready");
