import { join, resolve } from 'node:path';
import type { Config } from '../platform/index.js';

/** `data/analytics`. */
export function analyticsFolder({ data }: Pick<Config, 'data'>): string {
  return join(resolve(data.dir), 'analytics');
}

/** Where the events and what is counted of them are; made for the first event. */
export function eventsFolder(analytics: string): string {
  return join(analytics, 'events');
}
