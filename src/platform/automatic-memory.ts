/** Default of `memory.mib`, and warnings at the start about how much memory is configured. */
import type { Config } from '../../config/schema.js';
import { machineShare, type MachineShare } from './machine-share.js';
import { settingsInForce } from './setting-origins.js';

const MEBIBYTE = 2 ** 20;
/**
 * Lower bound in MiB: on a machine with less than four times as much, the service takes more than a quarter of its
 * memory.
 */
const MEMORY_MIB_MIN_AUTOMATIC = 256;

/**
 * Returns the default of `memory.mib`, before the needs of other settings: a quarter of the machine's memory, at least
 * 256.
 */
export function automaticMemoryMib({ memoryBytes }: Pick<MachineShare, 'memoryBytes'>): number {
  return Math.max(MEMORY_MIB_MIN_AUTOMATIC, Math.floor(memoryBytes / MEBIBYTE / 4));
}

/** A warning for the log. */
export interface MemoryWarning {
  readonly mib: number;
  readonly available: number;
  readonly message: string;
}

/** Returns warnings about the memory of a loaded config. */
export function memoryWarnings(config: Config, machine = machineShare()): readonly MemoryWarning[] {
  const { mib } = config.memory;
  const available = Math.floor(machine.memoryBytes / MEBIBYTE);
  const isAutomatic = settingsInForce(config).some((setting) => setting.name === 'memory.mib' && setting.isAutomatic);
  const messages = [];
  if (isAutomatic && mib > automaticMemoryMib(machine))
    messages.push(
      'memory.mib is as much as the settings of threads and of the cache need, and more than the service takes of so much memory by itself: set fewer threads or a smaller cache, or memory.mib',
    );
  if (mib > available)
    messages.push('memory.mib is more than this process may have: the system may end it when it takes that much');
  return messages.map((message) => ({ mib, available, message }));
}
