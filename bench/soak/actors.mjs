/**
 * Actors that use the service during a soak. Each does one kind of work repeatedly at its own rate, and knows what should
 * come of it. Failures are counted by actor and answer; nothing is retried.
 */
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { seededRandom } from '../end-to-end/lib/random.mjs';
import { ACCOUNT } from '../end-to-end/lib/service.mjs';

export const LIST = 'words';
export const VECTORS = 'vectors';
const DIMENSIONS = 64;
const BULK_RECORDS = 500;
const NAMES_OF_WRITES = 2000;

/** Rate of each actor per second. */
const RATES = {
  search: 20,
  suggest: 4,
  meaning: 4,
  read: 5,
  write: 5,
  patch: 2,
  remove: 2,
  writeVector: 1,
  click: 1,
  upload: 1,
  bulk: 1 / 10,
  synonyms: 1 / 20,
  removeMatching: 1 / 30,
  copy: 1 / 45,
  version: 1 / 60,
  report: 1 / 10,
  backup: 1 / 300,
};

/** Returns functions for random choices: `random()`, `whole(below)` for an integer less than `below`, and `some(array)` for an element. */
export function drawOf(seed) {
  const random = seededRandom(seed);
  const whole = (below) => Math.floor(random() * below);
  return { random, whole, some: (array) => array[whole(array.length)] };
}

