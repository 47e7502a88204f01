/**
 * Actors with lists of whose content they know everything. They compare what they read with what they wrote: counts, filters, locations,
 * order, pages and reports. Others change fields of lists.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { ACCOUNT } from '../end-to-end/lib/service.mjs';
import { namesOf, reading, same, turnTaker, until, wordOf } from './tools.mjs';

const EXACT = 'exact';
const SHAPED = 'shaped';
const COUNTED = 'counted';
const PAIR = 'pair';
const KINDS = ['bird', 'fish', 'stone'];
const NAMES = 400;
const BULK_RECORDS = 50;
const PAGE = 70;
const SHAPED_RECORDS = 60;
const SEARCHES = 7;
const CLICKS = 3;
const EARTH_AROUND_M = 60_000;

const RATES = {
  exactWrite: 1,
  exactBulk: 1 / 15,
  exactLook: 1 / 5,
  exactRemoval: 1 / 30,
  shape: 1 / 60,
  counting: 1 / 60,
  passingGroup: 1 / 60,
  passingList: 1 / 30,
};

const day = (number) => new Date(Date.UTC(2020, 0, 1 + (number % 365))).toISOString();

/** Returns the record of that number after `turn` changes. */
function madeRecord(number, turn) {
  return {
    name: `e${number}`,
    fields: {
      title: `record ${wordOf(number, 'ze')}`,
      kind: KINDS[turn % KINDS.length],
      weight: turn % 100,
      seen: day(number + turn),
      place: { latitude: 50 + (number % 20) / 10, longitude: 0 },
    },
  };
}

export async function prepareRecords({ send }) {
  const facets = [
    { name: 'kind', type: 'string', cardinality: 'Single' },
    { name: 'weight', type: 'number', cardinality: 'Single' },
    { name: 'seen', type: 'date', cardinality: 'Single' },
  ];
  const make = (name, more = {}) =>
    send('POST', `/list/${ACCOUNT}`, { name, searchable_fields: [{ name: 'title' }], ...more });
  await make(EXACT, { facets, location_field: 'place' });
  for (const name of [SHAPED, COUNTED, PAIR]) await make(name);
  const { bulk } = reading(send);
  const kinds = Array.from({ length: SHAPED_RECORDS }, (_, at) => ({
    name: `s${at}`,
    title: `thing ${at}`,
    kind: KINDS[at % KINDS.length],
  }));
  await bulk(SHAPED, kinds);
  await bulk(COUNTED, [{ name: 'a', title: 'red sea bird' }]);
  await bulk(PAIR, [{ name: 'b', title: 'red kite' }]);
  await send('POST', `/list-group/${ACCOUNT}`, { name: 'counted', lists: [{ list: COUNTED }, { list: PAIR }] });
}

