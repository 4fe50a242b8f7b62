// States as a glyph and a word in their colour, and shares as bars: never as colour alone.
import { html } from "../base/html.js";

/** @type {Record<string, string>} */
const TONES = {
  scheduled: "later", pending: "ready", waiting: "held", blocked: "held", claimed: "busy", running: "busy", completed: "good", failed: "bad", cancelled: "stop",
  ready: "good", paused: "held", draining: "held", stale: "bad", stopped: "stop",
};
const RING = "M7 1.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 1 1 0-11";
/** What is drawn as lines, and what is filled; 14 by 14. @type {Record<string, string[]>} */
const GLYPHS = {
  scheduled: [`${RING}M7 4v3l2 1.5`], pending: [RING], waiting: ["M4 4.8a2.2 2.2 0 1 1 0 4.4a2.2 2.2 0 1 1 0-4.4M6.2 7H13v2M10.5 7v2"],
  blocked: ["M3 6.5h8v6H3zM4.8 6.5v-2a2.2 2.2 0 0 1 4.4 0v2"], claimed: [RING, "M7 1.5a5.5 5.5 0 0 1 0 11z"], running: [RING, "M7 4.6a2.4 2.4 0 1 1 0 4.8a2.4 2.4 0 1 1 0-4.8"],
  completed: ["M2 7.5l3.2 3.2L12 3.5"], failed: ["M4.8 4.8l4.4 4.4M9.2 4.8l-4.4 4.4", "M4.5 1h5L13 4.5v5L9.5 13h-5L1 9.5v-5z"], cancelled: [`${RING}M4.2 7h5.6`],
  stale: ["M7 1.8L13 12.2H1zM7 5.5v3.2M7 10v.6"], "back-off": ["M3 3l4 3.5L11 3M3 7.5L7 11l4-3.5"], paused: ["M4.5 2.5v9M9.5 2.5v9"],
};
const SAME = { ready: "completed", draining: "back-off", stopped: "cancelled" };

/** @param {{of: string}} props the name of a state */
export function Glyph({ of }) {
  const [lines, filled] = GLYPHS[SAME[/** @type {"ready"} */ (of)] ?? of] ?? [];
  return lines ? html`<svg class="glyph" data-of=${of} viewBox="0 0 14 14" aria-hidden="true">${filled ? html`<path class="filled" d=${filled} />` : null}<path d=${lines} /></svg>` : null;
}

/** @param {{state: string}} props */
export const State = ({ state }) => html`<span class="badge state" data-tone=${TONES[state] ?? ""}><${Glyph} of=${state} />${state}</span>`;

/** @param {string} state */
export const toneOf = (state) => TONES[state] ?? "";

/** How full something is: green below 50, yellow to 74, amber to 89, red from 90. @param {number} share */
export function levelOf(share) {
  const percent = Math.round(share * 100);
  return percent >= 90 ? "red" : percent >= 75 ? "amber" : percent >= 50 ? "yellow" : "green";
}

/** @param {{share: number | null, label: string, isPlain?: boolean}} props isPlain: it is nothing bad to be full */
export function Gauge({ share, label, isPlain = false }) {
  if (share === null) return html`<span class="quiet">–</span>`;
  const shown = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return html`<span class="gauge" data-tone=${isPlain ? "busy" : null} data-level=${isPlain ? null : levelOf(share)} role="img" aria-label="${label}: ${shown} %"
    ><i style=${{ width: `${shown}%` }}></i></span> <span class="quiet">${shown} %</span>`;
}
