"use strict";
/* What all pages share. All text of the corpus enters a page as textContent, never as markup. */

const data = JSON.parse(document.getElementById("data").textContent);
const percent = new Intl.NumberFormat("en", { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });
const wholePercent = new Intl.NumberFormat("en", { style: "percent" });
const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const counted = (n, noun) => `${number.format(n)} ${n === 1 ? noun : `${noun}s`}`;
const byId = (id) => document.getElementById(id);

/* Make an element. `attributes` are set by name; children are elements or plain text. */
function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "circle", "text", "path", "title", "g"].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (name === "onclick") element.addEventListener("click", value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const hue = (k) => ((k * 137.5 + 250) % 360).toFixed(1);
const chip = (k) => make("i", { class: "chip", "--hue": hue(k), "aria-hidden": "true" });

/* Arrows go through the buttons of a list, and choose. */
byId("list").addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const buttons = [...byId("list").querySelectorAll("button")];
  const next = buttons[buttons.indexOf(document.activeElement) + step];
  if (next) {
    next.focus();
    next.click();
  }
});

