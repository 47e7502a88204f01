/** Checks of processor, memory, system limits and disk. */
import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { listsOpenMax, listsThatFit } from '../../index/index.js';
import {
  limitsOfProcess,
  lockHolder,
  machineShare,
  processLimits,
  type Config,
  type ResourceUse,
} from '../../platform/index.js';
import { formatBytes, formatCount } from '../output.js';
import { failed, fine, notice, type Check } from './check.js';

/** Each connection and each segment of each list needs a file descriptor. */
const OPEN_FILES_WANTED = 8192;
const OPEN_FILES_MIN = 1024;
/** Each segment is mapped; Linux's default suffices for thousands. */
const MAPS_WANTED = 65_530;
const LISTS_MIN = 100;
const FREE_BYTES_MIN = 256 * 1_048_576;
const FREE_BYTES_WANTED = 2 * 1_073_741_824;
const BYTES_A_MIB = 1_048_576;

export function processorCheck(): Check {
  const model = cpus()[0]?.model ?? process.arch;
  const flags = /^flags\s*:(.*)$/m.exec(readText('/proc/cpuinfo') ?? '')?.[1]?.split(' ') ?? [];
  const wide = ['sse4_2', 'avx2', 'bmi2', 'avx512f', 'avx512bw'].filter((flag) => flags.includes(flag));
  const detail = `${machineShare().processors} × ${model.trim()}${wide.length === 0 ? '' : ` (${wide.join(', ')})`}`;
  if (process.arch === 'x64' && flags.length > 0 && !flags.includes('avx2')) {
    return notice('Processor', `${detail}. Without AVX2 the kernel uses its slower baseline code`);
  }
  return fine('Processor', detail);
}

export function memoryCheck(config: Config): Check {
  const { memoryBytes: available, memoryLimitedBy } = machineShare();
  const budget = config.memory.mib * BYTES_A_MIB;
  const limited = memoryLimitedBy === undefined ? '' : ` (the limit of its ${memoryLimitedBy})`;
  const detail = `${formatBytes(available)}${limited}, of which the service may use ${formatBytes(budget)} (memory.mib)`;
  if (budget > available) return failed('Memory', `${detail}. The budget is larger than the memory: lower memory.mib`);
  return budget > available / 2
    ? notice('Memory', `${detail}. That leaves little for the page cache: lower memory.mib`)
    : fine('Memory', detail);
}

/**
 * System limits of a process: the running service's, otherwise this command's, which a service started from the same
 * shell would have.
 */
export interface SystemLimits {
  readonly of: 'service' | 'command';
  readonly uses: readonly ResourceUse[];
}

export function systemLimits(dataDir: string): SystemLimits {
  const service = lockHolder(join(dataDir, 'lock'));
  const uses = service === undefined ? undefined : limitsOfProcess(service.pid);
  return uses === undefined ? { of: 'command', uses: processLimits() } : { of: 'service', uses };
}

export function fileLimitCheck({ of, uses }: SystemLimits): Check {
  const limit = uses.find(({ resource }) => resource === 'descriptors')?.max;
  if (limit === undefined)
    return notice('Open files', 'this system does not show the limit; check it with `ulimit -n`');
  const told = limit === Number.MAX_SAFE_INTEGER ? 'unlimited' : formatCount(limit);
  const detail = `limit ${told}${of === 'service' ? ' of the running service' : ''}`;
  const raised =
    of === 'service'
      ? `restart it with a higher limit (\`ulimit -n ${OPEN_FILES_WANTED}\`, or LimitNOFILE= in systemd)`
      : `raise it with \`ulimit -n ${OPEN_FILES_WANTED}\``;
  if (limit < OPEN_FILES_MIN) return failed('Open files', `${detail} is too low: ${raised}`);
  return limit < OPEN_FILES_WANTED
    ? notice('Open files', `${detail} is low for many clients or lists: ${raised}`)
    : fine('Open files', detail);
}

export function mapLimitCheck(): Check {
  const limit = Number(readText('/proc/sys/vm/max_map_count'));
  if (!(limit > 0)) return fine('Memory maps', 'no limit known on this system');
  const detail = `limit ${formatCount(limit)}`;
  return limit < MAPS_WANTED
    ? notice('Memory maps', `${detail}: set vm.max_map_count=${MAPS_WANTED}`)
    : fine('Memory maps', detail);
}

/** Estimates how many lists a process with these limits can have open at a time. Others are opened on demand. */
export function listLimitCheck(config: Config, { uses: limits }: SystemLimits): Check {
  if (limits.length === 0) return fine('Lists', 'no limit known on this system');
  const count = listsThatFit(limits);
  const detail =
    `descriptors, memory maps and address space allow about ${formatCount(count)} small open lists; ` +
    `${formatCount(listsOpenMax(config, limits))} are open at a time (lists.open_max, memory.mib), the others are closed until they are used`;
  return count < LISTS_MIN ? notice('Lists', `${detail}. Raise \`ulimit -n\``) : fine('Lists', detail);
}

export function diskCheck(dataDir: string): Check {
  let folder = resolve(dataDir);
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, blocks, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const detail = `${formatBytes(free)} free of ${formatBytes(blocks * bsize)} at ${folder}`;
  if (free < FREE_BYTES_MIN) return failed('Disk', `${detail}. Too little to write: free some space`);
  return free < FREE_BYTES_WANTED ? notice('Disk', `${detail}. That leaves little room to grow`) : fine('Disk', detail);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
