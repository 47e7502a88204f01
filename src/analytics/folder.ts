import { join, resolve } from 'node:path';
import type { Config } from '../platform/index.js';

/** `data/analytics`. */
export function analyticsFolder({ data }: Pick<Config, 'data'>): string {
  return join(resolve(data.dir), 'analytics');
}
