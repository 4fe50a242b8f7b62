// What a small chart shows, as a table for readers of screens.
import { html } from "../../base/html.js";

/** @param {{caption: string, head: string[], rows: (string | number)[][]}} props the first cell of a row names it */
export const UnseenTable = ({ caption, head, rows }) => html`<div class="unseen"><table><caption>${caption}</caption>
  <thead><tr>${head.map((each) => html`<th key=${each} scope="col">${each}</th>`)}</tr></thead>
  <tbody>${rows.map(([name, ...cells], index) => html`<tr key=${index}><th scope="row"><bdi>${name}</bdi></th>${cells.map((each, at) => html`<td key=${at}><bdi>${each}</bdi></td>`)}</tr>`)}</tbody></table></div>`;
