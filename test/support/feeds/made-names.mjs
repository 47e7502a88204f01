/**
 * Loaded before the service (`NODE_OPTIONS`) in tests of what becomes of a name: those of the file MADE_NAMES lead where it says, a step each time
 * that they are looked up, and the last step for ever. A step is an address, or the code of an error. Other names are the system's.
 */
import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const systemLookup = dns.lookup;
const steps = new Map();

/** @typedef {(error: Error | null, address: unknown, family?: number) => void} Answer */

/**
 * @param {string} name
 * @param {import('node:dns').LookupAllOptions} options
 * @param {Answer} callback
 */
function lookup(name, options, callback) {
  // Without options, what is to be answered stands in their place.
  const answer = callback ?? /** @type {Answer} */ (/** @type {unknown} */ (options));
  const known = JSON.parse(readFileSync(process.env.MADE_NAMES, 'utf8'))[name];
  if (known === undefined) {
    systemLookup(name, options, callback);
    return;
  }
  const key = JSON.stringify([name, known]);
  const step = steps.get(key) ?? 0;
  steps.set(key, step + 1);
  const address = known[Math.min(step, known.length - 1)];
  process.nextTick(() => {
    if (/^[A-Z]/.test(address))
      answer(Object.assign(new Error(`getaddrinfo ${address} ${name}`), { code: address }), []);
    else if (options.all === true) answer(null, [{ address, family: 4 }]);
    else answer(null, address, 4);
  });
}
Object.assign(dns, { lookup });
syncBuiltinESMExports();
