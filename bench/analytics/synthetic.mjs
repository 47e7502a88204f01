/** Generates events of one list: searches for terms of Zipf frequencies, and clicks on hits of recent searches. */
import { writeClickEvent, writeSearchEvent } from '#src/analytics/event-codec.js';
import { seededRandom } from '../end-to-end/lib/random.mjs';

const EVENT_ROOM = 256;
const CLICK_SHARE = 0.1;
const ZERO_RESULT_SHARE = 0.08;
const RERANKED_SHARE = 0.05;
const SHOWN = 10;
const HOUR_MS = 3_600_000;

const SYLLABLES = 'ba ce di fo gu ha ki lo me nu pa ri so tu ve wi ya zo'.split(' ');

/** Returns one to three made-up words, which differ for each number. */
function termOf(number) {
  let text = '';
  for (let left = number + 18; left > 0; left = Math.floor(left / SYLLABLES.length)) {
    text += SYLLABLES[left % SYLLABLES.length];
    if (text.length === 8) text += ' ';
  }
  return text;
}

/** Draws ranks of `count` terms. The n-th has a frequency proportional to 1 / n. */
function zipf(count, random) {
  const scale = Math.log(count + 1);
  return () => Math.min(count - 1, Math.floor(Math.exp(random() * scale)) - 1);
}

/** Four hexadecimal digits of each 16-bit number. */
const HEX = Array.from({ length: 0x1_0000 }, (_, value) => value.toString(16).padStart(4, '0'));

/** Returns a UUIDv7: the time, then random bits. */
function queryIdOf(timeMs, random) {
  const [high, low] = [Math.floor(timeMs / 0x1_0000), timeMs % 0x1_0000];
  const [a, b] = [Math.floor(random() * 0x1_0000_0000), Math.floor(random() * 0x1_0000_0000)];
  const version = 0x7000 + (a & 0xfff);
  const variant = 0x8000 + ((a >>> 12) & 0x3fff);
  const node = HEX[low] + HEX[b >>> 16] + HEX[b & 0xffff];
  return `${HEX[high >>> 16]}${HEX[high & 0xffff]}-${HEX[low]}-${HEX[version]}-${HEX[variant]}-${node}`;
}

/** @typedef {import('#src/analytics/event-codec.js').SearchEvent} SearchEvent */
/** @typedef {{ kind: 'search' | 'click'; hour: number; search: SearchEvent; resultName?: string }} MadeEvent */

/**
 * Returns a generator. `next(hour, count)` returns the bytes of `count` events of the hour; `onEvent` gets each, to count them in another way.
 * @param {{ terms: number; seed?: number; onEvent?: (event: MadeEvent) => void }} options
 */
export function syntheticEvents({ terms, seed = 20261121, onEvent = () => undefined }) {
  const random = seededRandom(seed);
  const rank = zipf(terms, random);
  const texts = Array.from({ length: terms }, (_, number) => termOf(number));
  let buffer = Buffer.alloc(0);
  const shown = () => {
    const results = Array.from({ length: SHOWN }, (_, place) => ({ name: `record-${place}`, placeBefore: place }));
    const [first] = results.splice(Math.floor(random() * SHOWN), 1);
    return [first, ...results];
  };
  return {
    next(hour, count) {
      if (buffer.length < count * EVENT_ROOM) buffer = Buffer.allocUnsafeSlow(count * EVENT_ROOM);
      let at = 0;
      // Clicks follow searches of the same hour only, as the service keeps none from before.
      let earlier;
      for (let index = 0; index < count; index += 1) {
        const timeMs = hour * HOUR_MS + Math.floor((index / count) * HOUR_MS);
        if (earlier !== undefined && random() < CLICK_SHARE) {
          const place = Math.floor(random() * SHOWN);
          const resultName = `record-${place}`;
          at = writeClickEvent(buffer, at, { timeMs, queryId: earlier.queryId, resultName });
          onEvent({ kind: 'click', hour, search: earlier, resultName });
          continue;
        }
        const number = rank();
        const search = {
          queryId: queryIdOf(timeMs, random),
          term: texts[number],
          hasResults: random() >= ZERO_RESULT_SHARE,
          ...(random() < RERANKED_SHARE ? { shown: shown() } : {}),
        };
        at = writeSearchEvent(buffer, at, search);
        onEvent({ kind: 'search', hour, search });
        if (search.hasResults) earlier = search;
      }
      return Uint8Array.prototype.slice.call(buffer, 0, at);
    },
  };
}

const SEARCH = 1;
const KIND_MASK = 0x0f;
const WITH_QUERY_ID = 0x40;

/** Returns the same events, later by the given milliseconds. */
export function laterEvents(block, ms) {
  const bytes = Buffer.from(Uint8Array.prototype.slice.call(block));
  const shiftQueryId = (at) => bytes.writeUIntBE(bytes.readUIntBE(at, 6) + ms, at, 6);
  for (let at = 0; at < bytes.length; at += 2 + bytes.readUInt16LE(at)) {
    const head = bytes[at + 2];
    if ((head & KIND_MASK) === SEARCH) shiftQueryId(at + 3);
    else {
      bytes.writeUIntLE(bytes.readUIntLE(at + 3, 6) + ms, at + 3, 6);
      if ((head & WITH_QUERY_ID) !== 0) shiftQueryId(at + 9);
    }
  }
  return bytes;
}
