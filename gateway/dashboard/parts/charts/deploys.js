// When a new version of the app came, as the workers that are remembered tell it.
import { get } from "../../base/api.js";
import { useMemo } from "../../base/html.js";
import { useLoaded } from "../../base/loading.js";

const REFRESH_SECONDS = 60;

/** The marks, kept fresh; none before they have come. @returns {{at: number, text: string}[]} */
export function useDeploys() {
  const { data } = useLoaded((signal) => get("/api/workers", { stopped: true }, signal), [], { every: REFRESH_SECONDS });
  return useMemo(() => deploysOf(data?.items ?? []), [data]);
}

/**
 * A mark for each version of the app: when its first worker started. The oldest version has none, since it was there before,
 * nor has a worker that tells no version of its app.
 * @param {{app_version: string | null, started_at: string}[]} workers
 * @returns {{at: number, text: string}[]}
 */
export function deploysOf(workers) {
  /** @type {Map<string, number>} */
  const first = new Map();
  for (const each of workers) {
    const version = each.app_version;
    if (version === null) continue;
    const at = Date.parse(each.started_at);
    if (!first.has(version) || at < /** @type {number} */ (first.get(version))) first.set(version, at);
  }
  const marks = [...first].map(([version, at]) => ({ at, text: `Version ${version} came` }));
  return marks.sort((a, b) => a.at - b.at).slice(1);
}
