// Whether waiting jobs of a queue gain priority.
import { call } from "../../../base/api.js";
import { html, useState } from "../../../base/html.js";
import { FormDialog } from "../../../parts/dialog.js";
import { toast } from "../../../parts/toasts.js";
import { pathOfQueue } from "./pause.js";

const UNITS = [["1", "seconds"], ["60", "minutes"], ["3600", "hours"]];

/** @param {{queue: string, seconds: number | null, onDone: () => void}} props */
export function AgeingButton({ queue, seconds, onDone }) {
  const [isOpen, setOpen] = useState(false);
  const set = async (/** @type {number | null} */ every) => {
    await call("PUT", `${pathOfQueue(queue)}/ageing`, { body: { every } });
    toast(every === null ? "Its jobs keep their priority." : "Its jobs gain priority while they wait.");
    onDone();
  };
  const unit = UNITS.findLast(([size]) => seconds !== null && seconds % Number(size) === 0)?.[0] ?? "60";
  return html`<button onClick=${() => setOpen(true)}>Ageing</button>
    ${isOpen ? html`<${FormDialog} title="Have waiting jobs gain priority" verb="Set it" onClose=${() => setOpen(false)}
      onSend=${(/** @type {FormData} */ form) => set(Number(form.get("every")) * Number(form.get("unit")))}
      others=${(/** @type {any} */ send) => (seconds === null ? null : html`<button type="button" class="danger" onClick=${() => send(() => set(null))}>Turn it off</button>`)}>
      <p>A pending job gains one priority for each span that it has waited, up to the highest that is pending. So urgent jobs do not keep the others from running for ever.</p>
      <label>One priority more for every
        <span class="pair"><input name="every" type="number" min="1" step="any" required autofocus defaultValue=${String(seconds === null ? 5 : seconds / Number(unit))} />
        <select name="unit" aria-label="Unit">${UNITS.map(([size, name]) => html`<option value=${size} selected=${size === unit}>${name}</option>`)}</select></span></label><//>` : null}`;
}
