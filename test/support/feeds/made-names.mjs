/**
 * Preloaded into the service (`NODE_OPTIONS`) to control name lookups. The file MADE_NAMES has steps for each name;
 * each lookup takes the next one, and the last step is repeated. A step is an address or an error code. Other names are
 * looked up by the system or its name servers.
 */
import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const systemLookup = dns.lookup;
const steps = new Map();

/**
 * @param {string} name
 * @returns {string | undefined}
 */
function nextStep(name) {
  const known = JSON.parse(readFileSync(process.env.MADE_NAMES, 'utf8'))[name];
  if (known === undefined) return undefined;
  const key = JSON.stringify([name, known]);
  const step = steps.get(key) ?? 0;
  steps.set(key, step + 1);
  return known[Math.min(step, known.length - 1)];
}

/** @typedef {(error: Error | null, address: unknown, family?: number) => void} Answer */

/**
 * @param {string} name
 * @param {import('node:dns').LookupAllOptions} options
 * @param {Answer} callback
 */
function lookup(name, options, callback) {
  // The callback may take the place of the options.
  const answer = callback ?? /** @type {Answer} */ (/** @type {unknown} */ (options));
  const address = nextStep(name);
  if (address === undefined) {
    systemLookup(name, options, callback);
    return;
  }
  process.nextTick(() => {
    if (/^[A-Z]/.test(address))
      answer(Object.assign(new Error(`getaddrinfo ${address} ${name}`), { code: address }), []);
    else if (options.all === true) answer(null, [{ address, family: 4 }]);
    else answer(null, address, 4);
  });
}
Object.assign(dns, { lookup });

const { prototype: resolver } = dns.promises.Resolver;
const { resolve4, resolve6 } = resolver;
/**
 * @this {import('node:dns').promises.Resolver}
 * @param {string} name
 */
resolver.resolve4 = async function made4(name) {
  const address = nextStep(name);
  if (address === undefined) return resolve4.call(this, name);
  if (/^[A-Z]/.test(address)) throw Object.assign(new Error(`queryA ${address} ${name}`), { code: address });
  return [address];
};
/**
 * @this {import('node:dns').promises.Resolver}
 * @param {string} name
 */
resolver.resolve6 = async function made6(name) {
  const isMade = JSON.parse(readFileSync(process.env.MADE_NAMES, 'utf8'))[name] !== undefined;
  if (isMade) throw Object.assign(new Error(`queryAaaa ENODATA ${name}`), { code: 'ENODATA' });
  return resolve6.call(this, name);
};
syncBuiltinESMExports();
