// Pausing a queue, with the reason for whoever wonders; and resuming it.
import { call } from "../../../base/api.js";
import { html, useState } from "../../../base/html.js";
import { Dialog, Problem, useSending } from "../../../parts/dialog.js";
import { attempt, toast } from "../../../parts/toasts.js";

/** The path of a queue in the API. @param {string} queue */
export const pathOfQueue = (queue) => `/api/queues/${encodeURIComponent(queue)}`;

/** @param {{queue: string, isPaused: boolean, onDone: () => void}} props */
export function PauseButton({ queue, isPaused, onDone }) {
  const [isOpen, setOpen] = useState(false);
  const { problem, send } = useSending();
  const resume = () => attempt(async () => {
    await call("POST", `${pathOfQueue(queue)}/resume`);
    toast(`Queue ${queue} is claimed from again.`);
    onDone();
  });
  const pause = (/** @type {any} */ event) => {
    event.preventDefault();
    const reason = String(new FormData(event.target).get("reason") ?? "").trim();
    return send(async () => {
      await call("POST", `${pathOfQueue(queue)}/pause`, { query: { reason } });
      toast(`Queue ${queue} is paused.`);
      setOpen(false);
      onDone();
    });
  };
  return html`${isPaused
    ? html`<button onClick=${resume}>Resume<span class="unseen"> ${queue}</span></button>`
    : html`<button onClick=${() => setOpen(true)}>Pause<span class="unseen"> ${queue}</span></button>`}
  ${isOpen ? html`<${Dialog} title="Pause queue ${queue}?" onClose=${() => setOpen(false)}>
    <p>Nothing more is claimed from it. Jobs that run go on, and jobs can still be enqueued.</p>
    <form onSubmit=${pause}>
      <label>Why (shown to whoever wonders) <input name="reason" maxlength="500" autofocus /></label>
      <${Problem} text=${problem} />
      <div class="actions"><button type="button" onClick=${() => setOpen(false)}>Leave it</button><button class="first">Pause it</button></div>
    </form><//>` : null}`;
}
