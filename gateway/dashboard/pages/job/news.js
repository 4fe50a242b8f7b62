// What the stream tells of a job while its page is open: lines of its log, and how far it has come.
import { useEffect, useState } from "../../base/html.js";
import { listen } from "../../base/live.js";

const MOST_LINES = 1000;

/**
 * What came since the page of this job is open.
 * @param {string} id
 * @param {"logs" | "progress"} sort
 * @returns {any[]}
 */
export function useNews(id, sort) {
  const [news, setNews] = useState(/** @type {any[]} */ ([]));
  useEffect(() => {
    setNews([]);
    return listen((found) => found && setNews((before) => [...before, ...found].slice(-MOST_LINES)), `?job_id=${id}`, sort);
  }, [id, sort]);
  return news;
}

/**
 * The lines of both, each once, in the order of the log.
 * @param {any[]} loaded
 * @param {any[]} news
 * @returns {any[]}
 */
export function withNews(loaded, news) {
  const known = new Set(loaded.map((each) => each.number));
  const fresh = news.filter((each) => !known.has(each.number) && known.add(each.number));
  return fresh.length ? [...loaded, ...fresh].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.number - b.number)) : loaded;
}

/** The later of the two. @param {any} loaded @param {any} newest @returns {any} */
export const latest = (loaded, newest) => (newest && (!loaded || Date.parse(newest.at) > Date.parse(loaded.at)) ? newest : loaded);
