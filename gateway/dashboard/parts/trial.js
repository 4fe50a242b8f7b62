// What is done with many jobs at once: first a trial that says how many would change and why some would not, then the real thing.
import { call } from "../base/api.js";
import { html, useState } from "../base/html.js";
import { count } from "../base/time.js";
import { Confirm } from "./dialog.js";
import { attempt, toast } from "./toasts.js";

const MOST = 1000;

/** @typedef {{path: string, body: any, verb: string, done: string, isDangerous?: boolean, order?: string}} Act
 *  done: as in “3 job(s) made to run again”; order: which jobs a call takes first */

/** Try it: nothing changes. @param {Act} act @returns {Promise<any>} */
export const tryOut = ({ path, body }) => call("POST", path, { body: { ...body, limit: MOST, dry_run: true } });

/**
 * A button that tries first and asks then.
 * @param {Act & {label: string, onDone: () => void}} props
 */
export function Trial({ label, onDone, ...act }) {
  const [answer, setAnswer] = useState(/** @type {any} */ (null));
  return html`<button class=${act.isDangerous ? "danger" : ""} onClick=${() => attempt(async () => setAnswer(await tryOut(act)))}>${label}</button>
    ${answer ? html`<${Verdict} act=${act} answer=${answer} onClose=${() => setAnswer(null)} onDone=${onDone} />` : null}`;
}

/** What a trial said, and the question whether to do it. @param {{act: Act, answer: any, onClose: () => void, onDone: () => void}} props */
export function Verdict({ act, answer, onClose, onDone }) {
  const really = () => attempt(async () => {
    const done = await call("POST", act.path, { body: { ...act.body, limit: MOST, dry_run: false } });
    toast(`${count(done.changed)} job(s) ${act.done}${done.skipped ? `, ${count(done.skipped)} left as they are` : ""}.`);
    onDone();
  });
  const reasons = reasonsOf(answer.items);
  if (answer.changed === 0) {
    return html`<${Confirm} title="${act.verb}: no job would change" verb="All right" onClose=${onClose} onYes=${async () => {}}>
      <${Reasons} reasons=${reasons} /><//>`;
  }
  return html`<${Confirm} title="${act.verb} ${count(answer.changed)} job(s)?" verb="${act.verb} ${count(answer.changed)}"
    isDangerous=${act.isDangerous} onClose=${onClose} onYes=${really}>
    ${answer.is_limited ? html`<p>One call takes ${MOST} jobs, ${act.order ?? "the oldest first"}. There may be more that match: do it again for those.</p>` : null}
    ${answer.skipped ? html`<p>${count(answer.skipped)} would stay as they are:</p>` : null}
    <${Reasons} reasons=${reasons} />
  <//>`;
}

/** @param {{reasons: [string, number][]}} props */
const Reasons = ({ reasons }) => html`<ul>${reasons.map(([reason, jobs]) => html`<li>${count(jobs)} × <bdi>${reason}</bdi></li>`)}</ul>`;

/**
 * Why jobs stay as they are, the most frequent reason first. Numbers in reasons do not tell them apart.
 * @param {{changed: boolean, reason: string | null}[]} items
 * @returns {[string, number][]}
 */
export function reasonsOf(items) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const each of items) {
    if (each.changed) continue;
    const reason = (each.reason ?? "unknown").replace(/\d+/g, "…");
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, 8);
}
