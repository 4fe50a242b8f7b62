// The args of a new job: a form where the schema of its kind is known, and JSON else, or on demand.
import { html, useState } from "../../base/html.js";
import { writeJson } from "../../base/json.js";

/** @typedef {import("./schema.js").Field} Field */

/** @param {Record<string, string>} problems @param {string} name */
export const problemOf = (problems, name) => (problems[name] ? { "aria-invalid": "true", "aria-describedby": `problem-${name}` } : {});

/** @param {{problems: Record<string, string>, name: string}} props */
export const Problem = ({ problems, name }) => (problems[name] ? html`<span id="problem-${name}" class="badge" data-tone="bad" role="alert">${problems[name]}</span>` : null);

/** How fields of the form are named, so that none is taken for one of the job. @param {string} name */
export const nameOf = (name) => `arg:${name}`;

/** @param {{fields: Field[] | null, args: any, problems: Record<string, string>, isPlain: boolean, onPlain: (isPlain: boolean) => void}} props */
export function Args({ fields, args, problems, isPlain, onPlain }) {
  const choice = fields ? html`<button type="button" class="plain" onClick=${() => onPlain(!isPlain)}>${isPlain ? "Fill in a form instead" : "Write JSON instead"}</button>` : null;
  if (!fields || isPlain) {
    return html`<div class="whole"><label>Args, a JSON object
      <textarea name="args" spellcheck=${false} defaultValue=${writeJson(args ?? {})} ...${problemOf(problems, "args")}></textarea>
      <${Problem} problems=${problems} name="args" /></label>${choice}</div>`;
  }
  return html`<fieldset class="whole args"><legend>Args</legend>
    <div class="form whole">${fields.map((each) => html`<${Input} key=${each.name} field=${each} problems=${problems} />`)}</div>${choice}</fieldset>`;
}

/** @param {{field: Field, problems: Record<string, string>}} props */
function Input({ field, problems }) {
  const name = nameOf(field.name);
  const [value, setValue] = useState(field.initial);
  const shared = { name, ...problemOf(problems, name), required: field.isRequired };
  const choices = field.type === "boolean" ? [true, false] : field.choices;
  const input = choices.length
    ? html`<select ...${shared} value=${value} onChange=${(/** @type {any} */ event) => setValue(event.target.value)}>
        <option value="">${field.mayBeNull ? "nothing" : "–"}</option>
        ${choices.map((each) => html`<option key=${writeJson(each, 0)} value=${writeJson(each, 0)}>${typeof each === "string" ? each : writeJson(each, 0)}</option>`)}</select>`
    : field.type === "json"
      ? html`<textarea ...${shared} class="short" spellcheck=${false} placeholder="JSON" defaultValue=${field.initial}></textarea>`
      : html`<input ...${shared} autocomplete="off" inputmode=${field.type === "text" ? null : "decimal"} defaultValue=${field.initial} />`;
  return html`<label class=${field.type === "json" ? "whole" : ""}><span><bdi>${field.label}</bdi>${field.isRequired ? null : html` <span class="quiet">may be left out</span>`}</span>
    ${input}${field.about ? html`<small>${field.about}</small>` : null}<${Problem} problems=${problems} name=${name} /></label>`;
}
