import { expect, it } from 'vitest';
import { tellOfProxies } from './before-start.js';

it('tellOfProxies logs the names of proxy variables, but not their values', () => {
  const told: unknown[] = [];
  const log = { info: (...said: unknown[]) => told.push(said) };
  const env = { HTTPS_PROXY: 'http://ann:secret@proxy:3128', http_proxy: 'http://proxy', all_proxy: '', NO_PROXY: 'x' };
  tellOfProxies(env, log);
  expect(told.map((said) => (said as [unknown])[0])).toEqual([{ name: 'HTTPS_PROXY' }, { name: 'http_proxy' }]);
  expect(JSON.stringify(told)).not.toContain('secret');
});
