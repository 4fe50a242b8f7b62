// Short messages in the corner. Those about errors stay until somebody has read them.
import { html, signal } from "../base/html.js";
import { Wrong } from "./states.js";

/** @typedef {{id: number, tone: string, said: unknown}} Toast */

const GOOD_MILLISECONDS = 6000;
const MOST = 5;
export const toasts = signal(/** @type {Toast[]} */ ([]));
let last = 0;

/** @param {unknown} said a text, or an error @param {string} [tone] */
export function toast(said, tone = "good") {
  const id = ++last;
  toasts.value = [...toasts.value.filter((each) => String(each.said) !== String(said)), { id, tone, said }].slice(-MOST);
  // Whoever points at one is reading.
  const fade = () => setTimeout(() => (document.querySelector(".toasts:hover") ? fade() : dismiss(id)), GOOD_MILLISECONDS);
  if (tone === "good") fade();
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
    toast(error, "bad");
    return false;
  }
}

export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${toasts.value.map(
      (each) => html`<div class="toast" data-tone=${each.tone} key=${each.id}>
        <${Wrong} error=${each.said} />
        <button class="plain" aria-label="Dismiss" onClick=${() => dismiss(each.id)}>✕</button>
      </div>`,
    )}
  </div>`;
}
