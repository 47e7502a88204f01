/**
 * `node bench/webhooks/durability.mjs [deliveries] [kills] [seed]`: runs the kill test of webhooks at full size (default 1,000,000
 * deliveries, 20 kills). It is the test of the suite with other numbers, so that there is only one.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { readNumbers } from '../end-to-end/lib/options.mjs';
import { root } from '../end-to-end/lib/service.mjs';

const { deliveries, kills, seed } = readNumbers({ deliveries: 1_000_000, kills: 20, seed: 1 });
const args = ['run', '--project', 'integration', 'test/durability/webhooks-kill.test.ts'];
const { status } = spawnSync(join(root, 'node_modules', '.bin', 'vitest'), args, {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    GANNET_WEBHOOK_KILL_DELIVERIES: String(deliveries),
    GANNET_WEBHOOK_KILLS: String(kills),
    GANNET_KILL_SEED: String(seed),
  },
});
process.exitCode = status ?? 1;
