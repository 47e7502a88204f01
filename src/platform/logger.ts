/**
 * Logging: JSON lines on standard error, written in the background so that a request never waits for a disk or a pipe.
 * What could be secret never reaches a log: no key, no query string, no body.
 */
import { writeSync } from 'node:fs';
import { pino, destination as openDestination, type Logger } from 'pino';
import type { Config } from './config.js';
import { GatheredOutput } from './gathered-output.js';

const STANDARD_ERROR = 2;
/** A pipe that does not block says that it is full: its reader gets so much time in all. */
const FULL_PIPE_PAUSE_MS = 10;
const FULL_PIPE_PAUSES_MAX = 100;

export interface LoggerOptions {
  /** Instead of the configured level; the command line is quieter than the service. */
  readonly level?: Config['log']['level'];
}

export interface ServiceLogger extends Logger {
  /** Resolves when what was logged is written, or cannot be; to be awaited before the process ends. */
  drain(): Promise<void>;
}

export function createLogger(config: Pick<Config, 'log'>, options: LoggerOptions = {}): ServiceLogger {
  // While one write is under way the lines after it gather in memory and go out as the next: no line waits for a timer.
  const output = Object.assign(openDestination({ dest: STANDARD_ERROR, sync: false, minLength: 0 }), {
    writeSync: (text: string) => {
      writeWhole(STANDARD_ERROR, text);
    },
  });
  // Standard error may be closed by whoever reads it; a service that cannot log goes on serving.
  output.on('error', () => undefined);
  const gathered = new GatheredOutput(output);
  const logger = pino({ level: options.level ?? config.log.level, base: null, timestamp: timeMember }, gathered);
  return Object.assign(logger, {
    drain: () => gathered.drain(),
  });
}

/** Throws what the system says, also when a pipe stays full. */
function writeWhole(descriptor: number, text: string): void {
  let rest = Buffer.from(text);
  let pauses = 0;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      pauses += 1;
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || pauses > FULL_PIPE_PAUSES_MAX) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_PAUSE_MS);
    }
  }
}

let timeMs = Number.NaN;
let timeText = '';

/** The time as a member of a line, behind others. Many lines have their millisecond in common. */
function timeMember(): string {
  const nowMs = Date.now();
  if (nowMs !== timeMs) {
    timeMs = nowMs;
    timeText = `,"time":"${new Date(nowMs).toISOString()}"`;
  }
  return timeText;
}
