/** Returns the public description of a version. */
import type { VersionState } from '../../store/index.js';
import type { VersionStatus } from './types.js';

export function versionStatus(of: VersionState, recordCount: number): VersionStatus {
  const { version, state, created_utc, definition, unfit } = of;
  const status = { version, state, created_utc, definition, record_count: recordCount };
  return unfit === undefined ? status : { ...status, unfit };
}
