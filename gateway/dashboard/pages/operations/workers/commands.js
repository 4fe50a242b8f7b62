// Telling workers what to do: pause, resume, other slots, decommission. What they answer is shown.
import { call } from "../../../base/api.js";
import { html, useState } from "../../../base/html.js";
import { Asking, FormDialog } from "../../../parts/dialog.js";
import { attempt, toast } from "../../../parts/toasts.js";

const PATIENCE = "wait=5";

/** The path of a worker in the API. @param {any} worker */
export const pathOfWorker = (worker) => `/api/workers/${encodeURIComponent(worker.incarnation)}`;

/**
 * Send a command and wait a little for its answer.
 * @param {any} worker
 * @param {string} command
 * @param {Record<string, number>} [args]
 * @returns {Promise<any>} the command as it then stands
 */
export function sendCommand(worker, command, args = {}) {
  return call("POST", `${pathOfWorker(worker)}/commands`, { body: { command, args }, headers: { Prefer: PATIENCE } });
}

/** Send one to each, and say how it went. @param {any[]} workers @param {string} command @param {Record<string, number>} args @param {string} done */
async function sendToAll(workers, command, args, done) {
  const answers = await Promise.all(workers.map((each) => sendCommand(each, command, args)));
  const failed = answers.find((each) => each.state === "failed");
  if (failed) throw new Error(`${failed.worker_id ?? "A worker"}: ${failed.error}`);
  const open = answers.filter((each) => each.state !== "done").length;
  toast(open ? `${open} of ${workers.length} worker(s) have not answered yet; they will with their next heartbeat.` : done);
}

/** What can be done with these workers. @param {{workers: any[], onDone: () => void, isSmall?: boolean}} props */
export function Commands({ workers, onDone, isSmall = false }) {
  const [isScaling, setScaling] = useState(false);
  const live = workers.filter((each) => each.state === "ready" || each.state === "paused");
  const paused = live.filter((each) => each.state === "paused");
  const running = live.filter((each) => each.state === "ready");
  const names = workers.length === 1 ? workers[0].name : `${workers.length} workers`;
  const run = async (/** @type {any[]} */ to, /** @type {string} */ command, /** @type {string} */ done, /** @type {Record<string, number>} */ args = {}) => {
    await sendToAll(to, command, args, done);
    onDone();
  };
  if (live.length === 0) return null;
  const aside = isSmall ? html`<span class="unseen"> ${names}</span>` : null;
  return html`<div class="actions ${isSmall ? "end" : ""}" role="group" aria-label="Do with ${names}">
    ${running.length ? html`<button onClick=${() => attempt(() => run(running, "pause", `${names}: paused.`))}>Pause${aside}</button>` : null}
    ${paused.length ? html`<button onClick=${() => attempt(() => run(paused, "resume", `${names}: claims again.`))}>Resume${aside}</button>` : null}
    <button onClick=${() => setScaling(true)}>Scale${aside}</button>
    <${Asking} label="Decommission" about=${isSmall ? names : ""} title="Decommission ${names}?" verb="Decommission" isDangerous=${true} onYes=${() => run(live, "decommission", `${names}: ends when its jobs have ended.`)}>
    <p>It claims nothing more, hands back what has not begun, and ends when its running jobs have ended. Below leasehold up, --workers, honcho and foreman its process stays, idle; Kubernetes and systemd may start one that ends again.</p><//>
  </div>
  ${isScaling ? html`<${Scale} workers=${live} names=${names} onClose=${() => setScaling(false)} run=${run} />` : null}`;
}

/** @param {{workers: any[], names: string, onClose: () => void, run: (...args: any[]) => Promise<any>}} props */
function Scale({ workers, names, onClose, run }) {
  const set = (/** @type {FormData} */ form) => {
    const slots = Number(form.get("slots"));
    return run(workers, "set_concurrency", `${names}: ${slots} slots from now on.`, { slots });
  };
  return html`<${FormDialog} title="Slots of ${names}" verb="Set it" onClose=${onClose} onSend=${set}>
    <p>So many jobs run at once, until the worker ends. Surplus slots end with their job.</p>
    <label>Slots <input name="slots" type="number" min="1" max="10000" required autofocus defaultValue=${String(workers[0].slots)} /></label><//>`;
}
