// JSON as a tree that opens and closes, and can be copied, with all digits of its numbers.
import { html } from "../base/html.js";
import { BigNumber, writeJson } from "../base/json.js";
import { toast } from "./toasts.js";

const OPEN_DEPTH = 2;
const MOST_CHILDREN = 200;

/** @param {{value: any, title: string}} props */
export function JsonCard({ value, title }) {
  const isNothing = value === null || value === undefined;
  return html`<section class="card">
    <div class="copyable"><h2>${title}</h2>
      ${isNothing ? null : html`<button class="plain" onClick=${() => copy(writeJson(value))}>Copy<span class="unseen"> ${title}</span></button>`}
    </div>
    ${isNothing ? html`<p class="quiet">none</p>` : html`<div class="tree"><${Node} value=${value} depth=${0} /></div>`}
  </section>`;
}

/** @param {{name?: string, value: any, depth: number}} props @returns {any} */
function Node({ name, value, depth }) {
  const label = name === undefined ? null : html`<bdi>${name}</bdi>: `;
  if (value === null || typeof value !== "object" || value instanceof BigNumber) return html`${label}<${Leaf} value=${value} />`;
  const names = Object.keys(value);
  const about = Array.isArray(value) ? `[${names.length}]` : `{${names.length}}`;
  if (names.length === 0) return html`${label}<span class="quiet">${Array.isArray(value) ? "[]" : "{}"}</span>`;
  return html`<details open=${depth < OPEN_DEPTH}><summary>${label}<span class="quiet">${about}</span></summary>
    <ul>
      ${names.slice(0, MOST_CHILDREN).map((each) => html`<li key=${each}><${Node} name=${each} value=${value[each]} depth=${depth + 1} /></li>`)}
      ${names.length > MOST_CHILDREN ? html`<li class="quiet">and ${names.length - MOST_CHILDREN} more: copy shows all</li>` : null}
    </ul></details>`;
}

/** @param {{value: any}} props */
function Leaf({ value }) {
  if (typeof value === "string") return html`<bdi class="text">"${value}"</bdi>`;
  return html`<span class="value">${String(value)}</span>`;
}

/** Copy text, on plain HTTP, too, where browsers have no clipboard for scripts. @param {string} text */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast("Copied.");
}
