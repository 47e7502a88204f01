/** Makes load by wrk: requests from a list in turn over open connections. wrk measures the latencies. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { workFolder } from './service.mjs';

/** Installs wrk on Debian and Ubuntu if run by root, otherwise says what to install. */
export function ensureWrk() {
  const has = () => spawnSync('wrk', ['--version']).error === undefined;
  if (has()) return;
  if (process.getuid?.() === 0) spawnSync('apt-get', ['install', '--yes', 'wrk'], { stdio: 'inherit' });
  if (!has()) throw new Error('This measurement needs wrk: install with `apt-get install wrk`.');
}

const SCRIPT = `
local requests = {}
local at = 0

function init(args)
  for path in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format("GET", path)
  end
  -- Each thread begins elsewhere in the list.
  at = math.floor((tonumber(args[2]) or 0) % #requests)
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("RESULT %d %d %d %d %.0f %.0f %.0f %.0f\\n", summary.requests, summary.duration,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9), latency.max))
end
`;

/** Runs wrk on `address` with the paths, without blocking this process. Times are in milliseconds. */
export async function runWrk({ address, key, paths, seconds, connections, threads = 1 }) {
  mkdirSync(workFolder, { recursive: true });
  const script = join(workFolder, 'requests.lua');
  const list = join(workFolder, 'paths.txt');
  writeFileSync(script, SCRIPT);
  writeFileSync(list, `${paths.join('\n')}\n`);
  const args = [`-t${threads}`, `-c${connections}`, `-d${seconds}s`, '--timeout', '5s', '-H', `X-API-Key: ${key}`];
  const { stdout: output } = await promisify(execFile)('wrk', [...args, '-s', script, address, '--', list]);
  const found = /^RESULT (.*)$/m.exec(output);
  if (found === null) throw new Error(`wrk printed no result:\n${output}`);
  const [requests, durationUs, badStatus, broken, p50, p99, p999, max] = found[1].split(' ').map(Number);
  return {
    requestsPerSecond: requests / (durationUs / 1e6),
    requests,
    failed: badStatus + broken,
    p50: p50 / 1000,
    p99: p99 / 1000,
    p999: p999 / 1000,
    max: max / 1000,
  };
}
