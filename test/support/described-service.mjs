/** Starts the real service on a free port with data, for clients that know only its OpenAPI document. */
import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ADDRESS = /(http:\/\/[^\s/]+)/;

/** Limits that random requests would exceed although nothing is wrong. */
const ENVIRONMENT = {
  GANNET_HOST: '127.0.0.1',
  GANNET_PORT: '0',
  GANNET_SEARCH_RATE_PER_MINUTE: '1000000000',
  GANNET_KEYS_READ_ONLY_PER_HOUR: '1000000',
  GANNET_WEBHOOKS_SUBSCRIPTIONS_MAX: '10000',
  GANNET_LOG_LEVEL: 'error',
};

/** Names of the data in the account: a list with every kind of field, and a group. */
export const NAMES = { account: 'default', list: 'films', group: 'media', field: 'title' };

const FILMS = {
  name: NAMES.list,
  searchable_fields: [{ name: 'title', weight: 2 }, { name: 'plot' }],
  facets: [
    { name: 'year', type: 'number', cardinality: 'Single' },
    { name: 'genre', type: 'string', cardinality: 'Many' },
    { name: 'seen', type: 'boolean', cardinality: 'Single' },
    { name: 'released', type: 'date', cardinality: 'Single' },
  ],
  resources: [{ name: 'poster', kind: 'image' }],
  location_field: 'place',
};

const RECORDS = Array.from({ length: 50 }, (_, index) => ({
  name: `film-${index}`,
  fields: {
    title: `Gannets dive ${index}`,
    plot: 'A search of the sea (SS) that finds fish.',
    year: 1950 + index,
    genre: index % 2 === 0 ? ['drama'] : ['comedy', 'nature'],
    seen: index % 3 === 0,
    released: `${1950 + index}-06-01`,
    place: { latitude: 51 + index / 100, longitude: -index / 100 },
  },
}));

/**
 * Starts the service on a new data directory. Resolves with its address, a key with all permissions, ids of a record
 * and a webhook, and `stop`.
 */
export async function startService(dataDir) {
  const child = spawn(process.execPath, ['bin/gannet.js', 'serve'], {
    cwd: ROOT,
    env: { ...process.env, ...ENVIRONMENT, GANNET_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    await exit;
  };
  try {
    const address = await addressOf(child);
    const call = caller(join(dataDir, 'control.sock'));
    const { key } = await call('POST', '/api-key/default', { name: 'schemathesis', access: 'full' });
    await call('POST', '/list/default', FILMS);
    await call('POST', '/search-result/default/films/bulk', RECORDS);
    const { results } = await call('GET', '/search/default/films/1?query=dive&size=1');
    await call('POST', '/list-group/default', { name: NAMES.group, lists: [{ list: NAMES.list }] });
    const webhook = await call('POST', '/webhook', {
      account: 'default',
      url: 'https://receiver.example/hook',
      events: ['webhook.ping'],
    });
    return { address, key, recordId: results[0].id, webhookId: webhook.id, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function addressOf(child) {
  return new Promise((resolve, reject) => {
    let output = '';
    child.once('exit', (code) => reject(new Error(`The service ended with status ${code}`)));
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const address = /ready/i.test(output) ? ADDRESS.exec(output)?.[1] : undefined;
      if (address !== undefined) resolve(address);
    });
  });
}

/**
 * Returns a function that calls the service over its control socket and returns the parsed answer; throws unless the
 * status is 2xx.
 */
function caller(socketPath) {
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
      const outgoing = request({ socketPath, method, path, headers }, (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk) => (text += chunk));
        answer.on('error', reject);
        answer.on('end', () => {
          if (answer.statusCode < 300) resolve(JSON.parse(text));
          else reject(new Error(`${method} ${path} answered ${answer.statusCode} ${text}`));
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
}
