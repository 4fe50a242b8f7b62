// States and shares as coloured words.
import { html } from "../base/html.js";

/** @type {Record<string, string>} */
const TONES = {
  completed: "good", running: "busy", claimed: "busy", failed: "bad", cancelled: "warn", blocked: "warn", waiting: "warn",
  ready: "good", paused: "warn", draining: "warn", stale: "bad", stopped: "",
};

/** @param {{state: string}} props */
export const State = ({ state }) => html`<span class="badge" data-tone=${TONES[state] ?? ""}>${state}</span>`;

/** @param {string} state */
export const toneOf = (state) => TONES[state] ?? "";

/** How full something is: green below 50, then yellow, amber from 75, red from 90. @param {number} share */
export const toneOfShare = (share) => (share >= 0.9 ? "bad" : share >= 0.5 ? "warn" : "good");

/** @param {{share: number | null, label: string, isPlain?: boolean}} props isPlain: it is nothing bad to be full */
export function Gauge({ share, label, isPlain = false }) {
  if (share === null) return html`<span class="quiet">–</span>`;
  const shown = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return html`<span class="gauge" data-tone=${isPlain ? "busy" : toneOfShare(share)} role="img" aria-label="${label}: ${shown} %"
    ><i style=${{ width: `${shown}%` }}></i></span> <span class="quiet">${shown} %</span>`;
}