export function makeRecordActors({ send, draw, clock }) {
  const { whole, some } = draw;
  const read = reading(send);
  /** Id and fields of the records, by name. */
  const known = new Map();
  const alone = turnTaker();
  const path = `/search-result/${ACCOUNT}/${EXACT}`;
  let turns = 0;
  let counted = 0;

  async function exactWrite() {
    const { name, fields } = madeRecord(whole(NAMES), (turns += 1));
    const before = known.get(name);
    const way = whole(10);
    if (before !== undefined && way < 2) {
      await send('DELETE', `${path}/${before.id}`);
      known.delete(name);
      await send('GET', `${path}/${before.id}`, undefined, { expect: [404] });
      return;
    }
    const { json } =
      before !== undefined && way < 5
        ? await send('PUT', `${path}/${before.id}`, { fields })
        : await send('POST', path, { name, fields });
    if (before !== undefined) same('the id of a record that was replaced', json.id, before.id);
    known.set(name, { id: json.id, fields });
    const { json: found } = await send('GET', `${path}/${json.id}`);
    same('the weight that was written', [found.fields.weight].flat(), [fields.weight]);
  }

  async function exactBulk() {
    const turn = (turns += 1);
    const numbers = new Set(Array.from({ length: BULK_RECORDS }, () => whole(NAMES)));
    const records = [...numbers].map((number) => madeRecord(number, turn));
    const { json } = await read.bulk(EXACT, records);
    const created = records.filter(({ name }) => !known.has(name)).length;
    same(
      'records that were added and replaced',
      [json.created, json.updated, json.failed],
      [created, records.length - created, 0],
    );
    const ids = await read.records(EXACT);
    for (const { name, fields } of records) known.set(name, { id: ids.get(name).id, fields });
  }

  const matching = (isSo) => [...known].filter(([, { fields }]) => isSo(fields)).map(([name]) => name);
  async function exactLook() {
    const look = (given) => read.search(EXACT, { size: 1000, ...given });
    const names = async (given) => namesOf(await look(given)).sort();
    const kind = some(KINDS);
    const weight = whole(100);
    same(
      `those of the kind ${kind}`,
      await names({ filter: `kind = '${kind}'` }),
      matching((each) => each.kind === kind).sort(),
    );
    same(
      `those below ${weight}`,
      await names({ filter: `weight < ${weight}` }),
      matching((each) => each.weight < weight).sort(),
    );
    const { json } = await look({ facets: ['kind'], size: 0 });
    same('all of them', json.total_count, known.size);
    const from = { latitude: 50 + whole(20) / 10, longitude: 0 };
    // A tenth of a degree is 11 km, so no record is near the border.
    const near = matching(({ place }) => Math.abs(place.latitude - from.latitude) < 0.55);
    same('those around a place', await names({ radius: { ...from, distance: EARTH_AROUND_M } }), near.sort());
    const ordered = (await look({ order_by: 'weight desc' })).json.results.map(
      ({ name }) => known.get(name)?.fields.weight,
    );
    same(
      'the order by weight',
      ordered,
      [...ordered].sort((a, b) => b - a),
    );
    const paged = [];
    for (let skip = 0; skip < known.size; skip += PAGE)
      paged.push(...namesOf(await look({ order_by: 'name asc', skip, size: PAGE })));
    same('pages', paged, [...known.keys()].sort());
    const [name] = some([...known]) ?? [];
    if (name === undefined) return;
    same('the one of a word', namesOf(await read.exactly(EXACT, wordOf(Number(name.slice(1)), 'ze'))), [name]);
  }

  async function exactRemoval() {
    const weight = whole(100);
    const filter = `weight = ${weight}`;
    const gone = matching((each) => each.weight === weight);
    const { json } = await send('DELETE', `${path}?${new URLSearchParams({ filter })}`);
    same('records that were removed', json.deleted, gone.length);
    for (const name of gone) known.delete(name);
    same('records that are left', (await read.list(EXACT)).record_count, known.size);
  }

  /** Adds, changes and removes fields, each of which makes a new version. */
  async function shape() {
    const facets = `/facet/${ACCOUNT}/${SHAPED}`;
    const settled = (what, isSo) =>
      until(what, async () => {
        const list = await read.list(SHAPED);
        return list.versions.every(({ state }) => state === 'ready') && isSo(list);
      });
    await send('POST', facets, { name: 'kind', type: 'string', cardinality: 'Single' });
    await settled('a facet is there', (list) => list.facets.length === 1);
    const { json } = await read.search(SHAPED, { filter: "kind = 'bird'", size: 0 });
    same('those of a kind', json.total_count, SHAPED_RECORDS / KINDS.length);
    await send('PUT', `${facets}/kind`, { name: 'kind', type: 'string', cardinality: 'Many' });
    await settled('a facet is changed', (list) => list.facets[0].cardinality === 'Many');
    await send('POST', `/searchable-field/${ACCOUNT}/${SHAPED}`, { name: 'kind' });
    await settled('a field is searched', (list) => list.searchable_fields.length === 2);
    same('those of a word', (await read.exactly(SHAPED, 'bird')).json.total_count, SHAPED_RECORDS / KINDS.length);
    const resources = `/resource/${ACCOUNT}/${SHAPED}`;
    await send('POST', resources, { name: 'file', kind: 'document' });
    await settled('a resource is there', (list) => list.resources.length === 1);
    await send('PUT', `${resources}/file`, { name: 'paper', kind: 'document' });
    await settled('a resource has another name', (list) => list.resources[0].name === 'paper');
    await send('DELETE', `${resources}/paper`);
    await settled('a resource is gone', (list) => list.resources.length === 0);
    await send('DELETE', `/searchable-field/${ACCOUNT}/${SHAPED}/kind`);
    await settled('a field is searched no more', (list) => list.searchable_fields.length === 1);
    await send('DELETE', `${facets}/kind`);
    await settled('a facet is gone', (list) => list.facets.length === 0);
    same('those of a word that is searched no more', (await read.exactly(SHAPED, 'bird')).json.total_count, 0);
  }

  /** Checks that searches and clicks are counted once each. */
  async function counting() {
    const word = wordOf((counted += 1), 'zc');
    const { jumps } = clock;
    const { current_version } = await read.list(COUNTED);
    const report = async (what) => (await send('GET', `/analytics/${what}/${ACCOUNT}/counted`)).json;
    const before = { list: await report('list'), group: await report('group') };
    let queryId;
    for (let number = 0; number < SEARCHES; number += 1) {
      const { json } = await send(
        'GET',
        `/search/${ACCOUNT}/${COUNTED}/${current_version}?${new URLSearchParams({ query: `bird ${word}` })}`,
      );
      queryId = json.query_id;
    }
    for (let number = 0; number < CLICKS; number += 1) {
      const click = { query_id: queryId, result_id: 'a' };
      await send('POST', `/search/analytics/click/list/${ACCOUNT}/${COUNTED}`, click);
    }
    const { json } = await send('POST', `/search/group/${ACCOUNT}/counted/latest`, { query: 'red' });
    same('hits of the group', json.total_count, 2);
    await send('POST', `/search/analytics/click/group/${ACCOUNT}/counted`, { query_id: json.query_id, result_id: 'b' });
    // A report covers the last days, so it is not compared if a new day has begun.
    const isOver = async () => {
      const after = { list: await report('list'), group: await report('group') };
      if (clock.jumps !== jumps) return true;
      return (
        after.list.total_searches - before.list.total_searches === SEARCHES &&
        after.group.total_searches - before.group.total_searches === 1 &&
        after.group.total_clicks - before.group.total_clicks === 1 &&
        after.list.total_clicks > before.list.total_clicks
      );
    };
    await until('searches and clicks are counted', isOver);
    await wait(2000);
    if (!(await isOver())) throw new Error('searches are counted more than once');
  }

  async function passingGroup() {
    const group = `group-${(turns += 1)}`;
    const lists = [{ list: COUNTED }, { list: PAIR }];
    await send('POST', `/list-group/${ACCOUNT}`, { name: group, lists });
    const found = async () =>
      (await send('GET', `/search/group/${ACCOUNT}/${group}/latest?query=red&cache=false`)).json;
    same('hits of a new group', (await found()).total_count, 2);
    await send('PUT', `/list-group/${ACCOUNT}/${group}`, { lists: lists.slice(1) });
    same('hits of a smaller group', (await found()).total_count, 1);
    const { groups } = (await send('GET', `/list-group/${ACCOUNT}`)).json;
    if (!groups.some(({ name }) => name === group)) throw new Error('a group is not listed');
    await send('DELETE', `/list-group/${ACCOUNT}/${group}`);
    await send('GET', `/list-group/${ACCOUNT}/${group}`, undefined, { expect: [404] });
  }

  /** Fills a list from a table whose fields are detected, and deletes the list. */
  async function passingList() {
    const name = `passing-${(turns += 1)}`;
    await send('POST', `/list/${ACCOUNT}`, { name });
    const rows = Array.from({ length: SHAPED_RECORDS }, (_, at) => `n${at},${KINDS[at % KINDS.length]},${at}\n`);
    const type = 'text/csv';
    const bulk = `/search-result/${ACCOUNT}/${name}/bulk`;
    same(
      'rows',
      (await send('POST', bulk, Buffer.from(`name,kind,number\n${rows.join('')}`), { type })).json.created,
      SHAPED_RECORDS,
    );
    await until('the fields of a table are known', async () => (await read.list(name)).fields_inferred === 'yes');
    await until(
      'a version with them is built',
      async () => (await read.exactly(name, 'bird')).json.total_count === SHAPED_RECORDS / KINDS.length,
    );
    same('records', (await read.records(name)).size, SHAPED_RECORDS);
    await send('DELETE', `/list/${ACCOUNT}/${name}`);
    await send('GET', `/list/${ACCOUNT}/${name}`, undefined, { expect: [404] });
  }

  const actions = {
    exactWrite: () => alone(exactWrite),
    exactBulk: () => alone(exactBulk),
    exactLook: () => alone(exactLook),
    exactRemoval: () => alone(exactRemoval),
    shape,
    counting,
    passingGroup,
    passingList,
  };
  return { actions, rates: RATES };
}
