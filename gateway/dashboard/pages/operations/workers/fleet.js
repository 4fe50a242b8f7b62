// Workers as data: which of them a filter finds, the pods they are in, and how a worker stands. No drawing.

/** @typedef {Record<string, any>} Worker */

/** The tone of a worker, the worst first. @param {Worker} worker */
export function toneOfWorker({ state, backoff, silent_for }) {
  if (state === "stale") return "bad";
  if (backoff && state === "ready") return "warn";
  if (state === "paused" || state === "draining") return "held";
  return state === "stopped" || silent_for === null ? "" : "good";
}

const WEIGHTS = ["", "good", "held", "warn", "bad"];

/** The worst tone of several workers. @param {Worker[]} workers */
export const worstTone = (workers) => WEIGHTS[Math.max(0, ...workers.map((each) => WEIGHTS.indexOf(toneOfWorker(each))))];

/**
 * The workers that a filter finds: those of a host, and those with all words somewhere.
 * @param {Worker[]} workers
 * @param {{text: string, host: string, worker: string}} filter
 */
export function found(workers, { text, host, worker }) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return workers.filter((each) => {
    const all = [each.worker_id, each.name, each.host, each.state, each.version, each.app_version ?? "", each.backoff ? "back-off" : "", each.outdated ? "outdated" : "",
      ...each.queues, ...each.kinds].join("\n").toLowerCase();
    return (!host || each.host === host) && (!worker || each.incarnation === worker) && words.every((word) => all.includes(word));
  });
}

/**
 * The pods (hosts) with their workers: those in trouble first, then by name.
 * @param {Worker[]} workers
 * @returns {{host: string, workers: Worker[], tone: string}[]}
 */
export function podsOf(workers) {
  /** @type {Map<string, Worker[]>} */
  const byHost = new Map();
  for (const each of workers) byHost.set(each.host, [...(byHost.get(each.host) ?? []), each]);
  const pods = [...byHost].map(([host, of]) => ({ host, workers: of, tone: worstTone(of) }));
  return pods.sort((a, b) => WEIGHTS.indexOf(b.tone) - WEIGHTS.indexOf(a.tone) || a.host.localeCompare(b.host, undefined, { numeric: true }));
}

/**
 * Where the workers of a pod lie around its middle: in one ring, or in as many as keep them apart.
 * @param {number} number of workers
 * @returns {{x: number, y: number, size: number}[]}
 */
export function placesAround(number) {
  const rings = number <= 12 ? [[number, 41]] : number <= 30 ? [[Math.ceil(number / 3), 30], [number - Math.ceil(number / 3), 47]]
    : [[Math.ceil(number / 6), 26], [Math.ceil(number / 3), 38], [number - Math.ceil(number / 6) - Math.ceil(number / 3), 50]];
  const size = number <= 6 ? 12 : number <= 12 ? 8.5 : number <= 30 ? 5.5 : Math.max(1.5, 150 / number);
  return rings.flatMap(([count, radius]) => Array.from({ length: count }, (_, index) => {
    const angle = (index / count) * 2 * Math.PI - Math.PI / 2;
    return { x: Math.cos(angle) * radius, y: Math.sin(angle) * radius, size };
  }));
}

/** Bytes as people read them. @param {number | null | undefined} bytes */
export function bytes(bytes) {
  if (bytes === null || bytes === undefined) return "–";
  const unit = Math.min(4, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${Number((bytes / 1024 ** unit).toPrecision(3))} ${["B", "KiB", "MiB", "GiB", "TiB"][unit]}`;
}
