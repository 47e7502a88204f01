/** Tests that the dashboard in `config` is the one that the script writes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dashboard } from './grafana-dashboard.mjs';

const file = JSON.parse(readFileSync(join(import.meta.dirname, '../config/grafana-dashboard.json'), 'utf8'));

it('The Grafana dashboard equals what its script writes', () => {
  expect(file, 'node scripts/grafana-dashboard.mjs').toEqual(dashboard());
});

it('The Grafana dashboard has panels at distinct places and with distinct ids, each with queries', () => {
  const places = file.panels.map(({ gridPos: { x, y } }) => `${x},${y}`);
  expect(new Set(places).size).toBe(places.length);
  expect(new Set(file.panels.map(({ id }) => id)).size).toBe(file.panels.length);
  for (const { type, title, targets } of file.panels) {
    if (type !== 'row') expect([title, targets.length > 0]).toEqual([title, true]);
  }
});
