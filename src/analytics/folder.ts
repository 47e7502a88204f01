import { join, resolve } from 'node:path';
import type { Config } from '../platform/index.js';

/** Returns `data/analytics`. */
export function analyticsFolder({ data }: Pick<Config, 'data'>): string {
  return join(resolve(data.dir), 'analytics');
}

/** Returns the folder of events and roll-ups, which is created for the first event. */
export function eventsFolder(analytics: string): string {
  return join(analytics, 'events');
}
