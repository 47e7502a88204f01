/** Key of the backups, for operations and for a restore. */
import { serviceKey, type ServiceKey } from '../platform/index.js';
import type { Backups } from './backups.js';

export const BACKUPS: ServiceKey<Backups> = serviceKey('backups');
