/** Under which operations, and a restore, find the backups. */
import { serviceKey, type ServiceKey } from '../platform/index.js';
import type { Backups } from './backups.js';

export const BACKUPS: ServiceKey<Backups> = serviceKey('backups');
