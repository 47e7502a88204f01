/**
 * Logging: JSON lines on standard error, written in the background so that a request never waits for a disk or a pipe.
 * Secrets never reach a log: no key, no query string, no body.
 */
import { pino, type Logger } from 'pino';
import type { Config } from './config.js';
import { GatheredOutput } from './gathered-output.js';
import { LogOutput } from './log-output.js';

export { flushLogs } from './gathered-output.js';

export interface LoggerOptions {
  /** Overrides the configured level; the command line is quieter than the service. */
  readonly level?: Config['log']['level'];
  /** If false, errors are logged without their stack, for somebody who reads the lines at a terminal. */
  readonly stacks?: boolean;
}

export interface ServiceLogger extends Logger {
  /** Resolves when all lines are written or dropped; to be awaited before the process ends. */
  drain(): Promise<void>;
  /** Number of lines dropped since the start. */
  droppedLines(): number;
}

export function createLogger(config: Pick<Config, 'log'>, options: LoggerOptions = {}): ServiceLogger {
  // During a write, later lines gather in memory and are written next: no line waits for a timer.
  const output = new LogOutput();
  const gathered = new GatheredOutput(output);
  const level = options.level ?? config.log.level;
  const serializers = options.stacks === false ? { err: withoutStack } : {};
  const logger = pino({ level, base: null, timestamp: timeMember, serializers }, gathered);
  output.on('recovered', (lines) => {
    logger.warn({ lines }, 'The log could not be written for a while: lines are missing before this one');
  });
  return Object.assign(logger, {
    droppedLines: () => output.droppedLines,
    drain: () => gathered.drain(),
  });
}

function withoutStack(error: Error): object {
  return { ...pino.stdSerializers.err(error), stack: undefined };
}

let timeMs = Number.NaN;
let timeText = '';

/** Returns the time as a member after others. Cached, since many lines are logged in the same millisecond. */
function timeMember(): string {
  const nowMs = Date.now();
  if (nowMs !== timeMs) {
    timeMs = nowMs;
    timeText = `,"time":"${new Date(nowMs).toISOString()}"`;
  }
  return timeText;
}
