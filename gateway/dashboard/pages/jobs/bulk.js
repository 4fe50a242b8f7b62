// What can be done with many jobs: first a trial that says how many would change and why some would not, then the real thing.
import { html, useState } from "../../base/html.js";
import { attempt } from "../../parts/toasts.js";
import { tryOut, Verdict } from "../../parts/trial.js";

/** @typedef {{name: string, verb: string, done: string, isDangerous?: boolean}} Action */

/** @type {Action[]} */
const ACTIONS = [
  { name: "retry", verb: "Retry", done: "made to run again" },
  { name: "trigger", verb: "Run now", done: "made due" },
  { name: "cancel", verb: "Cancel", done: "cancelled", isDangerous: true },
  { name: "delete", verb: "Delete", done: "deleted", isDangerous: true },
];
const STATES_OF = {
  retry: ["failed", "cancelled"],
  trigger: [],
  cancel: ["pending", "scheduled", "waiting", "blocked", "claimed", "running"],
  delete: ["pending", "scheduled", "waiting", "blocked", "completed", "failed", "cancelled"],
};

/**
 * The body of a bulk call for all that a filter finds, or why there is none.
 * @param {string} action
 * @param {Record<string, any>} filter as of `GET /api/jobs`
 * @returns {{body?: Record<string, any>, problem?: string}}
 */
export function bodyFor(action, filter) {
  const { state, ...others } = filter;
  const states = STATES_OF[/** @type {"retry"} */ (action)];
  if (state === "stale") return { problem: "jobs whose lease has run out are taken back from the overview or the page of their worker, or chosen one by one" };
  if (action === "trigger" && state && state !== "scheduled") return { problem: "only scheduled jobs can be run now" };
  if (action !== "trigger" && state && !states.includes(state)) return { problem: `jobs that are ${state} are not for that` };
  const body = { ...others, ...(state && action !== "trigger" ? { state } : {}) };
  return { body: Object.keys(body).length ? body : { all: true } };
}

/** @param {{ids: number[], filter: Record<string, any>, terms: any[], onDone: () => void}} props */
export function Bulk({ ids, filter, terms, onDone }) {
  const [trial, setTrial] = useState(/** @type {any} */ (null));
  const what = ids.length ? `${ids.length} chosen` : terms.length ? "all that match" : "all jobs";
  const start = (/** @type {Action} */ action) => attempt(async () => {
    const { body, problem } = ids.length ? { body: { ids } } : bodyFor(action.name, filter);
    if (problem) throw new Error(`${action.verb}: ${problem}.`);
    const act = { ...action, path: `/api/jobs/bulk/${action.name}`, body };
    setTrial({ act, answer: await tryOut(act) });
  });
  return html`<div class="actions" role="group" aria-label="Do with ${what}">
      <span class="quiet" data-part="what">${what}:</span>
      ${ACTIONS.map((each) => html`<button class=${each.isDangerous ? "danger" : ""} onClick=${() => start(each)}>${each.verb}</button>`)}
    </div>
    ${trial ? html`<${Verdict} ...${trial} onClose=${() => setTrial(null)} onDone=${onDone} />` : null}`;
}
