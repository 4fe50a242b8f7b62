// What the API knows of kinds: their names, beside those of queues and workers, and the schema of their args.
import { get } from "../../base/api.js";

/**
 * The names that there are, by what they name; `declared`: the kinds that apps have declared. A kind may also be one that only a worker
 * knows, or one of which jobs wait though nobody serves it.
 * @param {AbortSignal} signal
 * @returns {Promise<Record<"queue" | "kind" | "worker" | "declared", string[]>>}
 */
export async function knownNames(signal) {
  const [queues, workers, kinds, overview] = await Promise.all(["queues", "workers", "kinds", "overview"].map((each) => get(`/api/${each}`, {}, signal)));
  const names = (/** @type {any[]} */ items, /** @type {string} */ of) => items.map((each) => each[of]);
  const declared = names(kinds.items, "kind");
  const found = [...declared, ...names(workers.items, "kinds").flat(), ...names(overview.unclaimed_kinds, "kind")];
  return { queue: names(queues.items, "queue"), kind: [...new Set(found)].sort(), worker: names(workers.items, "worker_id"), declared };
}

/** The JSON Schema of a kind's args; null where it has none. @param {string} kind @param {AbortSignal} [signal] */
export async function schemaOf(kind, signal) {
  const { args_schema } = await get(`/api/kinds/${encodeURIComponent(kind)}`, {}, signal);
  return args_schema ?? null;
}
