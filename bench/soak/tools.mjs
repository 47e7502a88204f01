/** Shared functions of the actors of a soak: sending requests, and waiting for expected results. */
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { ACCOUNT } from '../end-to-end/lib/service.mjs';

const OK = [200, 201, 202, 204];
/** Time limit, long for a machine that runs everything at once. */
const PATIENCE_MS = 90_000;
const LOOK_MS = 200;
const SHOWN_CHARACTERS = 300;

/**
 * @typedef {object} Asking
 * @property {readonly number[]} [expect] expected statuses
 * @property {string} [type] media type of the body
 * @property {string | null} [as] another key, or none
 * @property {import('undici').Dispatcher} [dispatcher] another connection than TCP
 * @property {Readonly<Record<string, string>>} [headers] further headers
 */

/**
 * Returns `send(method, path, body, asking)`, which resolves with `{ status, headers, bytes, json }`. It throws with the answer if the status is
 * not expected. A body that is no Buffer is sent as JSON.
 */
export function sender({ address, key, agent }) {
  return async (method, path, body = undefined, /** @type {Asking} */ asking = {}) => {
    const { expect = OK, type = 'application/json', as = key, dispatcher = agent, headers = {} } = asking;
    const answer = await request(`${address}${path}`, {
      method,
      body: body === undefined || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      headers: {
        ...(as === null ? {} : { 'x-api-key': as }),
        ...(body === undefined ? {} : { 'content-type': type }),
        ...headers,
      },
      dispatcher,
    });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    if (!expect.includes(answer.statusCode)) {
      const said = bytes.toString().slice(0, SHOWN_CHARACTERS);
      throw new Error(`${method} ${path.replace(/\?.*/, '')} → ${answer.statusCode} ${said}`);
    }
    const isJson = /\b(application\/|\+)json\b/.test(String(answer.headers['content-type'])) && bytes.length > 0;
    return {
      status: answer.statusCode,
      headers: answer.headers,
      bytes,
      json: isJson ? JSON.parse(bytes.toString()) : undefined,
    };
  };
}

/** Waits until `isSo` returns true. Throws after a time limit, as a fault of the service. */
export async function until(what, isSo) {
  const endMs = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`${what}: not within ${PATIENCE_MS / 1000} s`);
    await wait(LOOK_MS);
  }
}

/** Throws with both values if they are not the same as JSON. */
export function same(what, found, wanted) {
  const [a, b] = [found, wanted].map((value) => JSON.stringify(value));
  if (a !== b) throw new Error(`${what}: ${a?.slice(0, SHOWN_CHARACTERS)} instead of ${b?.slice(0, SHOWN_CHARACTERS)}`);
}

/** Returns a function that runs actions one after the other. */
export function turnTaker() {
  let last = Promise.resolve();
  return (action) => {
    const turn = last.then(action);
    last = turn.catch(() => undefined);
    return turn;
  };
}

export const fieldsOf = (...names) => names.map((name) => ({ name }));

/** Returns a unique word of letters that no stemmer cuts off. `kind` has letters that distinguish actors. */
export const wordOf = (number, kind = 'zq') =>
  `${kind}${[...String(number)].map((digit) => 'bcdfghjkmp'[Number(digit)]).join('')}`;

export const namesOf = ({ json }) => json.results.map(({ name }) => name);

/** Returns functions that read lists of the account by `send`. */
export function reading(send) {
  const list = async (name) => (await send('GET', `/list/${ACCOUNT}/${name}`)).json;
  const search = async (name, given) => {
    const { current_version } = await list(name);
    return send('POST', `/search/${ACCOUNT}/${name}/${current_version}`, { cache: false, size: 100, ...given });
  };
  return {
    list,
    /** Searches the current version of the list; `exactly` only finds the words as they are written. */
    search,
    exactly: (name, query) => search(name, { query, match: 'all', typo_tolerance: false }),
    /** Returns all records of a small list by name. */
    records: async (name) => {
      const { json } = await send('GET', `/search-result/${ACCOUNT}/${name}?size=1000`);
      return new Map(json.results.map((each) => [each.name, each]));
    },
    bulk: (name, records) =>
      send(
        'POST',
        `/search-result/${ACCOUNT}/${name}/bulk`,
        Buffer.from(records.map((each) => `${JSON.stringify(each)}\n`).join('')),
        { type: 'application/x-ndjson' },
      ),
  };
}

/** Syncs a feed of the account. Resolves with it when a run that began after this call is over. */
export async function synced(send, name) {
  const path = `/feed/${ACCOUNT}/${name}`;
  const read = async () => (await send('GET', path)).json;
  let before;
  await until(`feed ${name} can be told to sync`, async () => {
    const feed = await read();
    before = feed.last_checked;
    return (
      feed.status !== 'Syncing' &&
      (await send('POST', `${path}/sync`, undefined, { expect: [200, 202, 409] })).status !== 409
    );
  });
  let feed;
  await until(`feed ${name} is synced`, async () => {
    feed = await read();
    return feed.status !== 'Syncing' && feed.last_checked !== before;
  });
  if (feed.status !== 'Synced') throw new Error(`feed ${name} is ${feed.status}: ${JSON.stringify(feed.error)}`);
  return feed;
}
