// When the clocks of a zone change, as the browser knows it.

/** How many minutes a zone is ahead of UTC at a moment. @param {string} zone @param {number} at milliseconds since 1970 */
export function offsetAt(zone, at) {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric",
  }).formatToParts(at);
  const part = (/** @type {string} */ type) => Number(parts.find((each) => each.type === type)?.value);
  const local = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return Math.round((local - Math.floor(at / 1000) * 1000) / 60000);
}

/**
 * The next time that the clocks of a zone change, within a year; null where they do not, or the zone is not known here.
 * @param {string} zone
 * @param {number} from milliseconds since 1970
 * @returns {{at: number, minutes: number} | null} the moment, and by how many minutes they go on (or back, below 0)
 */
export function nextChange(zone, from) {
  const DAY = 86400e3;
  try {
    for (let day = 0; day < 370; day += 1) {
      let [low, high] = [from + day * DAY, from + (day + 1) * DAY];
      const before = offsetAt(zone, low);
      if (offsetAt(zone, high) === before) continue;
      while (high - low > 1000) {
        const middle = Math.floor((low + high) / 2);
        if (offsetAt(zone, middle) === before) low = middle;
        else high = middle;
      }
      const at = Math.round(high / 60000) * 60000;
      return { at, minutes: offsetAt(zone, at) - before };
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return null;
}

/** The zone of whoever looks at the page. */
export const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The names of the zones that the browser knows. @returns {string[]} */
export const zoneNames = () => ["UTC", .../** @type {any} */ (Intl).supportedValuesOf("timeZone")];
