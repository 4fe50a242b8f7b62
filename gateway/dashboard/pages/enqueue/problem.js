// What is wrong with a field of a form, beside it.
import { html } from "../../base/html.js";

/** @param {Record<string, string>} problems @param {string} name */
export const toldOf = (problems, name) => (problems[name] ? { "aria-invalid": "true", "aria-describedby": `problem-${name}` } : {});

/** @param {{problems: Record<string, string>, name: string}} props */
export const Problem = ({ problems, name }) => (problems[name] ? html`<span id="problem-${name}" class="badge" data-tone="bad" role="alert">${problems[name]}</span>` : null);