/** Returns the actors. `send` is a `sender` of tools.mjs, `others` are further actors with their rates, `lists.version` is the version of the list `words`. */
export function makeActors({ send, queries, records, draw, lists, backup, others }) {
  const { random, whole, some } = draw;
  /** Result of single writes by name: id and gloss, or null if removed. Undefined while a write is in progress. */
  const written = new Map();
  const record = `/search-result/${ACCOUNT}/${LIST}`;
  let lastQueryId;
  let turns = 0;

  const searched = async (parameters) => {
    const answer = await send('GET', `/search/${ACCOUNT}/${LIST}/${lists.version}?${new URLSearchParams(parameters)}`);
    lastQueryId = answer.json.query_id ?? lastQueryId;
    return answer;
  };
  const mixed = [
    (query) => ({ query }),
    (query) => ({ query, cache: 'false', highlight: 'true' }),
    (query) => ({ query, facets: 'lexical_domain', filter: "part_of_speech = 'noun'" }),
    (query) => ({ query, match: 'all', order_by: 'name asc' }),
    (query) => ({ query: query.replace(/(.)(.)(?=\w*$)/, '$2$1'), size: '25' }),
  ];

  /** Runs the action with a name that no other actor writes at the moment, and with its expected content. */
  async function withName(action) {
    const name = `soak-${whole(NAMES_OF_WRITES)}`;
    if (written.has(name) && written.get(name) === undefined) return;
    const before = written.get(name) ?? null;
    written.set(name, undefined);
    let after = before;
    try {
      after = await action(name, before);
    } finally {
      written.set(name, after);
    }
  }

  const actions = {
    search: () => searched(some(mixed)(some(queries))),
    suggest: () => send('POST', `/suggest/${ACCOUNT}/${LIST}/${lists.version}`, { query: some(queries).slice(0, 4) }),
    meaning: () => send('POST', `/search/${ACCOUNT}/${VECTORS}/1`, { vector: vectorOf(String(whole(1e6))), size: 10 }),
    read: () =>
      withName(async (name, before) => {
        if (before === null) return before;
        const { status, json } = await send('GET', `${record}/${before.id}`, undefined, { expect: [200, 404] });
        const found = status === 404 ? null : json.fields.gloss;
        if (found !== before.gloss) throw new Error(`a record holds ${found}, and something else was written`);
        return before;
      }),
    write: () =>
      withName(async (name) => {
        const gloss = `${some(queries)} ${createHash('sha1').update(`${name} ${turns}`).digest('hex')}`;
        const { json } = await send('POST', record, { name, fields: { words: [some(queries)], gloss } });
        return { id: json.id, gloss };
      }),
    patch: () =>
      withName(async (name, before) => {
        if (before === null) return before;
        const gloss = `${some(queries)} ${turns}`;
        await send('PATCH', `${record}/${before.id}`, { fields: { gloss } });
        return { id: before.id, gloss };
      }),
    remove: () =>
      withName(async (name, before) => {
        if (before !== null) await send('DELETE', `${record}/${before.id}`);
        return null;
      }),
    writeVector: () => {
      const name = `v${whole(5000)}`;
      return send('POST', `/search-result/${ACCOUNT}/${VECTORS}`, {
        name,
        fields: { title: some(queries) },
        vector: vectorOf(`${name} ${turns}`),
      });
    },
    click: () =>
      lastQueryId === undefined
        ? undefined
        : send('POST', `/search/analytics/click/list/${ACCOUNT}/${LIST}`, {
            query_id: lastQueryId,
            result_id: some(records).name,
          }),
    async upload() {
      const path = `/media/${ACCOUNT}/default/soak/${whole(200)}.bin`;
      if (random() < 0.3) await send('DELETE', path, undefined, { expect: [204, 404] });
      else await send('PUT', path, Buffer.alloc(whole(200_000), turns & 255), { type: 'application/octet-stream' });
    },
    bulk: () => {
      const from = whole(Math.max(1, records.length - BULK_RECORDS));
      const lines = records.slice(from, from + BULK_RECORDS).map((each) => `${JSON.stringify(each)}\n`);
      return send('POST', `${record}/bulk`, Buffer.from(lines.join('')), { type: 'application/x-ndjson' });
    },
    synonyms: () =>
      send('PUT', `/list/synonyms/${ACCOUNT}/${LIST}`, {
        rules: [{ kind: 'equivalent', terms: [some(queries), some(queries)].map((text, place) => `${text} ${place}`) }],
      }),
    removeMatching: () =>
      send('DELETE', `${record}?${new URLSearchParams({ filter: "lexical_domain = 'nothing has this'" })}`),
    async copy() {
      const name = `copy-${turns}`;
      await send('POST', `/list/${ACCOUNT}/${LIST}/clone`, { name });
      await send('GET', `/search/${ACCOUNT}/${name}/1?query=${encodeURIComponent(some(queries))}`);
      await send('DELETE', `/list/${ACCOUNT}/${name}`);
    },
    /** Changes the weight of a field, so that a new version is built from all records. */
    async version() {
      const path = `/searchable-field/${ACCOUNT}/${LIST}/gloss`;
      // Refused if the version before is still being built.
      await send('PUT', path, { name: 'gloss', weight: 1 + random() }, { expect: [200, 409] });
      lists.version = (await send('GET', `/list/${ACCOUNT}/${LIST}`)).json.current_version;
    },
    report: () => send('GET', `/analytics/list/${ACCOUNT}/${LIST}`),
    backup,
    ...others.actions,
  };
  return {
    written,
    /** Runs the actors until `endMs` and calls `done(name, ms, error)` for each turn. Rare actors have their first turn in the first third. */
    async run(endMs, done) {
      const firstMs = (endMs - performance.now()) / 3;
      const one = async (name) => {
        const beginMs = performance.now();
        try {
          turns += 1;
          await actions[name]();
          done(name, performance.now() - beginMs);
        } catch (error) {
          done(name, performance.now() - beginMs, error);
        }
      };
      // Each actor runs one turn at a time, except frequent ones such as searches, which do not wait for earlier turns.
      await Promise.all(
        Object.entries({ ...RATES, ...others.rates }).map(async ([name, rate]) => {
          const intervalMs = 1000 / rate;
          const underWay = new Set();
          let dueMs = performance.now() + random() * Math.min(intervalMs, firstMs);
          for (; Math.max(dueMs, performance.now()) < endMs; dueMs += intervalMs) {
            await wait(Math.max(0, dueMs - performance.now()));
            const turn = one(name).finally(() => underWay.delete(turn));
            underWay.add(turn);
            if (rate <= 1) await turn;
          }
          await Promise.all(underWay);
        }),
      );
    },
  };
}

/** Returns the vector of a text, always the same for the same text. */
export function vectorOf(text) {
  const random = seededRandom(createHash('sha1').update(text).digest().readInt32LE(0));
  return Array.from({ length: DIMENSIONS }, () => Number((random() - 0.5).toFixed(4)));
}
