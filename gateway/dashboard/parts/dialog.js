// Questions before something is done, and what went wrong with the answer: it stands in the dialog, since toasts lie behind it.
import { html, useEffect, useRef, useState } from "../base/html.js";

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
 * @returns {{problem: string, send: (work: () => Promise<any>) => Promise<boolean>}} send: do it, and say whether it was done
 */
export function useSending() {
  const [problem, setProblem] = useState("");
  const send = async (/** @type {() => Promise<any>} */ work) => {
    try {
      await work();
      setProblem("");
      return true;
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      return false;
    }
  };
  return { problem, send };
}

/** @param {{text: string}} props */
export const Problem = ({ text }) => (text ? html`<div class="trouble" data-tone="bad" role="alert"><bdi>${text}</bdi></div>` : null);
