// Short messages in the corner. Those about errors stay until somebody has read them.
import { html, signal } from "../base/html.js";

/** @typedef {{id: number, tone: string, text: string}} Toast */

const GOOD_MILLISECONDS = 6000;
const MOST = 5;
export const toasts = signal(/** @type {Toast[]} */ ([]));
let last = 0;

/** @param {string} text @param {string} [tone] */
export function toast(text, tone = "good") {
  const id = ++last;
  toasts.value = [...toasts.value.filter((each) => each.text !== text), { id, tone, text }].slice(-MOST);
  if (tone === "good") setTimeout(() => dismiss(id), GOOD_MILLISECONDS);
}

/** @param {number} id */
function dismiss(id) {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

/** Do something, and say what went wrong. @param {() => Promise<any>} work @returns {Promise<boolean>} whether it was done */
export async function attempt(work) {
  try {
    await work();
    return true;
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), "bad");
    return false;
  }
}

export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${toasts.value.map(
      (each) => html`<div class="toast" data-tone=${each.tone} key=${each.id}>
        <span>${each.text}</span>
        <button class="plain" aria-label="Dismiss" onClick=${() => dismiss(each.id)}>✕</button>
      </div>`,
    )}
  </div>`;
}
