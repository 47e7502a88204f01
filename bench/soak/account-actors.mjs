/** Actors that sign in, use an account with limits of its own, and look at the console. */
import { Agent } from 'undici';
import { ACCOUNT } from '../end-to-end/lib/service.mjs';
import { same, until } from './tools.mjs';

const PASSWORD = 'correct horse battery';
const NEW_PASSWORD = 'battery horse correct';
const DAY_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;
/** Limit of records of the plan `small`. */
export const RECORDS_OF_PLAN = 10;
const WRITES_OVER = 4;
const CHUNKS_LOOKED_AT = 10;
const PATH_OF_ASSET = /\/console\/assets\/[^"']+/g;
const CHUNK = /["']\.\/([\w~.-]+\.(?:js|css))["']/g;

const RATES = {
  session: 1 / 20,
  openid: 1 / 45,
  plan: 1 / 40,
  consolePages: 1 / 30,
  expiringKey: 1 / 60,
  readOnlyKey: 1 / 120,
};

const tokenOf = (link) => link.slice(link.indexOf('#link=') + '#link='.length);

/** A browser with a cookie and the token that its pages send. `number` determines its address. */
function browser(send, number) {
  let [cookie, csrf] = ['', ''];
  const address = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
  const ask = async (method, path, body = undefined, expect = undefined) => {
    const answer = await send(method, path, body, {
      as: null,
      ...(expect === undefined ? {} : { expect }),
      headers: {
        'x-forwarded-for': address,
        'sec-fetch-site': 'same-origin',
        ...(cookie === '' ? {} : { cookie }),
        ...(csrf === '' ? {} : { 'x-csrf-token': csrf }),
      },
    });
    const set = [answer.headers['set-cookie'] ?? []].flat()[0];
    if (set !== undefined) cookie = set.slice(0, set.indexOf(';'));
    csrf = answer.json?.csrf_token ?? csrf;
    return answer;
  };
  return { ask, signIn: (credentials) => ask('POST', '/session', credentials) };
}

/** Returns the actors. `clock.jumps` is the number of days by which the service's clock is ahead. */
export function makeAccountActors({ send, operate, provider, clock }) {
  let turns = 0;
  /** Runs the action, and ignores an error if a day passed meanwhile. */
  async function withinADay(action) {
    const before = clock.jumps;
    try {
      await action();
    } catch (error) {
      if (clock.jumps === before) throw error;
    }
  }
  const invited = async (email, role) => (await operate('POST', `/contributor/${ACCOUNT}/link`, { email, role })).json;
  const removed = (id) => operate('DELETE', `/contributor/${ACCOUNT}/${id}`);

  async function session() {
    const number = (turns += 1);
    const email = `person-${number}@example.com`;
    const { link, id } = await invited(email, 'viewer');
    const [first, second] = [browser(send, 2 * number), browser(send, 2 * number + 1)];
    await first.signIn({ link: tokenOf(link), password: PASSWORD });
    same('who is signed in', (await first.ask('GET', '/session')).json.person.email, email);
    await first.ask('GET', `/list/${ACCOUNT}`);
    await first.ask('POST', `/list/${ACCOUNT}`, { name: 'by-a-viewer' }, [403]);
    await second.ask('POST', '/session', { email, password: 'a wrong password' }, [401]);
    await second.signIn({ email, password: PASSWORD });
    const { sessions } = (await first.ask('GET', '/session/all')).json;
    same('sessions', [sessions.length, sessions.filter(({ is_current }) => is_current).length], [2, 1]);
    await first.ask('DELETE', `/session/${sessions.find(({ is_current }) => !is_current).id}`);
    await second.ask('GET', '/session', undefined, [401]);
    await second.signIn({ email, password: PASSWORD });
    await first.ask('PUT', '/session/password', { old_password: PASSWORD, new_password: NEW_PASSWORD });
    await second.ask('GET', '/session', undefined, [401]);
    await operate('PUT', `/contributor/${ACCOUNT}/${id}`, { role: 'editor' });
    same('the role', (await first.ask('GET', '/session')).json.accounts[0].role, 'editor');
    const { contributors } = (await operate('GET', `/contributor/${ACCOUNT}?size=100`)).json;
    if (!contributors.some((each) => each.id === id)) throw new Error('a contributor is not listed');
    await first.ask('DELETE', '/session');
    await first.ask('GET', '/session', undefined, [401]);
    await removed(id);
    await second.ask('POST', '/session', { email, password: NEW_PASSWORD }, [401]);
  }

  async function openid() {
    const number = (turns += 1);
    const email = `elsewhere-${number}@example.com`;
    const { id } = await invited(email, 'editor');
    const person = browser(send, 2 * number);
    same('the name of the provider', (await person.ask('GET', '/session/ways')).json.openid?.name, 'Example');
    const { url, flow } = (await person.ask('POST', '/session/openid')).json;
    // The token must be valid by the service's clock, too.
    const exp = Math.floor(Date.now() / 1000) + 1000 * 24 * 3600;
    provider.claims = { email, email_verified: true, sub: `subject-${number}`, exp };
    await person.signIn({ flow, ...provider.authorize(url) });
    same('who is signed in', (await person.ask('GET', '/session')).json.person.email, email);
    await removed(id);
    await person.ask('GET', '/session', undefined, [401]);
  }

  /** Tests the limit of records of a new account, and deletes the account with all its data. */
  async function plan() {
    const account = `account-${(turns += 1)}`;
    await operate('POST', '/account', { name: account });
    await operate('PUT', `/plan/${account}`, { plan: 'small' });
    await operate('POST', `/list/${account}`, { name: 'things', searchable_fields: [{ name: 'title' }] });
    const { key } = (await operate('POST', `/api-key/${account}`, { name: 'own', access: 'full' })).json;
    const path = `/search-result/${account}/things`;
    const write = (number, expect) =>
      send('POST', path, { name: `r${number}`, fields: { title: `thing ${number}` } }, { as: key, expect });
    const numbers = Array.from({ length: RECORDS_OF_PLAN + WRITES_OVER }, (_, number) => number);
    const answers = await Promise.all(numbers.map((number) => write(number, [201, 402])));
    same('records that were taken', answers.filter(({ status }) => status === 201).length, RECORDS_OF_PLAN);
    const usage = async () => (await operate('GET', `/plan/${account}`)).json.usage.records;
    same('records that are counted', await usage(), { used: RECORDS_OF_PLAN, limit: RECORDS_OF_PLAN });
    const { json } = await send('GET', `/search/${account}/things/1?query=thing&size=50`, undefined, { as: key });
    same('records that are found', json.total_count, RECORDS_OF_PLAN);
    await send('DELETE', `${path}/${json.results[0].id}`, undefined, { as: key });
    await write(1000, [201]);
    await write(1001, [402]);
    same('records that are counted again', (await usage()).used, RECORDS_OF_PLAN);
    await send('GET', `/list/${ACCOUNT}`, undefined, { as: key, expect: [403] });
    await operate('DELETE', `/account/${account}`);
    await send('GET', '/account', undefined, { as: key, expect: [401] });
    const { accounts } = (await operate('GET', '/account/all')).json;
    if (accounts.some(({ name }) => name === account)) throw new Error('an account that was deleted is listed');
  }

  /** Loads the page, the files that it names, and some files that those name, as a browser with an empty cache would. */
  async function consolePages() {
    const page = await send('GET', '/console/', undefined, { as: null });
    const named = new Set(page.bytes.toString().match(PATH_OF_ASSET));
    if (named.size < 2) throw new Error('the console names none of its files');
    const chunks = new Set();
    for (const path of named) {
      const { bytes, headers } = await send('GET', path, undefined, { as: null });
      if (bytes.length === 0) throw new Error(`${path} is empty`);
      if (!path.endsWith('.js')) continue;
      if (!String(headers['content-type']).includes('javascript')) throw new Error(`${path} is no script`);
      for (const [, chunk] of bytes.toString().matchAll(CHUNK)) chunks.add(chunk);
    }
    for (const chunk of [...chunks].slice(0, CHUNKS_LOOKED_AT)) {
      await send('GET', `/console/assets/${chunk}`, undefined, { as: null });
    }
    // Each URL of the console has the same page.
    same('a page by its address', (await send('GET', '/console/lists', undefined, { as: null })).status, 200);
  }

  /** A key that expires in an hour, its id, and the number of clock jumps at its creation. */
  let expiring;
  async function expiringKey() {
    const use = (key, expect) => send('GET', '/account', undefined, { as: key, expect });
    if (expiring !== undefined && clock.jumps > expiring.jumps) {
      // The signal for the clock arrives a moment later.
      await until('a key has expired', async () => (await use(expiring.key, [200, 401])).status === 401);
      await operate('DELETE', `/api-key/${ACCOUNT}/${expiring.id}`);
      expiring = undefined;
    }
    if (expiring !== undefined) return;
    const expires_at = new Date(Date.now() + clock.jumps * DAY_MS + HOUR_MS).toISOString();
    const wanted = { name: `expiring-${(turns += 1)}`, access: 'search-and-read', expires_at };
    const { jumps } = clock;
    const { key, id } = (await operate('POST', `/api-key/${ACCOUNT}`, wanted)).json;
    await withinADay(() => use(key, [200]));
    expiring = { key, id, jumps };
  }

  async function readOnlyKey() {
    const wanted = {
      account_name: ACCOUNT,
      api_key_name: `read-only-${(turns += 1)}`,
      permissions: ['search-result:read'],
    };
    const { key } = (await send('POST', '/api-key/read-only', wanted)).json;
    await send('GET', `/search-result/${ACCOUNT}/words?size=1`, undefined, { as: key });
    await send('POST', `/list/${ACCOUNT}`, { name: 'by-a-reader' }, { as: key, expect: [403] });
    const { keys } = (await operate('GET', `/api-key/${ACCOUNT}`)).json;
    const made = keys.find(({ name }) => name === wanted.api_key_name);
    await operate('DELETE', `/api-key/${ACCOUNT}/${made.id}`);
  }

  const actions = {
    session: () => withinADay(session),
    openid: () => withinADay(openid),
    plan,
    consolePages,
    expiringKey,
    readOnlyKey,
  };
  return { actions, rates: RATES };
}

/** Returns an agent that connects to the control socket, as the command line does. */
export const controlAgent = (socketPath) => new Agent({ connect: { socketPath } });
