// Fields that narrow a long list down. What they say is in the address.
import { html } from "../base/html.js";
import { go, hrefOf, place } from "../base/router.js";

/** @param {{path: string, fields: {name: string, title: string, options?: [string, string][]}[], keep?: Record<string, any>}} props */
export function Fields({ path, fields, keep = {} }) {
  const { query } = place.value;
  const given = fields.map(({ name }) => query.get(name) ?? "");
  const send = (/** @type {any} */ event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    go(hrefOf(path, { ...keep, ...Object.fromEntries(fields.map(({ name }) => [name, String(form.get(name)).trim()])) }));
  };
  return html`<form class="fields" role="search" aria-label="Narrow down" onSubmit=${send} key=${given.join("\n")}>
    ${fields.map(({ name, title, options }, index) => html`<label key=${name}>${title} ${options
      ? html`<select name=${name}>${options.map(([value, text]) => html`<option key=${value} value=${value} selected=${value === given[index]}>${text}</option>`)}</select>`
      : html`<input name=${name} defaultValue=${given[index]} autocomplete="off" />`}</label>`)}
    <button>Find</button>
    ${given.some(Boolean) ? html`<a class="button" href=${hrefOf(path, keep)}>All</a>` : null}
  </form>`;
}

/** Whether a list also has what is over. @param {{path: string, usual: string}} props usual: what it has else */
export function Everything({ path, usual }) {
  const everything = place.value.query.get("everything");
  return html`<nav class="chips" aria-label="Which"><a href=${hrefOf(path)} aria-current=${everything ? null : "true"}>${usual}</a>
    <a href=${hrefOf(path, { everything: "true" })} aria-current=${everything ? "true" : null}>all</a></nav>`;
}
