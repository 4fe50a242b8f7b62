// Pods as hubs and spokes: the host in the middle, its workers around it, coloured by how they stand. A click selects and filters.
import { html } from "../../../base/html.js";
import { placesAround, toneOfWorker } from "./fleet.js";

const MANY = 24;
const MOST = 240;
const LABEL_SIZE = 8;

/**
 * @param {{pods: {host: string, workers: any[], tone: string}[], host: string, worker: string, choose: (filter: {host: string, worker: string}) => void}} props
 */
export function Pods({ pods, host, worker, choose }) {
  const shown = pods.slice(0, MOST);
  const toggle = (/** @type {string} */ ofHost, /** @type {string} */ ofWorker) => choose(host === ofHost && worker === ofWorker ? { host: "", worker: "" } : { host: ofHost, worker: ofWorker });
  return html`<ul class="pods" data-many=${pods.length > MANY ? "" : null}>
    ${shown.map((pod) => html`<li key=${pod.host} class="pod" data-chosen=${pod.host === host ? "" : null}>
      <${Pod} pod=${pod} isChosen=${pod.host === host} worker=${worker} toggle=${toggle} />
      <div class="pod-name" title=${pod.host}><bdi>${pod.host}</bdi></div>
      <div class="quiet pod-slots">${slotsOf(pod.workers)} slots</div>
    </li>`)}
  </ul>
  ${pods.length > MOST ? html`<p class="quiet">${pods.length - MOST} more pods are not drawn. Those in trouble come first; filter to see others.</p>` : null}`;
}

/** @param {any[]} workers */
const slotsOf = (workers) => `${workers.reduce((sum, each) => sum + each.active_jobs, 0)}/${workers.reduce((sum, each) => sum + each.slots, 0)}`;

/** @param {{pod: {host: string, workers: any[], tone: string}, isChosen: boolean, worker: string, toggle: (host: string, worker: string) => void}} props */
function Pod({ pod: { host, workers, tone }, isChosen, worker, toggle }) {
  const places = placesAround(workers.length);
  return html`<svg class="hub" viewBox="-58 -58 116 116" role="group" aria-label="Pod ${host}">
    ${places.map(({ x, y }, index) => html`<line class="spoke" key=${workers[index].incarnation} x1="0" y1="0" x2=${x} y2=${y} data-tone=${toneOfWorker(workers[index])} />`)}
    <${Key} label="Pod ${host}: ${workers.length} worker(s), ${slotsOf(workers)} slots in use" isPressed=${isChosen && !worker} onPress=${() => toggle(host, "")}>
      <circle class="middle" r="15" data-tone=${tone} /><text class="in-middle" dy=".35em">${workers.length}</text>
    <//>
    ${workers.map((each, index) => html`<${Spoke} key=${each.incarnation} worker=${each} place=${places[index]} isPressed=${worker === each.incarnation}
      onPress=${() => toggle(host, each.incarnation)} />`)}
  </svg>`;
}

/** @param {{worker: any, place: {x: number, y: number, size: number}, isPressed: boolean, onPress: () => void}} props */
function Spoke({ worker, place: { x, y, size }, isPressed, onPress }) {
  const share = worker.slots ? Math.min(1, worker.active_jobs / worker.slots) : 0;
  const label = `Worker ${worker.name}: ${worker.backoff ? `backing off (${worker.backoff})` : worker.state}, ${worker.active_jobs} of ${worker.slots} slots`;
  return html`<g transform="translate(${x.toFixed(2)} ${y.toFixed(2)})"><${Key} label=${label} isPressed=${isPressed} onPress=${onPress}>
    <circle class="worker" r=${size} data-tone=${toneOfWorker(worker)} />
    <circle class="used" r=${size} pathLength="100" stroke-dasharray="${(share * 100).toFixed(1)} 100" data-tone=${toneOfWorker(worker)} transform="rotate(-90)" />
    ${size >= LABEL_SIZE ? html`<text class="in-worker" dy=".35em">${worker.active_jobs}/${worker.slots}</text>` : null}
  <//></g>`;
}

/** A part of a drawing that is a button; its title is its name. @param {{label: string, isPressed: boolean, onPress: () => void, children?: any}} props */
function Key({ label, isPressed, onPress, children }) {
  const press = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onPress();
  };
  return html`<g class="key" role="button" tabindex="0" aria-pressed=${isPressed ? "true" : "false"} onClick=${onPress} onKeyDown=${press}>
    <title>${label}</title>${children}</g>`;
}
