// Questions before something is done, and what went wrong with the answer: it stands in the dialog, since toasts lie behind it.
import { html, useEffect, useRef, useState } from "../base/html.js";
import { Wrong } from "./states.js";
import { attempt } from "./toasts.js";

/**
 * A dialog that is open as long as it is rendered.
 * @param {{title: string, onClose: () => void, class?: string, children?: any}} props
 */
export function Dialog({ title, onClose, class: name = "", children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return html`<dialog ref=${element} class=${name} aria-label=${title} onClose=${onClose}
    onClick=${(/** @type {MouseEvent} */ event) => event.target === element.current && onClose()}>
    <div>${name ? null : html`<h2>${title}</h2>`}${children}</div>
  </dialog>`;
}

/**
 * Asks before it does something.
 * @param {{title: string, verb: string, isDangerous?: boolean, onClose: () => void, onYes: () => Promise<any>, children?: any}} props
 */
export function Confirm({ title, verb, isDangerous = false, onClose, onYes, children }) {
  return html`<${Dialog} title=${title} onClose=${onClose}>
    ${children}
    <div class="actions">
      <button onClick=${onClose}>Leave it</button>
      <button class=${isDangerous ? "danger" : "first"} onClick=${async () => { await onYes(); onClose(); }}>${verb}</button>
    </div>
  <//>`;
}

/**
 * A button that asks first.
 * @param {{label: string, about?: string, title: string, verb: string, isDangerous?: boolean, onYes: () => Promise<any>, children?: any}} props
 *   about: what it is about, for who does not see beside what it stands
 */
export function Asking({ label, about = "", onYes, children, ...question }) {
  const [isOpen, setOpen] = useState(false);
  return html`<button class=${question.isDangerous ? "danger" : ""} onClick=${() => setOpen(true)}>${label}${about ? html`<span class="unseen"> ${about}</span>` : null}</button>
    ${isOpen ? html`<${Confirm} ...${question} onClose=${() => setOpen(false)} onYes=${() => attempt(onYes)}>${children}<//>` : null}`;
}

/** The fields of a form as text. @param {FormData} form @returns {Record<string, string>} */
export const textsOf = (form) => Object.fromEntries([...form].map(([name, value]) => [name, String(value)]));

/**
 * A form in a dialog: it closes when what it says is done, and else shows what went wrong.
 * @param {{title: string, verb: string, onClose: () => void, onSend: (form: FormData) => Promise<any>, form?: Record<string, any>,
 *   others?: (send: (work: () => Promise<any>) => Promise<void>) => any, children?: any}} props
 *   form: attributes of the form; others: more buttons, which send something else
 */
export function FormDialog({ title, verb, onClose, onSend, form = {}, others = () => null, children }) {
  const [problem, setProblem] = useState(/** @type {unknown} */ (null));
  const send = async (/** @type {() => Promise<any>} */ work) => {
    try {
      await work();
      onClose();
    } catch (error) {
      setProblem(error);
    }
  };
  const submit = (/** @type {any} */ event) => {
    event.preventDefault();
    return send(() => onSend(new FormData(event.target)));
  };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form ...${form} onSubmit=${submit}>${children}
      ${problem ? html`<div class="trouble whole" data-tone="bad" role="alert"><${Wrong} error=${problem} /></div>` : null}
      <div class="whole actions">${others(send)}<button type="button" onClick=${onClose}>Leave it</button><button class="first">${verb}</button></div>
    </form><//>`;
}
