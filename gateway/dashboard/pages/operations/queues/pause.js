// Pausing a queue, with the reason for whoever wonders; and resuming it.
import { call } from "../../../base/api.js";
import { html, useState } from "../../../base/html.js";
import { FormDialog } from "../../../parts/dialog.js";
import { attempt, toast } from "../../../parts/toasts.js";

/** The path of a queue in the API. @param {string} queue */
export const pathOfQueue = (queue) => `/api/queues/${encodeURIComponent(queue)}`;

/** @param {{queue: string, isPaused: boolean, onDone: () => void}} props */
export function PauseButton({ queue, isPaused, onDone }) {
  const [isOpen, setOpen] = useState(false);
  const resume = () => attempt(async () => {
    await call("POST", `${pathOfQueue(queue)}/resume`);
    toast(`Queue ${queue} is claimed from again.`);
    onDone();
  });
  const pause = async (/** @type {FormData} */ form) => {
    await call("POST", `${pathOfQueue(queue)}/pause`, { query: { reason: String(form.get("reason")).trim() } });
    toast(`Queue ${queue} is paused.`);
    onDone();
  };
  return html`${isPaused
    ? html`<button onClick=${resume}>Resume<span class="unseen"> ${queue}</span></button>`
    : html`<button onClick=${() => setOpen(true)}>Pause<span class="unseen"> ${queue}</span></button>`}
  ${isOpen ? html`<${FormDialog} title="Pause queue ${queue}?" verb="Pause it" onClose=${() => setOpen(false)} onSend=${pause}>
    <p>Nothing more is claimed from it. Jobs that run go on, and jobs can still be enqueued.</p>
    <label>Why (shown to whoever wonders) <input name="reason" maxlength="500" autofocus /></label><//>` : null}`;
}
