// Views that somebody has given a name: each is an address of the list of jobs, kept in the browser.
import { html, signal, useState } from "../../base/html.js";
import { hrefOf, place } from "../../base/router.js";
import { FormDialog } from "../../parts/dialog.js";
import { toast } from "../../parts/toasts.js";

/** @typedef {{name: string, query: string}} View query: as in the address, without the page */

const KEY = "leasehold.views";
const MOST = 50;

export const views = signal(read(localStorage.getItem(KEY)));

/** The views that are kept; none where they make no sense. @param {string | null} text @returns {View[]} */
export function read(text) {
  try {
    const found = JSON.parse(text ?? "[]");
    const isView = (/** @type {any} */ each) => typeof each?.name === "string" && typeof each?.query === "string";
    return Array.isArray(found) ? found.filter(isView).map(({ name, query }) => ({ name, query })).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

/** With this view, in the place of one with its name. @param {View[]} before @param {View} view */
export const withView = (before, view) => [...before.filter((each) => each.name !== view.name), view].slice(-MOST);

/** What of an address makes a view: the filter and the columns. @param {URLSearchParams} query */
export const queryOfView = (query) => new URLSearchParams([...query].filter(([name]) => name === "q" || name === "columns")).toString();

/** @param {View[]} next */
function keep(next) {
  views.value = next;
  localStorage.setItem(KEY, JSON.stringify(next));
}

/** @param {View} view */
export const hrefOfView = (view) => hrefOf("/jobs", Object.fromEntries(new URLSearchParams(view.query)));

export function SavedViews() {
  const [isOpen, setOpen] = useState(false);
  const query = queryOfView(place.value.query);
  const save = async (/** @type {FormData} */ form) => {
    const name = String(form.get("name")).trim();
    if (!name) throw new Error("Give it a name.");
    keep(withView(views.value, { name, query }));
    toast(`The view “${name}” is kept in this browser.`);
  };
  return html`<nav class="chips saved" aria-label="Saved views">
    ${views.value.map((each) => html`<span class="chip" key=${each.name}>
      <a href=${hrefOfView(each)} aria-current=${each.query === query ? "true" : null}><bdi>${each.name}</bdi></a>
      <button class="plain" aria-label="Forget the view ${each.name}" title="Forget this view"
        onClick=${() => keep(views.value.filter((other) => other !== each))}>✕</button></span>`)}
    <button class="plain" onClick=${() => setOpen(true)}>Save this view</button>
  </nav>
  ${isOpen ? html`<${FormDialog} title="Save this view" verb="Save it" onClose=${() => setOpen(false)} onSend=${save}>
    <p>Its filter and its columns are kept in this browser. To give it to others, send them its address.</p>
    <label>Name <input name="name" required maxlength="80" autofocus autocomplete="off" /></label><//>` : null}`;
}
