// A chain among those that wait for it and those that it waits for, as boxes and lines.
import { html, useEffect, useRef, useState } from "../../base/html.js";
import { hrefOf } from "../../base/router.js";
import { toneOf } from "../../parts/badge.js";
import { BOX } from "./layout.js";

/** @typedef {import("./layout.js").Picture} Picture */

/** @param {any[]} nodes @returns {Picture | null} null until it is computed */
function usePicture(nodes) {
  const [picture, setPicture] = useState(/** @type {Picture | null} */ (null));
  const worker = useRef(/** @type {Worker | null} */ (null));
  const number = useRef(0);
  useEffect(() => {
    const mine = new Worker(new URL("./layout_worker.js", import.meta.url), { type: "module" });
    mine.addEventListener("message", ({ data }) => {
      if (data.number === number.current) setPicture(data.picture);
    });
    worker.current = mine;
    return () => mine.terminate();
  }, []);
  useEffect(() => {
    number.current += 1;
    const plain = nodes.map(({ chain_id, kind, state, waits_for }) => ({ chain_id, kind, state, waits_for }));
    worker.current?.postMessage({ number: number.current, nodes: plain });
  }, [nodes]);
  return picture;
}

/** @param {{nodes: any[]}} props */
export function Graph({ nodes }) {
  const picture = usePicture(nodes);
  if (picture === null) return html`<p class="empty">Drawing…</p>`;
  const boxes = new Map(picture.boxes.map((each) => [each.id, each]));
  return html`
    ${picture.left ? html`<p class="trouble" data-tone="warn">${picture.left} box(es) farther away are not drawn.</p>` : null}
    <div class="graph" tabindex="0" role="group" aria-label="Graph of the chain: what stands left has to end before what stands right">
      <svg width=${picture.width + 4} height=${picture.height + 4} viewBox="-2 -2 ${picture.width + 4} ${picture.height + 4}">
        ${picture.lines.map(({ from, to }) => html`<path key=${`${from} ${to}`} d=${curve(boxes.get(from), boxes.get(to))} />`)}
        ${picture.boxes.map((each) => html`<${Drawn} key=${each.id} box=${each} />`)}
      </svg>
    </div>`;
}

/** @param {any} from @param {any} to */
function curve(from, to) {
  const [x1, y1, x2, y2] = [from.x + BOX.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
  const half = Math.max(20, (x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + half} ${y1} ${x2 - half} ${y2} ${x2} ${y2}`;
}

/** @param {{box: import("./layout.js").Box}} props */
function Drawn({ box }) {
  const many = box.ids.length;
  const title = many > 1 ? `${many} × ${box.kind}` : box.kind;
  const below = many > 1 ? `${box.state}, the first is ${box.ids[0]}` : `${box.state}, chain ${box.ids[0]}`;
  return html`<a href=${hrefOf(`/chains/${box.ids[0]}`)} data-chain=${box.ids[0]}>
    <title>${title}: ${below}${box.isRoot ? ", shown here" : ""}</title>
    ${many > 1 ? html`<rect class="under" x=${box.x + 4} y=${box.y - 2} width=${BOX.width} height=${BOX.height} rx="6" />` : null}
    <rect class=${box.isRoot ? "box root" : "box"} data-tone=${box.state === "open" ? "busy" : toneOf(box.state)} x=${box.x} y=${box.y} width=${BOX.width} height=${BOX.height} rx="6" />
    <text x=${box.x + 10} y=${box.y + 19}>${cut(title)}</text>
    <text class="below" x=${box.x + 10} y=${box.y + 36}>${cut(below, 26)}</text>
  </a>`;
}

/** @param {string} text @param {number} [most] */
const cut = (text, most = 22) => ([...text].length > most ? `${[...text].slice(0, most - 1).join("")}…` : text);
