// Fields that narrow a long list down. What they say is in the address.
import { html } from "../base/html.js";
import { go, hrefOf, place } from "../base/router.js";

/** @param {{path: string, fields: {name: string, title: string}[], keep?: Record<string, any>}} props */
export function Fields({ path, fields, keep = {} }) {
  const { query } = place.value;
  const given = fields.map(({ name }) => query.get(name) ?? "");
  const send = (/** @type {any} */ event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    go(hrefOf(path, { ...keep, ...Object.fromEntries(fields.map(({ name }) => [name, String(form.get(name)).trim()])) }));
  };
  return html`<form class="fields" role="search" aria-label="Narrow down" onSubmit=${send} key=${given.join("\n")}>
    ${fields.map(({ name, title }, index) => html`<label key=${name}>${title} <input name=${name} defaultValue=${given[index]} autocomplete="off" /></label>`)}
    <button>Find</button>
    ${given.some(Boolean) ? html`<a class="button" href=${hrefOf(path, keep)}>All</a>` : null}
  </form>`;
}
