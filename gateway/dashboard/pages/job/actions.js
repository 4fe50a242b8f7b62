// What can be done with one job.
import { call } from "../../base/api.js";
import { html, useState } from "../../base/html.js";
import { parseJson, writeJson } from "../../base/json.js";
import { go, hrefOf } from "../../base/router.js";
import { may } from "../../base/session.js";
import { Confirm, FormDialog, textsOf } from "../../parts/dialog.js";
import { attempt, toast } from "../../parts/toasts.js";

const OPEN = ["pending", "scheduled", "waiting", "blocked", "claimed", "running"];
const HELD = ["claimed", "running"];
const REOPENED = ["failed", "cancelled"];

/** @param {{job: any, onDone: () => void}} props */
export function Actions({ job, onDone }) {
  const [open, setOpen] = useState("");
  const close = () => setOpen("");
  const path = `/api/jobs/${job.id}`;
  const run = (/** @type {string} */ action, /** @type {string} */ text) => attempt(async () => {
    await call("POST", `${path}/${action}`);
    toast(text);
    onDone();
  });
  const isOpen = OPEN.includes(job.state);
  return html`<div class="actions" role="group" aria-label="Do with this job">
    ${may("operate") ? html`
      ${REOPENED.includes(job.state) ? html`<button onClick=${() => run("retry", "It runs again.")}>Retry</button>` : null}
      ${job.state === "scheduled" ? html`<button onClick=${() => run("trigger", "It is due now.")}>Run now</button>` : null}
      ${HELD.includes(job.state) || job.state === "completed" ? null : html`<button onClick=${() => setOpen("edit")}>Edit</button>`}
      ${isOpen ? html`<button class="danger" onClick=${() => setOpen("cancel")}>Cancel</button>` : null}` : null}
    ${may("enqueue") && !isHidden(job) ? html`<button onClick=${() => setOpen("copy")}>Duplicate</button>` : null}
  </div>
  ${open === "cancel" ? html`<${Confirm} title="Cancel job ${String(job.id)}?" verb="Cancel it" isDangerous=${true} onClose=${close}
    onYes=${() => run("cancel", "It is cancelled.")}>
    <p>${HELD.includes(job.state) ? "Its handler is stopped at the next chance; what it did until then stays." : "It will not run. It can be retried later."}</p><//>` : null}
  ${open === "copy" ? html`<${Confirm} title="Enqueue the same once more?" verb="Enqueue" onClose=${close} onYes=${() => attempt(() => duplicate(job))}>
    <p>A new job of kind <bdi>${job.kind}</bdi> with the same args, queue, key, priority and metadata. It may run at once.</p>
    <p><a href=${hrefOf("/enqueue", { from: job.id })}>Change it first</a></p><//>` : null}
  ${open === "edit" ? html`<${Edit} job=${job} onClose=${close} onDone=${onDone} />` : null}`;
}

/** Whether something of it is not shown to this token: a copy would not be the same. @param {any} job */
const isHidden = ({ args, metadata }) => writeJson([args, metadata], 0).includes('"[hidden]"');

/** @param {any} job */
async function duplicate({ kind, args, queue, key, priority, metadata, max_attempts }) {
  const body = { kind, args, queue, priority, max_attempts, ...(key === null ? {} : { key }), ...(metadata === null ? {} : { metadata }) };
  const made = await call("POST", "/api/jobs", { body });
  toast(made.is_new ? `Job ${made.id} is enqueued.` : `Job ${made.id} is there already.`);
  go(hrefOf(`/jobs/${made.id}`));
}

/** @param {{job: any, onClose: () => void, onDone: () => void}} props */
function Edit({ job, onClose, onDone }) {
  const change = async (/** @type {FormData} */ form) => {
    const body = changesOf(job, textsOf(form));
    if (Object.keys(body).length) await call("PATCH", `/api/jobs/${job.id}`, { body });
    toast("It is changed.");
    onDone();
  };
  return html`<${FormDialog} title="Change job ${String(job.id)}" verb="Change it" onClose=${onClose} onSend=${change}>
      <label>Args <textarea name="args" spellcheck=${false} defaultValue=${writeJson(job.args)}></textarea></label>
      <label>Metadata <textarea name="metadata" spellcheck=${false} defaultValue=${job.metadata === null ? "" : writeJson(job.metadata)}></textarea></label>
      <label>Queue <input name="queue" required defaultValue=${job.queue} /></label>
      <label>Priority <input name="priority" type="number" required defaultValue=${String(job.priority)} /></label>
      <label>Attempts at most <input name="max_attempts" type="number" min="1" required defaultValue=${String(job.max_attempts)} /></label>
      <label>Why (for the timeline) <input name="reason" /></label><//>`;
}

/**
 * What a form changes of a job.
 * @param {any} job
 * @param {Record<string, string>} form
 * @returns {Record<string, any>} nothing where all is as it was
 */
export function changesOf(job, form) {
  /** @type {Record<string, any>} */
  const changes = {};
  for (const name of ["args", "metadata"]) {
    if (name === "metadata" && !form.metadata.trim()) continue;
    let value;
    try {
      value = parseJson(form[name]);
    } catch {
      throw new Error(`The ${name} are no JSON.`);
    }
    if (writeJson(value, 0) !== writeJson(job[name], 0)) changes[name] = value;
  }
  if (form.queue !== job.queue) changes.queue = form.queue;
  if (Number(form.priority) !== job.priority) changes.priority = Number(form.priority);
  if (Number(form.max_attempts) !== job.max_attempts) changes.max_attempts = Number(form.max_attempts);
  if (Object.keys(changes).length && form.reason) changes.reason = form.reason;
  return changes;
}
