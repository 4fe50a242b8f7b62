// The keyboard: a palette of all places (Ctrl K), letters to pages (g j), search (/), and a page that tells of them (?).
import { termText } from "../base/filter.js";
import { html, signal, useState } from "../base/html.js";
import { isPaused } from "../base/live.js";
import { go, hrefOf } from "../base/router.js";
import { may } from "../base/session.js";
import { hrefOfView, views } from "../pages/jobs/saved.js";
import { PLACES } from "../views.js";
import { Dialog } from "./dialog.js";
import { nextTheme } from "./theme.js";

export const isHelpOpen = signal(false);
const isPaletteOpen = signal(false);
const SEQUENCE_MILLISECONDS = 1200;

const places = () => PLACES.filter((each) => may(each.scope));

export function Palette() {
  if (isHelpOpen.value) return html`<${Help} />`;
  return isPaletteOpen.value ? html`<${Places} />` : null;
}

function Help() {
  const keys = [["/", "find jobs"], ["Ctrl K", "go anywhere"], ["t", "change the theme"], ["Shift", "and a click: a range of jobs"], ["?", "this list"], ["Esc", "close it"]];
  return html`<${Dialog} title="Keys" onClose=${() => { isHelpOpen.value = false; }}>
    <dl class="facts">
      ${keys.map(([key, what]) => html`<dt><kbd>${key}</kbd></dt><dd>${what}</dd>`)}
      ${places().map((each) => html`<dt><kbd>g</kbd> <kbd>${each.letter}</kbd></dt><dd>${each.title}</dd>`)}
    </dl>
    <div class="actions"><button onClick=${() => { isHelpOpen.value = false; }}>Close</button></div>
  <//>`;
}

/** @typedef {{title: string, href?: string, act?: () => void}} Command */

/** @param {Command} command */
const run = ({ href, act }) => (href ? go(href) : act?.());

/** What the palette does besides going to pages: saved views, the theme, the updates, the keys. @param {string} text @returns {Command[]} */
function commandsFor(text) {
  /** @type {Command[]} */
  const all = [
    ...views.value.map((each) => ({ title: `View: ${each.name}`, href: hrefOfView(each) })),
    { title: isPaused.value ? "Go on with updates" : "Pause updates", act: () => { isPaused.value = !isPaused.value; } },
    { title: "Change the theme", act: nextTheme },
    { title: "Show the keys", act: () => { isHelpOpen.value = true; } },
  ];
  return all.filter((each) => text === "" || each.title.toLowerCase().includes(text.toLowerCase()));
}

function Places() {
  const [text, setText] = useState("");
  const [index, setIndex] = useState(0);
  const id = /^#?(\d{1,19})$/.exec(text.trim())?.[1];
  const found = /** @type {Command[]} */ ([
    ...(id ? [{ title: `Job ${id}`, href: hrefOf(`/jobs/${id}`) }] : []),
    ...places().filter((each) => each.title.toLowerCase().includes(text.toLowerCase())).map((each) => ({ title: each.title, href: hrefOf(each.path) })),
    ...commandsFor(text),
    ...(text && !id ? [{ title: `Jobs of kind ${text}`, href: hrefOf("/jobs", { q: termText("kind", text) }) }, { title: `Jobs of key ${text}`, href: hrefOf("/jobs", { q: termText("key", text) }) }] : []),
  ]);
  const close = () => { isPaletteOpen.value = false; };
  const take = (/** @type {number} */ at) => { close(); if (found[at]) run(found[at]); };
  const press = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
    if (step) { event.preventDefault(); setIndex((index + step + found.length) % Math.max(1, found.length)); }
    if (event.key === "Enter") { event.preventDefault(); take(index); }
  };
  return html`<${Dialog} title="Go to" class="palette" onClose=${close}>
    <input role="combobox" aria-label="Go to a page, or to a job by its id" aria-expanded="true" aria-controls="places"
      aria-activedescendant=${found.length ? `place-${index}` : null}
      placeholder="A page, the id of a job, a kind or a key" autofocus value=${text} onKeyDown=${press}
      onInput=${(/** @type {any} */ event) => { setText(event.target.value); setIndex(0); }} />
    <ul id="places" role="listbox" aria-label="Places">
      ${found.map((each, at) => html`<li id="place-${at}" role="option" key=${each.title} aria-selected=${at === index} onClick=${() => take(at)}><bdi>${each.title}</bdi></li>`)}
    </ul>
  <//>`;
}

/** Hear the keys. */
export function startKeys() {
  let began = -Infinity;
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "k") {
      event.preventDefault();
      isPaletteOpen.value = true;
      return;
    }
    const isWriting = event.target instanceof Element && event.target.closest("input, textarea, select, dialog");
    if (isWriting || event.ctrlKey || event.metaKey || event.altKey || !may("read")) return;
    const follows = event.timeStamp - began < SEQUENCE_MILLISECONDS;
    began = -Infinity;
    if (follows) {
      const to = places().find((each) => each.letter === event.key);
      if (to) go(hrefOf(to.path));
    } else if (event.key === "g") began = event.timeStamp;
    else if (event.key === "?") isHelpOpen.value = true;
    else if (event.key === "t") nextTheme();
    else if (event.key === "/") {
      event.preventDefault();
      const box = document.getElementById("filter");
      if (box) box.focus();
      else go(hrefOf("/jobs"));
    }
  });
}
